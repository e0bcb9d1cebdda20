"""The words that everything shares: types, names, marks, ports. Pure."""

"""The searchable view of each collection: in memory, exact, derived from rows alone."""

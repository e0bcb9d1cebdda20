"""The graph: entities, how they relate, and which records say so."""

"""Real hosts for tests, and their surroundings: a model that answers from a script, a client of the wire."""

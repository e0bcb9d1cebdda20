"""Real hosts for tests, and what stands around them: a model that answers from a script, a client of the wire."""

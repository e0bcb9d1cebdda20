"""The verbs that put Clew into agents, and take it out again."""

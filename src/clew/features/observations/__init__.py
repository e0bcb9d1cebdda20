"""The observation log: dated lines of what happened in a session."""

"""The history of a session: its tail, its summaries, and the way back to every turn."""

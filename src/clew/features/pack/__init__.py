"""Packs: the few cited lines that bear on a question, with a trace."""

"""Embedders: from a text to a vector."""

"""Embedding models and token counters: what turns text into vectors and counts."""

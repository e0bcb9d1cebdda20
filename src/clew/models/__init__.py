"""Embedding models, summarizers and token counters: they turn text into vectors, summaries and counts."""

"""Contexts: rules, tail, guidance and recall within one budget."""

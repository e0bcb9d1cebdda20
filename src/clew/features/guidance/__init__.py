"""Guidance: the user's rules, kept word for word."""

"""Trust: what is held back and why, and its review."""

"""The rules of the system as pure functions: no I/O, no clock, no randomness."""

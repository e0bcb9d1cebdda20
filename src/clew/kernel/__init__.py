"""The base of every feature: the way in, the queue behind it, search, records."""

"""What every feature stands on: the way in, the queue behind it, search, records."""

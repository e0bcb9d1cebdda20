"""Facts: what holds, since when, on what evidence."""

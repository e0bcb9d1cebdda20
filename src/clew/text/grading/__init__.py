"""How much a text matters, what kind it is, and by which signs."""

"""What facts, plans and observations share: the log of claims, and proposals read from text."""

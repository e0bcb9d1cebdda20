"""What facts, plans and observations share: sources, and proposals read from text."""

"""One folder per capability: its operations, its rules, its services."""

"""Where rows live: the contract, an in-memory reference, and SQLite."""

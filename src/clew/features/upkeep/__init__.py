"""Looking after a store: purge, export and import, verify, copies."""

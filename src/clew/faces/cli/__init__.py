"""The command line: one file a verb, over `MemoryApi` alone."""

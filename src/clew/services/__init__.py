"""What the engine does with rows, indexes and models: one file a verb."""

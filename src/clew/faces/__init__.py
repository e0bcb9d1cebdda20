"""How people and programs reach the engine."""

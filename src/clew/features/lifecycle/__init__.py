"""Grades, retention, the archive and duplicates."""

"""The embedded store: one SQLite file through apsw, write-ahead log, full sync."""

from clew.storage.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]

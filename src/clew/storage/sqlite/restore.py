"""Putting a copy of the store back into place, while nobody uses the store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw

from clew.errors import StoreCorrupt, StoreError
from clew.storage.sqlite.connection import refuse_foreign

REPLACED = "before-restore"
_LOGS = ("-wal", "-shm")


def restore(path: Path, backup: Path) -> None:
    """Let a backup take the place of the store; what was there stays beside it until the next purge.

    The backup is checked first, and the store is complete at every moment: the old one or the new one.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    incoming = path.with_name(f"{path.name}.incoming")
    try:
        _copy(backup, incoming)
        _check(incoming, backup)
        if path.exists():
            _settle(path)
            os.replace(path, path.with_name(f"{path.name}.{REPLACED}"))
        os.replace(incoming, path)
    except OSError as error:
        raise StoreError(f"{backup} could not be restored: {error.strerror}") from error
    finally:
        incoming.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    with (
        open(source, "rb") as read,
        os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as new,
    ):
        shutil.copyfileobj(read, new)
        new.flush()
        os.fsync(new.fileno())


def _check(copy: Path, backup: Path) -> None:
    try:
        connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            refuse_foreign(connection, backup)
            found = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
        finally:
            connection.close()
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreCorrupt(f"{backup} is not a usable copy of a store: {error}") from error
    if found != ["ok"]:
        raise StoreCorrupt(f"{backup} is damaged: {found[0]}")


def _settle(path: Path) -> None:
    """Bring what waits in the write-ahead log into the file, so that the file alone is the store."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
    except apsw.Error:
        pass  # a damaged store is what a restore is for; it is set aside as it is, log and all
    for ending in _LOGS:
        log = path.with_name(path.name + ending)
        if log.exists():
            os.replace(log, path.with_name(f"{path.name}.{REPLACED}{ending}"))

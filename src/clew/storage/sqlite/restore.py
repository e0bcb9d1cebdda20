"""Putting a copy of the store back into place, while nobody uses the store."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import apsw

from clew.errors import InvalidInput, StoreCorrupt, StoreError
from clew.storage.sqlite.connection import APPLICATION_ID, UseLock, prepare_folder, sync_folder

REPLACED = "before-restore"
_LOGS = ("-wal", "-shm")


def restore(path: Path, backup: Path) -> None:
    """Replace the store by a backup; the old store stays beside it until the next purge.

    The backup is checked first, and the store is complete at every moment: the old one or the new one. Raises
    StoreInUse where another process has the store open.
    """
    prepare_folder(path)
    use = UseLock(path, alone=True)
    incoming = path.with_name(f"{path.name}.incoming")
    try:
        _refuse_live(path, backup)
        _copy(backup, incoming)
        _check(incoming, backup)
        if path.exists():
            _settle(path)
            _keep_old(path)
        os.replace(incoming, path)
        sync_folder(path.parent)
    except (OSError, apsw.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"{backup} could not be restored; the store is whole, the old one or it: {reason}") from error
    finally:
        for ending in ("", *_LOGS):
            with suppress(OSError):  # the next restore or purge removes it
                incoming.with_name(incoming.name + ending).unlink(missing_ok=True)
        use.release()


def _refuse_live(path: Path, backup: Path) -> None:
    if path.exists() and backup.exists() and path.samefile(backup):
        raise InvalidInput(f"{backup} is the store itself, not a backup of it")
    log = backup.with_name(f"{backup.name}-wal")
    if log.exists() and log.stat().st_size:
        raise InvalidInput(f"{backup} is a store with a log beside it; `clew backup` makes a copy that is whole")


def _copy(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(source, "rb") as read, os.fdopen(descriptor, "wb") as new:
        shutil.copyfileobj(read, new)
        new.flush()
        os.fsync(new.fileno())


def _check(copy: Path, backup: Path) -> None:
    try:
        connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            is_clews = connection.pragma("application_id") == APPLICATION_ID
            found = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
        finally:
            connection.close()
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreCorrupt(f"{backup} is not a usable copy of a store: {error}") from error
    if not is_clews:
        raise StoreCorrupt(f"{backup} is not a copy of a Clew store")
    if found != ["ok"]:
        raise StoreCorrupt(f"{backup} is damaged: {found[0]}")


def _settle(path: Path) -> None:
    """Bring the write-ahead log into the file, so that the file alone is the store."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()
    except apsw.Error:
        pass  # a restore is for damaged stores; this one is set aside as it is, log and all


def _keep_old(path: Path) -> None:
    """Under a name of its own, beside the one it has until the new store takes that."""
    number = 1
    while (kept := path.with_name(f"{path.name}.{REPLACED}{'' if number == 1 else f'-{number}'}")).exists():
        number += 1
    os.link(path, kept)
    for ending in _LOGS:  # a log of the old store must not be taken for one of the new
        log = path.with_name(path.name + ending)
        if log.exists():
            os.replace(log, kept.with_name(kept.name + ending))

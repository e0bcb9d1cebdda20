"""Opening the file: permissions, pragmas that are read back, versions, migration with a backup."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from clew.errors import StoreCorrupt, StoreError, StoreInUse, StoreTooNew
from clew.storage.sqlite.seals import add_functions

OLDEST_SQLITE = (3, 51, 3)
"""Earlier versions can lose committed rows when the write-ahead log is reset."""

APPLICATION_ID = 0x434C4557  # "CLEW"
BUSY_TIMEOUT_MS = 30_000
SHARED_WAIT_S = 30.0
"""How long to wait while another process migrates or replaces the store."""

ALONE_WAIT_S = 3.0
"""How long to wait for others to let go of a store that is to be migrated: some only look at it."""

RETRY_S = 0.02
READERS = 8
"""Connections for reading that are kept while nobody needs them."""

MANY_READERS = 64
PATIENCE_S = 0.1
"""Where this many are lent, a reader waits this long for one of them before another is made."""


def require_sqlite() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise StoreError(f"SQLite {apsw.sqlite_lib_version()} can lose data; Clew needs {wanted} or later")


def prepare_file(path: Path) -> None:
    """Make the file and its folder readable by their owner only, before anything is in them."""
    prepare_folder(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"cannot open {path}: {error.strerror}") from error


def prepare_folder(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {path.parent}: {error.strerror or error}") from error


def connect(path: Path, synchronous: str) -> apsw.Connection:
    """A connection with every pragma set and read back: SQLite silently ignores settings that it cannot apply."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    add_functions(connection)
    try:
        _pragma(connection, "PRAGMA journal_mode=WAL", "wal")
        connection.execute("PRAGMA synchronous=FULL" if synchronous == "full" else "PRAGMA synchronous=NORMAL")
        wanted = 2 if synchronous == "full" else 1
        _pragma(connection, "PRAGMA synchronous", wanted)
        connection.execute("PRAGMA foreign_keys=ON")
        _pragma(connection, "PRAGMA foreign_keys", 1)
        _pragma(connection, "PRAGMA secure_delete=ON", 1)
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA temp_store=MEMORY")  # rows to undo must not spill into a shared folder
        _pragma(connection, "PRAGMA temp_store", 2)
        connection.execute("PRAGMA cache_size=-8192")
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreCorrupt(f"{path} is not a usable Clew store: {error}") from error
    return connection


def _pragma(connection: apsw.Connection, statement: str, wanted: object) -> None:
    found = connection.execute(statement).fetchone()
    if found is None or found[0] != wanted:
        raise StoreError(f"SQLite refused `{statement}`: gave {found and found[0]!r}, needed {wanted!r}")


def open_newest(path: Path, synchronous: str, scripts: Sequence[str]) -> tuple[apsw.Connection, UseLock]:
    """Open a store, which has the newest schema then, and hold it together with others.

    It is held alone while an older schema is brought to the newest: a process of an earlier version that has it open
    would go on to write rows as it knows them. Neither lock is held while the other is waited for.
    """
    deadline = time.monotonic() + ALONE_WAIT_S
    while True:
        use = UseLock(path, wait_s=SHARED_WAIT_S)
        try:
            connection = _connect_newest(path, synchronous, scripts, alone=False)
        except BaseException:
            use.release()
            raise
        if connection is not None:
            return connection, use
        use.release()
        try:
            use = UseLock(path, alone=True)
        except StoreInUse:  # by another that looks at it or migrates it, or by one of an earlier version
            if time.monotonic() > deadline:
                raise StoreInUse(
                    f"{path} was written by an earlier Clew and has to be brought to the present form, but another "
                    "process has it open; stop that process (`clew down` stops a daemon) and try again"
                ) from None
            time.sleep(RETRY_S)
            continue
        try:
            migrated = _connect_newest(path, synchronous, scripts, alone=True)
            if migrated is not None:
                migrated.close()
        finally:
            use.release()


def _connect_newest(path: Path, synchronous: str, scripts: Sequence[str], *, alone: bool) -> apsw.Connection | None:
    connection = connect(path, synchronous)
    try:
        is_newest = migrate(connection, path, scripts, alone=alone)
    except BaseException:
        connection.close()
        raise
    if is_newest:
        return connection
    connection.close()
    return None


def migrate(connection: apsw.Connection, path: Path, scripts: Sequence[str], *, alone: bool = True) -> bool:
    """Bring the schema to the newest version, after a backup, in one transaction.

    Whether it is that now: a store that has rows is changed only by who holds it alone. Several processes may make one
    new file at the same time: the first to take the write lock does, the others then find nothing to do.
    """
    refuse_foreign(connection, path)
    if _version(connection) == len(scripts):
        return True
    with connection_lock(connection):
        version = _version(connection)
        if version > len(scripts):
            raise StoreTooNew(
                f"{path} was written by a newer Clew (schema {version}, this one knows {len(scripts)}); "
                "upgrade Clew to open it"
            )
        if version == 0:
            _run_scripts(connection, scripts, version)
    if version in (0, len(scripts)):
        return True
    if not alone:
        return False
    write_copy(connection, path.with_name(f"{path.name}.before-schema-{version + 1}"))
    with connection_lock(connection):
        _run_scripts(connection, scripts, version)
    return True


def _run_scripts(connection: apsw.Connection, scripts: Sequence[str], version: int) -> None:
    if _version(connection) != version:
        raise StoreInUse("another process changed the form of the store at the same time; try again")
    for script in scripts[version:]:
        connection.execute(script)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", len(scripts))


@contextmanager
def connection_lock(connection: apsw.Connection) -> Iterator[None]:
    """One write transaction: committed at the end, undone by any exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """One read transaction: every statement inside sees the same state."""
    connection.execute("BEGIN")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(apsw.Error):  # on a damaged page this fails, too, and the first error says why
                connection.execute("ROLLBACK")
        raise


def write_copy(connection: apsw.Connection, target: Path) -> None:
    """A consistent copy of the whole store, made beside its place and moved there when complete."""
    partial = target.with_name(f"{target.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection.execute("VACUUM INTO ?", (str(partial),))
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, target)
        sync_folder(target.parent)
    except (apsw.Error, OSError) as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise StoreError(f"the backup to {target} failed, and the store is as it was: {error}") from error


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_copies(path: Path) -> None:
    """Remove the copies that migrations and restores left beside the file: they hold texts that it no longer may."""
    try:
        for pattern in ("before-*", "incoming*"):
            for copy in path.parent.glob(f"{path.name}.{pattern}"):
                copy.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreError(f"an old copy beside {path} could not be removed: {error.strerror or error}") from error


class UseLock:
    """Held by whoever has the store open, together with others, and alone by whoever replaces it."""

    def __init__(self, path: Path, *, alone: bool = False, wait_s: float = 0.0) -> None:
        lock = path.with_name(f"{path.name}.use")
        try:
            descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"cannot open {lock}: {error.strerror or error}") from error
        self._descriptor: int | None = descriptor
        try:
            _take(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, wait_s)
        except BlockingIOError:
            self.release()
            what = "another process has the store open" if alone else "the store is being replaced or migrated"
            raise StoreInUse(f"{path}: {what}; try again when it is done") from None
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _take(descriptor: int, kind: int, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(RETRY_S)
        else:
            return


class ReaderPool:
    """Connections for reading, lent to one thread at a time and made when needed.

    Nobody waits for one as long as there are not very many, and never for long: a reader may hold a lock that the owner
    of a connection wants, and the two would wait for each other for ever.
    """

    def __init__(self, path: Path, synchronous: str) -> None:
        self._path = path
        self._synchronous = synchronous
        self._idle: list[apsw.Connection] = []
        self._lent = 0
        self._closed = False
        self._returned = threading.Condition()

    @contextmanager
    def borrow(self) -> Iterator[apsw.Connection]:
        connection = self._take()
        try:
            connection = connection or self._connect()
            yield connection
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Waits for readers under way; later ones are refused."""
        with self._returned:
            self._closed = True
            self._returned.notify_all()
            self._returned.wait_for(lambda: self._lent == 0)
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _connect(self) -> apsw.Connection:
        try:
            return connect(self._path, self._synchronous)
        except apsw.Error as error:
            raise StoreError(f"{self._path} could not be opened for reading: {error}") from error

    def _take(self) -> apsw.Connection | None:
        """One that is idle; None where a new one has to be made."""
        with self._returned:
            if self._lent >= MANY_READERS:
                self._returned.wait_for(lambda: self._idle or self._closed, PATIENCE_S)
            if self._closed:
                raise StoreError("the store is closed")
            self._lent += 1
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: apsw.Connection | None) -> None:
        with self._returned:
            is_kept = len(self._idle) < READERS
            if connection is not None and is_kept:
                self._idle.append(connection)
        try:
            if connection is not None and not is_kept:
                connection.close()
        finally:  # or `close` would wait for it for ever
            with self._returned:
                self._lent -= 1
                self._returned.notify_all()


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def refuse_foreign(connection: apsw.Connection, path: Path) -> None:
    """A database of another program is left alone."""
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    if not empty and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is a database of another program, not a Clew store")

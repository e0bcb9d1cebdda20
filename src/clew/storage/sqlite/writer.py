"""The one writer of a process: many callers, one connection, one commit for all who wait together.

The caller who finds the connection free carries out every operation that is waiting, its own included, and
commits once. The others only wait for their result. A single caller pays for no thread switch;
many share the cost of one sync to disk.
"""

from __future__ import annotations

import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import apsw

from clew.errors import ClewError, StoreCorrupt, StoreError
from clew.storage.sqlite.connection import BUSY_TIMEOUT_MS, connection_lock

T = TypeVar("T")
Operation = Callable[[apsw.Connection], T]

NO_WAIT = 1
"""SQLite's `synchronous=NORMAL`: in the write-ahead log, a commit is in order but not yet on the disk."""

LOG_PAGES = 1000
"""From this length on, a commit carries the write-ahead log over into the store, as SQLite does by itself."""

LONG_LOG_PAGES = 8 * LOG_PAGES
"""The same for a commit that waits for nothing: a context that counts what it used should not do that work."""

_NOT_CLEAN = (
    "the records are gone, and Clew tries again until `clew status` is silent about it, "
    "but old text may still be in the store's"
)

MAX_GROUP = 256
"""Operations in one commit; bounds how long the first of them waits."""


class Writer:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._waiting: deque[_Pending[object]] = deque()
        self._turn = threading.Lock()
        self._closed = False

    def run(self, operation: Operation[T], *, durable: bool = True) -> T:
        """Carry out an operation; returns when it is durable, raises when nothing of it was kept.

        An operation that is not `durable` does not wait for the disk; a power cut may lose it, alone and as a whole.
        """
        pending = _Pending(operation, durable)
        self._waiting.append(pending)  # type: ignore[arg-type]  # results are read by their own caller
        while not pending.done:
            with self._turn:
                if not pending.done:
                    self._commit_group()
        return pending.outcome()

    def rewrite(self) -> None:
        """Write the file anew.

        Deleting overwrites what it deletes, and yet copies of rows stay behind where pages were split or joined.
        """
        with self._turn:
            try:
                self._require_room()
                self._connection.execute("VACUUM")
            except apsw.FullError:
                raise StoreError(f"{_NOT_CLEAN} files: the disk is too full to write the store anew") from None
            except (apsw.Error, OSError) as error:
                raise StoreError(f"{_NOT_CLEAN} files: {error}") from error

    def _require_room(self) -> None:
        """Raises FullError where a second store would not fit: to find that out by writing takes as long as to write
        it, and fills the disk for everybody meanwhile."""
        needed_bytes = self._connection.pragma("page_count") * self._connection.pragma("page_size")
        if shutil.disk_usage(Path(self._connection.filename).parent).free <= needed_bytes:
            raise apsw.FullError

    def cut_log(self, wait_ms: int) -> None:
        """Carry the write-ahead log over and cut it to nothing. Readers of what is in it are in the way."""
        with self._turn, _busy_timeout(self._connection, wait_ms):
            try:
                busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
            except apsw.BusyError:
                busy = 1
            except apsw.Error as error:
                raise StoreError(f"{_NOT_CLEAN} log: {error}") from error
        if busy:
            raise StoreError(f"{_NOT_CLEAN} log, since another process is reading the store")

    def close(self) -> None:
        with self._turn:
            self._closed = True
            try:
                self._connection.close()
            except apsw.Error as error:
                raise StoreError(f"the store was not closed cleanly, though nothing is lost: {error}") from error

    def _commit_group(self) -> None:
        group = [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_GROUP))]
        try:
            if self._closed:
                raise StoreError("the store is closed")
            with self._set_sync(any(pending.durable for pending in group)), connection_lock(self._connection):
                for pending in group:
                    pending.attempt(self._connection)
        except BaseException as error:  # noqa: BLE001 — every caller of the group must learn of it
            failure = _as_store_error(error)
            for pending in group:
                pending.fail(failure)
        finally:
            for pending in group:
                pending.done = True

    @contextmanager
    def _set_sync(self, durable: bool) -> Iterator[None]:
        """A commit that does not wait for the disk, where nothing in it needs to. The next that does syncs both.

        Nor does it carry the log over into the store, which would wait for the disk, too, until the log is long.
        """
        if durable:
            yield
            return
        level = self._connection.pragma("synchronous")
        self._connection.pragma("synchronous", NO_WAIT)
        self._connection.wal_autocheckpoint(LONG_LOG_PAGES)
        try:
            yield
        finally:
            self._connection.wal_autocheckpoint(LOG_PAGES)
            self._connection.pragma("synchronous", level)


class _Pending(Generic[T]):
    def __init__(self, operation: Operation[T], durable: bool) -> None:
        self._operation = operation
        self.durable = durable
        self._error: BaseException | None = None
        self._result: T
        self.done = False

    def attempt(self, connection: apsw.Connection) -> None:
        """Run inside the group's transaction; a refusal undoes this operation and not its neighbours."""
        try:
            with connection:  # a savepoint
                self._result = self._operation(connection)
        except ClewError as error:
            self._error = error
        except apsw.ConstraintError as error:
            self._error = StoreError(f"the store refused the write: {error}")
        except (OverflowError, UnicodeEncodeError):
            self._error = StoreError("the store refused the write: a number or a text in it cannot be stored")

    def fail(self, error: BaseException) -> None:
        self._error = self._error or error

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result


@contextmanager
def _busy_timeout(connection: apsw.Connection, timeout_ms: int) -> Iterator[None]:
    connection.set_busy_timeout(timeout_ms)
    try:
        yield
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)


def _as_store_error(error: BaseException) -> BaseException:
    """The error for the caller: the first one, since undoing a change that the database undid itself raises another."""
    while isinstance(error.__context__, apsw.Error):
        error = error.__context__
    if isinstance(error, apsw.FullError):
        return StoreError("the disk is full; nothing of this write was kept")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError):
        return StoreCorrupt(f"the store is damaged: {error}; run `clew verify`")
    if isinstance(error, apsw.Error):
        return StoreError(f"the store could not be written: {error}")
    return error

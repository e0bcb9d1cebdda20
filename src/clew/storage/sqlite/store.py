"""The store over one SQLite file. `storage.protocol` says what each method promises."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
import msgspec

from clew.core.collections import Collection
from clew.core.model import Metadata, Record, Trust
from clew.core.ports import EmbedderIdentity
from clew.errors import StoreCorrupt, StoreError
from clew.storage.protocol import (
    JOURNAL_LIMIT,
    Counts,
    Feed,
    Finding,
    Hint,
    Marking,
    NewRecord,
    NewSummary,
    NewTurn,
    Place,
    QueuedTask,
    Shard,
    StoredRecord,
    StoredTrace,
    Task,
    TermsOf,
)
from clew.storage.purging import OrderedPurge, Purge, Purged, PurgeEntry
from clew.storage.sqlite import checks, reads, writes
from clew.storage.sqlite import purge as purging
from clew.storage.sqlite.connection import (
    ReaderPool,
    UseLock,
    open_newest,
    prepare_file,
    remove_copies,
    require_sqlite,
    snapshot,
    write_copy,
)
from clew.storage.sqlite.graph import SqliteGraph
from clew.storage.sqlite.rows import encode_metadata, many, migration_scripts, only, run
from clew.storage.sqlite.seals import ITS_VECTOR, Damage
from clew.storage.sqlite.writer import Writer
from clew.text.terms import ANALYSER_VERSION

T = TypeVar("T")

SCRUB = "scrub"
"""The setting that says what is left to do until the files are clean of purged records, and since which purge."""

REWRITE = "due"
CUT_LOG = "log"

SCRUB_WAIT_MS = 5000
"""How long whoever purges waits for readers; others wait behind it."""

PAGE = 1000
"""Records handled in one step of a pass over the whole store."""


class SqliteStore(SqliteGraph):
    def __init__(self, path: Path, *, synchronous: str = "full") -> None:
        require_sqlite()
        prepare_file(path)
        self._path = path
        self._synchronous = synchronous
        connection, self._use = _open(path, synchronous)
        self._writer = Writer(connection)
        self._writer.run(lambda connection: run(connection, "note_analyser", (str(ANALYSER_VERSION),)))
        self._readers = ReaderPool(path, synchronous)
        self._followers = ReaderPool(path, synchronous)
        self._held = _Held()
        self._damage = Damage()
        self._read(self._damage.load)

    # --- writing ---------------------------------------------------------------------------------

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        return self._writer.run(lambda connection: [writes.append_turn(connection, turn) for turn in turns])

    def put(self, records: Sequence[NewRecord], bookmarks: Mapping[str, str] | None = None) -> list[tuple[int, bool]]:
        def operation(connection: apsw.Connection) -> list[tuple[int, bool]]:
            outcomes = [writes.put_record(connection, new) for new in records]
            for name, value in (bookmarks or {}).items():
                run(connection, "set_setting", (f"bookmark:{name}", value))
            return outcomes

        return self._writer.run(operation)

    def bookmark(self, name: str) -> str | None:
        return self._read(lambda connection: reads.setting(connection, f"bookmark:{name}"))

    def remove(self, collection: str, ids: Sequence[str]) -> int:
        return self._writer.run(lambda connection: writes.remove_members(connection, collection, ids))

    def clear(self, collection: str) -> int:
        return self._writer.run(lambda connection: writes.clear_collection(connection, collection))

    def condense(self, session_id: str, summaries: Sequence[NewSummary], shards: Sequence[Shard] = ()) -> None:
        self._writer.run(lambda connection: writes.condense(connection, session_id, summaries, shards))

    def readmit(self, session_id: str, ids: Sequence[str]) -> int:
        return self._writer.run(lambda connection: writes.readmit(connection, session_id, ids))

    def ensure(self, collections: Sequence[str]) -> None:
        def operation(connection: apsw.Connection) -> None:
            for name in collections:
                writes.ensure_collection(connection, name)

        self._writer.run(operation)

    def touch(self, uses: Mapping[str, Sequence[str]], now_ms: int, trace: StoredTrace | None = None) -> int:
        def operation(connection: apsw.Connection) -> int:
            if trace is not None:
                writes.keep_trace(connection, trace)
            return writes.touch(connection, uses, now_ms)

        return self._writer.run(operation, durable=False)

    # --- judging -----------------------------------------------------------------------------------

    def mark(self, markings: Sequence[Marking]) -> int:
        return self._writer.run(lambda connection: writes.mark(connection, markings))

    def move(self, places: Sequence[Place], collection: str) -> int:
        return self._writer.run(lambda connection: writes.move(connection, places, collection))

    def withheld(self, collection: str) -> list[int]:
        return self._read(lambda connection: reads.withheld(connection, collection))

    def trusted(self, trust: Trust, after: int, limit: int) -> list[StoredRecord]:
        return self._read(lambda connection: reads.of_trust(connection, trust, after, limit, self._damage))

    def traces(self, limit: int) -> list[StoredTrace]:
        return self._read(lambda connection: reads.traces(connection, limit))

    def trace(self, id_: str) -> StoredTrace | None:
        return self._read(lambda connection: reads.trace(connection, id_))

    # --- purging -----------------------------------------------------------------------------------

    def order_purge(self, order: OrderedPurge) -> None:
        self._writer.run(lambda connection: purging.order(connection, order))

    def ordered_purges(self) -> list[OrderedPurge]:
        return self._read(purging.orders)

    def purge(self, purge: Purge) -> Purged:
        return self._writer.run(lambda connection: purging.purge(connection, purge))

    def foresee(self, purge: Purge) -> Purged:
        try:
            self._writer.run(lambda connection: purging.foresee(connection, purge))
        except purging.Foreseen as undone:
            return undone.purged
        raise AssertionError("a purge that is only looked at is always undone")

    def purges(self) -> list[PurgeEntry]:
        return self._read(purging.entries)

    def note_purge(self, entry: PurgeEntry) -> None:
        self._writer.run(lambda connection: purging.note(connection, entry))

    def finish_purge(self, id_: str, counts: Metadata) -> None:
        def operation(connection: apsw.Connection) -> None:
            purging.finish(connection, id_, counts)
            run(connection, "set_setting", (SCRUB, f"{REWRITE}:{id_}"))

        self._writer.run(operation)

    def scrub(self, *, waits: bool = True) -> None:
        """Writes the file anew once; from then on, only its log is left to be cut, and that is cheap to try again."""
        left = self._scrub_left()
        if left is None:
            return
        if left.startswith(REWRITE):
            self._writer.rewrite()
            remove_copies(self._path)
            rewritten = left.replace(REWRITE, CUT_LOG)
            self._writer.run(lambda connection: run(connection, "advance_setting", (rewritten, SCRUB, left)))
            left = rewritten
        self._writer.cut_log(SCRUB_WAIT_MS if waits else 0)
        self._writer.run(lambda connection: run(connection, "drop_setting", (SCRUB, left)))

    def needs_scrub(self) -> bool:
        return self._scrub_left() is not None

    def _scrub_left(self) -> str | None:
        return self._read(lambda connection: reads.setting(connection, SCRUB))

    # --- reading ---------------------------------------------------------------------------------

    def get(self, collection: str, ids: Sequence[str], *, strict: bool = False) -> list[Record]:
        return self._read(
            lambda connection: reads.members_by_id(connection, collection, ids, self._damage, strict=strict)
        )

    def damage(self) -> tuple[str, ...]:
        return self._read(self._damage.report) if self._damage.is_noted else ()

    def seqs(self, collection: str, ids: Sequence[str]) -> list[int]:
        return self._read(lambda connection: reads.seqs(connection, collection, ids, self._damage))

    def places(self, collection: str, id_: str) -> tuple[Place, ...]:
        return self._read(lambda connection: reads.places(connection, collection, id_, self._damage))

    def at(self, collection: str, seqs: Sequence[int]) -> list[Record]:
        return self._read(lambda connection: reads.members_at(connection, collection, seqs, self._damage))

    def page(self, collection: str, after: int, limit: int) -> list[Record]:
        return self._read(lambda connection: reads.page(connection, collection, after, limit, self._damage))

    def newest(self, collection: str, before: int | None, limit: int) -> list[Record]:
        return self._read(lambda connection: reads.newest(connection, collection, before, limit, self._damage))

    def size(self, collection: str) -> int:
        return self._read(lambda connection: reads.size(connection, collection))

    def collections(self) -> list[tuple[Collection, int]]:
        found = self._read(lambda connection: many(connection, "all_collections"))
        return [(Collection(name), size) for name, size in found]

    def counts(self) -> Counts:
        return self._read(reads.counts)

    def feed(self, collection: str, after: int) -> Feed:
        with self._followers.borrow() as connection:
            unchanged = self._translate_errors(lambda: reads.is_at(connection, collection, after))
        if unchanged:  # as nearly always: then one statement is enough
            return Feed(until=after, reset=False)
        return self._read(lambda connection: reads.feed(connection, collection, after, self._damage), now=True)

    # --- the queue behind writes -------------------------------------------------------------------

    def queued(self, task: Task, limit: int) -> list[QueuedTask]:
        return self._read(lambda connection: reads.queued(connection, task, limit, self._damage))

    def pending(self, task: Task) -> int:
        return self._read(lambda connection: int(only(connection, "pending", (task,))[0]))

    def finish(
        self,
        done: Sequence[int],
        vectors: Mapping[int, bytes],
        promoted: Mapping[int, NewRecord] | None = None,
        embedder: EmbedderIdentity | None = None,
        kept: Mapping[int, Shard] | None = None,
    ) -> None:
        def operation(connection: apsw.Connection) -> None:
            if embedder in (None, reads.model(connection)):
                writes.finish_tasks(connection, done, vectors, promoted or {}, kept or {})

        self._writer.run(operation)

    def model(self) -> EmbedderIdentity | None:
        return self._read(reads.model)

    def adopt_model(self, identity: EmbedderIdentity) -> int:
        return self._writer.run(lambda connection: writes.adopt_model(connection, identity))

    def forget_vectors(self) -> None:
        self._writer.run(writes.forget_vectors)

    def queue_missing_vectors(self) -> int:
        for record in self._read(reads.missing_vectors):  # they were lost: each text waits from its first moment on
            self._damage.note(ITS_VECTOR, record)
        return self._writer.run(writes.queue_missing_vectors)

    def analyser_version(self) -> int:
        return int(self._read(lambda connection: reads.setting(connection, "analyser")) or 0)

    def replace_terms(self, version: int, compute: TermsOf) -> int:
        """In steps, so that writers wait for a page and not for the whole store."""
        after = count = 0
        while stored := self.export(after, PAGE):
            after = stored[-1].key
            count += len(stored)
            terms = [(compute(item.draft), item.key) for item in stored]
            self._writer.run(lambda connection, terms=terms: writes.set_terms(connection, terms))  # type: ignore[misc]
        self._writer.run(lambda connection: writes.finish_terms(connection, version))
        return count

    # --- the lifecycle journal -----------------------------------------------------------------------

    def add_hint(self, ts_ms: int, hook: str, session_id: str | None, details: Metadata) -> None:
        def operation(connection: apsw.Connection) -> None:
            run(connection, "add_hint", (ts_ms, hook, session_id, encode_metadata(details)))
            run(connection, "trim_journal", (JOURNAL_LIMIT,))

        self._writer.run(operation)

    def hints(self, session_id: str | None, limit: int) -> list[Hint]:
        return self._read(lambda connection: reads.hints(connection, session_id, limit))

    # --- moving and checking -----------------------------------------------------------------------

    def export(self, after: int, limit: int) -> list[StoredRecord]:
        return self._read(lambda connection: reads.export(connection, after, limit, self._damage))

    def restore(self, records: Iterable[StoredRecord], tasks: tuple[Task, ...]) -> tuple[int, int]:
        def operation(connection: apsw.Connection) -> tuple[int, int]:
            outcomes = [writes.restore_record(connection, stored, tasks) for stored in records]
            return sum(outcomes), len(outcomes) - sum(outcomes)

        return self._writer.run(operation)

    def findings(self) -> Iterator[Finding]:
        return iter(self._read(lambda connection: list(checks.findings(connection))))

    def repair(self) -> tuple[str, ...]:
        def operation(connection: apsw.Connection) -> tuple[str, ...]:
            connection.execute("REINDEX")
            damaged = list(checks.damaged_rows(connection, Damage()))
            vectors = checks.damaged_vectors(connection)
            if damaged:
                writes.set_aside(connection, damaged)
            if vectors:
                writes.drop_vectors(connection, vectors)
            if reads.model(connection) is not None:
                writes.queue_missing_vectors(connection)
            writes.void_terms(connection, checks.damaged_terms(connection))
            removed = [f"dropped the damaged vector of record {record}" for record in vectors]
            return (*(f"set {what} {key} aside" for what, key in damaged), *removed)

        done = self._writer.run(operation)
        self._read(self._damage.load)
        return done

    def backup(self, target: Path) -> None:
        with self._readers.borrow() as connection:
            write_copy(connection, target)

    def close(self) -> None:
        try:
            self._readers.close()
            self._followers.close()
            self._writer.close()
        finally:
            self._use.release()

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._held.connection is not None:
            yield
            return
        with self._readers.borrow() as connection, snapshot(connection):
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = None

    def _read(self, question: Callable[[apsw.Connection], T], *, now: bool = False) -> T:
        """An answer as of the moment that `reading` holds, or, where none is held or wanted, as of now.

        Questions about now have connections of their own: the holder of another one must not wait for a second.
        """
        if self._held.connection is not None and not now:
            held = self._held.connection
            return self._translate_errors(lambda: question(held))
        readers = self._followers if now else self._readers
        with readers.borrow() as connection:
            return self._translate_errors(lambda: _out_of_one_moment(connection, question))

    def _translate_errors(self, attempt: Callable[[], T]) -> T:
        try:
            return attempt()
        except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError, msgspec.DecodeError) as error:
            raise StoreCorrupt(f"{self._path} is damaged: {error}") from error
        except apsw.Error as error:
            raise StoreError(f"{self._path} could not be read: {error}") from error


def _out_of_one_moment(connection: apsw.Connection, question: Callable[[apsw.Connection], T]) -> T:
    with snapshot(connection):
        return question(connection)


class _Held(threading.local):
    """The connection on which this thread reads the state of one moment, while it does."""

    connection: apsw.Connection | None = None


def _open(path: Path, synchronous: str) -> tuple[apsw.Connection, UseLock]:
    try:
        return open_newest(path, synchronous, migration_scripts())
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise StoreCorrupt(f"{path} is damaged: {error}") from error
    except apsw.Error as error:
        raise StoreError(f"cannot open {path}: {error}") from error

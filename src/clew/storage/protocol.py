"""The contract of a store. These docstrings are the specification; one suite runs on every store.

A *record* is a text with its properties, stored once. A *member* is a record's place in one collection, under an id
that is unique there. A turn is one record with several members: the active view, the raw history and the user's turns
all show the same text. Every change of a collection (a member added or removed, a vector arriving) takes the next
number of that collection's sequence, so the holder of a derived index learns of changes by asking for later numbers.

Writes are atomic and durable when the call returns. Stores are safe to use from several threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import NamedTuple, Protocol

from clew.core.collections import Collection, CollectionKind
from clew.core.lineage import read_lineage
from clew.core.model import Draft, Metadata, Record, Trust
from clew.core.ports import EmbedderIdentity
from clew.errors import Conflict
from clew.storage.graphing import GraphStore
from clew.storage.purging import OrderedPurge, Purge, Purged, PurgeEntry


class Task(StrEnum):
    """Work that waits behind an acknowledged write."""

    EMBED = "embed"
    GATE = "gate"
    LINK = "link"
    GUIDE = "guide"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a record is: a collection, and its id there."""

    collection: Collection
    id: str


def tells_marks(collection: str) -> bool:
    """Whether the feed of a collection tells of new marks: of plans, since a mark says that a plan is closed.

    Of other collections nobody follows them, and Clew marks their records often.
    """
    return Collection(collection).kind is CollectionKind.PLANS


def names_of(place: Place) -> Iterator[str]:
    """The names a turn may have there, its intended one first.

    In its own session a turn has one name only. Raises Conflict where that one is taken.
    """
    yield place.id
    if place.collection.is_raw or place.collection.kind is CollectionKind.SESSION:
        raise Conflict(f"{place.collection} already holds something else as {place.id!r}")
    yield from (f"{place.id}~{number}" for number in count(2))


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A raw turn and the places it takes, the one in its raw history first."""

    draft: Draft
    places: tuple[Place, ...]
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record for one place, shown `also` where its id is free. A vector that is known need not be computed again."""

    draft: Draft
    place: Place
    tasks: tuple[Task, ...] = ()
    vector: bytes | None = None
    also: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class NewSummary:
    """A summary of nodes in a session's active view, by their ids there."""

    id: str
    draft: Draft
    sources: tuple[str, ...]
    tasks: tuple[Task, ...] = ()
    vector: bytes | None = None

    @property
    def prior_ids(self) -> tuple[str, ...]:
        """The earlier summaries whose words may have entered it."""
        lineage = read_lineage(self.draft.metadata)
        return () if lineage is None else lineage.prior_ids


@dataclass(frozen=True, slots=True)
class Shard:
    """A turn of a session that is to be kept word for word in one more place, and what is noted of it."""

    turn_id: str
    place: Place
    marks: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Marking:
    """New marks of the record at a place; a mark of None is removed."""

    place: Place
    marks: Metadata = field(default_factory=dict)
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A log of what one pack searched, took and left out, as canonical JSON without content."""

    id: str
    ts_ms: int
    user_id: str | None
    session_id: str | None
    body: str


@dataclass(frozen=True, slots=True)
class QueuedTask:
    """One piece of waiting work, with the record it is about."""

    seq: int
    task: Task
    record_key: int
    draft: Draft
    places: tuple[Place, ...]
    vector: bytes | None
    """The record's vector of the store's embedder, where it has arrived."""


class FeedRow(NamedTuple):
    """The part of one member that an index keeps."""

    seq: int
    ts_ms: int
    terms: bytes
    vector: bytes | None
    record: int = 0
    """The key of the record it shows, the same in every collection; 0 where that is not known."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """The changes of a collection after a point of its sequence."""

    until: int
    """Ask for what comes after this next time."""
    reset: bool
    """True when `added` is the whole collection and earlier knowledge is void."""
    added: Sequence[FeedRow] = ()
    removed: Sequence[int] = ()
    vectors: Sequence[tuple[int, bytes]] = ()
    """Vectors that arrived for members added earlier, by seq."""
    marked: Sequence[int] = ()
    """Members added earlier whose marks or trust changed, where `tells_marks`."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A line of the lifecycle journal."""

    seq: int
    ts_ms: int
    hook: str
    session_id: str | None
    details: Metadata


@dataclass(frozen=True, slots=True)
class Counts:
    records: int
    user_turns: int
    memories: int
    hints: int
    pending: int
    store_bytes: int
    quarantined: int


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record with everything a transfer needs, independent of any one store's keys."""

    key: int
    """Place in this store's order of writing; a cursor, not part of the content."""
    draft: Draft
    raw: bool
    places: tuple[Place, ...]
    """Sorted; of a raw turn, at least one is in a raw history."""
    version: int
    access_count: int
    last_used_ms: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one integrity check."""

    name: str
    proof: str
    problems: tuple[str, ...] = field(default=())


class Store(GraphStore, Protocol):
    # --- writing ---------------------------------------------------------------------------------

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        """Add raw turns, all or none. True where the turn is new, False where its raw history has it already.

        Raises Conflict where that or the session's view has something else there; elsewhere a taken name is numbered.
        """

    def put(self, records: Sequence[NewRecord], bookmarks: Mapping[str, str] | None = None) -> list[tuple[int, bool]]:
        """Add records or replace those of the same id; all or none. Gives (version, changed) each.

        Writing equal text and metadata changes nothing, and marks of the operator stay. Raises
        RawHistoryProtected where the collection holds raw history, or the id belongs to a raw turn or a
        summary. Bookmarks, which say how far something was read, move in the same step.
        """

    def bookmark(self, name: str) -> str | None:
        """How far something was read; None where it was not begun."""

    def remove(self, collection: str, ids: Sequence[str]) -> int:
        """Take members out of a collection; the number that was there.

        Raises RawHistoryProtected for raw history, and for a summary of a session. A turn that leaves a view
        stays in its history; one that is taken out of a session's active view is noted in that session's
        dismissed turns, so that it can be told from one that was lost.
        """

    def clear(self, collection: str) -> int:
        """Take every member out of a collection, under the rules of `remove`."""

    def condense(self, session_id: str, summaries: Sequence[NewSummary], shards: Sequence[Shard] = ()) -> None:
        """Replace nodes of a session's active view by summaries, in one step or not at all.

        First the shards take their places. Then each summary, in order, joins the view and the session's
        summaries, and its sources leave the view; a source may be a summary that came before it. Raises
        Conflict where a source is not a turn or summary in the view (another compaction was faster), an
        earlier summary it was written in the light of is gone (purged meanwhile), or an id is taken.
        """

    def readmit(self, session_id: str, ids: Sequence[str]) -> int:
        """Put turns and summaries of a session back into its active view; how many were not there."""

    def ensure(self, collections: Sequence[str]) -> None:
        """Make the collections exist, empty where they are new."""

    def touch(self, uses: Mapping[str, Sequence[str]], now_ms: int, trace: StoredTrace | None = None) -> int:
        """Count one use of each named member's record that exists, and keep the trace of what used them, up to a bound.

        The one write that does not wait for the disk: a count may be lost with the power, never a text.
        """

    # --- judging -----------------------------------------------------------------------------------

    def mark(self, markings: Sequence[Marking]) -> int:
        """Change the marks of records, all or none; how many of the places exist."""

    def move(self, places: Sequence[Place], collection: str) -> int:
        """Move members to another collection under the same id; how many moved.

        A place that does not exist, or whose id is taken there, is passed over. Raises
        RawHistoryProtected for anything but a record of its own: turns and summaries do not move.
        """

    def withheld(self, collection: str) -> list[int]:
        """The seqs of members that are quarantined."""

    def trusted(self, trust: Trust, after: int, limit: int) -> list[StoredRecord]:
        """Records of a trust, in the order they were written, from a cursor."""

    def traces(self, limit: int) -> list[StoredTrace]:
        """Newest first."""

    def trace(self, id_: str) -> StoredTrace | None: ...

    # --- purging -----------------------------------------------------------------------------------

    def order_purge(self, order: OrderedPurge) -> None:
        """Keep an order until `finish_purge`, so that whoever opens the store next can finish it.

        A store that may carry it out much later sets its extent, so that nothing goes that came after it.
        """

    def ordered_purges(self) -> list[OrderedPurge]:
        """The orders that are not finished, oldest first."""

    def purge(self, purge: Purge) -> Purged:
        """Remove a target and all made from it, raw turns included; `storage.purging` has the rules.

        An order that was carried out before changes nothing more, and gives the result it had.
        """

    def foresee(self, purge: Purge) -> Purged:
        """The result that `purge` would have; changes nothing."""

    def purges(self) -> list[PurgeEntry]:
        """The ledger of purges, oldest first."""

    def note_purge(self, entry: PurgeEntry) -> None:
        """Add a line to the ledger that another copy of the store has."""

    def finish_purge(self, id_: str, counts: Metadata) -> None:
        """The files beside the store are clean: forget the order and its target. The store's own are next: `scrub`."""

    def scrub(self, *, waits: bool = True) -> None:
        """Leave no byte of purged records in the store's own files, where a purge has not yet done so.

        Raises StoreError where it cannot, for instance because others read; `needs_scrub` then says so.
        """

    def needs_scrub(self) -> bool:
        """Whether bytes of purged records may still be in the store's own files."""

    # --- reading ---------------------------------------------------------------------------------

    def get(self, collection: str, ids: Sequence[str], *, strict: bool = False) -> list[Record]:
        """The members that exist, in the order of `ids`.

        Where `strict`, raises RecordDamaged for one that is not what was written. Every other read leaves it out and
        notes it.
        """

    def damage(self) -> tuple[str, ...]:
        """The damaged rows that reads have come upon and left out, and that no repair has set aside."""

    def seqs(self, collection: str, ids: Sequence[str]) -> list[int]:
        """The places of the members that exist."""

    def places(self, collection: str, id_: str) -> tuple[Place, ...]:
        """Every place of a member's record, sorted; none where there is no such member."""

    def at(self, collection: str, seqs: Sequence[int]) -> list[Record]:
        """The members at these places that still exist, in the order of `seqs`."""

    def page(self, collection: str, after: int, limit: int) -> list[Record]:
        """Up to `limit` members with seq above `after`, oldest first. An unknown collection is empty."""

    def newest(self, collection: str, before: int | None, limit: int) -> list[Record]:
        """Up to `limit` members with seq below `before` (or the very newest), newest first."""

    def size(self, collection: str) -> int:
        """How many members a collection has; an unknown one has none."""

    def collections(self) -> list[tuple[Collection, int]]:
        """Every collection with its number of members, by name."""

    def counts(self) -> Counts: ...

    def reading(self) -> AbstractContextManager[None]:
        """Inside, this thread reads the state of one moment, except by `feed`, which is always current."""

    def feed(self, collection: str, after: int) -> Feed:
        """The changes of a collection after a point of its sequence, as one consistent picture."""

    # --- the queue behind writes -------------------------------------------------------------------

    def queued(self, task: Task, limit: int) -> list[QueuedTask]:
        """The oldest waiting tasks of a kind, in order."""

    def pending(self, task: Task) -> int:
        """How many tasks of a kind wait."""

    def finish(
        self,
        done: Sequence[int],
        vectors: Mapping[int, bytes],
        promoted: Mapping[int, NewRecord] | None = None,
        embedder: EmbedderIdentity | None = None,
        kept: Mapping[int, Shard] | None = None,
    ) -> None:
        """In one step: store vectors by record key, add promoted records by task, keep turns, take tasks off the queue.

        Shards, by task, show the task's turn in one more place and set its marks there.

        With an `embedder`, nothing happens where it is not the store's any more. A vector of a record that has been
        removed meanwhile is dropped, and so is every vector of a store that has no embedder; a promoted record or a
        shard is dropped where its task has left the queue.
        """

    def model(self) -> EmbedderIdentity | None:
        """The embedder whose vectors the store holds."""

    def adopt_model(self, identity: EmbedderIdentity) -> int:
        """Make this the store's embedder and queue every record that has no vector of it; how many."""

    def queue_missing_vectors(self) -> int:
        """Queue records that have neither a whole vector of the store's embedder nor a place in the queue."""

    def forget_vectors(self) -> None:
        """Drop every vector, and queue every record where the store has an embedder."""

    def analyser_version(self) -> int:
        """The version of the search terms the rows carry."""

    def replace_terms(self, version: int, compute: TermsOf) -> int:
        """Recompute the search terms of every record; how many records there were."""

    # --- the lifecycle journal -----------------------------------------------------------------------

    def add_hint(self, ts_ms: int, hook: str, session_id: str | None, details: Metadata) -> None:
        """Append to the journal; beyond its bound the oldest entries leave."""

    def hints(self, session_id: str | None, limit: int) -> list[Hint]:
        """Newest first."""

    # --- moving and checking -----------------------------------------------------------------------

    def export(self, after: int, limit: int) -> list[StoredRecord]:
        """Records in the order they were written, from a cursor."""

    def restore(self, records: Iterable[StoredRecord], tasks: tuple[Task, ...]) -> tuple[int, int]:
        """Write exported records, all or none; how many were new and how many were there already.

        A summary whose id is taken stays as it is here, in every collection. Raises Conflict where a raw
        turn's id is taken by other content.
        """

    def findings(self) -> Iterator[Finding]:
        """Check the rows: structure, hashes, membership, queue."""

    def repair(self) -> tuple[str, ...]:
        """Rebuild the indexes of the file, drop damaged vectors, and set damaged rows aside; what was done, row by row.

        A row that is set aside stays as it is. No read gives it, and nothing counts as damaged because of it.
        """

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write. The copy is readable by its owner only."""

    def close(self) -> None: ...


class TermsOf(Protocol):
    def __call__(self, draft: Draft) -> bytes:
        """The packed search terms of a text."""


JOURNAL_LIMIT = 500
"""Entries of the lifecycle journal; beyond it the oldest leave."""

TRACE_LIMIT = 500
"""Traces that are kept; beyond it the oldest leave."""

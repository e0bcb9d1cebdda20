"""Looking something up step by step: one line each, then what was around it; `get` then gives the record.

Lines show what is known of a record and how its text begins. Of one that is quarantined they never show the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.core.collections import GLOBAL, Collection, CollectionKind
from clew.core.ids import turn_name
from clew.core.marks import Mark, value_of
from clew.core.model import Kind, Provenance, Record, Trust
from clew.core.ranking import Weights
from clew.errors import InvalidInput, NotFound
from clew.features.ledger.operations import Line, Recall, RecallResult, Replay, Timeline, TimelineView
from clew.index.search import Query
from clew.kernel import search as recall
from clew.kernel.parts import Parts
from clew.kernel.quoting import speaker_of
from clew.kernel.records import checked_limit, find_record
from clew.kernel.search import MAX_HITS, Found
from clew.kernel.services import serves
from clew.text.excerpts import one_line
from clew.text.grading.kinds import kind_of_text
from clew.text.terms import QueryTerms, analyse_query

Choice = TypeVar("Choice", bound=StrEnum)

MAX_AROUND = 1000
MAX_REPLAY = 10_000
WITHHELD = "[quarantined]"
"""Stands for a text that may not be shown."""

_MAX_DEPTH = 4096
"""How deep records of the wanted kinds are looked for."""

_WHO_CHARS = 80


class Mode(StrEnum):
    """How a query and a record are compared."""

    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"


@serves(Recall)
def recall_lines(parts: Parts, request: Recall) -> RecallResult:
    limit = checked_limit(request.k, MAX_HITS, "k")
    if request.user_id is None and request.session_id is None:
        raise InvalidInput("recall needs a userId or a sessionId")
    kinds = {_checked(Kind, "kinds", name) for name in request.kinds}
    mode = _checked(Mode, "mode", request.mode)
    query, degraded = _query(parts, request.text, mode)
    if mode is Mode.VECTOR and query.vector is None:
        return RecallResult(lines=(), degraded=(*degraded, "mode vector needs an embedder; nothing was searched"))
    found = _best(parts, query, _collections(request), limit, kinds)
    lines = tuple(_line(item.record, _session_of(parts, item.record), item.score) for item in found)
    return RecallResult(lines=lines, degraded=degraded)


@serves(Timeline)
def timeline(parts: Parts, request: Timeline) -> TimelineView:
    for count, what in ((request.before, "before"), (request.after, "after")):
        if not 0 <= count <= MAX_AROUND:
            raise InvalidInput(f"{what} must be from 0 to {MAX_AROUND}, not {count}")
    record = find_record(parts, request.ref)
    session_id = _session_of(parts, record)
    shown = None if session_id is None else _around(parts, session_id, record, request.before, request.after)
    if shown is not None:
        return TimelineView(lines=tuple(_line(item, session_id) for item in shown))
    earlier = parts.store.newest(record.collection, record.seq, request.before) if request.before else []
    later = parts.store.page(record.collection, record.seq, request.after) if request.after else []
    neighbours = (*reversed(earlier), record, *later)
    return TimelineView(lines=tuple(_line(item, _session_of(parts, item)) for item in neighbours))


@serves(Replay)
def replay(parts: Parts, request: Replay) -> TimelineView:
    limit = checked_limit(request.limit, MAX_REPLAY)
    if request.cursor < 0:
        raise InvalidInput(f"{request.cursor} is not a cursor that a page gave")
    course = _Course.of(parts, request.session_id)
    if len(course.seqs) == 0:
        raise NotFound(f"there is no session {request.session_id!r}")
    end = request.cursor + limit
    lines = tuple(_line(record, request.session_id) for record in course.records(parts, request.cursor, end))
    return TimelineView(lines=lines, cursor=end if end < len(course.seqs) else None)


# --- recall ----------------------------------------------------------------------------------------------


def _query(parts: Parts, text: str, mode: Mode) -> tuple[Query, tuple[str, ...]]:
    """The question with the lanes that the mode has; words alone need no embedder."""
    if mode is Mode.LEXICAL:
        terms = analyse_query(recall.cut(text))
        weights = Weights.normalised(*parts.tuning.search_weights)
        return Query(terms, None, None, parts.clock.now_ms(), weights), ()
    query, degraded = recall.prepare(parts, text, ())
    return (replace(query, terms=QueryTerms((), (), ())) if mode is Mode.VECTOR else query), degraded


def _collections(request: Recall) -> list[Collection]:
    """What is kept for a user and a session; of episodes, what it was kept from."""
    names = []
    if request.session_id is not None:
        names += [Collection.raw(request.session_id)] if request.episodes else []
        names.append(Collection.ledger(None, request.session_id))
    if request.user_id is not None:
        kept = Collection.turns(request.user_id) if request.episodes else Collection.memories(request.user_id)
        names += [kept, Collection.ledger(request.user_id)]
    return names if request.episodes else [*names, GLOBAL]


def _best(parts: Parts, query: Query, collections: Sequence[Collection], limit: int, kinds: set[Kind]) -> list[Found]:
    """The best of the wanted kinds, each record once; looks deeper while too few are among the best of all."""
    depth = limit
    while True:
        found = recall.best(parts, query, collections, depth, exclude={}, repeats=True)
        wanted: dict[str, Found] = {}
        for item in found:
            if not kinds or _kind(item.record) in kinds:
                wanted.setdefault(_origin(item.record), item)
        if len(wanted) >= limit or len(found) < depth or depth >= _MAX_DEPTH:
            return list(wanted.values())[:limit]
        depth *= 4


def _origin(record: Record) -> str:
    """The same for a record in each of its places."""
    kind, _, owner = record.collection.partition(":")
    if kind == "session_raw":
        return turn_name(owner, record.id)
    if kind == "ledger":
        of, _, whose = owner.partition(":")
        name = turn_name(whose, record.id) if of == "session" else record.id
        return f"{kind}\n{record.ts_ms}\n{name}"
    return recall.origin(record)


# --- the course of a session -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Course:
    """The turns and captured events of a session by their times; of each, only its place is held.

    Equal times: turns first, and each kind in the order it was written.
    """

    collections: tuple[str, ...]
    which: NDArray[np.int64]
    """Of each, its collection."""
    seqs: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Parts, session_id: str) -> _Course:
        collections = (Collection.raw(session_id), Collection.ledger(None, session_id))
        times, which, seqs = [], [], []
        for place, name in enumerate(collections):
            with parts.indexes.current(name) as index:
                alive = index.alive
                times.append(index.times[alive])
                seqs.append(index.seqs[alive])
            which.append(np.full(len(seqs[-1]), place, np.int64))
        order = np.lexsort((np.concatenate(seqs), np.concatenate(which), np.concatenate(times)))
        return cls(collections, np.concatenate(which)[order], np.concatenate(seqs)[order])

    def place_of(self, record: Record) -> int | None:
        if record.collection not in self.collections:
            return None
        at = np.flatnonzero((self.which == self.collections.index(record.collection)) & (self.seqs == record.seq))
        return int(at[0]) if len(at) else None

    def records(self, parts: Parts, start: int, end: int) -> list[Record]:
        """Those from one place to another that are still there."""
        which, seqs = self.which[start:end], self.seqs[start:end]
        read = {
            (name, record.seq): record
            for place, name in enumerate(self.collections)
            for record in parts.store.at(name, seqs[which == place].tolist())
        }
        places = ((self.collections[place], seq) for place, seq in zip(which.tolist(), seqs.tolist(), strict=True))
        return [read[place] for place in places if place in read]


def _around(parts: Parts, session_id: str, record: Record, before: int, after: int) -> list[Record] | None:
    """What was around a turn or a captured event in its session; None where it is neither."""
    course = _Course.of(parts, session_id)
    stands = [
        found
        for place in parts.store.places(record.collection, record.id)
        if place.collection in course.collections
        for found in parts.store.get(place.collection, [place.id])
    ]
    at = course.place_of(stands[0]) if stands else None
    return None if at is None else course.records(parts, max(at - before, 0), at + after + 1)


def _session_of(parts: Parts, record: Record) -> str | None:
    """The session whose raw history or ledger holds a record."""
    names = (place.collection for place in parts.store.places(record.collection, record.id))
    held = (name.session_id for name in names if name.kind in (CollectionKind.RAW, CollectionKind.LEDGER))
    return next((session_id for session_id in held if session_id is not None), None)


# --- lines -----------------------------------------------------------------------------------------------


def _line(record: Record, session_id: str | None, score: float | None = None) -> Line:
    withheld = record.trust is Trust.QUARANTINED
    grade = value_of(record.marks, Mark.GRADE)
    return Line(
        ref=record.ref,
        kind=_kind(record).value,
        ts=record.ts_ms,
        who=(record.role or "unknown") if withheld else one_line(speaker_of(record), _WHO_CHARS),
        trust=record.trust.value,
        importance=grade["label"] if isinstance(grade, dict) else None,
        text=WITHHELD if withheld else one_line(record.text),
        session_id=session_id,
        score=score,
    )


def _kind(record: Record) -> Kind:
    """The kind it was given; else a summary is a note, and other texts are what they say."""
    given = value_of(record.marks, Mark.KIND)
    if given is not None:
        return Kind(given)
    return Kind.NOTE if record.provenance is Provenance.SUMMARY else kind_of_text(record.text, record.role)


def _checked(choices: type[Choice], what: str, name: str) -> Choice:
    try:
        return choices(name)
    except ValueError:
        raise InvalidInput(f"{what} must be one of {', '.join(choices)}, not {name[:40]!r}") from None

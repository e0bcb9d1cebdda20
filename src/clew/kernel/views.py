"""A session's history as stored: the active view, the summaries, and which summary leads to a turn that left the view.

A summary is lossy, and so is a search for it. Search therefore finds it by what it says and by the turns it covers:
their own words and meanings are still in the raw history. It shows the summary; only an expansion shows the turns.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clew.core.collections import Collection
from clew.core.lineage import Graph, Lineage, lineage_of
from clew.core.model import Provenance, Record
from clew.kernel.parts import Parts
from clew.storage.paging import every_member

_OF_TURNS = frozenset(
    {
        Provenance.USER_TURN,
        Provenance.ASSISTANT_TURN,
        Provenance.SYSTEM_TURN,
        Provenance.TOOL_OUTPUT,
        Provenance.WEB,
    }
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A stored summary with its lineage read."""

    record: Record
    lineage: Lineage


@dataclass(frozen=True, slots=True)
class View:
    """The turns and summaries of a session's active view, oldest first.

    It leaves out records that a client put there itself, and turns that the raw history does not know.
    """

    turns: tuple[Record, ...]
    summaries: tuple[Summary, ...]

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns) + sum(summary.record.tokens for summary in self.summaries)


def active_view(parts: Parts, session_id: str) -> View:
    """Turns in the order they were said, which is that of the raw history, whatever their clocks showed."""
    records = list(every_member(parts.store, Collection.session(session_id)))
    turns = [record for record in records if is_turn(record)]
    history = Collection.raw(session_id)
    order = parts.store.seqs(history, [turn.id for turn in turns])
    if len(order) < len(turns):
        turns = [turn for turn in turns if parts.store.seqs(history, [turn.id])]
    said = [turn for _, turn in sorted(zip(order, turns, strict=True), key=lambda pair: pair[0])]
    summaries = sorted(_summaries(records), key=lambda item: (item.lineage.first_ts_ms, item.record.seq))
    return View(tuple(said), tuple(summaries))


def is_turn(record: Record) -> bool:
    """Whether a record of a session's view is a turn, and not a summary or a client's own record."""
    return record.provenance in _OF_TURNS


def all_summaries(parts: Parts, session_id: str) -> list[Summary]:
    return _summaries(every_member(parts.store, Collection.summaries(session_id)))


def _summaries(records: Iterator[Record] | list[Record]) -> list[Summary]:
    found = ((record, lineage_of(record)) for record in records)
    return [Summary(record, lineage) for record, lineage in found if lineage is not None]


MAX_SESSIONS = 16
"""Sessions whose map is kept; making one reads all the summaries of its session."""


def summaries_over(parts: Parts, session_id: str) -> Mapping[int, int]:
    """The place in the view of the summary over each turn that has one, by the turn's place in the history."""
    return parts.state(Coverage).of(session_id)


class Coverage:
    """For each session, where the turns under its summaries lead. Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._maps: OrderedDict[str, tuple[int, Mapping[int, int]]] = OrderedDict()

    def of(self, session_id: str) -> Mapping[int, int]:
        with self._parts.indexes.current(Collection.summaries(session_id)) as index:
            until, is_empty = index.until, index.size == 0
        if is_empty:
            return {}
        with self._lock:
            known = self._maps.get(session_id)
        if known is None or known[0] != until:
            known = (until, _map_coverage(self._parts, session_id))
        with self._lock:
            self._maps[session_id] = known
            self._maps.move_to_end(session_id)
            if len(self._maps) > MAX_SESSIONS:
                self._maps.popitem(last=False)
            return known[1]


def _map_coverage(parts: Parts, session_id: str) -> dict[int, int]:
    lineages = {item.record.id: item.lineage for item in all_summaries(parts, session_id)}
    named = {source for lineage in lineages.values() if lineage.level == 1 for source in lineage.source_ids}
    graph = Graph(lineages, named)
    found: dict[int, int] = {}
    for item in active_view(parts, session_id).summaries:
        turns = parts.store.seqs(Collection.raw(session_id), graph.turns_under(item.record.id))
        found.update(dict.fromkeys(turns, item.record.seq))
    return found

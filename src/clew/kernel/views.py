"""A session's history as stored: the active view, the summaries, and the graph they make over raw turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clew.core.collections import Collection
from clew.core.lineage import Lineage, lineage_of
from clew.core.model import Provenance, Record
from clew.kernel.parts import Parts

_RECORDS_A_READ = 1000

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
    """What a session's active view holds, oldest first.

    What a client put there by itself is not part of it, nor is a turn that the raw history does not know.
    """

    turns: tuple[Record, ...]
    summaries: tuple[Summary, ...]

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns) + sum(summary.record.tokens for summary in self.summaries)


def active_view(parts: Parts, session_id: str) -> View:
    """Turns in the order they were said, which is that of the raw history, whatever their clocks showed."""
    records = list(every(parts, Collection.session(session_id)))
    turns = [record for record in records if is_turn(record)]
    history = Collection.raw(session_id)
    order = parts.store.seqs(history, [turn.id for turn in turns])
    if len(order) < len(turns):
        turns = [turn for turn in turns if parts.store.seqs(history, [turn.id])]
    said = [turn for _, turn in sorted(zip(order, turns, strict=True), key=lambda pair: pair[0])]
    summaries = sorted(_summaries(records), key=lambda item: (item.lineage.first_ts_ms, item.record.seq))
    return View(tuple(said), tuple(summaries))


def is_turn(record: Record) -> bool:
    """Whether a record of a session's view is a turn, and not a summary or what a client put there."""
    return record.provenance in _OF_TURNS


def all_summaries(parts: Parts, session_id: str) -> list[Summary]:
    return _summaries(every(parts, Collection.summaries(session_id)))


def every(parts: Parts, collection: str) -> Iterator[Record]:
    after = 0
    while page := parts.store.page(collection, after, _RECORDS_A_READ):
        yield from page
        after = page[-1].seq


def _summaries(records: Iterator[Record] | list[Record]) -> list[Summary]:
    found = ((record, lineage_of(record)) for record in records)
    return [Summary(record, lineage) for record, lineage in found if lineage is not None]

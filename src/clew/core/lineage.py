"""Where a summary comes from: the edges of the graph that leads back to every raw turn.

A summary of level 1 covers raw turns, one of level n + 1 covers summaries of level n. Since every
edge leads one level down, the graph has no cycle, and following it ends at raw turns. The lineage
is in the summary's own metadata: it is hashed, exported and restored with it, and cannot be lost
apart from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from clew.core.model import Metadata, Provenance, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    level: int
    source_ids: tuple[str, ...]
    turn_count: int
    first_ts_ms: int
    last_ts_ms: int
    compacted_ts_ms: int
    method: str
    confidence: float
    source_tokens: int
    prior_ids: tuple[str, ...] = ()
    trivial: bool = False
    """Whether it covers one node only, which makes a view shorter but not smaller in number."""

    @property
    def decay(self) -> float:
        """How far the summary falls short of its sources."""
        return 1.0 - self.confidence

    def as_metadata(self) -> dict[str, object]:
        return {
            "type": "summary",
            "level": self.level,
            "source_ids": list(self.source_ids),
            "turn_count": self.turn_count,
            "first_ts": self.first_ts_ms,
            "last_ts": self.last_ts_ms,
            "compacted_ts": self.compacted_ts_ms,
            "method": self.method,
            "confidence": self.confidence,
            "decay_rate": self.decay,
            "source_tokens": self.source_tokens,
            "prior_ids": list(self.prior_ids),
            "trivial": self.trivial,
        }


def lineage_of(record: Record) -> Lineage | None:
    """The lineage a record carries. None where it is no summary, whatever its metadata claims."""
    return read_lineage(record.metadata) if record.provenance is Provenance.SUMMARY else None


def read_lineage(metadata: Metadata) -> Lineage | None:
    """None where a part is missing or invalid."""
    try:
        found = Lineage(
            level=_whole(metadata["level"]),
            source_ids=_names(metadata["source_ids"]),
            turn_count=_whole(metadata["turn_count"]),
            first_ts_ms=_whole(metadata["first_ts"]),
            last_ts_ms=_whole(metadata["last_ts"]),
            compacted_ts_ms=_whole(metadata["compacted_ts"]),
            method=str(metadata["method"]),
            confidence=_share(metadata["confidence"]),
            source_tokens=_whole(metadata["source_tokens"]),
            prior_ids=_names(metadata["prior_ids"]),
            trivial=metadata["trivial"] is True,
        )
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.level >= 1 and found.source_ids else None


@dataclass(frozen=True, slots=True)
class Graph:
    """The summaries of one session and the ids of its raw turns."""

    summaries: Mapping[str, Lineage]
    turns: AbstractSet[str]

    def parents(self) -> dict[tuple[int, str], list[str]]:
        """The summaries that cover a node, by its level and id."""
        found: dict[tuple[int, str], list[str]] = {}
        for id_, lineage in self.summaries.items():
            for source in lineage.source_ids:
                found.setdefault((lineage.level - 1, source), []).append(id_)
        return found

    def turns_under(self, id_: str) -> list[str]:
        """The raw turns a summary reaches, in order, each once; an id that does not resolve reaches nothing."""
        reached: dict[str, None] = {}
        opened: set[str] = set()
        waiting = [id_]
        while waiting:
            current = waiting.pop()
            lineage = self.summaries.get(current)
            if lineage is None or current in opened:
                continue
            opened.add(current)
            if lineage.level == 1:
                reached.update(dict.fromkeys(turn for turn in lineage.source_ids if turn in self.turns))
            else:
                waiting += reversed(lineage.source_ids)
        return list(reached)

    def dangling(self) -> Iterator[str]:
        """Edges that do not lead one level down to a node of the session."""
        for id_, lineage in self.summaries.items():
            for source in lineage.source_ids:
                if lineage.level == 1:
                    resolves = source in self.turns
                else:
                    child = self.summaries.get(source)
                    resolves = child is not None and child.level == lineage.level - 1
                if not resolves:
                    yield f"summary {id_} of level {lineage.level} stands for {source}, which is not there"

    def cycle(self) -> list[str]:
        """Summaries that reach each other in a circle; empty, since edges lead down."""
        below = {
            id_: [source for source in lineage.source_ids if lineage.level > 1 and source in self.summaries]
            for id_, lineage in self.summaries.items()
        }
        try:
            TopologicalSorter(below).prepare()
        except CycleError as error:
            return list(error.args[1])
        return []

    def uncovered(self, shown: AbstractSet[str]) -> list[str]:
        """Turns that the given view neither shows nor covers by a summary, in the order of their ids."""
        covered = set(shown)
        for id_ in shown:
            covered.update(self.turns_under(id_))
        return sorted(self.turns - covered)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(value)
    return value


def _share(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value) or not 0.0 <= value <= 1.0:
        raise ValueError(value)
    return float(value)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(item, str) for item in value):
        raise ValueError(value)
    return tuple(value)

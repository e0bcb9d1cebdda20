"""What a run measures, as it is written to the results file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter

from msgspec import Struct


class Spread(Struct, frozen=True):
    """How long calls of one kind took, in milliseconds."""

    p50: float
    p95: float
    worst: float
    count: int


class Filled(Struct, frozen=True):
    """Writing: the bulk, then single records on top of it."""

    load_s: float
    ingest_ms: Spread
    settled_ms: float
    """From the first of those single records until all are searchable by meaning, for each record."""
    record_bytes: float


class Asked(Struct, frozen=True):
    """Reading, in a process of its own."""

    open_ms: float
    """Opening the store and the first answer."""
    search_ms: Spread
    search_after_write_ms: Spread
    hits: float
    """Mean number of records that came back, of the ten asked for."""
    resident_mb: float | None
    """Of the whole process, after the searches; None where it could not be read."""


class Conversed(Struct, frozen=True):
    """Turns and contexts over a user who has this many memories."""

    memories: int
    session_turns: int
    ingest_turn_ms: Spread
    assemble_ms: Spread
    drain_s: float
    """Until every turn had its vector and had been through the gate."""


class Case(Struct, frozen=True):
    """One system at one size and in one layout."""

    system: str
    size: int
    collections: int
    filled: Filled | None = None
    asked: Asked | None = None
    trouble: str = ""
    """Why something is missing; empty when nothing is."""


class Serving(Struct, frozen=True):
    """The daemon and the default model."""

    first_answer_ms: float
    first_answer_by_meaning_ms: float
    idle_mb: float | None
    embed_query_ms: Spread
    texts_per_s: float
    bare_texts_per_s: float
    tokens_per_s: float


class Report(Struct, frozen=True):
    machine: dict[str, str]
    command: str
    cases: tuple[Case, ...]
    conversed: tuple[Conversed, ...] = ()
    serving: Serving | None = None
    notes: tuple[str, ...] = ()
    """What a reader must know besides the figures: what was left out or cut short, and why."""


class Stopwatch:
    """Collects the times of calls, up to a budget, so that a slow system cannot hold up the run."""

    def __init__(self, budget_s: float) -> None:
        self._times_ms: list[float] = []
        self._left_s = budget_s

    @property
    def spent(self) -> bool:
        return self._left_s <= 0.0

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, *_: object) -> None:
        elapsed = perf_counter() - self._started
        self._left_s -= elapsed
        self._times_ms.append(elapsed * 1000.0)

    def spread(self) -> Spread:
        return spread(self._times_ms)


def spread(times_ms: Iterable[float]) -> Spread:
    ordered = sorted(times_ms)
    return Spread(_nearest_rank(ordered, 0.50), _nearest_rank(ordered, 0.95), ordered[-1], len(ordered))


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

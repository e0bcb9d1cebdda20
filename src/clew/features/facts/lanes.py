"""The facts of one lane: a predicate that takes one value at a time, or one predicate and value.

Facts of two lanes end each other by name alone, so each lane is replayed by itself. And within a lane, an assertion
changes only the facts beside it. So Clew replays from the fact before it to the first one after it that begins as it
did, whatever the number of facts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from clew.core.predicates import Registry, sentence
from clew.features.facts.log import Assertion

FOREVER_MS = 2**63 - 1

FEW_CHANGES = 8
"""Up to so many changes find their places one by one; with more, Clew sorts the whole lane."""

Lane = tuple[str, ...]
"""The name of a lane: a predicate, or a predicate and a value."""


class Fact(Struct, frozen=True, kw_only=True, gc=False):
    """A value over one stretch of time, with all its assertions."""

    id: str
    subject: str
    predicate: str
    object: str
    valid_from_ms: int
    valid_to_ms: int | None
    """None without an end; equal to the beginning where it never held."""
    recorded_ms: int
    sources: tuple[str, ...]
    """Of all its assertions."""
    confidence: float
    """The highest of its assertions."""
    ended_by: str | None
    """The assertion that ended it."""
    invalidated: bool
    """Whether an invalidation ended it."""
    assertions: tuple[Assertion, ...]
    """Each supports the fact by itself, with all of its own sources."""

    @property
    def ref(self) -> str:
        return self.assertions[0].ref

    @property
    def text(self) -> str:
        return sentence(self.subject, self.predicate, self.object)

    @property
    def never_held(self) -> bool:
        return self.valid_to_ms is not None and self.valid_to_ms <= self.valid_from_ms

    def is_current(self, at_ms: int) -> bool:
        return self.valid_from_ms <= at_ms and (self.valid_to_ms is None or at_ms < self.valid_to_ms)


def in_time(fact: Fact) -> tuple[int, int, str]:
    return fact.valid_from_ms, fact.recorded_ms, fact.id


def lane_of(assertion: Assertion, registry: Registry) -> Lane:
    _, predicate, value = assertion.key
    return (predicate,) if registry.is_single(predicate) else (predicate, value)


class Ending(NamedTuple):
    """The end of an assertion."""

    at_ms: int
    by: str | None = None
    """The assertion that supersedes it; None for an invalidation."""


class Span(NamedTuple):
    """How long an assertion holds by its own end and its endings."""

    assertion: Assertion
    end_ms: int
    ending: Ending | None = None

    @property
    def start_ms(self) -> int:
        return self.assertion.valid_from_ms

    @property
    def never_held(self) -> bool:
        return self.end_ms <= self.start_ms

    def order(self) -> tuple[int, int, str]:
        return in_order(self.assertion)


def span(assertion: Assertion, endings: Sequence[Ending]) -> Span:
    until_ms = own_end(assertion)
    first = min(endings, key=lambda ending: (ending.at_ms, ending.by or ""), default=None)
    if first is None or first.at_ms >= until_ms:
        return Span(assertion, until_ms)
    return Span(assertion, first.at_ms, first)


def in_order(assertion: Assertion) -> tuple[int, int, str]:
    """The order in which the assertions of a lane take effect."""
    return assertion.valid_from_ms, assertion.recorded_ms, assertion.id


def own_end(assertion: Assertion) -> int:
    return FOREVER_MS if assertion.valid_to_ms is None else assertion.valid_to_ms


# --- all of a lane -------------------------------------------------------------------------------------


class _Bounded(NamedTuple):
    """An assertion that names its own end."""

    assertion: Assertion
    reach_ms: int
    """The latest end up to here. It tells a search when to stop: nothing before holds any longer."""


@dataclass(frozen=True, slots=True)
class History:
    """All facts of one lane. It never changes: a reader holds all of one moment."""

    spans: tuple[Span, ...] = ()
    """Of all assertions, in order."""
    facts: tuple[Fact, ...] = ()
    """Oldest first."""
    bounded: tuple[_Bounded, ...] = ()

    def with_spans(self, subject: str, changed: Sequence[Span]) -> tuple[History, Sequence[Fact]]:
        """The lane after spans that are new or that now end elsewhere, and the facts that this may have changed."""
        spans = self._merge(changed)
        first_ms, last_ms = min(each.start_ms for each in changed), max(each.start_ms for each in changed)
        begin = self._begin_before(first_ms)
        runs, until_ms = _runs(spans[_place(spans, begin) :], lambda at_ms: at_ms > last_ms and self._begins(at_ms))
        fresh = sorted((_fact(subject, run) for run in runs), key=in_time)
        low, high = bisect_left(self.facts, begin, key=_start), bisect_left(self.facts, until_ms, key=_start)
        facts = (*self.facts[:low], *fresh, *self.facts[high:])
        bounded = self._bound([each.assertion for each in changed if each.assertion.valid_to_ms is not None])
        return History(tuple(spans), facts, bounded), fresh

    # --- reading ----------------------------------------------------------------------------------------

    def holding(self, at_ms: int) -> Fact | None:
        """The fact that holds at a moment."""
        place = self._held_before(at_ms + 1)
        return self.facts[place] if place is not None and self.facts[place].is_current(at_ms) else None

    def around(self, fact: Fact) -> tuple[Fact, ...]:
        """The facts that one may end without naming them: the one before it, and those that begin while it holds."""
        before = self._held_before(fact.valid_from_ms)
        low = bisect_left(self.facts, fact.valid_from_ms, key=_start) if before is None else before
        return self.facts[low : bisect_right(self.facts, fact.assertions[-1].valid_from_ms, key=_start)]

    def begun_between(self, after_ms: int, before_ms: int) -> list[Assertion]:
        """The assertions that begin between two moments."""
        low = bisect_right(self.spans, after_ms, key=lambda each: each.start_ms)
        return [each.assertion for each in self.spans[low : _place(self.spans, before_ms)]]

    def meant_to_last(self, at_ms: int) -> Iterator[Assertion]:
        """The assertions that began by a moment and that name an end after it, whatever has ended them since."""
        place = bisect_right(self.bounded, at_ms, key=lambda each: each.assertion.valid_from_ms)
        while place and self.bounded[place - 1].reach_ms > at_ms:
            place -= 1
            assertion = self.bounded[place].assertion
            if own_end(assertion) > at_ms:
                yield assertion

    def _held_before(self, at_ms: int) -> int | None:
        """The place of the last fact that began before a moment and ever held."""
        place = bisect_left(self.facts, at_ms, key=_start) - 1
        while place >= 0 and self.facts[place].never_held:
            place -= 1
        return place if place >= 0 else None

    def _begin_before(self, at_ms: int) -> int:
        """From here on, what begins at a moment may matter."""
        place = self._held_before(at_ms)
        return -FOREVER_MS if place is None else self.facts[place].valid_from_ms

    def _begins(self, at_ms: int) -> bool:
        """Whether a fact that holds begins at a moment."""
        place = self._held_before(at_ms + 1)
        return place is not None and self.facts[place].valid_from_ms == at_ms

    # --- changing ---------------------------------------------------------------------------------------

    def _merge(self, changed: Sequence[Span]) -> list[Span]:
        if len(changed) > FEW_CHANGES:
            by_id = {each.assertion.id: each for each in (*self.spans, *changed)}
            return sorted(by_id.values(), key=Span.order)
        spans = list(self.spans)
        for each in changed:
            place = bisect_left(spans, each.order(), key=Span.order)
            is_known = place < len(spans) and spans[place].assertion.id == each.assertion.id
            spans[place : place + is_known] = [each]
        return spans

    def _bound(self, assertions: Iterable[Assertion]) -> tuple[_Bounded, ...]:
        bounded = list(self.bounded)
        for each in sorted(assertions, key=in_order):
            place = bisect_left(bounded, in_order(each), key=lambda known: in_order(known.assertion))
            if place < len(bounded) and bounded[place].assertion.id == each.id:
                continue
            end_ms = own_end(each)
            before_ms = bounded[place - 1].reach_ms if place else end_ms
            behind = bisect_left(bounded, end_ms, lo=place, key=lambda known: known.reach_ms)
            longer = [_Bounded(known.assertion, end_ms) for known in bounded[place:behind]]
            bounded[place:behind] = [_Bounded(each, max(before_ms, end_ms)), *longer]
        return tuple(bounded)


NO_HISTORY = History()


def _start(fact: Fact) -> int:
    return fact.valid_from_ms


def _place(spans: Sequence[Span], at_ms: int) -> int:
    """The place of the first that begins at a moment or later."""
    return bisect_left(spans, at_ms, key=lambda each: each.start_ms)


# --- replaying -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """Assertions of one value without a gap between them."""

    spans: list[Span]
    end_ms: int
    ended_by: str | None = None

    def continues_with(self, following: Span) -> bool:
        return self.spans[0].assertion.key == following.assertion.key and following.start_ms <= self.end_ms

    def join(self, spans: Sequence[Span]) -> None:
        self.spans += spans
        self.end_ms = max(self.end_ms, _last_end(spans))

    def give_way(self, following: Span) -> None:
        if self.end_ms >= following.start_ms:
            self.end_ms = following.start_ms
            self.ended_by = following.assertion.id


def _runs(spans: Sequence[Span], is_known: Callable[[int], bool]) -> tuple[list[_Run], int]:
    """The runs of assertions of which one holds at a time, and where to stop.

    A run that begins where one began before, behind all changes, is that run, and so is all that follows.
    """
    runs: list[_Run] = []
    last: _Run | None = None
    until_ms = FOREVER_MS
    for start_ms, together in groupby((each for each in spans if not each.never_held), key=lambda each: each.start_ms):
        beginning = list(together)
        winner = beginning[-1]
        agreeing = [each for each in beginning if each.assertion.key == winner.assertion.key]
        if last is not None and last.continues_with(winner):
            last.join(agreeing)
        else:
            if last is not None:
                last.give_way(winner)
            if is_known(start_ms):
                until_ms = start_ms
                break
            last = _Run(agreeing, _last_end(agreeing))
            runs.append(last)
        losing = (each for each in beginning if each.assertion.key != winner.assertion.key)
        runs += (_Run([each], start_ms, winner.assertion.id) for each in losing)
    never_held = (each for each in spans[: _place(spans, until_ms)] if each.never_held)
    return [*runs, *(_Run([each], each.start_ms) for each in never_held)], until_ms


def _last_end(spans: Sequence[Span]) -> int:
    return max(each.end_ms for each in spans)


def _fact(subject: str, run: _Run) -> Fact:
    first = run.spans[0].assertion
    assertions = tuple(each.assertion for each in run.spans)
    last = max(run.spans, key=lambda each: each.end_ms)
    ending = last.ending if last.end_ms <= run.end_ms else None
    return Fact(
        id=first.id,
        subject=subject,
        predicate=first.predicate,
        object=first.object,
        valid_from_ms=first.valid_from_ms,
        valid_to_ms=None if run.end_ms == FOREVER_MS else run.end_ms,
        recorded_ms=first.recorded_ms,
        sources=tuple(dict.fromkeys(ref for assertion in assertions for ref in assertion.sources)),
        confidence=max(assertion.confidence for assertion in assertions),
        ended_by=run.ended_by or (None if ending is None else ending.by),
        invalidated=ending is not None and ending.by is None,
        assertions=assertions,
    )


def replay(
    assertions: Sequence[Assertion], endings: Mapping[str, Sequence[Ending]], registry: Registry
) -> tuple[Fact, ...]:
    """The facts of one subject, from its assertions and the endings of each, by id.

    The first assertion gives the subject its spelling.
    """
    subject = min(map(spelling, assertions))[-1]
    lanes: dict[Lane, list[Span]] = {}
    for each in assertions:
        lanes.setdefault(lane_of(each, registry), []).append(span(each, endings.get(each.id, ())))
    return tuple(fact for lane in sorted(lanes) for fact in NO_HISTORY.with_spans(subject, lanes[lane])[0].facts)


def spelling(assertion: Assertion) -> tuple[int, str, str]:
    """The subject as it is written; the least of all assertions is that of the first."""
    return assertion.recorded_ms, assertion.id, assertion.subject

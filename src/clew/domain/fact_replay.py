"""From the assertions about one subject to what held, and when.

A fact holds from one moment up to, and without, another. Of a single-valued predicate, each value ends where the next
one begins; of two that begin together, the one that was recorded later counts, and the other never held. Saying the
same again while it holds is no change: it adds its sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from clew.domain.fact_log import Assertion
from clew.domain.predicates import Registry, sentence

FOREVER_MS = 2**63 - 1


class Fact(Struct, frozen=True, kw_only=True, gc=False):
    """A value over one stretch of time, with everything that was asserted of it."""

    id: str
    subject: str
    predicate: str
    object: str
    valid_from_ms: int
    valid_to_ms: int | None
    """None where no end is known; equal to the beginning where it never held."""
    recorded_ms: int
    sources: tuple[str, ...]
    """Of all its assertions."""
    confidence: float
    """The highest of its assertions."""
    ended_by: str | None
    """The assertion that ended it."""
    invalidated: bool
    """Whether it ended because it was taken back."""
    assertions: tuple[Assertion, ...]
    """Each supports it by itself, with all of its own sources."""

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


class Ending(NamedTuple):
    """That an assertion does not hold from some moment on."""

    at_ms: int
    by: str | None = None
    """The assertion that supersedes it; None where it was taken back."""


def replay(
    assertions: Sequence[Assertion], endings: Mapping[str, Sequence[Ending]], registry: Registry
) -> tuple[Fact, ...]:
    """The facts of one subject, from what was asserted and, by assertion, what ended that.

    The subject is written as whoever named it first wrote it.
    """
    subject = min(assertions, key=lambda each: (each.recorded_ms, each.id)).subject
    lanes: dict[tuple[str, ...], list[_Span]] = {}
    for assertion in assertions:
        _, predicate, value = assertion.key
        lane = (predicate,) if registry.is_single(predicate) else (predicate, value)
        lanes.setdefault(lane, []).append(_span(assertion, endings.get(assertion.id, ())))
    return tuple(_fact(subject, run) for lane in sorted(lanes) for run in _runs(sorted(lanes[lane], key=_Span.order)))


class _Span(NamedTuple):
    """How long an assertion holds as far as it, and what ended it, says."""

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
        return self.start_ms, self.assertion.recorded_ms, self.assertion.id


def _span(assertion: Assertion, endings: Sequence[Ending]) -> _Span:
    own_end_ms = FOREVER_MS if assertion.valid_to_ms is None else assertion.valid_to_ms
    first = min(endings, key=lambda ending: (ending.at_ms, ending.by or ""), default=None)
    if first is None or first.at_ms >= own_end_ms:
        return _Span(assertion, own_end_ms)
    return _Span(assertion, first.at_ms, first)


@dataclass(slots=True)
class _Run:
    """Assertions of one value that follow on each other without a gap."""

    spans: list[_Span]
    end_ms: int
    ended_by: str | None = None

    def continues_with(self, span: _Span) -> bool:
        return self.spans[0].assertion.key == span.assertion.key and span.start_ms <= self.end_ms

    def join(self, spans: Sequence[_Span]) -> None:
        self.spans += spans
        self.end_ms = max(self.end_ms, _last_end(spans))

    def give_way(self, following: _Span) -> None:
        if self.end_ms >= following.start_ms:
            self.end_ms = following.start_ms
            self.ended_by = following.assertion.id


def _runs(spans: Sequence[_Span]) -> Iterator[_Run]:
    """What becomes of assertions of which one holds at a time, in the order in which they begin."""
    last: _Run | None = None
    holding = (span for span in spans if not span.never_held)
    for _, together in groupby(holding, key=lambda span: span.start_ms):
        beginning = list(together)
        winner = beginning[-1]
        agreeing = [span for span in beginning if span.assertion.key == winner.assertion.key]
        outdone = [span for span in beginning if span.assertion.key != winner.assertion.key]
        yield from (_Run([span], span.start_ms, winner.assertion.id) for span in outdone)
        if last is not None and last.continues_with(winner):
            last.join(agreeing)
            continue
        if last is not None:
            last.give_way(winner)
            yield last
        last = _Run(agreeing, _last_end(agreeing))
    if last is not None:
        yield last
    yield from (_Run([span], span.start_ms) for span in spans if span.never_held)


def _last_end(spans: Sequence[_Span]) -> int:
    return max(span.end_ms for span in spans)


def _fact(subject: str, run: _Run) -> Fact:
    first = run.spans[0].assertion
    assertions = tuple(span.assertion for span in run.spans)
    last = max(run.spans, key=lambda span: span.end_ms)
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

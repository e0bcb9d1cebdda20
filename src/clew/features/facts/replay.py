"""Replays the log of facts, and nothing else: which facts hold of each subject, and since when.

Valid time and recorded time are two clocks. To learn what Clew knew at some moment, it replays the entries recorded by
then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice
from typing import NamedTuple

import msgspec
from msgspec import Struct

from clew.core.predicates import Registry, sentence
from clew.features.facts.log import Assertion, Entry, Invalidation
from clew.text.terms import fold

FOREVER_MS = 2**63 - 1

Lane = tuple[str, ...]
"""A predicate that takes one value at a time, or a predicate and a value. Facts of two lanes end each other by name
alone, so each lane is replayed by itself."""


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


class Ending(NamedTuple):
    """The end of an assertion."""

    at_ms: int
    by: str | None = None
    """The assertion that supersedes it; None for an invalidation."""


def replay(
    assertions: Sequence[Assertion], endings: Mapping[str, Sequence[Ending]], registry: Registry
) -> tuple[Fact, ...]:
    """The facts of one subject, from its assertions and the endings of each, by id.

    The first assertion gives the subject its spelling.
    """
    subject = min(map(_spelling, assertions))[-1]
    lanes: dict[Lane, list[Assertion]] = {}
    for assertion in assertions:
        lanes.setdefault(_lane(assertion, registry), []).append(assertion)
    return tuple(fact for lane in sorted(lanes) for fact in _replay_lane(subject, lanes[lane], endings))


def _replay_lane(
    subject: str, assertions: Sequence[Assertion], endings: Mapping[str, Sequence[Ending]]
) -> tuple[Fact, ...]:
    spans = sorted((_span(each, endings.get(each.id, ())) for each in assertions), key=_Span.order)
    return tuple(_fact(subject, run) for run in _runs(spans))


def _lane(assertion: Assertion, registry: Registry) -> Lane:
    _, predicate, value = assertion.key
    return (predicate,) if registry.is_single(predicate) else (predicate, value)


def _spelling(assertion: Assertion) -> tuple[int, str, str]:
    """The subject as it is written; the least of all assertions is that of the first."""
    return assertion.recorded_ms, assertion.id, assertion.subject


class _Span(NamedTuple):
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
        return self.start_ms, self.assertion.recorded_ms, self.assertion.id


def _span(assertion: Assertion, endings: Sequence[Ending]) -> _Span:
    own_end_ms = _own_end(assertion)
    first = min(endings, key=lambda ending: (ending.at_ms, ending.by or ""), default=None)
    if first is None or first.at_ms >= own_end_ms:
        return _Span(assertion, own_end_ms)
    return _Span(assertion, first.at_ms, first)


@dataclass(slots=True)
class _Run:
    """Assertions of one value without a gap between them."""

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
    """The runs of assertions of which one holds at a time, given in the order in which they begin."""
    last: _Run | None = None
    holding = (span for span in spans if not span.never_held)
    for _, together in groupby(holding, key=lambda span: span.start_ms):
        beginning = list(together)
        winner = beginning[-1]
        agreeing = [span for span in beginning if span.assertion.key == winner.assertion.key]
        losing = [span for span in beginning if span.assertion.key != winner.assertion.key]
        yield from (_Run([span], span.start_ms, winner.assertion.id) for span in losing)
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


def _own_end(assertion: Assertion) -> int:
    return FOREVER_MS if assertion.valid_to_ms is None else assertion.valid_to_ms


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


@dataclass(frozen=True)
class _Subject:
    """The facts of one subject by lane. It never changes: a reader holds all of one moment."""

    lanes: Mapping[Lane, tuple[Fact, ...]]

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(chain.from_iterable(self.lanes[lane] for lane in sorted(self.lanes)))


_NOTHING = _Subject({})


class Facts:
    """All facts of one collection, kept up to date entry by entry.

    A reader sees each subject before or after an entry that another thread adds, and nothing in between.
    """

    def __init__(self, registry: Registry, entries: Iterable[Entry] = (), malformed: Iterable[str] = ()) -> None:
        self.registry = registry
        self.malformed: tuple[str, ...] = ()
        """Ids of records that are no entries."""
        self._assertions: dict[str, Assertion] = {}
        self._invalidations: dict[str, Invalidation] = {}
        self._of_subject: dict[str, dict[Lane, list[Assertion]]] = {}
        self._spellings: dict[str, tuple[int, str, str]] = {}
        self._last_recorded_ms: dict[tuple[str, str], int] = {}
        self._taken_back: dict[str, list[Invalidation]] = {}
        self._superseded_by: dict[str, list[Assertion]] = {}
        """Both by the assertion that an entry names, whether that is known yet or not."""
        self._citing: dict[str, list[str]] = {}
        self._replayed: dict[str, _Subject] = {}
        self._by_id: dict[str, Fact] = {}
        self.add(entries, malformed)

    def add(self, entries: Iterable[Entry], malformed: Iterable[str] = ()) -> None:
        """Take in entries; one that is known already changes nothing."""
        touched: dict[str, dict[Lane, None]] = {}
        for entry in entries:
            for name, lane in self._take_in(entry):
                touched.setdefault(name, {})[lane] = None
        for name, lanes in touched.items():
            self._refresh(name, lanes)
        self.malformed += tuple(malformed)

    # --- reading ----------------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not self._assertions

    def get(self, id_: str) -> Fact | None:
        """The fact that an assertion belongs to."""
        return self._by_id.get(id_)

    def citing(self, ref: str) -> tuple[Fact, ...]:
        """The facts that rest on a record, alone or among others."""
        found = (self._by_id.get(id_) for id_ in list(self._citing.get(ref, ())))
        return tuple({fact.id: fact for fact in found if fact is not None}.values())

    def current(self, subject: str | None = None, predicate: str | None = None, *, at_ms: int) -> tuple[Fact, ...]:
        """The facts that hold at a moment."""
        return self.as_of(at_ms, FOREVER_MS, subject, predicate)

    def as_of(
        self, valid_ms: int, recorded_ms: int, subject: str | None = None, predicate: str | None = None
    ) -> tuple[Fact, ...]:
        """The facts that held at one moment, as far as Clew had recorded them by another."""
        names = list(self._replayed) if subject is None else [fold(subject)]
        known = (fact for name in names for fact in self._known(name, recorded_ms) if fact.is_current(valid_ms))
        return tuple(fact for fact in known if predicate in (None, fact.predicate))

    def timeline(self, subject: str, predicate: str | None = None) -> tuple[Fact, ...]:
        """All facts of a subject, oldest first, also those that never held."""
        lanes = self._replayed.get(fold(subject), _NOTHING).lanes
        found = (facts for lane, facts in lanes.items() if predicate in (None, lane[0]))
        return tuple(sorted(chain.from_iterable(found), key=in_time))

    def beside(self, fact: Fact) -> tuple[Fact, ...]:
        """The facts of its lane, itself among them: all that it can end without naming them."""
        first = fact.assertions[0]
        return self._replayed.get(first.key[0], _NOTHING).lanes.get(_lane(first, self.registry), ())

    def last_recorded_ms(self, subject: str, predicate: str) -> int | None:
        """When Clew last recorded an assertion of a subject and a predicate."""
        return self._last_recorded_ms.get((fold(subject), predicate))

    def successor(self, fact: Fact) -> Fact | None:
        """The fact that ended one."""
        return None if fact.ended_by is None else self._by_id.get(fact.ended_by)

    def knows(self, subject: str) -> bool:
        return fold(subject) in self._replayed

    def subjects(self, after: int = 0) -> Iterator[tuple[int, tuple[Fact, ...]]]:
        """The facts of each subject, in the order in which subjects were first named, each with its place from 1."""
        names = list(islice(list(self._replayed), after, None))
        return ((place, self._replayed[name].facts) for place, name in enumerate(names, after + 1))

    def assertions(self) -> list[Assertion]:
        return list(self._assertions.values())

    def invalidations(self) -> list[Invalidation]:
        return list(self._invalidations.values())

    def own_end_ms(self, assertion: Assertion) -> int | None:
        """When an assertion ends by itself or by an entry that names it, whatever other values there are."""
        end_ms = min((_own_end(assertion), *(ending.at_ms for ending in self._endings(assertion.id, FOREVER_MS))))
        return None if end_ms == FOREVER_MS else end_ms

    def invalidations_of(self, id_: str) -> tuple[Invalidation, ...]:
        """The invalidations that end an assertion."""
        return tuple(self._taken_back.get(id_, ()))

    def canonical(self) -> bytes:
        """All facts as bytes, in one order, in whichever order the entries came."""
        facts = [fact for name in sorted(self._replayed) for fact in sorted(self._replayed[name].facts, key=in_time)]
        return msgspec.json.encode({"facts": facts, "malformed": sorted(self.malformed)})

    # --- taking in -------------------------------------------------------------------------------------

    def _take_in(self, entry: Entry) -> Iterator[tuple[str, Lane]]:
        """Note an entry, and name the subjects and lanes that it may change."""
        if isinstance(entry, Assertion):
            if entry.id not in self._assertions:
                yield from self._take_assertion(entry)
        elif entry.id not in self._invalidations:
            self._invalidations[entry.id] = entry
            for id_ in dict.fromkeys(entry.fact_ids):
                self._taken_back.setdefault(id_, []).append(entry)
                yield from self._changed_with(id_)

    def _take_assertion(self, assertion: Assertion) -> Iterator[tuple[str, Lane]]:
        name, predicate, _ = assertion.key
        self._assertions[assertion.id] = assertion
        lanes = self._of_subject.setdefault(name, {})
        lanes.setdefault(_lane(assertion, self.registry), []).append(assertion)
        recorded_ms = self._last_recorded_ms.get((name, predicate), -1)
        self._last_recorded_ms[name, predicate] = max(recorded_ms, assertion.recorded_ms)
        for ref in dict.fromkeys(assertion.sources):
            self._citing.setdefault(ref, []).append(assertion.id)
        for id_ in dict.fromkeys(assertion.supersedes):
            self._superseded_by.setdefault(id_, []).append(assertion)
        spelling = _spelling(assertion)
        if spelling < self._spellings.setdefault(name, spelling):
            self._spellings[name] = spelling
            yield from ((name, lane) for lane in lanes)  # all are spelt like the first
        yield from self._changed_with(assertion.id)

    def _changed_with(self, id_: str) -> Iterator[tuple[str, Lane]]:
        """The lane of an assertion, and of those it supersedes: one that never held supersedes nothing."""
        assertion = self._assertions.get(id_)
        if assertion is not None:
            superseded = (self._assertions.get(target) for target in assertion.supersedes)
            for each in (assertion, *superseded):
                if each is not None:
                    yield each.key[0], _lane(each, self.registry)

    # --- replaying -------------------------------------------------------------------------------------

    def _refresh(self, name: str, lanes: Iterable[Lane]) -> None:
        spelling = self._spellings[name][-1]
        fresh: dict[Lane, tuple[Fact, ...]] = {}
        for lane in lanes:
            assertions = self._of_subject[name][lane]
            endings = {each.id: self._endings(each.id, FOREVER_MS) for each in assertions}
            fresh[lane] = _replay_lane(spelling, assertions, endings)
        self._by_id.update((each.id, fact) for facts in fresh.values() for fact in facts for each in fact.assertions)
        self._replayed[name] = _Subject({**self._replayed.get(name, _NOTHING).lanes, **fresh})

    def _known(self, name: str, recorded_ms: int) -> tuple[Fact, ...]:
        if recorded_ms == FOREVER_MS:
            return self._replayed.get(name, _NOTHING).facts
        return self._replay(name, recorded_ms)

    def _replay(self, name: str, recorded_ms: int) -> tuple[Fact, ...]:
        lanes = [list(lane) for lane in list(self._of_subject.get(name, {}).values())]
        known = [each for lane in lanes for each in lane if each.recorded_ms <= recorded_ms]
        endings = {assertion.id: self._endings(assertion.id, recorded_ms) for assertion in known}
        return replay(known, endings, self.registry) if known else ()

    def _endings(self, id_: str, recorded_ms: int) -> list[Ending]:
        """The endings of an assertion that were recorded by a moment."""
        taken_back = (entry for entry in list(self._taken_back.get(id_, ())) if entry.recorded_ms <= recorded_ms)
        superseding = (each for each in list(self._superseded_by.get(id_, ())) if each.recorded_ms <= recorded_ms)
        return [
            *(Ending(entry.at_ms) for entry in taken_back),
            *(Ending(each.valid_from_ms, each.id) for each in superseding if self._ever_held(each, recorded_ms)),
        ]

    def _ever_held(self, assertion: Assertion, recorded_ms: int) -> bool:
        """Whether an assertion holds for any time by its own end and its invalidations."""
        ends = (entry.at_ms for entry in self._taken_back.get(assertion.id, ()) if entry.recorded_ms <= recorded_ms)
        return min((_own_end(assertion), *ends)) > assertion.valid_from_ms


def in_time(fact: Fact) -> tuple[int, int, str]:
    return fact.valid_from_ms, fact.recorded_ms, fact.id

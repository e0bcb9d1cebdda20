"""Replays the log of facts, and nothing else: which facts hold of each subject, and since when.

Valid time and recorded time are two clocks. To learn what Clew knew at some moment, it replays the entries recorded by
then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice

import msgspec

from clew.core.predicates import Registry
from clew.features.facts.lanes import (
    FOREVER_MS,
    NO_HISTORY,
    Ending,
    Fact,
    History,
    Lane,
    in_time,
    lane_of,
    own_end,
    replay,
    span,
    spelling,
)
from clew.features.facts.log import Assertion, Entry, Invalidation
from clew.text.terms import fold


@dataclass(frozen=True)
class _Subject:
    """The facts of one subject by lane. It never changes: a reader holds all of one moment.

    Lanes that changed lately stand apart until they are as many as the square root of the others, so that a change
    need not copy all.
    """

    spelling: str = ""
    settled: Mapping[Lane, History] = field(default_factory=dict)
    recent: Mapping[Lane, History] = field(default_factory=dict)

    def history(self, lane: Lane) -> History:
        return self.recent.get(lane) or self.settled.get(lane, NO_HISTORY)

    def with_lanes(self, fresh: Mapping[Lane, History]) -> _Subject:
        recent = {**self.recent, **fresh}
        if len(recent) ** 2 <= len(self.settled):
            return _Subject(self.spelling, self.settled, recent)
        return _Subject(self.spelling, {**self.settled, **recent})

    @cached_property
    def lanes(self) -> Mapping[Lane, History]:
        return {**self.settled, **self.recent}

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(chain.from_iterable(self.lanes[lane].facts for lane in sorted(self.lanes)))


_NOTHING = _Subject()

_Changed = dict[str, dict[Lane, dict[str, Assertion]]]
"""Assertions that are new or end elsewhere, by subject, lane and id."""


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
        self._of_subject: dict[str, list[Assertion]] = {}
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
        changed: _Changed = {}
        for entry in entries:
            for each in self._take_in(entry):
                changed.setdefault(each.key[0], {}).setdefault(self._lane(each), {})[each.id] = each
        for name, lanes in changed.items():
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
        found = (history.facts for lane, history in lanes.items() if predicate in (None, lane[0]))
        return tuple(sorted(chain.from_iterable(found), key=in_time))

    def history(self, assertion: Assertion) -> History:
        """All of the lane that an assertion belongs to, or would."""
        return self._replayed.get(assertion.key[0], _NOTHING).history(self._lane(assertion))

    def beside(self, fact: Fact) -> tuple[Fact, ...]:
        """The facts of its lane that it can end without naming them, itself among them."""
        return self.history(fact.assertions[0]).around(fact)

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
        end_ms = min((own_end(assertion), *(ending.at_ms for ending in self._endings(assertion.id, FOREVER_MS))))
        return None if end_ms == FOREVER_MS else end_ms

    def invalidations_of(self, id_: str) -> tuple[Invalidation, ...]:
        """The invalidations that end an assertion."""
        return tuple(self._taken_back.get(id_, ()))

    def canonical(self) -> bytes:
        """All facts as bytes, in one order, in whichever order the entries came."""
        facts = [fact for name in sorted(self._replayed) for fact in sorted(self._replayed[name].facts, key=in_time)]
        return msgspec.json.encode({"facts": facts, "malformed": sorted(self.malformed)})

    # --- taking in -------------------------------------------------------------------------------------

    def _take_in(self, entry: Entry) -> Iterator[Assertion]:
        """Note an entry, and give the assertions that it adds or may end elsewhere."""
        if isinstance(entry, Assertion):
            if entry.id not in self._assertions:
                self._take_assertion(entry)
                yield from self._changed_with(entry.id)
        elif entry.id not in self._invalidations:
            self._invalidations[entry.id] = entry
            for id_ in dict.fromkeys(entry.fact_ids):
                self._taken_back.setdefault(id_, []).append(entry)
                yield from self._changed_with(id_)

    def _take_assertion(self, assertion: Assertion) -> None:
        name, predicate, _ = assertion.key
        self._assertions[assertion.id] = assertion
        self._of_subject.setdefault(name, []).append(assertion)
        recorded_ms = self._last_recorded_ms.get((name, predicate), -1)
        self._last_recorded_ms[name, predicate] = max(recorded_ms, assertion.recorded_ms)
        for ref in dict.fromkeys(assertion.sources):
            self._citing.setdefault(ref, []).append(assertion.id)
        for id_ in dict.fromkeys(assertion.supersedes):
            self._superseded_by.setdefault(id_, []).append(assertion)
        self._spellings[name] = min(spelling(assertion), self._spellings.get(name, spelling(assertion)))

    def _changed_with(self, id_: str) -> Iterator[Assertion]:
        """An assertion and those that it supersedes: one that never held supersedes nothing."""
        assertion = self._assertions.get(id_)
        if assertion is not None:
            superseded = (self._assertions.get(target) for target in assertion.supersedes)
            yield from (each for each in (assertion, *superseded) if each is not None)

    def _lane(self, assertion: Assertion) -> Lane:
        return lane_of(assertion, self.registry)

    # --- replaying -------------------------------------------------------------------------------------

    def _refresh(self, name: str, changed: Mapping[Lane, Mapping[str, Assertion]]) -> None:
        subject = self._replayed.get(name, _NOTHING)
        written = self._spellings[name][-1]
        if subject.spelling != written:  # all of its facts are spelt like the first
            subject, changed = _Subject(written), self._by_lane(name)
        fresh: dict[Lane, History] = {}
        for lane, assertions in changed.items():
            spans = [span(each, self._endings(each.id, FOREVER_MS)) for each in assertions.values()]
            fresh[lane], facts = subject.history(lane).with_spans(written, spans)
            self._by_id.update((each.id, fact) for fact in facts for each in fact.assertions)
        self._replayed[name] = subject.with_lanes(fresh)

    def _by_lane(self, name: str) -> Mapping[Lane, Mapping[str, Assertion]]:
        lanes: dict[Lane, dict[str, Assertion]] = {}
        for each in self._of_subject[name]:
            lanes.setdefault(self._lane(each), {})[each.id] = each
        return lanes

    def _known(self, name: str, recorded_ms: int) -> tuple[Fact, ...]:
        if recorded_ms == FOREVER_MS:
            return self._replayed.get(name, _NOTHING).facts
        return self._replay(name, recorded_ms)

    def _replay(self, name: str, recorded_ms: int) -> tuple[Fact, ...]:
        known = [each for each in list(self._of_subject.get(name, ())) if each.recorded_ms <= recorded_ms]
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
        return min((own_end(assertion), *ends)) > assertion.valid_from_ms

"""Whether facts still stand on what they were made from. Looked up when they are read, so that it is never out of date.

An assertion is sound while every one of its sources is there, says what it said, and holds; a fact is sound while one
of its assertions is. What rests on a fact falls with it, and so does what rests on that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.core import identity
from clew.core.marks import Mark, value_of
from clew.core.model import Record, Trust, least
from clew.features.claims.sources import resolved
from clew.features.facts.log import CONFIDENCE_OF_TRUST, Assertion, owner_in, text_hash
from clew.features.facts.replay import Fact
from clew.features.facts.views import known_facts
from clew.kernel.parts import Parts

NO_SOURCE = "it names no source"
QUARANTINED = "it is quarantined"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a fact stands now."""

    reasons: tuple[str, ...]
    """Why it is not authoritative; empty where it is."""
    trust: Trust
    """Of its best assertion; never more than its sources have by now."""


def standings(parts: Parts, facts: Sequence[Fact]) -> dict[str, Standing]:
    """How each fact stands, by its id."""
    grounds = Grounds(parts)
    grounds.look_at(facts)
    return {fact.id: grounds.standing(fact) for fact in facts}


class Grounds:
    """What facts rest on, as it is now. Reads each source once; meant for one request."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._sources: dict[tuple[str | None, str], Record | None] = {}
        self._examined: set[str] = set()
        self._flaws: dict[str, list[str]] = {}
        """What is wrong with the sources of each assertion."""
        self._trusts: dict[str, Trust] = {}
        self._cites: dict[str, list[tuple[str, str]]] = {}
        """The facts among the sources of each assertion: the reference it uses, and that of the fact."""
        self._built_on: dict[str, list[Fact]] = {}
        self._sound: set[str] = set()

    def look_at(self, facts: Iterable[Fact]) -> None:
        """Follow facts down to what they rest on, and see which of them that holds up."""
        met: list[Fact] = []
        wave = list(facts)
        while wave:
            fresh = list({fact.ref: fact for fact in wave if fact.ref not in self._examined}.values())
            self._examined.update(fact.ref for fact in fresh)
            self._fetch([assertion for fact in fresh for assertion in fact.assertions])
            wave = [cited for fact in fresh for cited in self._examine(fact)]
            met += fresh
        self._build_up(met)

    def standing(self, fact: Fact) -> Standing:
        sound = [assertion for assertion in fact.assertions if not self._flaws[assertion.ref]]
        flaws = [] if sound else [flaw for assertion in fact.assertions for flaw in self._flaws[assertion.ref]]
        trusts = (self._trusts[assertion.ref] for assertion in sound or fact.assertions)
        return Standing(tuple(dict.fromkeys(flaws)), max(trusts, key=CONFIDENCE_OF_TRUST.__getitem__))

    def flaws(self, assertion: Assertion) -> list[str]:
        return self._flaws[assertion.ref]

    def source(self, collection: str, ref: str) -> Record | None:
        """What a source of a collection's facts names now; None where that is gone."""
        return self._sources[owner_in(collection), ref]

    # --- down ------------------------------------------------------------------------------------------

    def _fetch(self, assertions: Sequence[Assertion]) -> None:
        """Read what assertions rest on, and how they themselves are judged, in as few steps as there are owners."""
        for collection in {assertion.collection for assertion in assertions}:
            user_id = owner_in(collection)
            here = [assertion for assertion in assertions if assertion.collection == collection]
            refs = {ref for assertion in here for ref in assertion.sources if (user_id, ref) not in self._sources}
            found = resolved(self._parts, user_id, sorted(refs))
            self._sources.update(((user_id, ref), record) for ref, record in found.items())
            records = self._parts.store.get(collection, [assertion.id for assertion in here])
            self._trusts.update((record.ref, record.trust) for record in records)

    def _examine(self, fact: Fact) -> list[Fact]:
        """The facts that one cites; what is wrong with its sources themselves is noted."""
        below: list[Fact] = []
        for assertion in fact.assertions:
            sources = [self.source(assertion.collection, ref) for ref in assertion.sources]
            trust = self._trusts.get(assertion.ref, Trust.UNKNOWN)
            flaws = self._flaws[assertion.ref] = [] if sources else [NO_SOURCE]
            if trust is Trust.QUARANTINED:
                flaws.append(QUARANTINED)
            for ref, source, hash_ in zip(assertion.sources, sources, assertion.hashes, strict=True):
                flaws += _flaws_of_source(ref, source, hash_)
            self._trusts[assertion.ref] = least([trust, *(source.trust for source in sources if source is not None)])
            below += self._cited_facts(fact, assertion)
        return below

    def _cited_facts(self, fact: Fact, assertion: Assertion) -> list[Fact]:
        below = []
        cites = self._cites[assertion.ref] = []
        for ref in assertion.sources:
            cited = self._fact_at(owner_in(assertion.collection), ref)
            if cited is not None:
                cites.append((ref, cited.ref))
                self._built_on.setdefault(cited.ref, []).append(fact)
                below.append(cited)
                if _outlives(fact, cited):
                    self._flaws[assertion.ref].append(f"{ref} no longer holds")
        return below

    def _fact_at(self, user_id: str | None, ref: str) -> Fact | None:
        """The fact a source names, of the user or of all."""
        if identity.kind_of(ref) != "facts":
            return None
        for owner in dict.fromkeys((user_id, None)):
            prefix = f"{identity.facts_of(owner)}/"
            if ref.startswith(prefix):
                return known_facts(self._parts, owner).get(ref.removeprefix(prefix))
        return None

    # --- up --------------------------------------------------------------------------------------------

    def _build_up(self, facts: Sequence[Fact]) -> None:
        """From what stands by itself to what rests on it. Facts in a circle that nothing else holds up do not stand."""
        waiting = deque(facts)
        while waiting:
            fact = waiting.popleft()
            if fact.ref not in self._sound and any(map(self._stands, fact.assertions)):
                self._sound.add(fact.ref)
                waiting += self._built_on.get(fact.ref, ())
        for assertion in (assertion for fact in facts for assertion in fact.assertions):
            fallen = (ref for ref, cited in self._cites[assertion.ref] if cited not in self._sound)
            self._flaws[assertion.ref] += (f"{ref} is stale" for ref in fallen)

    def _stands(self, assertion: Assertion) -> bool:
        cites = self._cites[assertion.ref]
        return not self._flaws[assertion.ref] and all(cited in self._sound for _, cited in cites)


def _flaws_of_source(ref: str, source: Record | None, hash_: str) -> list[str]:
    if source is None:
        return [f"{ref} is gone"]
    flaws = []
    if value_of(source.marks, Mark.SUPERSEDED_BY) is not None:
        flaws.append(f"{ref} is superseded")
    if text_hash(ref, source.text) != hash_:
        flaws.append(f"{ref} has changed")
    if source.trust is Trust.QUARANTINED:
        flaws.append(f"{ref} is quarantined")
    return flaws


def _outlives(fact: Fact, cited: Fact) -> bool:
    """Whether a fact goes on where the one it rests on has ended."""
    if cited.valid_to_ms is None or fact.never_held:
        return False
    return fact.valid_to_ms is None or fact.valid_to_ms > cited.valid_to_ms

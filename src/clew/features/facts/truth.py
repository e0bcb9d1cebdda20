"""The facts that a request can see, whether their sources still support them, and whether they hold now.

Clew replays the facts of an owner once, keeps them in memory and follows the feed of their collection. It looks at
their sources whenever it reads them, so that no answer is out of date: an assertion is sound while each of its sources
exists, says what it said and holds; a fact is sound while one of its assertions is. A fact that rests on another fact
falls with it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.core.collections import Collection
from clew.core.model import Record, Trust, least
from clew.core.predicates import Registry, registry
from clew.features.claims.log import resolve
from clew.features.claims.rules import CONFIDENCE_OF_TRUST, RELIED_ON, Lapse, source_flaws
from clew.features.facts.lanes import Fact
from clew.features.facts.log import Assertion, entry_in, owner_in
from clew.features.facts.replay import Facts
from clew.kernel.parts import Parts
from clew.kernel.search import turn_ref
from clew.storage.protocol import Feed

MAX_VIEWS = 16
"""Views kept in memory; to make one, Clew reads all records of its collection."""

_RECORDS_A_READ = 500

NO_SOURCE = "it names no source"
QUARANTINED = "it is quarantined"


# --- views ---------------------------------------------------------------------------------------------


def known_facts(parts: Parts, user_id: str | None) -> Facts:
    """The facts of a user; without a user, those for all."""
    return parts.state(FactViews).of(user_id)


class FactViews:
    """A view of each collection of facts that a request used lately. Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.registry: Registry = registry(parts.config.fact_predicates)
        self.writing = threading.Lock()
        """Held from reading the facts to adding one: which fact ends which depends on both."""
        self._lock = threading.Lock()
        self._views: OrderedDict[str, _View] = OrderedDict()

    def of(self, user_id: str | None) -> Facts:
        collection = Collection.facts(user_id)
        with self._lock:
            view = self._views.get(collection)
            if view is None:
                view = self._views[collection] = _View(collection, self.registry)
            self._views.move_to_end(collection)
            if len(self._views) > MAX_VIEWS:
                self._views.popitem(last=False)
        return view.current(self._parts)

    def rebuild(self, user_id: str | None) -> tuple[Facts, Facts]:
        """The facts as they were kept, and the same from the rows alone, which are kept from now on."""
        self.of(user_id)
        collection = Collection.facts(user_id)
        fresh = _View(collection, self.registry)
        fresh.current(self._parts)
        with self._lock:
            kept, self._views[collection] = self._views.get(collection, fresh), fresh
        return kept.current(self._parts), fresh.current(self._parts)


class _View:
    def __init__(self, collection: str, known: Registry) -> None:
        self._collection = collection
        self._registry = known
        self._lock = threading.Lock()
        self._until = 0
        self._facts = Facts(known)

    def current(self, parts: Parts) -> Facts:
        with self._lock:
            feed = parts.store.feed(self._collection, self._until)
            if feed.until != self._until:
                self._follow(parts, feed)
            return self._facts

    def _follow(self, parts: Parts, feed: Feed) -> None:
        """Add what is new. A record that is gone cannot be undone, so then all is replayed."""
        begins_anew = feed.reset or bool(feed.removed)
        if feed.removed:
            feed = parts.store.feed(self._collection, 0)
        seqs = [row.seq for row in feed.added]
        chunks = (seqs[start : start + _RECORDS_A_READ] for start in range(0, len(seqs), _RECORDS_A_READ))
        read = [(record.id, entry_in(record)) for chunk in chunks for record in parts.store.at(self._collection, chunk)]
        entries = [entry for _, entry in read if entry is not None]
        malformed = [id_ for id_, entry in read if entry is None]
        if begins_anew:
            self._facts = Facts(self._registry, entries, malformed)
        else:
            self._facts.add(entries, malformed)
        self._until = feed.until


# --- sources -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Support:
    """How far the sources of a fact support it now."""

    reasons: tuple[str, ...]
    """Why it is stale; empty where it is sound."""
    trust: Trust
    """Of its best assertion; never more than its sources have by now."""

    @property
    def is_relied_on(self) -> bool:
        return not self.reasons and self.trust in RELIED_ON


def supports(parts: Parts, facts: Sequence[Fact]) -> dict[str, Support]:
    """The support of each fact, by its id."""
    grounds = Grounds(parts)
    grounds.examine(facts)
    return {fact.id: grounds.support(fact) for fact in facts}


class Grounds:
    """The sources of facts, as they are now. Reads each source once; lives for one request."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._sources: dict[tuple[str | None, str], Record | None] = {}
        self._examined: set[str] = set()
        self._flaws: dict[str, list[str]] = {}
        """The flaws of the sources of each assertion."""
        self._trusts: dict[str, Trust] = {}
        self._cites: dict[str, list[tuple[str, str]]] = {}
        """The facts among the sources of each assertion: the reference it cites, and that of the fact."""
        self._built_on: dict[str, list[Fact]] = {}
        self._sound: set[str] = set()

    def examine(self, facts: Iterable[Fact]) -> None:
        """Follow facts down to their sources, then find those that the sources support."""
        met: list[Fact] = []
        wave = list(facts)
        while wave:
            fresh = list({fact.ref: fact for fact in wave if fact.ref not in self._examined}.values())
            self._examined.update(fact.ref for fact in fresh)
            self._fetch([assertion for fact in fresh for assertion in fact.assertions])
            wave = [cited for fact in fresh for cited in self._examine_one(fact)]
            met += fresh
        self._build_up(met)

    def support(self, fact: Fact) -> Support:
        sound = [assertion for assertion in fact.assertions if not self._flaws[assertion.ref]]
        flaws = [] if sound else [flaw for assertion in fact.assertions for flaw in self._flaws[assertion.ref]]
        trusts = (self._trusts[assertion.ref] for assertion in sound or fact.assertions)
        return Support(tuple(dict.fromkeys(flaws)), max(trusts, key=CONFIDENCE_OF_TRUST.__getitem__))

    def flaws(self, assertion: Assertion) -> list[str]:
        return self._flaws[assertion.ref]

    def source(self, collection: str, ref: str) -> Record | None:
        """The record that a source names now; None where it is gone."""
        return self._sources[owner_in(collection), ref]

    # --- down ------------------------------------------------------------------------------------------

    def _fetch(self, assertions: Sequence[Assertion]) -> None:
        """Read the sources of assertions and their own trust, one step an owner."""
        for collection in {assertion.collection for assertion in assertions}:
            user_id = owner_in(collection)
            here = [assertion for assertion in assertions if assertion.collection == collection]
            refs = {ref for assertion in here for ref in assertion.sources if (user_id, ref) not in self._sources}
            found = resolve(self._parts, user_id, sorted(refs))
            self._sources.update(((user_id, ref), record) for ref, record in found.items())
            records = self._parts.store.get(collection, [assertion.id for assertion in here])
            self._trusts.update((record.ref, record.trust) for record in records)

    def _examine_one(self, fact: Fact) -> list[Fact]:
        """Note the flaws of its sources; return the facts among them."""
        below: list[Fact] = []
        for assertion in fact.assertions:
            sources = [self.source(assertion.collection, ref) for ref in assertion.sources]
            trust = self._trusts.get(assertion.ref, Trust.UNKNOWN)
            flaws = self._flaws[assertion.ref] = [] if sources else [NO_SOURCE]
            if trust is Trust.QUARANTINED:
                flaws.append(QUARANTINED)
            for ref, source, hash_ in zip(assertion.sources, sources, assertion.hashes, strict=True):
                flaws += source_flaws(ref, source, hash_)
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
        """The fact that a source names, of the user or for all."""
        for owner in dict.fromkeys((user_id, None)):
            prefix = f"{Collection.facts(owner)}/"
            if ref.startswith(prefix):
                return known_facts(self._parts, owner).get(ref.removeprefix(prefix))
        return None

    # --- up --------------------------------------------------------------------------------------------

    def _build_up(self, facts: Sequence[Fact]) -> None:
        """From facts that rest on no other fact upwards. Facts that rest on each other alone are not sound."""
        waiting = deque(facts)
        while waiting:
            fact = waiting.popleft()
            if fact.ref not in self._sound and any(map(self._is_sound, fact.assertions)):
                self._sound.add(fact.ref)
                waiting += self._built_on.get(fact.ref, ())
        for assertion in (assertion for fact in facts for assertion in fact.assertions):
            fallen = (ref for ref, cited in self._cites[assertion.ref] if cited not in self._sound)
            self._flaws[assertion.ref] += (f"{ref} is stale" for ref in fallen)

    def _is_sound(self, assertion: Assertion) -> bool:
        cites = self._cites[assertion.ref]
        return not self._flaws[assertion.ref] and all(cited in self._sound for _, cited in cites)


def _outlives(fact: Fact, cited: Fact) -> bool:
    """Whether a fact goes on where the one it rests on has ended."""
    if cited.valid_to_ms is None or fact.never_held:
        return False
    return fact.valid_to_ms is None or fact.valid_to_ms > cited.valid_to_ms


# --- truth ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Held:
    """A fact that holds, and its owner."""

    fact: Fact
    owner: str | None

    @property
    def ref(self) -> str:
        return f"{Collection.facts(self.owner)}/{self.fact.id}"


def owners_of(user_id: str | None) -> tuple[str | None, ...]:
    """The owners whose facts and plans a request may see: its user, and None for those for all."""
    return (None,) if user_id is None else (user_id, None)


class Truth:
    """The facts that a request may see, as of its moment."""

    def __init__(self, parts: Parts, user_id: str | None, now_ms: int) -> None:
        self._parts = parts
        self._now_ms = now_ms
        self._views = {owner: known_facts(parts, owner) for owner in owners_of(user_id)}
        self._telling = {owner: view for owner, view in self._views.items() if not view.is_empty}

    def fact_in(self, record: Record) -> tuple[Fact | None, Lapse | None, Held | None]:
        """The fact that a record of the log belongs to, why it does not hold, and the fact that holds instead.

        A record that is no assertion never holds: it takes a fact back, for instance.
        """
        owner = next((owner for owner in self._views if Collection.facts(owner) == record.collection), None)
        fact = self._views[owner].get(record.id)
        if fact is None:
            return None, Lapse.ENDED, None
        if fact.is_current(self._now_ms):
            return fact, None if self._is_relied_on(fact) else Lapse.STALE, None
        instead = self._instead_of(owner, fact)
        return fact, Lapse.ENDED if instead is None else Lapse.SUPERSEDED, instead

    def overtaken(self, record: Record) -> tuple[bool, Held | None]:
        """Whether a fact was read from a record and holds no longer, and the fact that replaces it."""
        refs = _cited_as(record) if self._telling else ()
        for owner, view in self._telling.items():
            over = [fact for ref in refs for fact in view.citing(ref) if not fact.is_current(self._now_ms)]
            instead = next((held for fact in over if (held := self._instead_of(owner, fact)) is not None), None)
            if instead is not None and not set(refs) & set(instead.fact.sources):
                return True, instead
            if instead is None and any(fact.invalidated for fact in over):
                return True, None
        return False, None

    def _instead_of(self, owner: str | None, fact: Fact) -> Held | None:
        """The fact that holds now in the place of another; None where none does, or none that Clew relies on."""
        view, passed = self._views[owner], {fact.id}
        after = view.successor(fact)
        while after is not None and after.id not in passed and not after.is_current(self._now_ms):
            passed.add(after.id)
            after = view.successor(after)
        if after is None or after.id in passed:
            return None
        return Held(after, owner) if self._is_relied_on(after) else None

    def _is_relied_on(self, fact: Fact) -> bool:
        return supports(self._parts, [fact])[fact.id].is_relied_on


def _cited_as(record: Record) -> tuple[str, ...]:
    """The references by which a fact may cite a record, or the turn that the gate kept it from."""
    own = record.collection.home.ref(record.id)
    turn = turn_ref(record)
    return (own,) if turn is None else (own, turn)

"""What of a pack's candidates is true now: facts that hold, plans that are open, evidence that was overtaken.

A fact that holds no longer, or rests on what is gone, is left out; the one that holds instead comes in at its place.
A turn or a memory that a replaced fact was read from is still what was said then: it stays, and says that it is
no longer so. A plan stands among the candidates while it is open, and by itself on the days after its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from msgspec.structs import replace as with_other

from clew.domain import identity
from clew.domain.considered import Considered, Lapse
from clew.domain.facts import Fact
from clew.domain.model import Record
from clew.domain.plans import Plan, PlanState, plan_in
from clew.services.fact_staleness import stale_reasons
from clew.services.outline import unasked
from clew.services.pack_search import Lane, Sighting, Sightings, linked, owners_of
from clew.services.parts import Parts
from clew.services.plans import open_plans
from clew.services.recall import origin, turn_ref
from clew.services.refs import located

DUE_PLANS = 3
OVERDUE = timedelta(days=14)
"""For so long a plan that came due is shown unasked; later only to who asks for it."""


def in_truth(parts: Parts, user_id: str | None, seen: Sightings, min_similarity: float, now_ms: int) -> Sightings:
    """The candidates in the light of what is true now, with what holds instead and what is due."""
    truth = _Truth(parts, user_id, now_ms)
    found = {sighting.ref: truth.judged(sighting) for sighting in seen.found}
    for sighting in list(found.values()):
        instead = sighting.considered.replaced_by
        if instead and instead not in found and sighting.considered.similarity >= min_similarity:
            found[instead] = truth.judged(linked(located(parts, instead), sighting, Lane.FACTS))
    for plan in _due(parts, user_id, now_ms):
        known = found.get(plan.ref) or _unsought(located(parts, plan.ref))
        found[plan.ref] = replace(known, considered=replace(known.considered, due=True))
    return replace(seen, found=tuple(found.values()))


@dataclass(frozen=True, slots=True)
class _Held:
    """A fact that holds, and whose it is."""

    fact: Fact
    owner: str | None

    @property
    def ref(self) -> str:
        return f"{identity.facts_of(self.owner)}/{self.fact.id}"


class _Truth:
    """The facts a request may see, as they stand at its moment."""

    def __init__(self, parts: Parts, user_id: str | None, now_ms: int) -> None:
        self._parts = parts
        self._now_ms = now_ms
        self._views = {owner: parts.facts.of(parts, owner) for owner in owners_of(user_id)}

    def judged(self, sighting: Sighting) -> Sighting:
        considered = sighting.considered
        kind = identity.kind_of(considered.record.collection)
        if kind == "facts":
            judged = self._as_fact(considered)
        elif kind == "plans":
            judged = _as_plan(considered)
        else:
            judged = self._as_evidence(considered)
        return sighting if judged is considered else replace(sighting, considered=judged)

    def _as_fact(self, considered: Considered) -> Considered:
        """Dated from when it holds. What is no fact by itself, as what takes one back, is never shown as one."""
        record = considered.record
        owner = next((owner for owner in self._views if identity.facts_of(owner) == record.collection), None)
        fact = self._views[owner].get(record.id)
        if fact is None:
            return replace(considered, lapse=Lapse.ENDED)
        dated = replace(considered, record=with_other(record, ts_ms=fact.valid_from_ms))
        if fact.is_current(self._now_ms):
            return dated if self._is_sound(fact) else replace(dated, lapse=Lapse.STALE)
        instead = self._instead_of(owner, fact)
        if instead is None:
            return replace(dated, lapse=Lapse.ENDED)
        return replace(dated, lapse=Lapse.SUPERSEDED, replaced_by=instead.ref)

    def _as_evidence(self, considered: Considered) -> Considered:
        """What a fact was read from says no longer what is so, once another holds in that one's place."""
        refs = _cited_as(considered.record)
        for owner, view in self._views.items():
            over = [fact for ref in refs for fact in view.citing(ref) if not fact.is_current(self._now_ms)]
            instead = next((held for fact in over if (held := self._instead_of(owner, fact)) is not None), None)
            if instead is not None and not set(refs) & set(instead.fact.sources):
                return replace(considered, replaced_by=instead.ref)
            if instead is None and any(fact.invalidated for fact in over):
                return replace(considered, replaced_by="")
        return considered

    def _instead_of(self, owner: str | None, fact: Fact) -> _Held | None:
        """What holds now in the place of a fact; None where nothing does, or nothing that may be gone by."""
        view, passed = self._views[owner], {fact.id}
        after = view.successor(fact)
        while after is not None and after.id not in passed and not after.is_current(self._now_ms):
            passed.add(after.id)
            after = view.successor(after)
        if after is None or after.id in passed:
            return None
        return _Held(after, owner) if self._is_sound(after) else None

    def _is_sound(self, fact: Fact) -> bool:
        return not stale_reasons(self._parts, [fact])[fact.id]


def _cited_as(record: Record) -> tuple[str, ...]:
    """The references by which a fact may cite a record, or the turn that it was kept from."""
    own = record.ref.removeprefix(identity.archive_of(""))
    turn = turn_ref(record)
    return (own,) if turn is None else (own, turn)


def _as_plan(considered: Considered) -> Considered:
    plan = plan_in(considered.record)
    is_open = plan is not None and plan.state is PlanState.OPEN
    return considered if is_open else replace(considered, lapse=Lapse.ENDED)


def _due(parts: Parts, user_id: str | None, now_ms: int) -> Iterable[Plan]:
    """What came due lately, the latest first."""
    long_ago_ms = now_ms - int(OVERDUE.total_seconds() * 1000)
    plans = [plan for owner in owners_of(user_id) for plan in open_plans(parts, owner)]
    fresh = [plan for plan in plans if plan.is_due(now_ms) and not plan.is_due(long_ago_ms)]
    return sorted(fresh, key=lambda plan: (plan.day, plan.ref), reverse=True)[:DUE_PLANS]


def _unsought(record: Record) -> Sighting:
    found = unasked(record)
    return Sighting(Considered(record, origin(record), 0.0, 0.0), Lane.PLANS, found.candidate)

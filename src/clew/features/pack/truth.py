"""What of a pack's candidates is true now: facts that hold, plans that are open, evidence that was overtaken.

A fact that holds no longer, or rests on what is gone, is left out; the one that holds instead comes in at its place.
A turn or a memory that a replaced fact was read from is still what was said then: it stays, and says that it is
no longer so. A plan stands among the candidates while it is open, and by itself on the days after its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from msgspec.structs import replace as with_other

from clew.core import identity
from clew.core.model import Record
from clew.core.relevance import Shared
from clew.features.claims.rules import Lapse
from clew.features.facts.truth import Truth, owners_of
from clew.features.history.outline import unasked
from clew.features.pack.considered import Considered
from clew.features.pack.search import Lane, Sighting, Sightings, lifted, linked
from clew.features.plans.operations import PlanState
from clew.features.plans.rules import Plan, plan_in
from clew.features.plans.service import open_plans
from clew.kernel.parts import Parts
from clew.kernel.refs import located
from clew.kernel.search import origin

DUE_PLANS = 3
OVERDUE = timedelta(days=14)
"""For so long a plan that came due is shown unasked; later only to who asks for it."""


def in_truth(parts: Parts, user_id: str | None, seen: Sightings, min_similarity: float, now_ms: int) -> Sightings:
    """The candidates in the light of what is true now, with what holds instead and what is due."""
    truth = Truth(parts, user_id, now_ms)
    found = {sighting.ref: _judged(truth, sighting) for sighting in seen.found}
    for sighting in list(found.values()):
        instead = sighting.considered.replaced_by
        if instead and sighting.considered.similarity >= min_similarity:
            known = found.get(instead)
            if known is None:
                found[instead] = _judged(truth, linked(located(parts, instead), sighting, Lane.FACTS))
            else:
                found[instead] = lifted(known, sighting)
    for plan in _due(parts, user_id, now_ms):
        known = found.get(plan.ref) or _unsought(located(parts, plan.ref))
        found[plan.ref] = replace(known, considered=replace(known.considered, due=True))
    return replace(seen, found=tuple(found.values()))


def _judged(truth: Truth, sighting: Sighting) -> Sighting:
    considered = sighting.considered
    kind = identity.kind_of(considered.record.collection)
    if kind == "facts":
        judged = _as_fact(truth, considered)
    elif kind == "plans":
        judged = _as_plan(considered)
    else:
        judged = _as_evidence(truth, considered)
    return sighting if judged is considered else replace(sighting, considered=judged)


def _as_fact(truth: Truth, considered: Considered) -> Considered:
    """Dated from when it holds."""
    fact, lapse, instead = truth.fact_in(considered.record)
    judged = replace(considered, lapse=lapse, replaced_by=None if instead is None else instead.ref)
    return judged if fact is None else replace(judged, record=with_other(judged.record, ts_ms=fact.valid_from_ms))


def _as_evidence(truth: Truth, considered: Considered) -> Considered:
    is_over, instead = truth.overtaken(considered.record)
    if not is_over:
        return considered
    return replace(considered, replaced_by="" if instead is None else instead.ref)


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
    return Sighting(Considered(record, origin(record), 0.0, 0.0, Shared()), Lane.PLANS, found.candidate)

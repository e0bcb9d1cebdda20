"""Which of a pack's choices are true now: facts that hold, plans that are open, evidence that was replaced.

A fact that holds no longer, or has lost its source, stays out; the one that holds instead comes in at its place. A
turn or a memory behind a replaced fact is still what was said then: it stays, and says that it is no longer so. A plan
is a choice while it is open, and comes in unasked on the days after its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from msgspec.structs import replace as with_other

from clew.core.collections import CollectionKind
from clew.core.relevance import Shared
from clew.features.claims.rules import Lapse
from clew.features.facts.truth import Truth, owners_of
from clew.features.pack.choice import Choice, Lane
from clew.features.pack.search import linked
from clew.features.plans.calendar import plans_between
from clew.features.plans.operations import PlanState
from clew.features.plans.rules import Plan, local_day, plan_in
from clew.kernel.parts import Parts
from clew.kernel.records import find_record
from clew.kernel.search import origin, unsought

DUE_PLANS = 3
OVERDUE = timedelta(days=14)
"""For so long a plan that came due is shown unasked; later only to who asks for it."""


def check_truth(
    parts: Parts, user_id: str | None, choices: Sequence[Choice], min_similarity: float, now_ms: int
) -> list[Choice]:
    """The choices, marked by what is true now, with the facts that hold instead and the plans that are due."""
    truth = Truth(parts, user_id, now_ms)
    by_ref = {choice.ref: choice for choice in choices}
    for choice in choices:
        _judge(truth, choice)
    over = [replace(choice) for choice in choices if choice.replaced_by and choice.similarity >= min_similarity]
    for choice in over:
        instead = choice.replaced_by or ""
        if instead in by_ref:
            by_ref[instead].lift(choice)
        else:
            by_ref[instead] = linked(find_record(parts, instead), choice, Lane.FACTS)
            _judge(truth, by_ref[instead])
    for plan in _due(parts, user_id, now_ms):
        if plan.ref not in by_ref:
            by_ref[plan.ref] = _unasked_plan(parts, plan)
        by_ref[plan.ref].due = True
    return list(by_ref.values())


def _judge(truth: Truth, choice: Choice) -> None:
    match choice.record.collection.kind:
        case CollectionKind.FACTS:
            _judge_fact(truth, choice)
        case CollectionKind.PLANS:
            plan = plan_in(choice.record)
            if plan is None or plan.state is not PlanState.OPEN:
                choice.lapse = Lapse.ENDED
        case _:
            is_over, instead = truth.overtaken(choice.record)
            if is_over:
                choice.replaced_by = "" if instead is None else instead.ref


def _judge_fact(truth: Truth, choice: Choice) -> None:
    """Dates it from when it holds."""
    fact, choice.lapse, instead = truth.fact_in(choice.record)
    choice.replaced_by = None if instead is None else instead.ref
    if fact is not None:
        choice.found = with_other(choice.found, record=with_other(choice.record, ts_ms=fact.valid_from_ms))


def _due(parts: Parts, user_id: str | None, now_ms: int) -> Iterable[Plan]:
    """The plans that came due lately, the latest first."""
    today, long_ago = local_day(now_ms), local_day(now_ms - int(OVERDUE.total_seconds() * 1000))
    fresh = [plan for owner in owners_of(user_id) for plan in plans_between(parts, owner, long_ago, today)]
    return sorted(fresh, key=lambda plan: (plan.day, plan.ref), reverse=True)[:DUE_PLANS]


def _unasked_plan(parts: Parts, plan: Plan) -> Choice:
    record = find_record(parts, plan.ref)
    return Choice(unsought(record), Lane.PLANS, origin(record), 0.0, 0.0, Shared())

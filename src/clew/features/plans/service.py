"""Plans as records: adds, lists and closes them, by the operator's word or by that of their owner."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import islice

from clew.core.citing import SOURCES
from clew.core.collections import GLOBAL, Collection, CollectionKind
from clew.core.ids import ID_BYTES, digest
from clew.core.marks import By, Mark, made
from clew.core.model import Kind, Provenance, Record, Role, Trust
from clew.errors import InvalidInput, NotFound
from clew.features.claims.log import cite, claim_record, claims_in
from clew.features.claims.proposals import PLAN as PLANNED
from clew.features.claims.proposals import Proposal
from clew.features.claims.review import declined_in, newest_turns, proposals_of
from clew.features.plans.operations import (
    PlanList,
    PlanProposal,
    PlanProposals,
    PlansAdd,
    PlansClose,
    PlansDue,
    PlansList,
    PlansPropose,
    PlanState,
    PlanView,
)
from clew.features.plans.rules import PLAN, Plan, closing, describe, plan_in, tells_of_an_end
from clew.kernel.derivation import at_home
from clew.kernel.intake import check_names, draft_of
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit, find_record, place_of
from clew.kernel.services import serves
from clew.storage.protocol import Marking, Place, QueuedTask
from clew.text.dates import day_of
from clew.text.own_text import without_own
from clew.text.speech import own_words

MAX_WHAT_CHARS = 500
MAX_LISTED = 1_000
TURNS_LOOKED_AT = 2_000
"""How many of a user's newest turns may propose a plan: older plans are past, or the operator saw them."""

LATER_TURNS = 200
"""How many of a user's newest turns may say that an accepted plan is done already."""

_ALL = "all"


@serves(PlansAdd)
def add(parts: Parts, request: PlansAdd) -> PlanView:
    check_names(parts, request.user_id, None)
    what = " ".join(request.what.split())
    condition = " ".join(request.condition.split())
    day = None if request.date is None else _checked_day(request.date)
    if not what or max(len(what), len(condition)) > MAX_WHAT_CHARS:
        raise InvalidInput(f"a plan must say what, and its condition when, in at most {MAX_WHAT_CHARS} characters")
    sources = cite(parts, request.user_id, request.sources)
    collection = Collection.plans(request.user_id)
    now_ms = parts.clock.now_ms()
    said = {
        "what": what,
        "date": day and day.isoformat(),
        "condition": condition,
        "proposal": request.proposal,
        "since": min((now_ms, *(source.ts_ms for source in sources))),
    }
    intake = draft_of(
        parts,
        describe(what, day, condition),
        collection=collection,
        also=(GLOBAL if request.user_id is None else Collection.memories(request.user_id),),
        role=None,
        provenance=Provenance.MEMORY,
        ts_ms=now_ms,
        metadata={
            PLAN: {name: value for name, value in said.items() if value},
            SOURCES: sorted({source.ref for source in sources}),
        },
        kind=Kind.PLAN,
    )
    draft = intake.draft
    kept = draft.metadata[PLAN]  # without secrets: none may shine through the hash
    place = Place(collection, _id_of(collection, kept["what"], kept.get("date", ""), kept.get("condition", "")))
    if not parts.store.get(place.collection, [place.id]):
        parts.store.put([claim_record(parts, draft, place, (draft.trust, *(source.trust for source in sources)))])
        if request.proposal and request.user_id is not None:
            _close_by_later_turns(parts, request.user_id, place)
    return _view(*_find_plan(parts, place), now_ms)


@serves(PlansList)
def list_plans(parts: Parts, request: PlansList) -> PlanList:
    if request.state not in (*PlanState, _ALL):
        raise InvalidInput(f"state must be one of {', '.join(PlanState)}, {_ALL}")
    return _list(parts, request.user_id, lambda plan: request.state in (plan.state, _ALL))


@serves(PlansDue)
def due(parts: Parts, request: PlansDue) -> PlanList:
    now_ms = parts.clock.now_ms()
    return _list(parts, request.user_id, lambda plan: plan.is_due(now_ms))


@serves(PlansClose)
def close(parts: Parts, request: PlansClose) -> PlanView:
    """To open a plan again leaves no mark behind, so that a later turn may close it."""
    if request.state not in list(PlanState):
        raise InvalidInput(f"state must be one of {', '.join(PlanState)}")
    record = find_record(parts, request.ref)
    if plan_in(record) is None:
        raise NotFound(f"{request.ref[:200]!r} is not a plan")
    state = PlanState(request.state)
    mark = None if state is PlanState.OPEN else made({"state": state.value}, By.OPERATOR, parts.clock.now_ms())
    parts.store.mark([Marking(place_of(record), {Mark.PLAN_STATE: mark})])
    return _view(*_find_plan(parts, place_of(record)), parts.clock.now_ms())


def open_plans(parts: Parts, user_id: str | None) -> list[Plan]:
    """The plans that nobody closed, without quarantined ones."""
    return [
        plan
        for plan, record in claims_in(parts, Collection.plans(user_id), plan_in)
        if plan.state is PlanState.OPEN and record.trust is not Trust.QUARANTINED
    ]


def close_by_turn(parts: Parts, task: QueuedTask) -> None:
    """Close a plan whose owner says that it is done or dropped. Costs one look where the user has no plans."""
    own = next((place for place in task.places if place.collection.kind is CollectionKind.TURNS), None)
    if own is None or task.draft.role is not Role.USER or task.draft.trust is Trust.QUARANTINED:
        return
    user_id = own.collection.owner
    if parts.store.size(Collection.plans(user_id)) == 0:
        return
    text = own_words(without_own(task.draft.text))
    if not tells_of_an_end(text):
        return
    meant = [plan for plan in open_plans(parts, user_id) if plan.since_ms <= task.draft.ts_ms]
    ended = closing(text, meant)
    turn = next(iter(parts.store.get(own.collection, [own.id])), None)
    if ended is None or turn is None or turn.trust is Trust.QUARANTINED:
        return
    _end(parts, *ended, turn)


def _close_by_later_turns(parts: Parts, user_id: str, place: Place) -> None:
    """Close a plan read from an old turn by the first of the newest turns that says it is done or dropped."""
    plan, _ = _find_plan(parts, place)
    newest = islice(newest_turns(parts, user_id, TURNS_LOOKED_AT), LATER_TURNS)
    later = [turn for turn in newest if turn.role is Role.USER and turn.ts_ms >= plan.since_ms]
    still_open = open_plans(parts, user_id)
    for turn in reversed(later):
        ended = closing(own_words(without_own(turn.text)), still_open)
        if ended is not None and ended[0].ref == plan.ref and _end(parts, *ended, turn):
            return


def _end(parts: Parts, plan: Plan, state: PlanState, turn: Record) -> bool:
    """Close a plan by the turn that says so, unless the plan was read from that turn."""
    source = at_home(parts, turn).ref
    if source in plan.sources:
        return False
    mark = made({"state": state.value, "source": source}, By.CLEW, parts.clock.now_ms())
    parts.store.mark([Marking(place_of(find_record(parts, plan.ref)), {Mark.PLAN_STATE: mark})])
    return True


@serves(PlansPropose)
def propose(parts: Parts, request: PlansPropose) -> PlanProposals:
    limit = checked_limit(request.limit, MAX_LISTED)
    collection = Collection.plans(request.user_id)
    plans = claims_in(parts, collection, plan_in)
    known = {name for plan, record in plans for name in (plan.proposal, record.id)}
    found: list[PlanProposal] = []
    looked_at = 0
    for turn in newest_turns(parts, request.user_id, TURNS_LOOKED_AT):
        looked_at += 1
        home = at_home(parts, turn)
        settled = known.union(declined_in(turn))
        planned = [(id_, proposal) for id_, proposal in proposals_of(home).items() if proposal.predicate == PLANNED]
        proposed = [_proposal_view(home, id_, proposal) for id_, proposal in planned]
        found += [item for item in proposed if settled.isdisjoint((item.id, _id_in(collection, item)))]
        if len(found) >= limit:
            break
    return PlanProposals(proposals=tuple(found[:limit]), looked_at=looked_at)


# --- reading -------------------------------------------------------------------------------------------


def _find_plan(parts: Parts, place: Place) -> tuple[Plan, Record]:
    record = find_record(parts, f"{place.collection}/{place.id}")
    plan = plan_in(record)
    if plan is None:
        raise NotFound(f"{record.ref[:200]!r} is not a plan")
    return plan, record


def _id_in(collection: str, proposal: PlanProposal) -> str:
    """The id of the plan that it would become."""
    return _id_of(collection, proposal.what, proposal.date or "", proposal.condition)


def _id_of(collection: str, what: str, day: str, condition: str) -> str:
    said = (what.casefold(), day, condition.casefold())
    return f"p_{digest(collection, *said, size_bytes=ID_BYTES).hex()}"


def _checked_day(given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise InvalidInput(f"date must be a day as YYYY-MM-DD, not {given[:40]!r}") from None


# --- showing -------------------------------------------------------------------------------------------


def _list(parts: Parts, user_id: str | None, wanted: Callable[[Plan], bool]) -> PlanList:
    now_ms = parts.clock.now_ms()
    found = [(plan, record) for plan, record in claims_in(parts, Collection.plans(user_id), plan_in) if wanted(plan)]
    found.sort(key=lambda pair: (pair[0].day or date.max, pair[0].recorded_ms, pair[0].ref))
    return PlanList(plans=tuple(_view(plan, record, now_ms) for plan, record in found[:MAX_LISTED]))


def _view(plan: Plan, record: Record, now_ms: int) -> PlanView:
    return PlanView(
        ref=plan.ref,
        what=plan.what,
        state=plan.state.value,
        due=plan.is_due(now_ms),
        date=plan.day.isoformat() if plan.day else None,
        condition=plan.condition,
        sources=plan.sources,
        trust=record.trust.value,
        ts=plan.recorded_ms,
        closed_by=plan.closed_by,
    )


def _proposal_view(home: Record, id_: str, proposal: Proposal) -> PlanProposal:
    trigger = proposal.trigger
    day = day_of(trigger.date_ms) if trigger is not None and trigger.date_ms is not None else None
    return PlanProposal(
        id=id_,
        what=proposal.object,
        source=home.ref,
        confidence=proposal.confidence,
        ts=home.ts_ms,
        date=day.isoformat() if day else None,
        condition=trigger.condition if trigger else "",
    )

"""Plans as records: written down, listed, due, and closed by the operator or by the words of their owner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from itertools import islice

from clew.core import identity
from clew.core.citing import SOURCES
from clew.core.marks import By, Mark, made, value_of
from clew.core.model import Kind, Provenance, Record, Role, Trust, least
from clew.errors import InvalidInput, NotFound
from clew.features.claims.proposals import PLAN as PLANNED
from clew.features.claims.proposals import Proposal, key_of, proposals
from clew.features.claims.sources import cited
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
from clew.features.plans.rules import PLAN, Plan, closing, described, plan_in, tells_of_an_end
from clew.kernel.derivation import at_home
from clew.kernel.intake import draft_of, speaker_in
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.refs import located, place_of
from clew.kernel.services import serves
from clew.kernel.views import every
from clew.storage.protocol import Marking, NewRecord, Place, QueuedTask, Task
from clew.text.dates import day_of
from clew.text.own_text import without_own

MAX_WHAT_CHARS = 500
MAX_LISTED = 1_000
TURNS_LOOKED_AT = 2_000
"""The newest of a user's turns, when proposals are asked for: older plans are past or were looked at."""

LATER_TURNS = 200
"""The newest of a user's turns, in which an accepted plan may be said to be done already."""

_PAGE = 200
_ALL = "all"


@serves(PlansAdd)
def add(parts: Parts, request: PlansAdd) -> PlanView:
    what = " ".join(request.what.split())
    condition = " ".join(request.condition.split())
    day = None if request.date is None else _checked_day(request.date)
    if not what or max(len(what), len(condition)) > MAX_WHAT_CHARS:
        raise InvalidInput(f"a plan must say what, and its condition when, in at most {MAX_WHAT_CHARS} characters")
    sources = cited(parts, request.user_id, request.sources)
    collection = identity.plans_of(request.user_id)
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
        described(what, day, condition),
        collection=collection,
        also=(identity.GLOBAL if request.user_id is None else identity.memories_of(request.user_id),),
        role=None,
        provenance=Provenance.MEMORY,
        ts_ms=now_ms,
        metadata={
            PLAN: {name: value for name, value in said.items() if value},
            SOURCES: sorted({source.ref for source in sources}),
        },
        kind=Kind.PLAN,
    )
    draft = replace(intake.draft, trust=least((intake.draft.trust, *(source.trust for source in sources))))
    kept = draft.metadata[PLAN]  # a secret that was cut out must not shine through a hash
    place = Place(collection, _id_of(collection, kept["what"], kept.get("date", ""), kept.get("condition", "")))
    if not parts.store.get(place.collection, [place.id]):
        tasks = (Task.EMBED,) if parts.meaning.wanted else ()
        parts.store.put([NewRecord(draft, place, tasks)])
        if request.proposal and request.user_id is not None:
            _close_by_later_turns(parts, request.user_id, place)
    return _view(*_planned(parts, place), now_ms)


@serves(PlansList)
def list_plans(parts: Parts, request: PlansList) -> PlanList:
    if request.state not in (*PlanState, _ALL):
        raise InvalidInput(f"state must be one of {', '.join(PlanState)}, {_ALL}")
    return _listed(parts, request.user_id, lambda plan: request.state in (plan.state, _ALL))


@serves(PlansDue)
def due(parts: Parts, request: PlansDue) -> PlanList:
    now_ms = parts.clock.now_ms()
    return _listed(parts, request.user_id, lambda plan: plan.is_due(now_ms))


@serves(PlansClose)
def close(parts: Parts, request: PlansClose) -> PlanView:
    """Taking it back leaves no mark behind, so that a later turn may close the plan again."""
    if request.state not in list(PlanState):
        raise InvalidInput(f"state must be one of {', '.join(PlanState)}")
    record = located(parts, request.ref)
    if plan_in(record) is None:
        raise NotFound(f"{request.ref[:200]!r} is not a plan")
    state = PlanState(request.state)
    mark = None if state is PlanState.OPEN else made({"state": state.value}, By.OPERATOR, parts.clock.now_ms())
    parts.store.mark([Marking(place_of(record), {Mark.PLAN_STATE: mark})])
    return _view(*_planned(parts, place_of(record)), parts.clock.now_ms())


def open_plans(parts: Parts, user_id: str | None) -> list[Plan]:
    """The plans that are still to come, or due; nothing that is quarantined."""
    return [plan for plan, record in _plans(parts, user_id) if _is_open(plan, record)]


def close_by_turn(parts: Parts, task: QueuedTask) -> None:
    """A user who says of a plan of theirs that it is done, or dropped, has closed it. Costs one look without any."""
    own = next((place for place in task.places if identity.kind_of(place.collection) == "turns"), None)
    if own is None or task.draft.role is not Role.USER or task.draft.trust is Trust.QUARANTINED:
        return
    user_id = identity.owner_of(own.collection)
    if parts.store.size(identity.plans_of(user_id)) == 0:
        return
    text = without_own(task.draft.text)
    if not tells_of_an_end(text):
        return
    meant = [plan for plan in open_plans(parts, user_id) if plan.since_ms <= task.draft.ts_ms]
    ended = closing(text, meant)
    turn = next(iter(parts.store.get(own.collection, [own.id])), None)
    if ended is None or turn is None or turn.trust is Trust.QUARANTINED:
        return
    _end(parts, *ended, turn)


def _close_by_later_turns(parts: Parts, user_id: str, place: Place) -> None:
    """A plan that was read from an old turn may have ended since: the first of the newest turns to say so closes it."""
    plan, _ = _planned(parts, place)
    newest = islice(_newest_turns(parts, user_id), LATER_TURNS)
    later = [turn for turn in newest if turn.role is Role.USER and turn.ts_ms >= plan.since_ms]
    still_open = open_plans(parts, user_id)
    for turn in reversed(later):
        ended = closing(without_own(turn.text), still_open)
        if ended is not None and ended[0].ref == plan.ref and _end(parts, *ended, turn):
            return


def _end(parts: Parts, plan: Plan, state: PlanState, turn: Record) -> bool:
    """Close a plan by the turn that says so; what a plan was read from does not close it."""
    source = at_home(parts, turn).ref
    if source in plan.sources:
        return False
    mark = made({"state": state.value, "source": source}, By.CLEW, parts.clock.now_ms())
    parts.store.mark([Marking(place_of(located(parts, plan.ref)), {Mark.PLAN_STATE: mark})])
    return True


@serves(PlansPropose)
def propose(parts: Parts, request: PlansPropose) -> PlanProposals:
    limit = checked_limit(request.limit, MAX_LISTED)
    collection = identity.plans_of(request.user_id)
    known = {name for plan, record in _plans(parts, request.user_id) for name in (plan.proposal, record.id)}
    found: list[PlanProposal] = []
    looked_at = 0
    for turn in _newest_turns(parts, request.user_id):
        looked_at += 1
        home = at_home(parts, turn)
        settled = known.union(value_of(turn.marks, Mark.DECLINED) or ())
        proposed = [_proposed(home, proposal) for proposal in _plans_in(turn)]
        found += [item for item in proposed if settled.isdisjoint((item.id, _id_in(collection, item)))]
        if len(found) >= limit:
            break
    return PlanProposals(proposals=tuple(found[:limit]), looked_at=looked_at)


# --- reading -------------------------------------------------------------------------------------------


def _plans(parts: Parts, user_id: str | None) -> Iterator[tuple[Plan, Record]]:
    for record in every(parts, identity.plans_of(user_id)):
        plan = plan_in(record)
        if plan is not None:
            yield plan, record


def _is_open(plan: Plan, record: Record) -> bool:
    return plan.state is PlanState.OPEN and record.trust is not Trust.QUARANTINED


def _planned(parts: Parts, place: Place) -> tuple[Plan, Record]:
    record = located(parts, f"{place.collection}/{place.id}")
    plan = plan_in(record)
    if plan is None:
        raise NotFound(f"{record.ref[:200]!r} is not a plan")
    return plan, record


def _newest_turns(parts: Parts, user_id: str) -> Iterator[Record]:
    """What the user said, newest first; nothing that is held back, or that came from elsewhere."""
    before: int | None = None
    left = TURNS_LOOKED_AT
    while left > 0 and (page := parts.store.newest(identity.turns_of(user_id), before, min(left, _PAGE))):
        newest_first = sorted(page, key=lambda turn: -turn.seq)
        yield from (turn for turn in newest_first if turn.trust in (Trust.TRUSTED, Trust.UNKNOWN))
        before = newest_first[-1].seq
        left -= len(page)


def _plans_in(turn: Record) -> list[Proposal]:
    found = proposals(without_own(turn.text), speaker_in(dict(turn.metadata)) or "", turn.ts_ms, turn.role)
    return [proposal for proposal in found if proposal.predicate == PLANNED]


def _id_in(collection: str, proposal: PlanProposal) -> str:
    """The id of the plan it would be as it is."""
    return _id_of(collection, proposal.what, proposal.date or "", proposal.condition)


def _id_of(collection: str, what: str, day: str, condition: str) -> str:
    said = (what.casefold(), day, condition.casefold())
    return f"p_{identity.digest(collection, *said, size_bytes=identity.ID_BYTES).hex()}"


def _checked_day(given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise InvalidInput(f"date must be a day as YYYY-MM-DD, not {given[:40]!r}") from None


# --- showing -------------------------------------------------------------------------------------------


def _listed(parts: Parts, user_id: str | None, wanted: Callable[[Plan], bool]) -> PlanList:
    now_ms = parts.clock.now_ms()
    found = [(plan, record) for plan, record in _plans(parts, user_id) if wanted(plan)]
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


def _proposed(home: Record, proposal: Proposal) -> PlanProposal:
    trigger = proposal.trigger
    day = day_of(trigger.date_ms) if trigger is not None and trigger.date_ms is not None else None
    return PlanProposal(
        id=key_of(home.ref, proposal),
        what=proposal.object,
        source=home.ref,
        confidence=proposal.confidence,
        ts=home.ts_ms,
        date=day.isoformat() if day else None,
        condition=trigger.condition if trigger else "",
    )

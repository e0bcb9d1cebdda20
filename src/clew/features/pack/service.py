"""The pack for one request: the few lines of all that is known that bear on it, in budget, cited, with a trace.

`decide` asks the lanes, checks what is true now, applies the rules and lays out what they leave. It changes nothing, so
`why` explains exactly what `pack` would do. `pack` then counts the uses and keeps the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from clew.core.model import Kind
from clew.core.ranking import WORDS_ALONE
from clew.errors import InvalidInput
from clew.features.lifecycle.archive import bring_back, home_ref
from clew.features.pack.choice import Choice, Lane, Reason, importance_of
from clew.features.pack.layout import arrange, fit, line, quote_all, render, whole
from clew.features.pack.operations import Bundle, Pack, PackItem, PackRequest
from clew.features.pack.rules import Policy, prefer_project, relax, select
from clew.features.pack.search import Route, add_from_graph, find_choices, routes
from clew.features.pack.state import asks_for_state, find_state
from clew.features.pack.trace import Decision, Stopwatch, stored_trace, trace_of
from clew.features.pack.truth import check_truth
from clew.index.search import Query
from clew.kernel.intake import check_names, check_project, check_unicode
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens
from clew.kernel.records import checked_limit
from clew.kernel.search import prepare
from clew.kernel.services import serves
from clew.storage.protocol import Place
from clew.text.framing import PACK_CLOSE, PACK_OPEN

MAX_BUDGET_TOKENS = 1_000_000
DEFAULT_ITEMS = 8
"""Items of a pack where the caller names no limit. Of those beyond, one in six bears on the question."""
MAX_ITEMS = 100
_WIDEST_NUMBER = MAX_ITEMS
NOTHING_KNOWN = "nothing relevant is known"
NO_ROOM = "what is relevant does not fit the budget"
_LEFT_OUT = {
    Reason.TRUST: "left out for lack of trust",
    Reason.BUDGET: "left out for lack of room",
    Reason.CAP: "left out by a cap",
}
"""What a reader of the pack should know was there."""


@serves(Pack)
def pack(parts: Parts, request: Pack) -> Bundle:
    """The pack and its trace. Only records in the bundle count as used."""
    check_names(parts, request.user_id, request.session_id, project=request.project)
    decision = decide(parts, request)
    places = _wake(parts, decision.shown)
    trace = trace_of(decision, [place.collection.ref(place.id) for place in places])
    parts.store.touch(_by_collection(places), decision.now_ms, trace=stored_trace(trace, decision.timings_ms))
    return Bundle(
        bundle_text=decision.text,
        items=tuple(_item(choice, number) for number, choice in enumerate(decision.shown, 1)),
        budget_tokens=decision.policy.budget_tokens,
        used_tokens=decision.used_tokens,
        abstained=decision.abstained,
        notes=tuple(_notes(decision)),
        trace_id=trace.id,
        trace=trace if request.trace else None,
        degraded=decision.degraded,
    )


def decide(parts: Parts, request: PackRequest[Any]) -> Decision:
    """What the pack will be, and why. Changes nothing and counts nothing."""
    _check(request)
    watch = Stopwatch()
    lanes = routes(request.user_id, request.session_id, cold=request.cold)
    with parts.indexes.once():
        query, troubles = prepare(parts, request.query, [name for route in lanes for name in route.collections])
        policy = _policy(parts, request, query)
        watch.lap("question")
        choices, unseen = find_choices(parts, query, lanes, policy)
        watch.lap("search")
        if request.user_id is not None and asks_for_state(request.query):
            choices = find_state(parts, request.user_id, request.exclude_session or request.session_id, request.project)
            lanes.append(Route(Lane.STATE, ()))
            watch.lap("state")
        else:
            choices = add_from_graph(parts, request, choices, lanes)
            watch.lap("graph")
        choices = check_truth(parts, request.user_id, choices, policy.min_similarity, query.now_ms)
        watch.lap("facts and plans")
    prefer_project(choices, policy.project)
    policy = relax(policy, choices)
    chosen = select(choices, policy, request.query)
    watch.lap("selection")
    shown = _lay_out(parts, request, chosen, query, policy)
    text, lines = render(shown)
    for choice, text_line in zip(shown, lines, strict=True):
        choice.tokens = parts.counter.bound(text_line)
    watch.lap("layout")
    return Decision(
        request=request,
        policy=policy,
        lanes=tuple(lanes),
        choices=tuple(choices),
        unseen=unseen,
        shown=tuple(shown),
        text=text,
        used_tokens=parts.counter.bound(text) if text else 0,
        abstained=not chosen,
        degraded=troubles,
        now_ms=query.now_ms,
        timings_ms=watch.laps_ms,
    )


def _check(request: PackRequest[Any]) -> None:
    check_unicode("query", request.query)
    check_project(request.project)
    if request.project_only and request.project is None:
        raise InvalidInput("projectOnly needs a project")
    if request.budget_tokens is not None and not 1 <= request.budget_tokens <= MAX_BUDGET_TOKENS:
        raise InvalidInput(f"budgetTokens must be from 1 to {MAX_BUDGET_TOKENS}, not {request.budget_tokens}")
    if request.limit is not None:
        checked_limit(request.limit, MAX_ITEMS)
    unknown = [kind for kind in request.kinds if kind not in list(Kind)]
    if unknown:
        raise InvalidInput(f"unknown kind; it must be one of {', '.join(Kind)}")


def _policy(parts: Parts, request: PackRequest[Any], query: Query) -> Policy:
    config = parts.config
    scale = 1.0 if query.vector is not None else WORDS_ALONE
    return Policy(
        min_similarity=parts.tuning.pack_min_similarity * scale,
        items=DEFAULT_ITEMS if request.limit is None else request.limit,
        budget_tokens=config.pack_budget_tokens if request.budget_tokens is None else request.budget_tokens,
        untrusted=request.untrusted,
        kinds=frozenset(request.kinds),
        present_session=request.exclude_session,
        project=request.project,
        project_only=request.project_only,
    )


def _lay_out(
    parts: Parts, request: PackRequest[Any], chosen: Sequence[Choice], query: Query, policy: Policy
) -> list[Choice]:
    """What fits, in the order of the text. Lines count as they will be rendered, and the whole is counted once more."""
    quote_all(chosen, query.now_ms, (str(parts.config.data_dir),), shows_refs=request.refs, untrusted=request.untrusted)

    def cost(choice: Choice) -> int:
        against = _WIDEST_NUMBER if choice.contradicts else None
        instead = _WIDEST_NUMBER if choice.replaced_by else None
        return line_tokens(parts, line(choice, _WIDEST_NUMBER, against, instead))

    frame = line_tokens(parts, PACK_OPEN) + parts.counter.bound(PACK_CLOSE)
    words = (*query.terms.words, *query.terms.exact)
    fitted = fit(
        chosen, words, cost, allowance=policy.budget_tokens - frame, untrusted_allowance=policy.untrusted_tokens
    )
    while fitted and parts.counter.bound(render(arrange(fitted))[0]) > policy.budget_tokens:
        last = fitted.pop()
        last.layer, last.reason = None, Reason.BUDGET
    shown = {choice.ref for choice in fitted}
    for choice in fitted:
        is_dissent = choice.contradicts in shown
        choice.reason = Reason.DISSENT if is_dissent else Reason.DUE if choice.due else Reason.RELEVANT
    return arrange(fitted)


# --- the answer ---------------------------------------------------------------------------------------


def _wake(parts: Parts, shown: Sequence[Choice]) -> list[Place]:
    """Where the records of the bundle are, after those that rested in the archive have come back."""
    records = [choice.record for choice in shown]
    asleep = [record for record in records if record.collection.is_archive]
    back = set(bring_back(parts, asleep)) if asleep else set()
    return [
        Place(record.collection.home if home_ref(record) in back else record.collection, record.id)
        for record in records
    ]


def _by_collection(places: Sequence[Place]) -> dict[str, list[str]]:
    uses: dict[str, list[str]] = {}
    for place in places:
        uses.setdefault(place.collection, []).append(place.id)
    return uses


def _item(choice: Choice, number: int) -> PackItem:
    return PackItem(
        record_ref=choice.ref,
        layer="" if choice.layer is None else choice.layer.value,
        kind=choice.kind,
        importance=importance_of(choice.record),
        trust=choice.record.trust.value,
        text=choice.text,
        citation=f"[{number}]",
        tokens=choice.tokens,
        dissent=choice.reason is Reason.DISSENT,
        superseded_by=choice.replaced_by,
    )


def _notes(decision: Decision) -> list[str]:
    notes = []
    if decision.abstained:
        notes.append(NOTHING_KNOWN)
    elif not decision.shown:
        notes.append(NO_ROOM)
    left_out = Counter(choice.reason for choice in decision.choices)
    notes += [f"{left_out[reason]} {words}" for reason, words in _LEFT_OUT.items() if left_out[reason]]
    if any(whole(choice).payload for choice in decision.shown):
        notes.append("payloads are not shown; fetch them by their reference")
    return notes

"""The pack for one request: the few lines of all that is known that bear on it, in budget, cited, with a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clew.features.lifecycle.archive import bring_back, home_of, home_ref
from clew.features.pack.considered import importance_of
from clew.features.pack.decision import Decision, decide
from clew.features.pack.operations import Bundle, Pack, PackItem
from clew.features.pack.rules import Reason
from clew.features.pack.trace import stored_trace, trace_of
from clew.kernel.parts import Parts
from clew.kernel.refs import place_of
from clew.kernel.services import serves
from clew.storage.protocol import Place

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
    """What was decided, with its trace; only what stands in the bundle counts as used."""
    decision = decide(parts, request)
    places = _awake(parts, decision)
    trace = trace_of(decision, [f"{place.collection}/{place.id}" for place in places])
    parts.store.touch(_by_collection(places), decision.now_ms, trace=stored_trace(trace, decision.timings_ms))
    return Bundle(
        bundle_text=decision.text,
        items=tuple(_items(decision)),
        budget_tokens=decision.policy.budget_tokens,
        used_tokens=decision.used_tokens,
        abstained=decision.abstained,
        notes=tuple(_notes(decision)),
        trace_id=trace.id,
        trace=trace if request.trace else None,
        degraded=decision.degraded,
    )


def _awake(parts: Parts, decision: Decision) -> list[Place]:
    """Where the records of the bundle stand, once those that rested in the archive have come back."""
    asleep = [record for record in decision.records if home_of(record.collection) != record.collection]
    back = set(bring_back(parts, asleep)) if asleep else set()
    return [
        Place(home_of(record.collection), record.id) if home_ref(record) in back else place_of(record)
        for record in decision.records
    ]


def _by_collection(places: Sequence[Place]) -> dict[str, list[str]]:
    uses: dict[str, list[str]] = {}
    for place in places:
        uses.setdefault(place.collection, []).append(place.id)
    return uses


def _items(decision: Decision) -> list[PackItem]:
    return [
        PackItem(
            record_ref=shown.entry.ref,
            layer=shown.layer.value,
            kind=shown.entry.kind,
            importance=importance_of(record),
            trust=record.trust.value,
            text=shown.text,
            citation=f"[{number}]",
            tokens=decision.line_tokens[shown.entry.ref],
            dissent=decision.reasons[shown.entry.ref] is Reason.DISSENT,
            superseded_by=shown.entry.replaced_by,
        )
        for number, (shown, record) in enumerate(zip(decision.ordered, decision.records, strict=True), 1)
    ]


def _notes(decision: Decision) -> list[str]:
    notes = []
    if decision.abstained:
        notes.append(NOTHING_KNOWN)
    elif not decision.ordered:
        notes.append(NO_ROOM)
    left_out = Counter(decision.reasons.values())
    notes += [f"{left_out[reason]} {words}" for reason, words in _LEFT_OUT.items() if left_out[reason]]
    if any(shown.entry.payload for shown in decision.ordered):
        notes.append("payloads are not shown; fetch them by their reference")
    return notes

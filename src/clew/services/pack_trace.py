"""The trace of a pack: where it looked, what it saw, and what became of each candidate. Never what any of it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from clew.api import CandidateTrace, LaneTrace, Trace
from clew.domain.considered import importance_of
from clew.domain.identity import digest
from clew.domain.packing import INCLUDED, Reason
from clew.services.pack_decision import Decision
from clew.services.pack_search import Sighting
from clew.storage.protocol import StoredTrace

_ID_BYTES = 10
_DIGEST_BYTES = 16
_DIGITS = 6
"""Of a score; more would only be noise."""


def trace_of(decision: Decision, refreshed: Sequence[str]) -> Trace:
    """With an id made from all the rest, so that the same run has the same trace."""
    request = decision.request
    trace = Trace(
        id="",
        ts=decision.now_ms,
        query_digest=digest(_writable(request.query), size_bytes=_DIGEST_BYTES).hex(),
        user_id=request.user_id,
        session_id=request.session_id,
        policy=decision.policy.as_words(),
        lanes=_lanes(decision),
        candidates=candidates_of(decision),
        refreshed=tuple(refreshed),
        budget_tokens=decision.policy.budget_tokens,
        used_tokens=decision.used_tokens,
        abstained=decision.abstained,
        degraded=decision.degraded,
    )
    return msgspec.structs.replace(trace, id=f"p_{digest(_canonical(trace), size_bytes=_ID_BYTES).hex()}")


def stored_trace(trace: Trace) -> StoredTrace:
    return StoredTrace(trace.id, trace.ts, trace.user_id, trace.session_id, _canonical(trace))


def candidates_of(decision: Decision) -> tuple[CandidateTrace, ...]:
    """What stands in the bundle, in its order; then the others, best first."""
    by_ref = {sighting.ref: sighting for sighting in decision.sightings.found}
    shown = {shown.entry.ref: shown.layer.value for shown in decision.ordered}
    others = sorted(by_ref.keys() - shown.keys(), key=lambda ref: (-by_ref[ref].considered.score, ref))
    unseen = [_out_of_scope(ref, parent) for ref, parent in decision.sightings.out_of_scope]
    return (*(_candidate(decision, by_ref[ref], shown.get(ref)) for ref in (*shown, *others)), *unseen)


def _lanes(decision: Decision) -> tuple[LaneTrace, ...]:
    counts = Counter(sighting.lane for sighting in decision.sightings.found)
    return tuple(
        LaneTrace(
            name=route.lane.value,
            collections=route.collections,
            searched=route.searched,
            candidates=counts[route.lane],
        )
        for route in decision.lanes
    )


def _candidate(decision: Decision, sighting: Sighting, layer: str | None) -> CandidateTrace:
    considered, found = sighting.considered, sighting.candidate
    reason = decision.reasons[sighting.ref]
    return CandidateTrace(
        ref=sighting.ref,
        lane=sighting.lane.value,
        included=reason in INCLUDED,
        reason=reason.value,
        score=round(considered.score, _DIGITS),
        similarity=round(considered.similarity, _DIGITS),
        lexical=round(found.lexical, _DIGITS),
        lexical_rank=found.lexical_rank,
        dense=None if found.dense is None else round(found.dense, _DIGITS),
        dense_rank=found.dense_rank,
        context=round(found.context, _DIGITS),
        trust=considered.record.trust.value,
        importance=importance_of(considered.record),
        layer=layer,
        tokens=decision.line_tokens.get(sighting.ref, 0),
        linked_from=sighting.linked_from,
        path=sighting.path,
    )


def _out_of_scope(ref: str, parent: Sighting) -> CandidateTrace:
    """Only that a record names it is known."""
    return CandidateTrace(
        ref=ref,
        lane=parent.lane.value,
        included=False,
        reason=Reason.SCOPE.value,
        score=0.0,
        similarity=0.0,
        linked_from=parent.ref,
    )


def _canonical(trace: Trace) -> str:
    return msgspec.json.encode(trace, order="deterministic").decode()


def _writable(text: str) -> str:
    """Lone halves of surrogate pairs, which no encoding takes, become question marks."""
    return text.encode("utf-8", "replace").decode()

"""Traces of packs: listed, shown, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from clew.core.identity import digest
from clew.core.structs import make_known
from clew.errors import NotFound
from clew.features.pack.considered import importance_of
from clew.features.pack.decision import Decision
from clew.features.pack.operations import (
    CandidateTrace,
    DiffTraces,
    LaneTrace,
    ListTraces,
    ShowTrace,
    Trace,
    TraceChange,
    TraceDiff,
    TraceHead,
    TraceList,
)
from clew.features.pack.rules import INCLUDED, Reason
from clew.features.pack.search import Sighting
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.services import serves
from clew.storage.protocol import TRACE_LIMIT, StoredTrace

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
    id_ = f"p_{digest(_canonical(trace), size_bytes=_ID_BYTES).hex()}"
    return msgspec.structs.replace(trace, id=id_)


def stored_trace(trace: Trace, timings_ms: Mapping[str, float]) -> StoredTrace:
    """Kept with its timings, which the pack's own answer leaves out: equal runs give equal bytes."""
    body = _canonical(msgspec.structs.replace(trace, timings_ms=dict(timings_ms)))
    return StoredTrace(trace.id, trace.ts, trace.user_id, trace.session_id, body)


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


_BODY = msgspec.json.Decoder(Trace)
make_known([Trace])


@serves(ListTraces)
def list_traces(parts: Parts, request: ListTraces) -> TraceList:
    kept = parts.store.traces(checked_limit(request.limit, TRACE_LIMIT))
    return TraceList(traces=tuple(_head(_BODY.decode(trace.body)) for trace in kept))


@serves(ShowTrace)
def show_trace(parts: Parts, request: ShowTrace) -> Trace:
    found = parts.store.trace(request.id)
    if found is None:
        raise NotFound(f"there is no trace {request.id[:80]!r}; `clew trace list` shows those that are kept")
    return _BODY.decode(found.body)


@serves(DiffTraces)
def diff_traces(parts: Parts, request: DiffTraces) -> TraceDiff:
    """What became of each candidate that fared otherwise, and which rules were others."""
    before, after = (show_trace(parts, ShowTrace(id=id_)) for id_ in (request.before, request.after))
    changes = _changes(before, after)
    rules = sorted(before.policy.keys() | after.policy.keys())
    policy = {
        name: (before.policy.get(name), after.policy.get(name))
        for name in rules
        if before.policy.get(name) != after.policy.get(name)
    }
    return TraceDiff(same=not changes and not policy, changes=tuple(changes), policy=policy)


def _changes(before: Trace, after: Trace) -> list[TraceChange]:
    """In the order of the later trace; then those that only the earlier one has."""
    earlier = {candidate.ref: candidate for candidate in before.candidates}
    later = {candidate.ref: candidate for candidate in after.candidates}
    changes = []
    for ref in dict.fromkeys([*later, *earlier]):
        one, other = earlier.get(ref), later.get(ref)
        if _fate(one) != _fate(other):
            changes.append(
                TraceChange(
                    ref=ref,
                    before=_fate(one),
                    after=_fate(other),
                    score_before=None if one is None else one.score,
                    score_after=None if other is None else other.score,
                )
            )
    return changes


def _fate(candidate: CandidateTrace | None) -> str | None:
    """What became of a candidate, in a word or two."""
    if candidate is None:
        return None
    return f"in: {candidate.reason}, {candidate.layer}" if candidate.included else f"out: {candidate.reason}"


def _head(trace: Trace) -> TraceHead:
    return TraceHead(
        id=trace.id,
        ts=trace.ts,
        user_id=trace.user_id,
        session_id=trace.session_id,
        candidates=len(trace.candidates),
        included=sum(candidate.included for candidate in trace.candidates),
        used_tokens=trace.used_tokens,
        abstained=trace.abstained,
    )

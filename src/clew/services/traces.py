"""Traces of packs: listed, shown, compared."""

from __future__ import annotations

import msgspec

from clew.api import (
    CandidateTrace,
    DiffTraces,
    ListTraces,
    ShowTrace,
    Trace,
    TraceChange,
    TraceDiff,
    TraceHead,
    TraceList,
)
from clew.errors import NotFound
from clew.services.parts import Parts
from clew.services.records import checked_limit
from clew.storage.protocol import TRACE_LIMIT
from clew.structs import make_known

_BODY = msgspec.json.Decoder(Trace)
make_known([Trace])


def list_traces(parts: Parts, request: ListTraces) -> TraceList:
    kept = parts.store.traces(checked_limit(request.limit, TRACE_LIMIT))
    return TraceList(traces=tuple(_head(_BODY.decode(trace.body)) for trace in kept))


def show_trace(parts: Parts, request: ShowTrace) -> Trace:
    found = parts.store.trace(request.id)
    if found is None:
        raise NotFound(f"there is no trace {request.id[:80]!r}; `clew trace list` shows those that are kept")
    return _BODY.decode(found.body)


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

"""What one pack decided, as a trace: made, kept, listed, shown, compared."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from clew.core.ids import digest
from clew.core.structs import make_known
from clew.errors import NotFound
from clew.features.pack.choice import INCLUDED, Choice, Reason, importance_of
from clew.features.pack.operations import (
    CandidateTrace,
    DiffTraces,
    LaneTrace,
    ListTraces,
    PackRequest,
    ShowTrace,
    Trace,
    TraceChange,
    TraceDiff,
    TraceHead,
    TraceList,
)
from clew.features.pack.rules import Policy
from clew.features.pack.search import Route, Unseen
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.services import serves
from clew.storage.protocol import TRACE_LIMIT, StoredTrace

_ID_BYTES = 10
_DIGEST_BYTES = 16
_DIGITS = 6
"""Of a score; more would only be noise."""
_TIMING_DIGITS = 3


class Stopwatch:
    """How long the steps of a pack take. Starts when it is made; each lap ends a step."""

    def __init__(self) -> None:
        self.laps_ms: dict[str, float] = {}
        self._began = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps_ms[step] = round((now - self._began) * 1000, _TIMING_DIGITS)
        self._began = now


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything about one pack, before it changes anything."""

    request: PackRequest[Any]
    policy: Policy
    lanes: tuple[Route, ...]
    choices: tuple[Choice, ...]
    """Everything that was considered, each with its reason."""
    unseen: tuple[Unseen, ...]
    shown: tuple[Choice, ...]
    """What is in the bundle, in the order of its text."""
    text: str
    used_tokens: int
    abstained: bool
    degraded: tuple[str, ...]
    now_ms: int
    timings_ms: Mapping[str, float]
    """How long each step took."""


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
    timed = msgspec.structs.replace(trace, timings_ms=dict(timings_ms))
    body = msgspec.json.encode(timed).decode()  # in the order of the steps
    return StoredTrace(trace.id, trace.ts, trace.user_id, trace.session_id, body)


def candidates_of(decision: Decision) -> tuple[CandidateTrace, ...]:
    """What is in the bundle, in its order; then the others, best first."""
    shown = set(map(id, decision.shown))
    others = [choice for choice in decision.choices if id(choice) not in shown]
    others.sort(key=lambda choice: (-choice.score, choice.ref))
    return (*map(_candidate, (*decision.shown, *others)), *map(_out_of_scope, decision.unseen))


def _lanes(decision: Decision) -> tuple[LaneTrace, ...]:
    counts = Counter(choice.lane for choice in decision.choices)
    return tuple(
        LaneTrace(
            name=route.lane.value,
            collections=tuple(map(str, route.collections)),
            searched=route.searched,
            candidates=counts[route.lane],
        )
        for route in decision.lanes
    )


def _candidate(choice: Choice) -> CandidateTrace:
    assert choice.reason is not None, "the rules give every choice its reason"
    scores = choice.found.candidate
    return CandidateTrace(
        ref=choice.ref,
        lane=choice.lane.value,
        included=choice.reason in INCLUDED,
        reason=choice.reason.value,
        score=round(choice.score, _DIGITS),
        similarity=round(choice.similarity, _DIGITS),
        lexical=round(scores.lexical, _DIGITS),
        lexical_rank=scores.lexical_rank,
        dense=None if scores.dense is None else round(scores.dense, _DIGITS),
        dense_rank=scores.dense_rank,
        context=round(scores.context, _DIGITS),
        trust=choice.record.trust.value,
        importance=importance_of(choice.record),
        layer=None if choice.layer is None else choice.layer.value,
        tokens=choice.tokens,
        linked_from=choice.linked_from,
        path=choice.path,
    )


def _out_of_scope(unseen: Unseen) -> CandidateTrace:
    """All that is known of it is that a record names it."""
    return CandidateTrace(
        ref=unseen.ref,
        lane=unseen.parent.lane.value,
        included=False,
        reason=Reason.SCOPE.value,
        score=0.0,
        similarity=0.0,
        linked_from=unseen.parent.ref,
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

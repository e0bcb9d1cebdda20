"""What the pack for a request will be, and why: everything about it that changes nothing.

The question is put to the lanes, the rules choose among the candidates, and what is chosen is laid out within
the budget. `pack` goes on from there, and `why` explains it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clew.core.model import Kind, Provenance, Record, Trust
from clew.core.ranking import WORDS_ALONE
from clew.errors import InvalidInput
from clew.features.pack.considered import Considered, kind_of
from clew.features.pack.graph import along_the_graph
from clew.features.pack.layout import Entry, Shown, arranged, fit, line, rendered, without_private_paths
from clew.features.pack.operations import PackRequest
from clew.features.pack.rules import Policy, Reason, eased, select
from clew.features.pack.search import Route, Sightings, look, routes
from clew.features.pack.truth import in_truth
from clew.index.search import Query
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, speaker_of, when
from clew.kernel.records import checked_limit
from clew.kernel.search import prepare
from clew.kernel.stopwatch import Stopwatch
from clew.text.excerpts import one_line
from clew.text.framing import PACK_CLOSE, PACK_OPEN

MAX_BUDGET_TOKENS = 1_000_000
MAX_ITEMS = 100
_WIDEST_NUMBER = MAX_ITEMS
_WHO_CHARS = 80
_ARTIFACT = re.compile(r"[0-9a-f]{40}")
"""How artifacts are named. Metadata that says anything else there names none."""
_MOST_BYTES = 2**53


@dataclass(frozen=True, slots=True)
class Decision:
    """Everything about one pack, before anything is changed by it."""

    request: PackRequest[Any]
    policy: Policy
    lanes: tuple[Route, ...]
    sightings: Sightings
    ordered: tuple[Shown, ...]
    """In the order of the text."""
    reasons: Mapping[str, Reason]
    """Of every candidate."""
    text: str
    line_tokens: Mapping[str, int]
    """Of every item, by its reference."""
    used_tokens: int
    abstained: bool
    degraded: tuple[str, ...]
    now_ms: int
    timings_ms: Mapping[str, float]
    """How long each step took."""

    @property
    def records(self) -> list[Record]:
        """Of the items, in their order."""
        by_ref = {sighting.ref: sighting.considered.record for sighting in self.sightings.found}
        return [by_ref[shown.entry.ref] for shown in self.ordered]


def decide(parts: Parts, request: PackRequest[Any]) -> Decision:
    """What the pack will be, and why. Changes nothing and counts nothing."""
    _check(request)
    watch = Stopwatch()
    lanes = routes(request.user_id, request.session_id, cold=request.cold)
    with parts.indexes.once():
        query, troubles = prepare(parts, request.query, [name for route in lanes for name in route.collections])
        policy = _policy(parts, request, query)
        watch.lap("question")
        sightings = look(parts, query, lanes, policy)
        watch.lap("search")
        sightings = along_the_graph(parts, request, sightings, lanes)
        watch.lap("graph")
        sightings = in_truth(parts, request.user_id, sightings, policy.min_similarity, query.now_ms)
        watch.lap("facts and plans")
    candidates = [sighting.considered for sighting in sightings.found]
    policy = eased(policy, candidates)
    selection = select(candidates, policy, request.query)
    watch.lap("selection")
    against = {} if selection.dissent is None else {selection.dissent.ref: selection.dissent.against}
    entries = [
        replace(_entry(parts, item, against.get(item.ref, ""), query.now_ms), shows_ref=request.refs)
        for item in selection.chosen
    ]
    ordered, unfit = _laid_out(parts, entries, query, policy)
    text, lines = rendered(ordered)
    watch.lap("layout")
    due = {item.ref for item in candidates if item.due}
    included = {shown.entry.ref: Reason.DUE if shown.entry.ref in due else Reason.RELEVANT for shown in ordered}
    included |= {ref: Reason.DISSENT for ref, other in against.items() if {ref, other} <= included.keys()}
    return Decision(
        request=request,
        policy=policy,
        lanes=tuple(lanes),
        sightings=sightings,
        ordered=tuple(ordered),
        reasons={**selection.reasons, **unfit, **included},
        text=text,
        line_tokens={shown.entry.ref: parts.counter.bound(line_) for shown, line_ in zip(ordered, lines, strict=True)},
        used_tokens=parts.counter.bound(text) if text else 0,
        abstained=not selection.chosen,
        degraded=troubles,
        now_ms=query.now_ms,
        timings_ms=watch.laps_ms,
    )


def _check(request: PackRequest[Any]) -> None:
    check_unicode("query", request.query)
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
        min_similarity=config.pack_min_similarity * scale,
        items=config.pack_items if request.limit is None else request.limit,
        budget_tokens=config.pack_budget_tokens if request.budget_tokens is None else request.budget_tokens,
        untrusted=request.untrusted,
        kinds=frozenset(request.kinds),
        present_session=request.exclude_session,
    )


# --- laying out --------------------------------------------------------------------------------------


def _entry(parts: Parts, item: Considered, contradicts: str, now_ms: int) -> Entry:
    """A record as it may be shown: with a warning where it deserves one, and without private paths."""
    record = item.record
    private = (str(parts.config.data_dir),)
    outside = record.trust is Trust.UNTRUSTED
    return Entry(
        ref=record.ref,
        when=when(record, now_ms),
        who=one_line(without_private_paths(speaker_of(record), private), _WHO_CHARS),
        kind=kind_of(record),
        trust=record.trust if outside else "",
        text=without_private_paths(record.text, private),
        summary=record.provenance is Provenance.SUMMARY,
        outside=outside,
        payload=_payload(record),
        contradicts=contradicts,
        replaced_by=item.replaced_by,
    )


def _payload(record: Record) -> str:
    """What is kept beside a record: never shown, only named."""
    artifact, size = record.metadata.get("artifact"), record.metadata.get("payloadBytes")
    if not isinstance(artifact, str) or not _ARTIFACT.fullmatch(artifact):
        return ""
    return f"{artifact}, {size} bytes" if isinstance(size, int) and 0 <= size <= _MOST_BYTES else artifact


def _laid_out(
    parts: Parts, entries: Sequence[Entry], query: Query, policy: Policy
) -> tuple[list[Shown], dict[str, Reason]]:
    """What fits, as it will be read. Lines count as they will be rendered, and the whole is counted once more."""

    def cost(shown: Shown) -> int:
        against = _WIDEST_NUMBER if shown.entry.contradicts else None
        instead = _WIDEST_NUMBER if shown.entry.replaced_by else None
        return line_tokens(parts, line(shown, _WIDEST_NUMBER, against, instead))

    frame = line_tokens(parts, PACK_OPEN) + parts.counter.bound(PACK_CLOSE)
    words = (*query.terms.words, *query.terms.exact)
    fitted, reasons = fit(
        entries, words, cost, allowance=policy.budget_tokens - frame, outside_allowance=policy.untrusted_tokens
    )
    while fitted and parts.counter.bound(rendered(arranged(fitted))[0]) > policy.budget_tokens:
        reasons[fitted.pop().entry.ref] = Reason.BUDGET
    return arranged(fitted), reasons

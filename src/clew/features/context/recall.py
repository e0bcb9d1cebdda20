"""Recall of a context for a query: which records it takes, in two passes, and the lines that fit.

Both passes go over everything that is neither authored rule nor tail. The first takes records near to the query. The
second weighs each: by the words it shares with the query, and by its standing, which is made of age, use and origin.
Documents that the best of them link to come in behind them, one step far.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace as with_other

from msgspec.structs import replace

from clew.core.collections import LORE, Collection, CollectionKind
from clew.core.model import Provenance, Record
from clew.core.projects import is_elsewhere, preference
from clew.core.ranking import (
    AUTHORITY_OF_PROVENANCE,
    HOP_MIN_SCORE,
    HOP_SHARE,
    SIMILARITY_ALONE,
    WORDS_ALONE,
    ContextWeights,
    context_score,
    standing,
    use_share,
)
from clew.core.relevance import related
from clew.features.authored.service import Library
from clew.features.context.receipt import Assembly, frame_tokens
from clew.features.facts.truth import Truth
from clew.index.search import Query
from clew.kernel.echoes import without_repeats_of_others
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, may_show, quote_line, readable
from clew.kernel.search import Found, best, origin, without_repeats
from clew.text.excerpts import excerpt, pointer
from clew.text.framing import FRAME_CLOSE, FRAME_OPEN, Quoted, clip, frame, numbered, unnumbered

CANDIDATES = 64
"""Records near to the query that are weighed: somewhat more than a context recalls."""


def find_fitting(
    parts: Parts,
    query: Query,
    collections: Sequence[Collection],
    exclude: Mapping[Collection, Sequence[str]],
    present: Container[str] = (),
    *,
    project: str | None = None,
) -> tuple[list[Found], list[Found], list[Found]]:
    """The most fitting records, best first; near ones that have too little to do with the query; near ones that are not
    trusted enough.

    `present` are texts that the reader has already: they lead to nothing else. What is of another project than the one
    that is worked on comes behind, and must clearly bear on the query.
    """
    scale = 1.0 if query.vector is not None else WORDS_ALONE
    near = best(
        parts,
        with_other(query, weights=SIMILARITY_ALONE),
        collections,
        CANDIDATES,
        exclude=exclude,
        at_least=parts.tuning.recall_min_similarity * scale,
    )
    near = [_without_repeats_of_others(parts, item) for item in near]
    untrusted = [item for item in near if not _is_admissible(item.record)]
    near = [item for item in near if _is_admissible(item.record)]
    may_lead = [item.record.text not in present for item in near]
    kept = related(query.text, [item.candidate.shared for item in near], may_lead)
    elsewhere = {item.ref for item in near if project is not None and is_elsewhere(item.record.metadata, project)}
    kept = [
        is_related and (item.ref not in elsewhere or item.candidate.shared.is_clear)
        for item, is_related in zip(near, kept, strict=True)
    ]
    unrelated = [item for item, is_related in zip(near, kept, strict=True) if not is_related]
    near = [item for item, is_related in zip(near, kept, strict=True) if is_related]
    weighed = _weigh_all(parts, near)
    if project is not None:
        weighed = [replace(item, score=item.score * preference(item.record.metadata, project)) for item in weighed]
    ranked = _in_order(weighed)[: parts.tuning.recall_items]
    linked = _follow_links(parts, ranked)
    if linked:
        ranked = without_repeats(_in_order(ranked + linked))[: parts.tuning.recall_items]
    return ranked, unrelated, untrusted


def _is_admissible(record: Record) -> bool:
    return may_show(record, asked_for=_is_asked_for(record))


def _without_repeats_of_others(parts: Parts, found: Found) -> Found:
    own = None if _is_asked_for(found.record) else without_repeats_of_others(parts, found.record)
    return found if own is None else replace(found, record=own)


def _is_asked_for(record: Record) -> bool:
    """The running session may recall what its own tools gave and its own user quoted."""
    return record.collection.kind is CollectionKind.SESSION


def _weigh_all(parts: Parts, near: Sequence[Found]) -> list[Found]:
    weights = ContextWeights.normalised(*parts.tuning.context_weights)
    most = max((item.record.access_count for item in near), default=0)
    return [_weigh(item, most, weights) for item in near]


def _weigh(item: Found, most: int, weights: ContextWeights) -> Found:
    use = use_share(item.record.access_count, most)
    authority = AUTHORITY_OF_PROVENANCE[item.record.provenance]
    own_standing = standing(item.candidate.recency, use, authority, weights)
    score = context_score(item.candidate.similarity, own_standing, item.candidate.keywords) * item.quality
    return replace(item, score=score, use=use, authority=authority)


def _follow_links(parts: Parts, ranked: Sequence[Found]) -> list[Found]:
    """The documents that the ranked ones link to, each with a share of the best score that leads to it."""
    parents: dict[str, Found] = {}
    for item in ranked:  # best first, so the first parent is the best
        for target in _targets(parts, item.record):
            parents.setdefault(target, item)
    wanted = [id_ for id_, parent in parents.items() if parent.score * HOP_SHARE >= HOP_MIN_SCORE]
    if not wanted:
        return []
    there = {origin(item.record) for item in ranked}
    return [
        replace(
            parents[record.id],
            record=record,
            candidate=replace(parents[record.id].candidate, seq=record.seq, ts_ms=record.ts_ms),
            score=parents[record.id].score * HOP_SHARE,
            linked_from=parents[record.id].ref,
        )
        for record in parts.store.get(LORE, wanted)
        if origin(record) not in there and _is_admissible(record)
    ]


def _targets(parts: Parts, record: Record) -> list[str]:
    links = record.metadata.get("hop_targets") if record.collection == LORE else None
    if not isinstance(links, list):
        return []
    source = str(record.metadata.get("source_doc"))
    leads = (parts.state(Library).lead_of(source, link) for link in links if isinstance(link, str))
    return [lead for lead in leads if lead is not None]


def _in_order(found: list[Found]) -> list[Found]:
    return sorted(found, key=lambda item: (-item.score, -item.record.ts_ms, item.record.id))


_ITEM_SHARE = 0.5
"""The largest part of the recall one item may take; longer texts are cut, visibly. Less leaves room for more of them
and shows few whole: of an agent's tool output, 1,000 tokens then hold 41% of what is asked for and not 54%."""

_LEAST_CHARS = 64
"""No text is cut to less than this."""

_SUMMARY_SHARE = 0.06
_SUMMARY_MIN_CHARS = 120
"""The same for a summary: it is there to be opened where that is not enough, and several should have room."""

_WAYS = 3
"""How many summaries find room before all else that is recalled, wherever they are shown."""

_REPLY_CHARS = 320
"""For a reply of another session: the part the question asks for. Replies are long, and the rest can be fetched."""

_NOW_CHARS = 160

_SHORTEST_ITEM_TOKENS = 15
"""No item is shorter than this, with its number, day and name; less room is not worth trying."""

_WIDEST_NUMBER = 999
"""No line has a longer number. Counted with it, a text that is recalled again has a cached count."""


def lines_that_fit(
    parts: Parts, query: Query, wanted: Sequence[Found], context: Assembly, truth: Truth
) -> tuple[list[Found], str, int]:
    """Each that still fits beside those before it, shown best first; lines count as they will be rendered."""
    allowance = context.allocation.recall
    most = int(allowance * _ITEM_SHARE)
    used = frame_tokens(parts, FRAME_OPEN, FRAME_CLOSE)
    rests: dict[int, str] = {}

    def render(record: Record, text: str) -> tuple[str, int]:
        """A line behind its number, and its tokens."""
        rest = unnumbered(_with_truth(quote_line(record, context.now_ms, text), truth, record))
        return rest, line_tokens(parts, numbered(rest, _WIDEST_NUMBER))

    for place in _in_turn(wanted):
        if allowance - used < _SHORTEST_ITEM_TOKENS:
            break
        record, text = wanted[place].record, _show(wanted[place], query, allowance)
        rest, cost = render(record, text)
        shorter = len(text) * most // cost
        if _LEAST_CHARS <= shorter < len(text):  # code, and some scripts, take more tokens for as many characters
            rest, cost = render(record, clip(text, shorter))
        if used + cost <= allowance:
            rests[place] = rest
            used += cost
    places = sorted(rests)
    lines = [numbered(rests[place], number) for number, place in enumerate(places, 1)]
    return ([wanted[place] for place in places], frame(lines), used) if places else ([], "", 0)


def _in_turn(wanted: Sequence[Found]) -> list[int]:
    """Best first, but for the best summaries: the few lines of each lead to all the turns that it covers."""
    ways = [place for place, item in enumerate(wanted) if item.record.provenance is Provenance.SUMMARY and item.score]
    first = ways[:_WAYS]
    return first + [place for place in range(len(wanted)) if place not in first]


def _with_truth(said: Quoted, truth: Truth, record: Record) -> Quoted:
    """Marks a line that a newer fact has overtaken, and names that fact where it is known."""
    is_over, instead = truth.overtaken(record)
    if not is_over:
        return said
    now = "no longer so" if instead is None else clip(f"now: {instead.fact.text}", _NOW_CHARS)
    return with_other(said, superseded=now)


def _show(found: Found, query: Query, allowance: int) -> str:
    """The text, cut to the share of one item; of a summary, which can be opened, the part the question asks for."""
    text = readable(found.record, asked_for=_is_asked_for(found.record))
    wanted = (*query.terms.words, *query.terms.exact)
    if found.record.collection.kind is CollectionKind.REPLIES:
        return excerpt(text, wanted, min(int(allowance * _ITEM_SHARE) * 4, _REPLY_CHARS))
    if found.record.provenance is not Provenance.SUMMARY:
        return clip(text, max(int(allowance * _ITEM_SHARE) * 4, _LEAST_CHARS))
    max_chars = max(int(allowance * _SUMMARY_SHARE) * 4, _SUMMARY_MIN_CHARS)
    if not found.score:  # the question asks for nothing of it: it tells what the conversation was about
        return clip(text, max_chars)
    return pointer(text, wanted, max_chars)

"""Recall of a context for a query: two passes over everything that is neither authored rule nor tail.

The first pass takes records near to the query. The second weighs each: by the words it shares with the
query, and by its standing, which is made of age, use and origin. Documents that the best of them link
to come in behind them, one step far.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace as with_other

from msgspec.structs import replace

from clew.core.collections import LORE, Collection
from clew.core.model import Record, Trust
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
from clew.index.search import Query
from clew.kernel.parts import Parts
from clew.kernel.search import Found, best, origin, without_repeats

CANDIDATES = 64
"""Records near to the query that are weighed: somewhat more than a context recalls."""


def project(
    parts: Parts,
    query: Query,
    collections: Sequence[Collection],
    exclude: Mapping[Collection, Sequence[str]],
    present: Container[str] = (),
) -> tuple[list[Found], list[Found]]:
    """The most fitting records, best first, and those near ones that have too little to do with the query.

    `present` are texts that the reader has already: they lead to nothing else.
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
    may_lead = [item.record.text not in present for item in near]
    kept = related(query.text, [item.candidate.shared for item in near], may_lead)
    unrelated = [item for item, is_related in zip(near, kept, strict=True) if not is_related]
    near = [item for item, is_related in zip(near, kept, strict=True) if is_related]
    ranked = _in_order(_weigh_all(parts, near))[: parts.tuning.recall_items]
    linked = _follow_links(parts, ranked)
    if linked:
        ranked = without_repeats(_in_order(ranked + linked))[: parts.tuning.recall_items]
    return ranked, unrelated


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
        if origin(record) not in there and record.trust is not Trust.QUARANTINED
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

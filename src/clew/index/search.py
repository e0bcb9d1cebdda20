"""Search inside one collection: both lanes side by side, fused, the best returned with their scores."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clew.domain.calibration import Calibration
from clew.domain.identity import Scope
from clew.domain.ranking import SCOPE_NEARNESS, SIMILARITY_ALONE, Weights, fuse, recency, search_score
from clew.domain.terms import QueryTerms
from clew.index.collection import CollectionIndex, LexicalLane
from clew.index.vectors import Grid

Floats = NDArray[np.float32]

CLEARLY_LESS = np.float32(1.0 - 2.0**-20)
"""Rounding takes away less of a difference than this part of a number, so what is smaller by it stays smaller."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, prepared once for all the collections it is put to."""

    terms: QueryTerms
    vector: Grid | None
    calibration: Calibration | None
    now_ms: int
    weights: Weights


class Candidate(Struct, frozen=True, gc=False):
    """A member that was found, with the score and rank of each lane. A lane that did not see it is None.

    Hundreds are made for a context, for which a dataclass is too slow.
    """

    seq: int
    ts_ms: int
    score: float
    similarity: float
    lexical: float
    lexical_rank: int | None
    dense: float | None
    dense_rank: int | None
    recency: float
    keywords: float
    """The share of the query's terms it holds."""
    scope: float
    record: int
    """The key of the record it shows; 0 where that is not known."""
    covered: float | None = None
    """Of a summary that was found by a turn it stands for: how similar that turn is."""


def search(
    index: CollectionIndex, query: Query, scope: Scope, decay: float, limit: int, *, excluded: Collection[int] = ()
) -> list[Candidate]:
    """The best members that match at all, best first; ties go to the newer, then to the one written later.

    `excluded` are places of members to leave out.
    """
    if index.size == 0 or limit <= 0:
        return []
    lexical = index.lexical(query.terms)
    dense = _dense(index, query)
    by_similarity = query.weights == SIMILARITY_ALONE
    among = _contenders(index, lexical, dense, limit + len(excluded)) if by_similarity else slice(None)
    times = index.times[among]
    similarity = fuse(lexical.scores[among], None if dense is None else dense[among], lexical.exact_share)
    score = similarity
    if not by_similarity:
        score = search_score(similarity, recency(times, query.now_ms, decay), scope, query.weights)
    passed = score.copy()
    passed[~index.alive[among] | (similarity <= 0.0)] = -1.0
    passed[_places(index.seqs[among], excluded)] = -1.0
    order = _best(passed, times, limit)
    best = order if isinstance(among, slice) else among[order]
    nothing: list[None] = [None] * len(best)
    asked = max(len(query.terms.words) + len(query.terms.exact), 1)
    columns = (
        index.seqs[best].tolist(),
        times[order].tolist(),
        score[order].tolist(),
        similarity[order].tolist(),
        lexical.scores[best].tolist(),
        _ranks(lexical.scores, index.alive, best),
        nothing if dense is None else [None if math.isnan(value) else value for value in dense[best].tolist()],
        nothing if dense is None else _ranks(dense, index.alive, best),
        recency(times[order], query.now_ms, decay).tolist(),
        (lexical.matched[best] / asked).tolist(),
        [SCOPE_NEARNESS[scope]] * len(best),
        index.records[best].tolist(),
    )
    return [Candidate(*values) for values in zip(*columns, strict=True)]


def _dense(index: CollectionIndex, query: Query) -> Floats | None:
    if query.vector is None or query.calibration is None:
        return None
    return index.dense(query.vector, query.calibration)


def _contenders(index: CollectionIndex, lexical: LexicalLane, dense: Floats | None, limit: int) -> NDArray[np.int64]:
    """The positions, in order, that may be among the `limit` most similar: what holds a word of the query, or is near.

    What holds no word is as similar as it is near. Where as many others are clearly nearer, as many are more similar,
    and it need not be looked at.
    """
    if dense is None:
        return np.flatnonzero(lexical.scores)
    rank = limit + index.not_comparable
    if rank >= dense.size:
        return np.arange(dense.size)
    nearness = np.partition(dense, dense.size - rank)[dense.size - rank]
    return np.flatnonzero((lexical.scores > 0.0) | (dense >= nearness * CLEARLY_LESS))


def _places(ordered: NDArray[np.int64], wanted: Collection[int]) -> NDArray[np.int64]:
    """Where the wanted numbers stand among ordered ones, those that do."""
    numbers = np.fromiter(wanted, np.int64, len(wanted))
    places = ordered.searchsorted(numbers)
    there = places < ordered.size
    there[there] = ordered[places[there]] == numbers[there]
    return places[there]


def _best(score: Floats, times: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Positions of the highest scores, none below 0. All that tie with the last place are put in order."""
    threshold = np.float32(0.0)
    if limit < len(score):
        threshold = max(threshold, np.partition(score, len(score) - limit)[len(score) - limit])
    candidates = np.flatnonzero(score >= threshold)
    order = np.lexsort((-candidates, -times[candidates], -score[candidates]))
    return candidates[order][:limit]


def _ranks(lane: Floats, alive: NDArray[np.bool_], best: NDArray[np.int64]) -> list[int | None]:
    """1 for the best of the whole lane; None where the lane gives nothing. Ties share the better rank."""
    values = lane[best]
    seen = values[values > 0.0]
    if seen.size == 0:
        return [None] * len(best)
    rivals = np.sort(lane[(lane >= seen.min()) & alive])
    above = rivals.size - np.searchsorted(rivals, values, side="right")
    return [rank + 1 if value > 0.0 else None for value, rank in zip(values.tolist(), above.tolist(), strict=True)]

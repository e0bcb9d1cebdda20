"""Search inside one collection: both lanes side by side, fused, the best returned with their scores."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clew.core.calibration import Calibration
from clew.core.collections import Scope
from clew.core.ranking import SCOPE_NEARNESS, SIMILARITY_ALONE, Weights, fuse, recency, search_score, unit
from clew.core.relevance import Shared
from clew.index.collection import NOT_COMPARABLE, CollectionIndex, LexicalLane
from clew.index.columns import Sessions
from clew.index.surroundings import beside, context
from clew.index.vectors import Grid
from clew.text.terms import QueryTerms

Floats = NDArray[np.float32]
Positions = NDArray[np.int64]

CLEARLY_LESS = np.float32(1.0 - 2.0**-20)
"""Rounding errors are smaller than this part of a number, so a number that is smaller by it stays smaller."""

TIES_WITHIN = np.float32(1e-5)
"""Cosines that are closer than this may round to the same similarity."""

MOST_SURROUNDED = 256
"""How many of the best by themselves are ranked anew by their surroundings, with those beside them."""

LEAST_ADDED = 0.15
"""How much surroundings must add to a turn that shares nothing with the query itself, as an answer may."""

BLOCK = 64
"""Of many values that have to be told apart, the highest of each block are quicker to find than the order of all."""

MANY_OPEN = 4
"""How many times the wanted number are worth a closer look at the values they reach."""

MOST_OPEN_SHARE = 8
"""Where a quick look leaves more than one member in this many open, looking at all of them costs no more."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, prepared once for all the collections it is put to."""

    terms: QueryTerms
    vector: Grid | None
    calibration: Calibration | None
    now_ms: int
    weights: Weights
    dates: frozenset[str] = frozenset()
    """Keys of the days it asks for."""
    text: str = ""
    by_surroundings: bool = True
    """Whether turns are ranked by their surroundings as well; not where only their own words matter."""


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
    context: float = 0.0
    """How much the turns around it, its session, its speaker and its date add to its similarity."""
    own: float = 0.0
    """Its similarity without that; `words` and `named` are those of `Shared`."""
    words: int = 0
    named: bool = False
    covered: float | None = None
    """Of a summary that was found by a turn it covers: how similar that turn is."""

    @property
    def shared(self) -> Shared:
        return Shared(self.own, self.lexical, self.words, by_meaning=self.dense is not None, named=self.named)


def search(
    index: CollectionIndex,
    query: Query,
    scope: Scope,
    decay: float,
    limit: int,
    *,
    excluded: Collection[int] = (),
    before: int | None = None,
) -> list[Candidate]:
    """The best members that match at all, best first; ties go to the newer, then to the one written later.

    `excluded` are places of members to leave out; with `before`, those at that place and behind it are left out.
    Turns are ranked by their surroundings as well.
    """
    if index.size == 0 or limit <= 0:
        return []
    out = _places(index.seqs, excluded)
    if before is not None:
        later = np.arange(index.seqs.searchsorted(before), len(index.seqs), dtype=np.int64)
        out = np.union1d(out, later)
    if out.size >= index.size and not np.delete(index.alive, out).any():
        return []
    asked = _Asked(index, query, index.lexical(query.terms), scope, decay, out)
    sessions = index.sessions if query.by_surroundings else None
    ranked = _alone(asked, limit if sessions is None else max(limit, MOST_SURROUNDED))
    if sessions is not None:
        ranked = _in_context(asked, sessions, ranked, limit)
    return _candidates(asked, ranked)


def similarities(index: CollectionIndex, query: Query) -> Floats:
    """How similar every position is to a query; 0 for a member that has left or shares nothing with it."""
    asked = _Asked(index, query, index.lexical(query.terms), Scope.USER, 0.0, np.empty(0, np.int64))
    ranked = _alone(replace(asked, query=replace(query, weights=SIMILARITY_ALONE)), len(index.seqs))
    if index.sessions is not None:
        ranked = _in_context(asked, index.sessions, ranked, len(index.seqs))
    values = np.zeros(len(index.seqs), np.float32)
    values[ranked.positions] = ranked.similarity
    return values


@dataclass(frozen=True, slots=True)
class _Asked:
    """One collection and all that is asked of it."""

    index: CollectionIndex
    query: Query
    lexical: LexicalLane
    scope: Scope
    decay: float
    out: Positions
    """Positions to leave out."""

    def own(self, positions: Positions | slice, dense: Floats | None) -> Floats:
        """How similar these are by themselves."""
        return fuse(self.lexical.scores[positions], dense, self.lexical.exact_share)

    @property
    def by_similarity(self) -> bool:
        return self.query.weights == SIMILARITY_ALONE

    def score(self, positions: Positions | slice, similarity: Floats) -> Floats:
        if self.by_similarity:
            return similarity
        recent = recency(self.index.times[positions], self.query.now_ms, self.decay)
        return search_score(similarity, recent, self.scope, self.query.weights)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The best positions, best first, with the values that give them their place."""

    positions: Positions
    similarity: Floats
    score: Floats
    own: Floats
    dense: Floats | None
    context: Floats
    looked: _Looked


def _alone(asked: _Asked, limit: int) -> _Ranked:
    """Ranks each member by itself."""
    index = asked.index
    looked = _look(asked, limit + len(asked.out))
    among, dense = looked.among, looked.dense
    similarity = asked.own(among, dense)
    score = asked.score(among, similarity)
    passed = score.copy()
    passed[~index.alive[among] | (similarity <= 0.0)] = -1.0
    passed[asked.out if isinstance(among, slice) else _places(among, asked.out)] = -1.0
    order = _best(passed, index.times[among], limit)
    return _Ranked(
        positions=order if isinstance(among, slice) else among[order],
        similarity=similarity[order],
        score=score[order],
        own=similarity[order],
        dense=None if dense is None else dense[order],
        context=np.zeros(len(order), np.float32),
        looked=looked,
    )


def _in_context(asked: _Asked, sessions: Sessions, alone: _Ranked, limit: int) -> _Ranked:
    """The best by themselves, and those beside them, ranked anew by their surroundings."""
    index, query = asked.index, asked.query
    positions = beside(sessions, alone.positions, out=asked.out)
    if positions.size == 0:
        return alone
    bearing = beside(sessions, positions)
    dense = _near(asked, alone.looked, bearing)
    own = asked.own(bearing, dense)
    excess = np.zeros(len(index.seqs) + 1, np.float32)
    excess[bearing] = own - np.float32(index.mean_similarity(asked.lexical, query.vector, query.calibration))
    excess[asked.out] = 0.0
    added = context(index, sessions, positions, excess, query=query.terms, dates=query.dates, out=asked.out)
    places = np.searchsorted(bearing, positions)
    similarity = unit(own[places] + added)
    score = asked.score(positions, similarity)
    passed = score.copy()
    passed[(similarity <= 0.0) | ((own[places] <= 0.0) & (added < LEAST_ADDED))] = -1.0
    order = _best(passed, index.times[positions], limit)
    return _Ranked(
        positions=positions[order],
        similarity=similarity[order],
        score=score[order],
        own=own[places[order]],
        dense=None if dense is None else dense[places[order]],
        context=added[order],
        looked=alone.looked,
    )


def _near(asked: _Asked, looked: _Looked, positions: Positions) -> Floats | None:
    """How near these are in meaning, computed only where that is not known yet."""
    vector, calibration = asked.query.vector, asked.query.calibration
    if looked.every is not None:
        return looked.every[positions]
    if looked.dense is None or vector is None or calibration is None:
        return None
    return asked.index.dense_at(positions, vector, calibration)


def _mentions(asked: _Asked) -> NDArray[np.bool_]:
    """Which positions the question names: only turns have a speaker, and a day on which they were said."""
    index, query = asked.index, asked.query
    if index.sessions is None:
        return np.zeros(len(index.seqs), np.bool_)
    return index.named(query.terms.names, query.dates)


def _candidates(asked: _Asked, ranked: _Ranked) -> list[Candidate]:
    index, lexical, query, dense, best = asked.index, asked.lexical, asked.query, ranked.dense, ranked.positions
    times = index.times[best]
    nothing: list[None] = [None] * len(best)
    terms = max(len(query.terms.words) + len(query.terms.exact), 1)
    columns = (
        index.seqs[best].tolist(),
        times.tolist(),
        ranked.score.tolist(),
        ranked.similarity.tolist(),
        lexical.scores[best].tolist(),
        _ranks(index.of_members(lexical.scores), lexical.scores[best]),
        nothing if dense is None else [None if math.isnan(value) else value for value in dense.tolist()],
        nothing if dense is None else _ranks(ranked.looked.rivals, dense, ranked.looked.unseen),
        recency(times, query.now_ms, asked.decay).tolist(),
        (lexical.matched[best] / terms).tolist(),
        [SCOPE_NEARNESS[asked.scope]] * len(best),
        index.records[best].tolist(),
        ranked.context.tolist(),
        ranked.own.tolist(),
        lexical.matched[best].tolist(),
        _mentions(asked)[best].tolist(),
    )
    return [Candidate(*values) for values in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class _Looked:
    """The members that were looked at closely: all that may be among the best."""

    among: NDArray[np.int64] | slice
    """Their positions, in order."""
    dense: Floats | None = None
    """How near each of them is."""
    rivals: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    """How near the members are among which ranks are counted."""
    unseen: float = 0.0
    """No member missing from the rivals is nearer than this."""
    every: Floats | None = None
    """How near each position is, where all were looked at."""


def _look(asked: _Asked, limit: int) -> _Looked:
    """Looks at all that may be among the `limit` best; at every member where recency and scope count and few exist."""
    index, lexical = asked.index, asked.lexical
    vector, calibration = asked.query.vector, asked.query.calibration
    if vector is not None and calibration is not None:
        looked = _look_quickly(asked, vector, calibration, limit)
        dense = index.dense(vector, calibration) if looked is None else None
        if dense is not None:
            among = _contenders(index, lexical, dense, limit) if asked.by_similarity else slice(None)
            looked = _Looked(among, dense[among], index.of_members(dense), every=dense)
        if looked is not None:
            return looked
    return _Looked(lexical.worded if asked.by_similarity else slice(None))


def _look_quickly(asked: _Asked, vector: Grid, calibration: Calibration, limit: int) -> _Looked | None:
    """Looks only at members not certainly worse than `limit` others; None where those are too many to gain by it."""
    index = asked.index
    bounds = index.cosine_bounds(vector)
    if bounds is None or limit >= len(index.alive):
        return None
    least, most = bounds
    find = _open_by_similarity if asked.by_similarity else _open_by_score
    among = find(asked, calibration, least, most, limit)
    if among is None or among.size > least.size // MOST_OPEN_SHARE:
        return None
    dense = index.dense_at(among, vector, calibration)
    most[among] = NOT_COMPARABLE
    return _Looked(among, dense, dense[index.alive[among]], float(calibration.similarity(most.max(keepdims=True))[0]))


def _open_by_similarity(
    asked: _Asked, calibration: Calibration, least: Floats, most: Floats, limit: int
) -> Positions | None:
    """Which may be among the most similar.

    A member must be able to reach the value that `limit` members have at least, whatever their words: by its cosine
    alone, or with its words. Each step from a cosine to a similarity is monotone, rounding included.
    """
    lexical = asked.lexical
    reached = _threshold(least, limit)
    near = calibration.similarity(np.array([reached]))
    if not 0.0 < near[0] < 1.0:  # there, similarities of different cosines are the same
        return None
    is_open: NDArray[np.bool_] = most >= reached - TIES_WITHIN
    worded = lexical.worded
    by_cosine = _comparable(calibration, most[worded])
    enough = fuse(np.zeros(1, np.float32), near, lexical.exact_share)[0]
    is_open[worded] = fuse(lexical.scores[worded], by_cosine, lexical.exact_share) >= enough
    among = np.flatnonzero(is_open)
    if among.size <= MANY_OPEN * limit:
        return among
    at_least = asked.own(among, _comparable(calibration, least[among]))
    at_least[~asked.index.alive[among]] = -1.0
    return among[asked.own(among, _comparable(calibration, most[among])) >= _threshold(at_least, limit)]


def _open_by_score(asked: _Asked, calibration: Calibration, least: Floats, most: Floats, limit: int) -> Positions:
    """Which may be among the best, recency and scope included: the way from a cosine to a score is monotone, too."""

    def scores(cosines: Floats) -> Floats:
        """Below any where there is nothing to find."""
        similarity = asked.own(slice(None), _comparable(calibration, cosines))
        found = asked.score(slice(None), similarity)
        found[(similarity <= 0.0) | ~asked.index.alive] = -1.0
        return found

    return np.flatnonzero(scores(most) >= max(_threshold(scores(least), limit), np.float32(0.0)))


def _comparable(calibration: Calibration, cosines: Floats) -> Floats:
    """How near cosines are; NaN where there is none."""
    near: Floats = calibration.similarity(cosines)
    near[cosines <= NOT_COMPARABLE] = np.nan
    return near


def _threshold(values: Floats, limit: int) -> np.float32:
    """A value that `limit` of these certainly reach: from the highest of as many blocks, or of as many values."""
    blocks = len(values) // BLOCK
    if blocks >= MANY_OPEN * limit:
        values = values[: blocks * BLOCK].reshape(blocks, BLOCK).max(axis=1)
    return np.float32(np.partition(values, len(values) - limit)[len(values) - limit])


def _contenders(index: CollectionIndex, lexical: LexicalLane, dense: Floats, limit: int) -> NDArray[np.int64]:
    """The positions, in order, that may be among the `limit` most similar: they hold a word of the query, or are near.

    A member that holds no word is as similar as it is near. Where as many others are clearly nearer, as many are more
    similar, and it need not be looked at.
    """
    rank = limit + index.not_comparable
    if rank >= dense.size:
        return np.arange(dense.size)
    nearness = np.partition(dense, dense.size - rank)[dense.size - rank]
    return np.flatnonzero((lexical.scores > 0.0) | (dense >= nearness * CLEARLY_LESS))


def _places(ordered: NDArray[np.int64], wanted: Collection[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the wanted numbers among ordered ones, without those that are not there."""
    numbers = wanted if isinstance(wanted, np.ndarray) else np.fromiter(wanted, np.int64, len(wanted))
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


def _ranks(rivals: Floats, values: Floats, unseen: float = 0.0) -> list[int | None]:
    """1 for the best of the whole lane; ties share the better rank.

    None where the lane gives nothing, and where members that were not looked at may be ahead.
    """
    known = values > unseen
    if not known.any():
        return [None] * len(values)
    ahead = np.sort(rivals[rivals >= values[known].min()])
    above = ahead.size - np.searchsorted(ahead, values, side="right")
    return [rank + 1 if is_known else None for is_known, rank in zip(known.tolist(), above.tolist(), strict=True)]

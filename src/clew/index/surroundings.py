"""The surroundings of a turn, and how they bear on it: the turns beside it, its session, its speaker, its days.

A turn is seldom clear by itself: "Two, and a third one in May" answers a question that another turn holds. So a
turn gets, beside the similarity of its own words, a share of its neighbours' excess over the average similarity.
Over the collection, these additions count as often for a turn as against one, so that similarities keep their
scale; and a missing sign (no neighbours, no speaker, no date) adds nothing. Measured in docs/benchmarks.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from clew.index.collection import LENGTH_INFLUENCE, TERM_SATURATION, CollectionIndex
from clew.index.columns import NOWHERE, Sessions
from clew.text.terms import ASKS_SIGN, QueryTerms, date_sign, term_hash

BEFORE = 0.1
AFTER = 0.2
BEYOND = 0.1
"""Shares of the excess of the turns before, after and next to those."""

ANSWER = 0.4
"""A further share of the turn before where that one asks something: this one may answer it."""

SESSION = 0.1
"""The most that a session adds, when its words fit the query like no other's."""

SPEAKER = 0.07
"""The addition for a turn of the speaker whom the query names."""

DATE = 0.14
"""The most for a turn about a day that the query names, when no other turn is about it."""

Floats = NDArray[np.float32]
Positions = NDArray[np.int64]


def beside(sessions: Sessions, positions: Positions, *, out: Positions | None = None) -> Positions:
    """These and all whose similarity bears on theirs, in order; but none of those that are left out."""
    near = np.zeros(len(sessions.numbers) + 1, np.bool_)  # the last place means nowhere
    near[positions] = True
    for step in (sessions.before, sessions.after):
        one = step[positions]
        near[one] = True
        near[np.where(one == NOWHERE, NOWHERE, step[one])] = True
    if out is not None:
        near[out] = False
    return np.flatnonzero(near[:-1])


def context(
    index: CollectionIndex,
    sessions: Sessions,
    positions: Positions,
    excess: Floats,
    *,
    query: QueryTerms,
    dates: Collection[str],
    out: Positions,
) -> Floats:
    """How much the surroundings add to the similarity of each of these positions.

    `excess` is how much more similar each member is than the average one, for those that bear on these; 0
    elsewhere, and one place longer than there are members. `dates` are keys of the days that the query asks for. The
    members at the positions `out` lend their words to nobody.
    """
    added = _neighbours(index, sessions, positions, excess)
    if index.spans_sessions:
        added += np.float32(SESSION) * _session_fit(index, sessions, query, out)[sessions.numbers[positions]]
    said = index.said_by(query.names)
    if said is not None:
        added += _sign(said, SPEAKER, index.size)[positions]
    dated = index.holding(map(date_sign, dates)) if dates else None
    if dated is not None:
        added += _sign(dated, DATE * _rarity(int(dated.sum()), index.size), index.size)[positions]
    return added


def _neighbours(index: CollectionIndex, sessions: Sessions, positions: Positions, excess: Floats) -> Floats:
    before, after = sessions.before[positions], sessions.after[positions]
    share = np.float32(BEFORE) + np.float32(ANSWER) * index.holding([ASKS_SIGN])[before]
    added: Floats = share * excess[before] + np.float32(AFTER) * excess[after]
    for one, step in ((before, sessions.before), (after, sessions.after)):
        two = np.where(one == NOWHERE, NOWHERE, step[one])
        added += np.float32(BEYOND) * excess[two]
    return added


def _session_fit(index: CollectionIndex, sessions: Sessions, query: QueryTerms, out: Positions) -> Floats:
    """How well the words of each session fit the query, beside the others: at most 1, on average 0."""
    alive = sessions.members > 0
    count = int(alive.sum())
    if count < 2:
        return np.zeros(len(alive), np.float32)
    lengths = sessions.lengths.astype(np.float64)
    norms = TERM_SATURATION * (1.0 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * lengths / max(lengths.sum() / count, 1.0))
    is_in = np.ones(len(index.seqs), np.bool_)
    is_in[out] = False
    fit = np.zeros(len(alive))
    for term in (*query.words, *query.exact):
        positions, counts = index.holders(term_hash(term))
        often = np.bincount(sessions.numbers[positions], counts * is_in[positions], len(alive))
        holding = int(np.count_nonzero(often))
        if holding:
            rarity = math.log(1.0 + (count - holding + 0.5) / (holding + 0.5))
            fit += rarity * often / (often + norms)
    most = float(fit.max())
    if most <= 0.0:
        return np.zeros(len(alive), np.float32)
    mean = float(np.sort(fit[alive]).sum()) / count  # sorted, so that the sum is the same in any order of sessions
    return ((fit - mean) / most).astype(np.float32)


def _sign(held: NDArray[np.bool_], weight: float, size: int) -> Floats:
    """A sign counts for those who bear it, and by as much in all against the others."""
    share = int(held.sum()) / max(size, 1)
    return np.where(held, np.float32(weight * (1.0 - share)), np.float32(-weight * share))


def _rarity(holders: int, size: int) -> float:
    """1 for a sign that nobody holds, 0 for one that everybody does."""
    return max(math.log((size + 1) / (holders + 1)) / math.log(size + 1), 0.0)

"""How a candidate is scored. Every function maps any input into [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.core.collections import Scope
from clew.core.model import Provenance

Floats = NDArray[np.float32]

LEXICAL_SHARE = 0.3
"""The lexical lane's part of the similarity of an ordinary question; measured in docs/benchmarks.md."""

SCOPE_NEARNESS: Mapping[Scope, float] = {Scope.SESSION: 1.0, Scope.USER: 0.6, Scope.GLOBAL: 0.3}
RECENCY_DECAYS: Mapping[Scope, float] = {Scope.SESSION: 1e-4, Scope.USER: 1e-5, Scope.GLOBAL: 2e-6}
"""Per second of age. Recency halves in about two hours, 19 hours and four days."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The parts of a search score, clamped to [0, 1] and made to sum to 1."""

    similarity: float
    recency: float
    scope: float

    @classmethod
    def normalised(cls, similarity: float, recency: float, scope: float) -> Weights:
        return cls(*_shares(similarity, recency, scope, otherwise=(1.0, 0.0, 0.0)))


WORDS_ALONE = 0.5
"""Without vectors, similarity is the share of the question's words that a text holds, and runs lower: the least
similarity of a pack or a context is taken times this. Measured by bench/persistbench.py."""

SIMILARITY_ALONE = Weights(similarity=1.0, recency=0.0, scope=0.0)

AUTHORITY_OF_PROVENANCE: Mapping[Provenance, float] = {
    Provenance.AUTHORED: 1.0,
    Provenance.NOTE: 0.9,
    Provenance.MEMORY: 0.9,
    Provenance.MODEL: 0.85,
    Provenance.USER_TURN: 0.85,
    Provenance.ASSISTANT_TURN: 0.85,
    Provenance.SYSTEM_TURN: 0.85,
    Provenance.SUMMARY: 0.85,
    Provenance.TOOL_OUTPUT: 0.7,
    Provenance.WEB: 0.7,
}
"""How much a text's origin speaks for it in a context. Its own claims count for nothing."""

KEYWORD_INFLUENCE = 0.3
"""How much it counts in a context that a text holds the very words of the query."""

DECAY_INFLUENCE = 0.5
"""The share of its score that a summary loses when it says nothing of its sources."""

REPLY_SHARE = 0.75
"""How much of its similarity a reply keeps beside what its user said: replies are long, and repeat the question."""

HOP_SHARE = 0.5
"""The share that a document gets of the score of a text that links to it."""

HOP_MIN_SCORE = 0.1


@dataclass(frozen=True, slots=True)
class ContextWeights:
    """The parts of a text's standing in a context, clamped to [0, 1] and made to sum to 1."""

    recency: float
    use: float
    authority: float

    @classmethod
    def normalised(cls, recency: float, use: float, authority: float) -> ContextWeights:
        return cls(*_shares(recency, use, authority, otherwise=(0.0, 0.0, 1.0)))


def standing(recent: float, use: float, authority: float, weights: ContextWeights) -> float:
    """How much a text counts whatever is asked: by its age, by how often it was used, by its origin."""
    return _unit(weights.recency * recent + weights.use * use + weights.authority * authority)


def use_share(access_count: int, most: int) -> float:
    """How often a text was used, beside the most used one; 0 for one that never was."""
    return _unit(math.log1p(max(access_count, 0)) / math.log1p(max(most, access_count, 0) + 1))


def context_score(similarity: float, standing_: float, keywords: float) -> float:
    """The score of a text that a context recalls; `keywords` is the share of the query's terms that the text holds."""
    emphasis = (1.0 + KEYWORD_INFLUENCE * _unit(keywords)) / (1.0 + KEYWORD_INFLUENCE)
    return _unit(standing_ * max(similarity, 0.0) * emphasis)


def quality(decay: float) -> float:
    """The share of its score that a summary keeps; 1 where there is no decay, as for any other text."""
    return 1.0 - DECAY_INFLUENCE * _unit(decay)


def lexical_part(exact_share: float, lexical_share: float = LEXICAL_SHARE) -> float:
    """The lexical lane's part of the similarity, the larger the more of a query must match exactly."""
    return lexical_share + (1.0 - lexical_share) * min(max(exact_share, 0.0), 1.0)


def fuse(lexical: Floats, dense: Floats | None, exact_share: float, lexical_share: float = LEXICAL_SHARE) -> Floats:
    """One similarity from both lanes.

    The more of the query that must match exactly (identifiers, numbers), the more the lexical lane
    decides. Where a member has no dense value, its lexical one counts for both.
    """
    if dense is None:
        return unit(lexical)
    share = np.float32(lexical_part(exact_share, lexical_share))
    fused = share * lexical + (np.float32(1.0) - share) * dense
    return unit(np.where(np.isnan(fused), lexical, fused))


def recency(times_ms: NDArray[np.int64], now_ms: int, decay_per_second: float) -> Floats:
    """1 for now (and for a time ahead of the clock), falling with age."""
    age_seconds = np.maximum(now_ms - times_ms, 0).astype(np.float32) / np.float32(1000.0)
    recent: Floats = np.exp(np.float32(-_unit(decay_per_second)) * age_seconds)
    return recent


def search_score(similarity: Floats, recent: Floats, scope: Scope, weights: Weights) -> Floats:
    """The score of durable recall and search."""
    near = np.float32(SCOPE_NEARNESS[scope] * weights.scope)
    return unit(np.float32(weights.similarity) * similarity + np.float32(weights.recency) * recent + near)


def unit(values: Floats) -> Floats:
    """Clamped to [0, 1]; NaN is 0."""
    clamped: Floats = np.clip(values, np.float32(0.0), np.float32(1.0))
    clamped[np.isnan(clamped)] = 0.0
    return clamped


def _shares(*given: float, otherwise: tuple[float, ...]) -> tuple[float, ...]:
    """Clamped and made to sum to 1; where all are 0 there is nothing to go by."""
    parts = [_unit(part) for part in given]
    total = sum(parts)
    return otherwise if total == 0 else tuple(part / total for part in parts)


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0

"""How a candidate's score is made. Every function maps any input into [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.domain.identity import Scope

Floats = NDArray[np.float32]

LEXICAL_SHARE = 0.3
"""The lexical lane's part of the similarity of an ordinary question; measured in docs/benchmarks.md."""

SCOPE_NEARNESS: Mapping[Scope, float] = {Scope.SESSION: 1.0, Scope.USER: 0.6, Scope.GLOBAL: 0.3}


@dataclass(frozen=True, slots=True)
class Weights:
    """The parts of a search score, clamped to [0, 1] and made to sum to 1."""

    similarity: float
    recency: float
    scope: float

    @classmethod
    def normalised(cls, similarity: float, recency: float, scope: float) -> Weights:
        parts = [min(max(part, 0.0), 1.0) if math.isfinite(part) else 0.0 for part in (similarity, recency, scope)]
        total = sum(parts)
        return cls(1.0, 0.0, 0.0) if total == 0 else cls(*(part / total for part in parts))


def fuse(lexical: Floats, dense: Floats | None, exact_share: float, lexical_share: float = LEXICAL_SHARE) -> Floats:
    """One similarity from both lanes.

    The more of the query that must match exactly (identifiers, numbers), the more the lexical lane
    decides. Where a member has no dense value, its lexical one stands for both.
    """
    if dense is None:
        return lexical
    share = np.float32(lexical_share + (1.0 - lexical_share) * min(max(exact_share, 0.0), 1.0))
    fused = share * lexical + (np.float32(1.0) - share) * dense
    return unit(np.where(np.isnan(fused), lexical, fused))


def recency(times_ms: NDArray[np.int64], now_ms: int, decay_per_second: float) -> Floats:
    """1 for now (and for a time ahead of the clock), falling with age."""
    age_seconds = np.maximum(now_ms - times_ms, 0).astype(np.float32) / np.float32(1000.0)
    recent: Floats = np.exp(np.float32(-max(decay_per_second, 0.0)) * age_seconds)
    return recent


def search_score(similarity: Floats, recent: Floats, scope: Scope, weights: Weights) -> Floats:
    """The score of durable recall and search."""
    near = np.float32(SCOPE_NEARNESS[scope] * weights.scope)
    return unit(np.float32(weights.similarity) * similarity + np.float32(weights.recency) * recent + near)


def unit(values: Floats) -> Floats:
    """Clamped to [0, 1]; what is not a number is 0."""
    clamped: Floats = np.clip(values, np.float32(0.0), np.float32(1.0))
    clamped[np.isnan(clamped)] = 0.0
    return clamped

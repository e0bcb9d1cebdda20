"""How far a summary can replace its sources, in [0, 1].

Two questions, half each: does it point where its sources point together (alignment), and is it near
each of them (coverage)? Asked of meanings where vectors are known, of words where they are not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

MODEL_SHARE = 0.2
"""How much a model's own confidence in its summary counts."""


def of_space(alignment: float, coverage: Sequence[float]) -> float:
    """From the similarity to the sources' middle, and to each of them."""
    cover = math.fsum(map(_unit, coverage)) / len(coverage) if coverage else 0.0
    return _unit((_unit(alignment) + cover) / 2)


def blend(in_space: float, of_model: float | None) -> float:
    """Mix in the model's own confidence, where it gave one."""
    if of_model is None:
        return _unit(in_space)
    return _unit((1.0 - MODEL_SHARE) * _unit(in_space) + MODEL_SHARE * _unit(of_model))


def of_words(summary: Counter[str], sources: Sequence[Counter[str]]) -> float:
    """The same two questions, asked of terms: the cosine to all of them, and the share of each that is kept."""
    together: Counter[str] = Counter()
    for source in sources:
        together.update(source)
    kept = [sum(term in summary for term in source) / len(source) for source in sources if source]
    return of_space(_cosine(summary, together), kept)


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = math.fsum(count * other[term] for term, count in one.items() if term in other)
    lengths = math.sqrt(math.fsum(c * c for c in one.values())) * math.sqrt(math.fsum(c * c for c in other.values()))
    return product / lengths if lengths else 0.0


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0

"""How much a sentence is like a typical rule, by its meaning: for rules that no word gives away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.features.guidance.prototypes import ORDINARY, RULES
from clew.index.vectors import SCALE
from clew.kernel.meaning import Floats
from clew.kernel.parts import Parts

MAX_CHARS = 300
"""Of a sentence that is compared; a longer one is hardly one rule."""

_BATCH = 16
_EASE = 0.003
"""Keeps the direction from following chance differences between so few examples."""


LEAST_TOLD_APART = 0.75
"""The share of the examples that an embedder must tell apart to have a say: the default one does so with 86 %, and one
that only counts words with 63 %."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """A direction in the space of meanings that leads from typical talk to typical rules."""

    profile: str
    """The embedder it was computed with."""
    middle: Floats
    direction: NDArray[np.float64]
    told_apart: float
    """The share of the examples that are told apart by the others."""


class Likeness:
    """Compares sentences with typical rules and typical talk, by the least-squares fit to +1 for each rule and -1 for
    each sentence of talk. It is computed once for each embedder."""

    def __init__(self, parts: Parts) -> None:
        self._meaning = parts.meaning
        self._fit: _Fit | None = None

    def of(self, texts: Sequence[str]) -> list[float] | None:
        """About 1 for a rule and -1 for talk; None where the embedder cannot tell them apart. Raises EmbedderFailed."""
        profile = str(self._meaning.identity)
        if self._fit is None or self._fit.profile != profile:
            self._fit = _fit(profile, self._embed(RULES), self._embed(ORDINARY))
        if self._fit.told_apart < LEAST_TOLD_APART:
            return None
        vectors = self._embed([text[:MAX_CHARS] for text in texts])
        return [float(value) for value in (vectors - self._fit.middle) @ self._fit.direction]

    def _embed(self, texts: Sequence[str]) -> Floats:
        """Vectors of about unit length, a few texts at a time: nobody should wait long for the embedder."""
        grids = [
            self._meaning.grid_of_passages(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(grids) / np.float32(SCALE)


def _fit(profile: str, rules: Floats, talk: Floats) -> _Fit:
    middle = (rules.mean(axis=0) + talk.mean(axis=0)) / 2
    examples = np.concatenate([rules, talk]).astype(np.float64) - middle
    wanted = np.concatenate([np.ones(len(rules)), -np.ones(len(talk))])
    spread = examples.T @ examples / len(examples) + _EASE * np.eye(examples.shape[1])
    solved = np.linalg.solve(spread, examples.T) / len(examples)
    direction = solved @ wanted
    own_share = np.einsum("ij,ji->i", examples, solved)
    by_others = wanted - (wanted - examples @ direction) / (1 - own_share)  # as if each had been left out
    return _Fit(profile, middle, direction, float((by_others * wanted > 0).mean()))

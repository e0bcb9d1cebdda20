"""How much a sentence is like a rule by its words and its meaning together: for rules that no word gives away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.index.vectors import SCALE
from clew.kernel.parts import Parts
from clew.text.rules import Said
from clew.text.rules.weights import weights

MAX_CHARS = 300
"""Of a sentence whose meaning is looked at; a longer one is hardly one rule."""


class Likeness:
    """Knows, for the embedder in use, the direction in the space of meanings that leads from talk to rules."""

    def __init__(self, parts: Parts) -> None:
        self._meaning = parts.meaning
        known = weights().meaning.get(str(parts.meaning.identity))
        self._known = known
        self._direction: NDArray[np.float32] = np.array(known.direction if known else (), dtype=np.float32)

    def of(self, said: Sequence[Said]) -> list[float] | None:
        """Above zero for a rule; None where this embedder was not trained on. Raises EmbedderFailed."""
        if self._known is None:
            return None
        grid = self._meaning.grid_of_passages([one.text[:MAX_CHARS] for one in said])
        meant = grid / np.float32(SCALE) @ self._direction
        return [
            self._known.by_words * one.score + float(value) + self._known.bias
            for one, value in zip(said, meant, strict=True)
        ]

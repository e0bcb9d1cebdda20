"""What each feature of a sentence weighs for or against a rule: numbers that bench/rule_weights.py computes.

They come from some thousand written turns in seven languages, and from public talk without rules. The file beside this
module has them in hundredths.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from clew.text.rules.features import words_in

FILE = Path(__file__).with_name("weights.json")
UNIT = 100


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """How the vector of a sentence counts, for one embedder: with its words' score, and from which sum on."""

    by_words: float
    direction: list[float]
    bias: float
    """Less the sum that a rule needs."""


class Weights(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    bias: float
    points: float
    """What a point of the signs counts."""
    features: dict[str, int]
    least: dict[str, float]
    """By language: the score that a rule needs, by its words alone; `other` where there is none of its own."""
    meaning: dict[str, Meaning]
    """By embedder."""

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words_in(self.features))

    def score(self, points: float, features: Iterable[str], language: str) -> float:
        """Above zero for a rule."""
        found = sum(self.features.get(feature, 0) for feature in features) / UNIT
        return self.bias + self.points * clipped(points) + found - self.least.get(language, self.least["other"])


MOST_POINTS = 9.0


def clipped(points: float) -> float:
    """Points beyond this say nothing more."""
    return max(-MOST_POINTS, min(MOST_POINTS, points))


@lru_cache(maxsize=1)
def weights() -> Weights:
    return msgspec.json.decode(FILE.read_bytes(), type=Weights)

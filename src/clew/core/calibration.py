"""From a model's raw cosine to a similarity in [0, 1] that means the same with every model.

Models differ in the range of their cosines: unrelated texts score about 0.75 with one model and
about 0.05 with another. A profile records two measured points of a model: the typical cosine of
unrelated pairs, and the typical cosine of pairs that say the same thing. The map is a straight
line through both, so that equal steps of cosine stay equal steps of similarity.

Some models embed a query otherwise than a stored text, and then even equal texts are further apart
(about 0.90 where two stored copies have 1.0). Such a model has a second pair of points for queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import InvalidInput

UNRELATED_SIMILARITY = 0.20
"""The similarity of a typical unrelated pair; leaves room below for texts that are further apart."""

SAME_MEANING_SIMILARITY = 0.85
"""The similarity of a typical paraphrase: at or above the thresholds that mean "the same thing"."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A model's profile: raw cosines of typical unrelated and typical same-meaning pairs.

    The first two points are for two stored texts, the last two for a query and a stored text.
    """

    unrelated: float
    same_meaning: float
    query_unrelated: float | None = None
    query_same_meaning: float | None = None

    def __post_init__(self) -> None:
        if (self.query_unrelated is None) != (self.query_same_meaning is None):
            raise InvalidInput("calibration: a query's two points come together or not at all")
        _check_points(self.unrelated, self.same_meaning)
        _check_points(self.of_queries.unrelated, self.of_queries.same_meaning)

    @property
    def of_queries(self) -> Self:
        """The profile for the cosines of a query's vector; this one where the model embeds both alike."""
        if self.query_unrelated is None or self.query_same_meaning is None:
            return self
        return type(self)(unrelated=self.query_unrelated, same_meaning=self.query_same_meaning)

    def similarity(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]:
        """Elementwise, monotone, clamped to [0, 1]; NaN counts as unrelated to all."""
        slope = (SAME_MEANING_SIMILARITY - UNRELATED_SIMILARITY) / (self.same_meaning - self.unrelated)
        offset = UNRELATED_SIMILARITY - self.unrelated * slope
        mapped = np.clip(np.asarray(cosine, np.float32), np.float32(-1.0), np.float32(1.0))
        mapped *= np.float32(slope)
        mapped += np.float32(offset)
        np.clip(mapped, np.float32(0.0), np.float32(1.0), out=mapped)
        mapped[np.isnan(mapped)] = 0.0
        return mapped


def _check_points(unrelated: float, same_meaning: float) -> None:
    if not all(math.isfinite(point) and -1.0 <= point <= 1.0 for point in (unrelated, same_meaning)):
        raise InvalidInput("calibration points must be cosines between -1 and 1")
    if same_meaning - unrelated < 0.01:
        raise InvalidInput("calibration: same-meaning pairs must score above unrelated pairs")

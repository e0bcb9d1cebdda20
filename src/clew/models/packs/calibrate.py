"""Measures a model's calibration on a small set of sentences that ships with Clew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources

import msgspec
import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import Vectors
from clew.core.structs import make_known
from clew.errors import EmbedderFailed, InvalidInput

PAIRS_FILE = "calibration_pairs.json"


class CalibrationTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unrelated: tuple[str, ...]
    """Texts about different things: any two of them are an unrelated pair."""
    same_meaning: tuple[tuple[str, str], ...]
    """Pairs that say the same thing in other words."""


def calibration_texts() -> CalibrationTexts:
    text = resources.files(__package__).joinpath(PAIRS_FILE).read_bytes()
    return msgspec.json.decode(text, type=CalibrationTexts)


def measure_calibration(
    embed_passages: Callable[[Sequence[str]], Vectors], embed_query: Callable[[str], Vectors] | None = None
) -> Calibration:
    """The profile of a model: the median cosine of unrelated pairs and of same-meaning pairs.

    Medians, so that one odd sentence moves neither point. `embed_query` is given for a model that
    embeds queries in another way; it then has points of their own.
    """
    texts = calibration_texts()
    passages = _Sides(texts, embed_passages)
    points = [*_points(passages, passages)]
    if embed_query is not None:
        queries = _Sides(texts, lambda given: np.stack([embed_query(text) for text in given]))
        points += _points(queries, passages)
    try:
        return Calibration(*points)
    except InvalidInput as error:
        raise EmbedderFailed("this model does not tell same-meaning from unrelated texts") from error


class _Sides:
    """The vectors of the sentences by one way of embedding."""

    def __init__(self, texts: CalibrationTexts, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.unrelated = embed(texts.unrelated)
        self.first = embed([pair[0] for pair in texts.same_meaning])
        self.second = embed([pair[1] for pair in texts.same_meaning])


def _points(left: _Sides, right: _Sides) -> tuple[float, float]:
    cosines = left.unrelated @ right.unrelated.T
    above_diagonal = np.triu_indices(len(cosines), k=1)
    paraphrases = np.sum(left.first * right.second, axis=1)
    return float(np.median(cosines[above_diagonal])), float(np.median(paraphrases))


make_known([CalibrationTexts])

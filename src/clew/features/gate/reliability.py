"""Judges a score by labelled examples: how well it orders them, what it means, and where to cut.

A score that orders texts well need not be a probability. The isotonic curve makes one of it: of all curves
that never fall, the one with the least squared error against the labels, found by pooling neighbours that
are in the wrong order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import InvalidInput

_FOLDS = 5
_BINS = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Scores in [0, 1], each with whether the text that has it was useful."""

    scores: Floats
    useful: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not len(self.scores) or len(self.scores) != len(self.useful):
            raise InvalidInput("every example needs a score and a label, and there must be one")
        if not ((self.scores >= 0) & (self.scores <= 1)).all():
            raise InvalidInput("a score is a number from 0 to 1")

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, bool]]) -> Self:
        listed = list(pairs)
        return cls(
            np.array([score for score, _ in listed], np.float64), np.array([good for _, good in listed], np.bool_)
        )


@dataclass(frozen=True, slots=True)
class Step:
    """Scores from `low` to `high` have this probability."""

    low: float
    high: float
    probability: float
    count: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The probability of a score: level on each step, straight between two, level beyond the ends."""

    steps: tuple[Step, ...]

    def probabilities(self, scores: Floats) -> Floats:
        places = [place for step in self.steps for place in (step.low, step.high)]
        values = [step.probability for step in self.steps for _ in range(2)]
        return np.interp(scores, places, values)

    def probability(self, score: float) -> float:
        return float(self.probabilities(np.array([score]))[0])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect of a threshold on the examples."""

    threshold: float
    precision: float | None
    """The share of useful ones among those kept; None where none is kept."""
    recall: float
    """The share of those kept among the useful ones."""
    kept: float
    """The share of those kept among all."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Examples with about the same predicted probability, and how many of them were useful."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True, slots=True)
class Assessment:
    now: Outcome
    proposed: Outcome | None
    """None where the score does not tell useful examples from the others."""
    separation: float
    brier_raw: float
    """Of the score taken as a probability."""
    brier_calibrated: float
    """Of the curve, each example judged by a curve that has not seen it."""
    curve: Curve


def assess(examples: Examples, threshold: float) -> Assessment:
    """Everything the examples say, given the threshold in use."""
    proposal = propose_threshold(examples)
    return Assessment(
        now=outcome(examples, threshold),
        proposed=None if proposal is None else outcome(examples, proposal),
        separation=separation(examples),
        brier_raw=brier(examples),
        brier_calibrated=brier(held_out(examples)),
        curve=fit_curve(examples),
    )


def fit_curve(examples: Examples) -> Curve:
    """The isotonic curve of the examples; equal scores share one step."""
    distinct, places = np.unique(examples.scores, return_inverse=True)
    singles = zip(distinct, np.bincount(places, examples.useful), np.bincount(places), strict=True)
    pooled: list[Step] = []
    for score, useful, count in singles:
        step = Step(float(score), float(score), float(useful / count), int(count))
        while pooled and pooled[-1].probability >= step.probability:
            step = _join(pooled.pop(), step)
        pooled.append(step)
    return Curve(tuple(pooled))


def held_out(examples: Examples) -> Examples:
    """The examples with their probability in place of the score, each by a curve of the others.

    Five curves are fitted, each to four fifths of the examples that are alike in labels and in scores.
    """
    fold = np.empty(len(examples.scores), np.int64)
    fold[np.lexsort((examples.scores, examples.useful))] = np.arange(len(fold)) % _FOLDS
    probabilities = examples.scores.copy()
    for number in range(_FOLDS if len(fold) > 1 else 0):
        seen = fold != number
        curve = fit_curve(Examples(examples.scores[seen], examples.useful[seen]))
        probabilities[~seen] = curve.probabilities(examples.scores[~seen])
    return Examples(probabilities, examples.useful)


def propose_threshold(examples: Examples) -> float | None:
    """The threshold with the largest recall less false alarms (Youden's J); of equals, the one that keeps most.

    Unlike precision, this does not depend on how many of the examples are useful, which says more about how
    they were picked than about a user's turns. None where no threshold is better than chance.
    """
    distinct, places = np.unique(examples.scores, return_inverse=True)
    recall, false_alarms = (
        np.bincount(places, labels)[::-1].cumsum()[::-1] / max(labels.sum(), 1)
        for labels in (examples.useful, ~examples.useful)
    )
    gain = np.round(recall - false_alarms, 12)
    best = int(gain.argmax())
    if gain[best] <= 0:
        return None
    return _plain_number(float(distinct[best - 1]) if best else 0.0, float(distinct[best]))


def outcome(examples: Examples, threshold: float) -> Outcome:
    kept = examples.scores >= threshold
    useful_kept = int(examples.useful[kept].sum())
    return Outcome(
        threshold=threshold,
        precision=useful_kept / int(kept.sum()) if kept.any() else None,
        recall=useful_kept / max(int(examples.useful.sum()), 1),
        kept=float(kept.mean()),
    )


def separation(examples: Examples) -> float:
    """How often a useful example scores above another one, equal scores counting half: the area under the ROC curve.

    One half, which is chance, where there is only one kind.
    """
    chosen, others = examples.scores[examples.useful], np.sort(examples.scores[~examples.useful])
    if not len(others) or not len(chosen):
        return 0.5
    below, up_to = np.searchsorted(others, chosen, "left"), np.searchsorted(others, chosen, "right")
    return float((below + up_to).mean() / (2 * len(others)))


def brier(examples: Examples) -> float:
    """The mean squared error of scores taken as probabilities; 0 is best."""
    return float(((examples.scores - examples.useful) ** 2).mean())


def reliability_bins(examples: Examples) -> list[Bin]:
    """The examples by tenths of their scores; tenths without an example are left out."""
    tenth = np.minimum((examples.scores * _BINS).astype(np.int64), _BINS - 1)
    chosen = [tenth == number for number in np.unique(tenth)]
    return [Bin(float(examples.scores[c].mean()), float(examples.useful[c].mean()), int(c.sum())) for c in chosen]


def _join(lower: Step, upper: Step) -> Step:
    count = lower.count + upper.count
    probability = (lower.probability * lower.count + upper.probability * upper.count) / count
    return Step(lower.low, upper.high, min(probability, 1.0), count)


def _plain_number(low: float, high: float) -> float:
    """The shortest decimal near the middle that is above `low` and not above `high`."""
    middle = (low + high) / 2
    candidates = (round(middle, digits) for digits in range(2, 18))
    return next((number for number in candidates if low < number <= high), high)

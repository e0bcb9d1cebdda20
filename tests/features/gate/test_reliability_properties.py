"""Properties of the curve and of the proposed threshold, for any examples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.features.gate.reliability import (
    Examples,
    assess,
    brier,
    fit_curve,
    held_out,
    outcome,
    propose_threshold,
    reliability_bins,
    separation,
)

pytestmark = pytest.mark.requirement("GATE-6")

SCORES = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
PAIRS = st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=60)
EXAMPLES = PAIRS.map(Examples.of)


def fit_scores(examples: Examples) -> Examples:
    return Examples(fit_curve(examples).probabilities(examples.scores), examples.useful)


def gain(examples: Examples, threshold: float) -> float:
    """Recall minus the rate of false alarms."""
    others = Examples(examples.scores, ~examples.useful)
    return outcome(examples, threshold).recall - outcome(others, threshold).recall


@given(EXAMPLES, st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_the_curve_never_falls_and_stays_within_zero_and_one(examples: Examples, asked: list[float]) -> None:
    found = fit_curve(examples).probabilities(np.array(sorted(asked)))
    assert (np.diff(found) >= -1e-12).all()
    assert ((found >= 0) & (found <= 1)).all()


@given(EXAMPLES)
def test_the_steps_are_in_order_and_hold_every_example_once(examples: Examples) -> None:
    steps = fit_curve(examples).steps
    assert sum(step.count for step in steps) == len(examples.scores)
    assert all(step.low <= step.high for step in steps)
    assert all(a.high < b.low and a.probability < b.probability for a, b in pairwise(steps))


@given(EXAMPLES)
def test_no_other_rising_curve_has_a_smaller_error_on_the_examples(examples: Examples) -> None:
    least = brier(fit_scores(examples)) - 1e-12
    rivals = [examples.scores, examples.scores**2, np.sqrt(examples.scores), np.full_like(examples.scores, 0.5)]
    rivals += [(examples.scores >= cut).astype(float) for cut in (0.25, 0.5, 0.75)]
    assert all(least <= brier(Examples(rival, examples.useful)) for rival in rivals)


@given(EXAMPLES)
def test_the_curve_keeps_the_share_of_useful_examples(examples: Examples) -> None:
    assert fit_scores(examples).scores.mean() == pytest.approx(examples.useful.mean())


@given(EXAMPLES)
def test_a_curve_of_its_own_probabilities_is_the_same(examples: Examples) -> None:
    once = fit_scores(examples)
    assert np.allclose(fit_scores(once).scores, once.scores)


@given(PAIRS)
def test_the_order_of_the_examples_does_not_matter(pairs: list[tuple[float, bool]]) -> None:
    turned = pairs[::-1]
    assert assess(Examples.of(turned), 0.35).curve == assess(Examples.of(pairs), 0.35).curve
    assert propose_threshold(Examples.of(turned)) == propose_threshold(Examples.of(pairs))


@given(EXAMPLES)
def test_no_threshold_is_better_than_the_proposed_one(examples: Examples) -> None:
    proposed = propose_threshold(examples)
    cuts = [*examples.scores.tolist(), 0.0, 1.0]
    if proposed is None:
        assert all(gain(examples, cut) <= 1e-9 for cut in cuts)
    else:
        assert 0 <= proposed <= 1
        assert all(gain(examples, cut) <= gain(examples, proposed) + 1e-9 for cut in cuts)


@given(EXAMPLES)
def test_every_figure_is_a_number_from_zero_to_one(examples: Examples) -> None:
    found = assess(examples, 0.35)
    figures = [found.separation, found.brier_raw, found.brier_calibrated, found.now.recall, found.now.kept]
    figures += [value for item in reliability_bins(held_out(examples)) for value in (item.predicted, item.observed)]
    assert all(0 <= figure <= 1 for figure in figures)


@given(EXAMPLES)
def test_flipping_the_labels_flips_the_separation(examples: Examples) -> None:
    turned = Examples(examples.scores, ~examples.useful)
    assert separation(examples) + separation(turned) == pytest.approx(1)

"""How labelled examples calibrate a score, by example."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clew.errors import InvalidInput
from clew.features.gate.reliability import (
    Bin,
    Examples,
    Outcome,
    Step,
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


def examples(useful: list[float], others: list[float]) -> Examples:
    return Examples.of([*((score, True) for score in useful), *((score, False) for score in others)])


def test_the_curve_pools_neighbours_in_the_wrong_order() -> None:
    found = fit_curve(Examples.of([(0.1, False), (0.2, True), (0.3, False), (0.4, True), (0.5, True)]))
    assert found.steps == (Step(0.1, 0.1, 0.0, 1), Step(0.2, 0.3, 0.5, 2), Step(0.4, 0.5, 1.0, 2))


def test_pooling_reaches_back_as_far_as_needed() -> None:
    found = fit_curve(Examples.of([(0.1, True), (0.2, True), (0.3, False), (0.4, False), (0.5, False)]))
    assert found.steps == (Step(0.1, 0.5, pytest.approx(0.4), 5),)


def test_equal_scores_share_one_probability() -> None:
    found = fit_curve(Examples.of([(0.5, True), (0.5, False), (0.5, True), (0.5, True)]))
    assert found.steps == (Step(0.5, 0.5, 0.75, 4),)


def test_the_curve_is_flat_on_a_step_and_outside_and_linear_between_steps() -> None:
    found = fit_curve(examples(useful=[0.6, 0.8], others=[0.2, 0.4]))
    asked = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0]
    assert [found.probability(score) for score in asked] == pytest.approx([0, 0, 0, 0, 0.5, 1, 1])


def test_a_threshold_keeps_what_is_at_or_above_it() -> None:
    given = examples(useful=[0.5, 0.7, 0.2], others=[0.5, 0.1])
    assert outcome(given, 0.5) == Outcome(0.5, pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(3 / 5))
    assert outcome(given, 0.0) == Outcome(0.0, pytest.approx(3 / 5), 1.0, 1.0)
    assert outcome(given, 0.9) == Outcome(0.9, None, 0.0, 0.0)


def test_the_proposed_threshold_separates_useful_examples_with_a_round_number() -> None:
    assert propose_threshold(examples(useful=[0.6, 0.72, 0.9], others=[0.1, 0.3, 0.4])) == 0.5
    assert propose_threshold(examples(useful=[0.61], others=[0.6])) == 0.605
    close = math.nextafter(0.6, 1.0)
    assert propose_threshold(examples(useful=[close], others=[0.6])) == close


def test_between_equally_good_thresholds_the_one_that_keeps_more_wins() -> None:
    given = examples(useful=[0.3, 0.9], others=[0.1, 0.6])
    assert propose_threshold(given) == 0.2


def test_the_share_of_useful_examples_does_not_change_the_proposal() -> None:
    useful, others = [0.4, 0.5, 0.6, 0.7], [0.2, 0.3, 0.45, 0.5]
    assert propose_threshold(examples(useful * 9, others)) == propose_threshold(examples(useful, others * 9))


@pytest.mark.parametrize(
    "given",
    [
        examples(useful=[0.1, 0.2], others=[0.8, 0.9]),
        examples(useful=[0.5, 0.5], others=[0.5, 0.5]),
        examples(useful=[], others=[0.2, 0.4]),
    ],
)
def test_a_score_without_separation_gives_no_proposal(given: Examples) -> None:
    assert propose_threshold(given) is None
    assert assess(given, 0.35).proposed is None


def test_separation_is_the_share_of_pairs_in_the_right_order() -> None:
    assert separation(examples(useful=[0.8, 0.9], others=[0.1, 0.2])) == 1.0
    assert separation(examples(useful=[0.1, 0.2], others=[0.8, 0.9])) == 0.0
    assert separation(examples(useful=[0.5, 0.9], others=[0.5, 0.7])) == pytest.approx((0.5 + 0 + 1 + 1) / 4)
    assert separation(examples(useful=[0.5], others=[])) == 0.5


def test_the_brier_score_is_the_mean_squared_error() -> None:
    assert brier(examples(useful=[1.0, 0.5], others=[0.0, 0.2])) == pytest.approx((0.25 + 0.04) / 4)


def test_bins_hold_the_predicted_and_the_observed_shares() -> None:
    found = reliability_bins(examples(useful=[0.95, 1.0, 0.12], others=[0.0, 0.18]))
    assert found == [
        Bin(0.0, 0.0, 1),
        Bin(pytest.approx(0.15), 0.5, 2),
        Bin(pytest.approx(0.975), 1.0, 2),
    ]


def test_a_held_out_probability_ignores_its_own_example() -> None:
    lone = examples(useful=[0.9], others=[0.1, 0.2, 0.3, 0.4])
    assert held_out(lone).scores[0] == 0.0, "no other example says that a high score is useful"
    assert fit_curve(lone).probability(0.9) == 1.0


def test_the_curve_corrects_an_overconfident_score() -> None:
    chance = np.random.default_rng(3)
    truth = chance.random(4000)
    overconfident = truth**3 / (truth**3 + (1 - truth) ** 3)
    given = Examples(overconfident, chance.random(4000) < truth)
    found = assess(given, 0.35)
    best = brier(Examples(truth, given.useful))
    assert found.brier_calibrated < found.brier_raw
    assert found.brier_calibrated == pytest.approx(best, abs=0.005)
    assert found.curve.probability(float(0.8**3 / (0.8**3 + 0.2**3))) == pytest.approx(0.8, abs=0.06)
    assert found.proposed is not None
    assert found.proposed.threshold == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("pairs", [[], [(1.5, True)], [(-0.1, True)], [(math.nan, False)]])
def test_an_invalid_score_is_refused(pairs: list[tuple[float, bool]]) -> None:
    with pytest.raises(InvalidInput):
        Examples.of(pairs)


def test_scores_without_labels_are_refused() -> None:
    with pytest.raises(InvalidInput):
        Examples(np.array([0.1, 0.2]), np.array([True]))

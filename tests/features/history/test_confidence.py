"""How well a summary represents its sources, in examples calculated by hand."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.features.history import confidence

pytestmark = pytest.mark.requirement("COMP-6")

anything = st.floats(allow_nan=True, allow_infinity=True)
counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)).map(Counter)


def test_confidence_is_the_mean_of_alignment_and_mean_coverage() -> None:
    assert confidence.of_space(0.8, [0.6, 0.4]) == pytest.approx(0.65)


def test_a_negative_cosine_counts_as_no_coverage() -> None:
    assert confidence.of_space(0.5, [-1.0, 0.5]) == pytest.approx(0.375)


def test_without_sources_only_alignment_counts() -> None:
    assert confidence.of_space(0.5, []) == 0.25


def test_the_models_own_estimate_weighs_a_fifth() -> None:
    assert confidence.blend(0.5, 1.0) == pytest.approx(0.6)
    assert confidence.blend(0.5, 0.0) == pytest.approx(0.4)
    assert confidence.blend(0.5, None) == 0.5


def test_by_words_a_full_copy_gives_one_and_other_words_give_zero() -> None:
    told = Counter("abc")
    assert confidence.of_words(told, [told]) == pytest.approx(1.0)
    assert confidence.of_words(Counter("xyz"), [told]) == 0.0
    assert confidence.of_words(Counter(), [told]) == 0.0
    assert confidence.of_words(told, []) == 0.0


def test_by_words_the_kept_share_of_each_source_counts() -> None:
    half = confidence.of_words(Counter("ab"), [Counter("ab"), Counter("cd")])
    assert half == pytest.approx((2 / (math.sqrt(2) * 2) + 0.5) / 2)
    assert confidence.of_words(Counter("abc"), [Counter("ab"), Counter("cd")]) > half


@given(anything, st.lists(anything, max_size=4), st.none() | anything)
def test_confidence_is_in_the_unit_interval_for_any_estimate_of_a_model(
    alignment: float, coverage: list[float], of_model: float | None
) -> None:
    in_space = confidence.of_space(alignment, coverage)
    assert 0.0 <= in_space <= 1.0
    assert 0.0 <= confidence.blend(in_space, of_model) <= 1.0


@given(counts, st.lists(counts, max_size=4))
def test_confidence_by_words_is_in_the_unit_interval(told: Counter[str], sources: list[Counter[str]]) -> None:
    assert 0.0 <= confidence.of_words(told, sources) <= 1.0

"""How far a summary can stand for its sources, worked out by hand."""

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


def test_it_is_the_middle_of_alignment_and_mean_coverage() -> None:
    assert confidence.of_space(0.8, [0.6, 0.4]) == pytest.approx(0.65)


def test_what_points_away_from_a_source_covers_nothing_of_it() -> None:
    assert confidence.of_space(0.5, [-1.0, 0.5]) == pytest.approx(0.375)


def test_without_sources_only_alignment_counts() -> None:
    assert confidence.of_space(0.5, []) == 0.25


def test_a_models_own_word_counts_a_fifth() -> None:
    assert confidence.blend(0.5, 1.0) == pytest.approx(0.6)
    assert confidence.blend(0.5, 0.0) == pytest.approx(0.4)
    assert confidence.blend(0.5, None) == 0.5


def test_by_words_a_full_copy_is_certain_and_other_words_are_worth_nothing() -> None:
    told = Counter("abc")
    assert confidence.of_words(told, [told]) == pytest.approx(1.0)
    assert confidence.of_words(Counter("xyz"), [told]) == 0.0
    assert confidence.of_words(Counter(), [told]) == 0.0
    assert confidence.of_words(told, []) == 0.0


def test_by_words_the_share_of_each_source_that_is_kept_counts() -> None:
    half = confidence.of_words(Counter("ab"), [Counter("ab"), Counter("cd")])
    assert half == pytest.approx((2 / (math.sqrt(2) * 2) + 0.5) / 2)
    assert confidence.of_words(Counter("abc"), [Counter("ab"), Counter("cd")]) > half


@given(anything, st.lists(anything, max_size=4), st.none() | anything)
def test_it_is_a_share_whatever_a_model_says(alignment: float, coverage: list[float], of_model: float | None) -> None:
    in_space = confidence.of_space(alignment, coverage)
    assert 0.0 <= in_space <= 1.0
    assert 0.0 <= confidence.blend(in_space, of_model) <= 1.0


@given(counts, st.lists(counts, max_size=4))
def test_by_words_it_is_a_share_too(told: Counter[str], sources: list[Counter[str]]) -> None:
    assert 0.0 <= confidence.of_words(told, sources) <= 1.0

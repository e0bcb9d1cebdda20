"""Properties of every score, for any inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clew.core.model import Provenance
from clew.core.ranking import (
    AUTHORITY_OF_PROVENANCE,
    HOP_SHARE,
    ContextWeights,
    Weights,
    context_score,
    fuse,
    quality,
    recency,
    standing,
    unit,
    use_share,
)

pytestmark = pytest.mark.requirement("RANK-2")

ANY = st.floats(allow_nan=True, allow_infinity=True)
UNIT = st.floats(0, 1)
COUNT = st.integers(-(2**63), 2**63)
WEIGHTS = st.builds(ContextWeights.normalised, ANY, ANY, ANY)
LANE = hnp.arrays(np.float32, 4, elements=st.floats(width=32, allow_nan=True, allow_infinity=True))
TIMES = hnp.arrays(np.int64, 4, elements=st.integers(0, 253_402_300_799_999))


def is_unit(value: float) -> bool:
    return math.isfinite(value) and 0.0 <= value <= 1.0


def all_unit(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all())


@given(ANY, ANY, ANY)
def test_weights_of_a_context_are_clamped_and_sum_to_one(recent: float, use: float, authority: float) -> None:
    weights = ContextWeights.normalised(recent, use, authority)
    parts = (weights.recency, weights.use, weights.authority)
    assert all(map(is_unit, parts))
    assert sum(parts) == pytest.approx(1)


@pytest.mark.parametrize("nothing", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_invalid_weights_leave_only_authority_and_similarity(nothing: float) -> None:
    assert ContextWeights.normalised(nothing, nothing, nothing) == ContextWeights(0.0, 0.0, 1.0)
    assert Weights.normalised(nothing, nothing, nothing) == Weights(1.0, 0.0, 0.0)


@given(ANY, ANY, ANY, WEIGHTS)
def test_standing_is_in_the_unit_interval(recent: float, use: float, authority: float, weights: ContextWeights) -> None:
    assert is_unit(standing(recent, use, authority, weights))


@given(UNIT, UNIT, UNIT, WEIGHTS)
def test_standing_lies_between_its_smallest_and_largest_part(
    recent: float, use: float, authority: float, weights: ContextWeights
) -> None:
    value = standing(recent, use, authority, weights)
    parts = (recent, use, authority)
    assert min(parts) - 1e-9 <= value <= max(parts) + 1e-9


@given(COUNT, COUNT)
def test_use_is_in_the_unit_interval_and_below_one(count: int, most: int) -> None:
    share = use_share(count, most)
    assert is_unit(share)
    assert share > 0 or count <= 0


@given(st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 2**40))
def test_more_use_never_counts_for_less(one: int, other: int, most: int) -> None:
    fewer, more = sorted((one, other))
    assert use_share(fewer, max(most, more)) <= use_share(more, max(most, more))


@given(ANY, ANY, ANY, ANY)
def test_a_context_score_is_in_the_unit_interval(
    similarity: float, stands: float, keywords: float, decay: float
) -> None:
    score = context_score(similarity, stands, keywords)
    assert is_unit(score)
    assert is_unit(quality(decay))
    assert is_unit(score * quality(decay) * HOP_SHARE)


@given(UNIT, UNIT, UNIT, UNIT)
def test_a_score_rises_with_each_of_its_parts(similarity: float, stands: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    slack = 1e-12
    assert context_score(similarity, stands, low) <= context_score(similarity, stands, high) + slack
    assert context_score(low, stands, similarity) <= context_score(high, stands, similarity) + slack
    assert context_score(similarity, low, stands) <= context_score(similarity, high, stands) + slack
    assert quality(high) <= quality(low)


@given(UNIT, UNIT, UNIT)
def test_query_words_raise_a_score_but_never_above_the_similarity(
    similarity: float, stands: float, keywords: float
) -> None:
    assert context_score(similarity, stands, keywords) <= similarity * stands + 1e-12
    assert context_score(similarity, stands, 1.0) == pytest.approx(similarity * stands)


@given(LANE, st.none() | LANE, ANY)
def test_any_fusion_is_in_the_unit_interval(lexical: np.ndarray, dense: np.ndarray | None, exact: float) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        assert all_unit(fuse(lexical, dense, exact))


@given(TIMES, st.integers(-(2**50), 2**50), ANY)
def test_recency_is_in_the_unit_interval_for_any_clock_and_decay(times: np.ndarray, now: int, decay: float) -> None:
    with np.errstate(over="ignore"):
        assert all_unit(recency(times, now, decay))


@given(LANE)
def test_a_value_that_is_not_a_number_becomes_zero(values: np.ndarray) -> None:
    before = values.copy()
    clamped = unit(values)
    assert all_unit(clamped)
    assert (clamped[np.isnan(before)] == 0).all()
    assert np.array_equal(values, before, equal_nan=True)


def test_every_provenance_has_an_authority_and_only_the_operators_is_full() -> None:
    assert AUTHORITY_OF_PROVENANCE.keys() == set(Provenance)
    assert [origin for origin, value in AUTHORITY_OF_PROVENANCE.items() if value == 1.0] == [Provenance.AUTHORED]
    assert min(AUTHORITY_OF_PROVENANCE, key=AUTHORITY_OF_PROVENANCE.__getitem__) is Provenance.TOOL_OUTPUT
    assert all(map(is_unit, AUTHORITY_OF_PROVENANCE.values()))

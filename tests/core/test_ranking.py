"""How scores are computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clew.core.collections import Scope
from clew.core.ranking import LEXICAL_SHARE, Weights, fuse, recency, search_score

any_float = st.floats(allow_nan=True, allow_infinity=True)
lanes = hnp.arrays(np.float32, 5, elements=st.floats(0, 1, width=32))
times = hnp.arrays(np.int64, 5, elements=st.integers(0, 2**50))


@pytest.mark.requirement("RANK-2")
@given(any_float, any_float, any_float)
def test_weights_are_clamped_and_sum_to_one(similarity: float, recent: float, scope: float) -> None:
    weights = Weights.normalised(similarity, recent, scope)
    parts = (weights.similarity, weights.recency, weights.scope)
    assert all(0 <= part <= 1 for part in parts)
    assert sum(parts) == pytest.approx(1)


@pytest.mark.requirement("RANK-2")
@given(lanes, lanes, st.floats(-1, 2), times, st.integers(0, 2**50), st.floats(0, 1), any_float)
def test_every_score_is_in_the_unit_interval(
    lexical: np.ndarray, dense: np.ndarray, exact: float, at: np.ndarray, now: int, decay: float, weight: float
) -> None:
    dense[0] = np.nan
    similarity = fuse(lexical, dense, exact)
    recent = recency(at, now, decay)
    for scope in Scope:
        score = search_score(similarity, recent, scope, Weights.normalised(weight, 0.2, 0.1))
        for values in (similarity, recent, score):
            assert np.isfinite(values).all()
            assert (values >= 0).all()
            assert (values <= 1).all()


@pytest.mark.requirement("RANK-2")
def test_a_clock_that_runs_backwards_makes_nothing_newer_than_now() -> None:
    recent = recency(np.array([2_000, 1_000, 0]), 1_000, 0.1)
    assert recent[0] == recent[1] == 1.0
    assert recent[2] < 1.0


@pytest.mark.requirement("RANK-1")
def test_lanes_are_weighted_and_the_other_replaces_a_missing_one() -> None:
    lexical, dense = np.array([1.0, 0.5], np.float32), np.array([0.0, np.nan], np.float32)
    assert fuse(lexical, dense, 0.0) == pytest.approx([LEXICAL_SHARE, 0.5])
    assert fuse(lexical, None, 0.0) == pytest.approx([1.0, 0.5])


@pytest.mark.requirement("RANK-6")
def test_a_query_of_identifiers_alone_is_decided_by_the_lexical_lane() -> None:
    lexical, dense = np.array([1.0, 0.0], np.float32), np.array([0.1, 0.9], np.float32)
    assert fuse(lexical, dense, 1.0) == pytest.approx([1.0, 0.0])

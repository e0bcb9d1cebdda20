"""One threshold means the same with every model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.calibration import SAME_MEANING_SIMILARITY, UNRELATED_SIMILARITY, Calibration
from clew.errors import EmbedderFailed, InvalidInput
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.packs.calibrate import calibration_texts, measure_calibration

pytestmark = pytest.mark.requirement("RANK-1", "RANK-2")

cosines = st.floats(-1, 1)
profiles = st.tuples(cosines, cosines).filter(lambda pair: pair[1] - pair[0] >= 0.01)


def similarity(profile: Calibration, *values: float) -> list[float]:
    return [float(value) for value in profile.similarity(np.array(values, np.float32))]


@given(profiles)
def test_the_two_measured_points_get_the_same_similarity_with_every_model(points: tuple[float, float]) -> None:
    low, high = similarity(Calibration(*points), *points)
    assert low == pytest.approx(UNRELATED_SIMILARITY, abs=1e-3)
    assert high == pytest.approx(SAME_MEANING_SIMILARITY, abs=1e-3)


@given(profiles, st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), max_size=20))
def test_every_number_maps_into_the_unit_interval(points: tuple[float, float], values: list[float]) -> None:
    assert all(math.isfinite(s) and 0 <= s <= 1 for s in similarity(Calibration(*points), *values))


@given(profiles, st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=20))
def test_a_higher_cosine_never_has_a_lower_similarity(points: tuple[float, float], values: list[float]) -> None:
    mapped = similarity(Calibration(*points), *sorted(values))
    assert mapped == sorted(mapped)


def test_a_cosine_that_is_no_number_has_the_least_similarity() -> None:
    assert similarity(Calibration(0.7, 0.95), math.nan, -math.inf) == [0.0, 0.0]
    assert similarity(Calibration(0.7, 0.95), math.inf) == similarity(Calibration(0.7, 0.95), 1.0)


def test_a_model_that_embeds_queries_in_another_way_has_separate_points_for_them() -> None:
    profile = Calibration(0.74, 0.95, query_unrelated=0.69, query_same_meaning=0.88)
    assert similarity(profile.of_queries, 0.69, 0.88) == pytest.approx([0.20, 0.85], abs=1e-4)
    assert similarity(profile, 0.88)[0] < 0.65
    assert Calibration(0.1, 0.8).of_queries == Calibration(0.1, 0.8)


@pytest.mark.parametrize(
    "points",
    [(0.5, 0.5), (0.9, 0.1), (math.nan, 0.5), (0.1, 1.5), (0.1, 0.8, 0.2, None), (0.1, 0.8, 0.9, 0.2)],
)
def test_impossible_points_are_refused(points: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput):
        Calibration(*points)


def test_the_shipped_sentences_are_distinct_and_enough() -> None:
    texts = calibration_texts()
    assert len(texts.unrelated) >= 60
    assert len(texts.same_meaning) >= 40
    assert len(set(texts.unrelated)) == len(texts.unrelated)
    assert all(first != second for first, second in texts.same_meaning)


def test_measuring_finds_paraphrases_above_unrelated_texts() -> None:
    profile = measure_calibration(HashingEmbedder().embed_passages)
    assert profile.unrelated < profile.same_meaning
    assert profile.query_unrelated is None


def test_a_second_way_of_embedding_queries_is_measured_against_stored_texts() -> None:
    embedder = HashingEmbedder()
    profile = measure_calibration(embedder.embed_passages, embedder.embed_query)
    assert profile.query_unrelated == pytest.approx(profile.unrelated, abs=1e-6)
    assert profile.query_same_meaning == pytest.approx(profile.same_meaning, abs=1e-6)


def test_a_model_that_sees_no_difference_is_refused() -> None:
    with pytest.raises(EmbedderFailed, match="does not tell"):
        measure_calibration(lambda texts: np.ones((len(texts), 1), np.float32))

"""Clusters divide old turns into runs of about equal length and never separate coupled turns."""

from __future__ import annotations

import pytest

from clew.features.history.tail import DEFAULT_SIZE, split_clusters

pytestmark = pytest.mark.requirement("COMP-1")


def everywhere(count: int) -> range:
    return range(count + 1)


def test_no_turns_make_no_clusters() -> None:
    assert split_clusters([0], 0, 20) == []


def test_a_few_turns_make_one_cluster() -> None:
    assert split_clusters(everywhere(7), 7, 20) == [range(7)]


def test_turns_are_divided_evenly_without_a_short_last_cluster() -> None:
    assert [len(cluster) for cluster in split_clusters(everywhere(41), 41, 20)] == [14, 14, 13]


def test_the_formula_places_each_turn() -> None:
    for count in range(1, 90):
        clusters = -(-count // 8)
        expected = [place * clusters // count for place in range(count)]
        found = [number for number, run in enumerate(split_clusters(everywhere(count), count, 8)) for _ in run]
        assert found == expected


@pytest.mark.parametrize("size", [0, -1, -100])
def test_a_size_of_zero_or_less_means_the_default(size: int) -> None:
    assert split_clusters(everywhere(50), 50, size) == split_clusters(everywhere(50), 50, DEFAULT_SIZE)


@pytest.mark.requirement("CONT-2")
def test_a_boundary_moves_to_the_nearest_place_outside_a_pair() -> None:
    assert split_clusters([0, 4, 12], 12, 6) == [range(4), range(4, 12)]


@pytest.mark.requirement("CONT-2")
def test_between_equally_near_places_the_earlier_one_wins() -> None:
    assert split_clusters([0, 4, 8, 12], 12, 6) == [range(4), range(4, 12)]


@pytest.mark.requirement("CONT-2")
def test_turns_that_are_all_coupled_stay_in_one_cluster() -> None:
    assert split_clusters([0, 50], 50, 20) == [range(50)]

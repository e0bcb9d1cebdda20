"""A turn that arrives by two ways is recognised, and two turns are never taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.utterances import Utterances, comparable

pytestmark = pytest.mark.requirement("USE-6")

WINDOW_MS = 1000
WORDS = st.sampled_from(["yes", "no", "go on"])
TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(0, 5000), WORDS), max_size=12)


def held(*turns: tuple[str, int, str]) -> Utterances:
    there = Utterances(WINDOW_MS)
    for place, (speaker, ts_ms, text) in enumerate(turns):
        there.add(speaker, ts_ms, f"t{place}", text)
    return there


def test_a_turn_is_claimed_once() -> None:
    there = held(("user", 100, "yes"))
    assert [there.claim("user", 100, "yes") for _ in range(2)] == ["t0", None]


def test_the_nearest_in_time_is_claimed() -> None:
    there = held(("user", 0, "yes"), ("user", 700, "yes"), ("user", 900, "no"))
    assert there.claim("user", 800, "yes") == "t1"
    assert there.claim("user", 800, "yes") == "t0"


@pytest.mark.parametrize(("ts_ms", "is_same"), [(0, True), (2000, True), (2001, False)])
def test_only_turns_within_the_window_are_the_same(ts_ms: int, is_same: bool) -> None:
    assert (held(("user", 1000, "yes")).claim("user", ts_ms, "yes") is not None) == is_same


def test_a_removed_turn_cannot_be_claimed() -> None:
    there = held(("user", 100, "yes"))
    there.remove("user", 100, "another")
    there.remove("user", 100, "t0")
    there.remove("user", 100, "t0")
    assert there.claim("user", 100, "yes") is None


def test_blanks_and_secrets_make_no_difference() -> None:
    secret = "ghp_a8F3kD9sLq2ZxW7vB1nM5tR0yU4iO6pE3cQe"
    assert comparable(f" Use  {secret}\n now ") == comparable("Use [redacted:github-token] now")
    assert comparable("Use it now") != comparable("Use it never")


@given(TURNS, TURNS)
def test_each_turn_is_claimed_at_most_once_and_only_for_equal_words_within_the_window(
    first: list[tuple[str, int, str]], second: list[tuple[str, int, str]]
) -> None:
    there = held(*first)
    claimed = [(turn, there.claim(*turn)) for turn in second]
    ids = [id_ for _, id_ in claimed if id_ is not None]
    assert len(ids) == len(set(ids))
    for (speaker, ts_ms, text), id_ in claimed:
        if id_ is not None:
            other = first[int(id_[1:])]
            assert (other[0], other[2]) == (speaker, text)
            assert abs(other[1] - ts_ms) <= WINDOW_MS


@given(TURNS)
def test_a_copy_of_a_session_has_no_new_turn(turns: list[tuple[str, int, str]]) -> None:
    there = held(*turns)
    assert None not in [there.claim(*turn) for turn in turns]

"""The tail against a slow and plain reading of the same rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.budget import longest_prefix
from clew.core.model import Role
from clew.features.history.tail import TailTurn, boundaries, split_tail

IDS = st.sampled_from("abc")
TURNS = st.lists(
    st.builds(
        TailTurn,
        role=st.sampled_from(Role),
        tokens=st.integers(0, 50),
        tool_call_ids=st.lists(IDS, max_size=2).map(tuple),
        tool_call_id=st.none() | IDS,
    ),
    max_size=24,
)
MIN_TURNS = st.integers(1, 6)
TARGET = st.integers(0, 800)


def plain_call_of(turns: list[TailTurn], place: int) -> int | None:
    """The newest turn before `place` that made the call it answers."""
    wanted = turns[place].tool_call_id
    for earlier in range(place - 1, -1, -1):
        made = turns[earlier].tool_call_ids
        if wanted in made or (wanted is None and (made or turns[earlier].role is Role.TOOL_CALL)):
            return earlier
    return None


def plain_request_of(turns: list[TailTurn], place: int) -> int | None:
    """The nearest request before `place` that nothing has replied to yet."""
    for earlier in range(place - 1, -1, -1):
        if turns[earlier].role in (Role.ASSISTANT, Role.TOOL_CALL):
            return None
        if turns[earlier].role is Role.USER and turns[earlier].tool_call_id is None:
            return earlier
    return None


@pytest.mark.requirement("CONT-2")
@given(TURNS)
def test_no_boundary_separates_a_result_from_its_call_or_a_reply_from_its_request(turns: list[TailTurn]) -> None:
    edges = boundaries(turns)
    for place, turn in enumerate(turns):
        partners = []
        if turn.role is Role.TOOL_RESULT or turn.tool_call_id is not None:
            partners.append(plain_call_of(turns, place))
        if turn.role in (Role.ASSISTANT, Role.TOOL_CALL):
            partners.append(plain_request_of(turns, place))
        for partner in partners:
            assert partner is None or not any(partner < edge <= place for edge in edges)


@pytest.mark.requirement("CONT-2")
@given(TURNS)
def test_boundaries_ascend_from_the_first_turn_to_the_last(turns: list[TailTurn]) -> None:
    edges = boundaries(turns)
    assert edges == sorted(set(edges))
    assert edges[0] == 0
    assert edges[-1] == len(turns)


@pytest.mark.requirement("CONT-2")
@given(st.lists(st.sampled_from([Role.ASSISTANT, Role.SYSTEM]), max_size=20))
def test_uncoupled_turns_may_be_cut_anywhere(roles: list[Role]) -> None:
    assert boundaries([TailTurn(role, 1) for role in roles]) == list(range(len(roles) + 1))


@pytest.mark.requirement("CONT-1", "CONT-2")
@given(TURNS, MIN_TURNS, TARGET)
def test_base_and_tail_match_the_plain_reading(turns: list[TailTurn], min_turns: int, target: int) -> None:
    tail = split_tail(turns, min_turns, target)
    edges = boundaries(turns)
    cost = {edge: sum(turn.tokens for turn in turns[edge:]) for edge in edges}
    assert tail.base_start == max((e for e in edges if len(turns) - e >= min_turns), default=0)
    assert tail.start == min((e for e in edges if e < tail.base_start and cost[e] <= target), default=tail.base_start)
    assert (tail.base_tokens, tail.tokens) == (cost[tail.base_start], cost[tail.start])


@pytest.mark.requirement("CONT-1")
@given(TURNS, MIN_TURNS, TARGET, TARGET)
def test_a_larger_target_never_shortens_the_tail_nor_moves_the_base(
    turns: list[TailTurn], min_turns: int, one: int, other: int
) -> None:
    small, large = (split_tail(turns, min_turns, target) for target in sorted((one, other)))
    assert large.start <= small.start
    assert large.base_start == small.base_start


@pytest.mark.requirement("CONT-1", "CONT-3")
@given(TURNS, MIN_TURNS, TARGET, TARGET)
def test_granting_part_of_the_extension_cuts_at_the_same_place_as_a_smaller_target(
    turns: list[TailTurn], min_turns: int, target: int, allowance: int
) -> None:
    tail = split_tail(turns, min_turns, target)
    sizes = tail.extension
    assert sum(sizes) == tail.tokens - tail.base_tokens
    count, used = longest_prefix(sizes, allowance)
    cut = split_tail(turns, min_turns, tail.base_tokens + used)
    assert cut.tokens == tail.base_tokens + used
    assert cut.extension[:count] == sizes[:count]

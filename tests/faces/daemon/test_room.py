"""The daemon counts exactly the room that its clients hold, for any order of steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from clew.faces.daemon.room import Room

pytestmark = pytest.mark.requirement("RPC-2", "RPC-3")

SIZE_BYTES = 40


class Pieces:
    """A holder that knows its pieces one by one."""

    def __init__(self) -> None:
        self.held: list[int] = []
        self.given_up: list[int] = []

    def make_room(self) -> None:
        self.given_up += self.held
        self.held = []


def test_a_late_release_of_a_given_up_piece_is_not_counted_against_new_ones() -> None:
    room, slow, other = Room(SIZE_BYTES), Pieces(), Pieces()
    room.hold(slow, 20)
    room.begin_wait(slow)
    room.hold(other, 30)
    assert room.held_bytes == 30
    room.hold(slow, 20)
    room.release(slow, 20)  # the piece that made room
    assert room.held_bytes == 50
    room.release(slow, 20)
    assert room.held_bytes == 30


def test_a_forgotten_holder_starts_from_zero() -> None:
    room, slow, other = Room(SIZE_BYTES), Pieces(), Pieces()
    room.hold(slow, 20)
    room.begin_wait(slow)
    room.hold(other, 30)
    room.forget(slow)
    room.hold(slow, 20)
    room.release(slow, 20)
    assert room.held_bytes == 30


class Crowd(RuleBasedStateMachine):
    """Three clients. No two pieces of one client have the same size, so each release means exactly one piece."""

    def __init__(self) -> None:
        super().__init__()
        self.room = Room(SIZE_BYTES)
        self.holders = [Pieces() for _ in range(3)]

    who = st.integers(0, 2)

    @rule(who=who, size_bytes=st.integers(1, 25))
    def hold(self, who: int, size_bytes: int) -> None:
        holder = self.holders[who]
        if size_bytes not in holder.held + holder.given_up:
            holder.held.append(size_bytes)
            self.room.hold(holder, size_bytes)

    @rule(who=who, choice=st.integers(0, 100))
    def release(self, who: int, choice: int) -> None:
        holder = self.holders[who]
        pieces = [(mine, size_bytes) for mine in (holder.held, holder.given_up) for size_bytes in mine]
        if pieces:
            mine, size_bytes = pieces[choice % len(pieces)]
            mine.remove(size_bytes)
            self.room.release(holder, size_bytes)

    @rule(who=who)
    def begin_wait(self, who: int) -> None:
        self.room.begin_wait(self.holders[who])

    @rule(who=who)
    def end_wait(self, who: int) -> None:
        self.room.end_wait(self.holders[who])

    @rule(who=who)
    def forget(self, who: int) -> None:
        self.room.forget(self.holders[who])
        self.holders[who].held, self.holders[who].given_up = [], []

    @rule(size_bytes=st.integers(1, 25))
    def ask_for_room(self, size_bytes: int) -> None:
        assert self.room.has_room(size_bytes) == (self.total() + size_bytes <= SIZE_BYTES)

    @precondition(lambda self: self.total() == 0)
    @rule()
    def find_nothing_counted(self) -> None:
        assert self.room.held_bytes == 0

    @invariant()
    def the_counted_room_is_what_is_held(self) -> None:
        assert self.room.held_bytes == self.total()

    def total(self) -> int:
        return sum(sum(holder.held) for holder in self.holders)


TestCrowd = Crowd.TestCase

STEPS = st.lists(st.tuples(st.sampled_from(["hold", "release", "wait"]), st.integers(0, 1), st.integers(0, 9)))


@given(STEPS)
def test_pieces_of_equal_size_are_never_counted_too_low(steps: list[tuple[str, int, int]]) -> None:
    room, holders = Room(SIZE_BYTES), [Pieces(), Pieces()]
    for step, who, choice in steps:
        holder = holders[who]
        pieces = [
            *[(holder.held, size) for size in holder.held],
            *[(holder.given_up, size) for size in holder.given_up],
        ]
        if step == "hold":
            holder.held.append(10)
            room.hold(holder, 10)
        elif step == "wait":
            room.begin_wait(holder)
        elif pieces:
            mine, size_bytes = pieces[choice % len(pieces)]
            mine.remove(size_bytes)
            room.release(holder, size_bytes)
        assert room.held_bytes >= sum(sum(one.held) for one in holders)
    for holder in holders:
        for size_bytes in holder.held + holder.given_up:
            room.release(holder, size_bytes)
    assert room.held_bytes == 0

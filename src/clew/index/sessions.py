"""Which members of a collection belong to one session, and which of them stand side by side in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.index.growing import Growing

NOWHERE = -1
"""Stands for a position where there is none. As an index it is the last one, which callers keep free."""

Positions = NDArray[np.int32]


_NONE: Positions = np.zeros(0, np.int32)


class Sessions:
    """For each position its session, and the positions before and after it there, of members that have not left."""

    def __init__(self) -> None:
        self._numbers = Growing(np.int32)
        self._before = Growing(np.int32)
        self._after = Growing(np.int32)
        self._lengths = Growing(np.int64)
        self._members = Growing(np.int64)
        self._number_of: dict[str, int] = {}
        self._last: list[int] = []

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self._numbers, self._before, self._after, self._lengths, self._members))

    @property
    def numbers(self) -> Positions:
        """The session of each position, as a number from 0."""
        return self._numbers.view

    @property
    def before(self) -> Positions:
        return self._before.view

    @property
    def after(self) -> Positions:
        return self._after.view

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many terms the members of each session hold."""
        return self._lengths.view

    @property
    def members(self) -> NDArray[np.int64]:
        """How many members each session has."""
        return self._members.view

    def positions_of(self, name: str) -> Positions:
        """Of the members of a session, those that have left included."""
        number = self._number_of.get(name)
        return np.flatnonzero(self.numbers == number).astype(np.int32) if number is not None else _NONE

    def add(self, names: Sequence[str], lengths: NDArray[np.int32]) -> None:
        """Members at the end, by the names of their sessions and how many terms they hold."""
        first = len(self._numbers)
        numbers = [self._number(name) for name in names]
        self._numbers.extend(numbers)
        self._before.extend(np.full(len(names), NOWHERE))
        self._after.extend(np.full(len(names), NOWHERE))
        np.add.at(self._lengths.view, numbers, lengths)
        np.add.at(self._members.view, numbers, 1)
        for position, number in enumerate(numbers, first):
            self._link(self._last[number], position)
            self._last[number] = position

    def remove(self, position: int, length: int) -> None:
        """A member that has left; those beside it now stand side by side."""
        number = int(self._numbers.view[position])
        before, after = int(self._before.view[position]), int(self._after.view[position])
        self._link(before, after)
        if self._last[number] == position:
            self._last[number] = before
        self._lengths.view[number] -= length
        self._members.view[number] -= 1

    def _number(self, name: str) -> int:
        number = self._number_of.setdefault(name, len(self._last))
        if number == len(self._last):
            self._last.append(NOWHERE)
            self._lengths.extend_zeros(1)
            self._members.extend_zeros(1)
        return number

    def _link(self, before: int, after: int) -> None:
        if before != NOWHERE:
            self._after.view[before] = after
        if after != NOWHERE:
            self._before.view[after] = before

"""The arrays an index is made of: which members hold a term, and which members share a session, in which order.

Postings are sorted arrays for the bulk and a short unsorted tail for new terms. The tail joins the bulk when it has
grown to a share of it: adding stays cheap, and finding stays one binary search and one look through the tail a term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.text.terms import PACKED_TERM

MIN_TAIL = 8192
TAIL_SHARE = 0.25

Found = tuple[NDArray[np.int32], NDArray[np.uint8]]


class Postings:
    def __init__(self) -> None:
        self._terms = np.empty(0, np.uint64)
        self._positions = np.empty(0, np.int32)
        self._counts = np.empty(0, np.uint8)
        self._start_tail()

    def _start_tail(self) -> None:
        self._new_terms = Growing(np.uint64)
        self._new_positions = Growing(np.int32)
        self._new_counts = Growing(np.uint8)

    @property
    def nbytes(self) -> int:
        return (self._terms.size + len(self._new_terms)) * 13

    def add(self, first_position: int, blobs: Sequence[bytes]) -> NDArray[np.int32]:
        """Add members in a row; gives each one's length in terms."""
        sizes = np.array([len(blob) // PACKED_TERM.itemsize for blob in blobs], np.int64)
        packed = np.frombuffer(b"".join(blobs), PACKED_TERM)
        positions = np.repeat(np.arange(first_position, first_position + len(blobs), dtype=np.int32), sizes)
        counts = packed["count"]
        self._new_terms.extend(packed["term"])
        self._new_positions.extend(positions)
        self._new_counts.extend(counts)
        if len(self._new_terms) > max(MIN_TAIL, TAIL_SHARE * self._terms.size):
            self._fold()
        ends = np.cumsum(np.concatenate(([0], counts.astype(np.int64))))
        edges = np.concatenate(([0], np.cumsum(sizes)))
        lengths: NDArray[np.int32] = (ends[edges[1:]] - ends[edges[:-1]]).astype(np.int32)
        return lengths

    def find(self, term: int) -> Found:
        """The positions that hold a term, each once and in no order, and how often each does."""
        wanted = np.uint64(term)
        low = int(self._terms.searchsorted(wanted, side="left"))
        high = int(self._terms.searchsorted(wanted, side="right"))
        positions, counts = self._positions[low:high], self._counts[low:high]
        new = np.flatnonzero(self._new_terms.view == wanted)
        if new.size == 0:
            return positions, counts
        return (
            np.concatenate((positions, self._new_positions.view[new])),
            np.concatenate((counts, self._new_counts.view[new])),
        )

    def contents(self, alive: NDArray[np.bool_]) -> list[NDArray[np.generic]]:
        """Terms, places among the living, and counts, in one canonical order."""
        self._fold()
        held = alive[self._positions]
        places = (np.cumsum(alive) - 1)[self._positions[held]]
        terms, counts = self._terms[held], self._counts[held]
        order = np.lexsort((places, terms))
        return [terms[order], places[order], counts[order]]

    def _fold(self) -> None:
        terms = np.concatenate((self._terms, self._new_terms.view))
        order = np.argsort(terms)
        self._terms = terms[order]
        self._positions = np.concatenate((self._positions, self._new_positions.view))[order]
        self._counts = np.concatenate((self._counts, self._new_counts.view))[order]
        self._start_tail()


class Growing:
    """An array that grows at its end in amortised constant time."""

    def __init__(self, dtype: type[np.generic], width: int = 0) -> None:
        self.width = width
        self._size = 0
        self._data = np.empty((0, width) if width else 0, dtype)

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[Any]:
        return self._data[: self._size]

    @property
    def nbytes(self) -> int:
        return self._data.nbytes

    def extend(self, values: object) -> None:
        added = np.asarray(values, self._data.dtype)
        start = self._size
        self.extend_zeros(len(added))
        self._data[start : self._size] = added

    def extend_zeros(self, count: int) -> None:
        needed = self._size + count
        if needed > len(self._data):
            # A first load is exact; only an array that keeps growing gets room to grow.
            capacity = needed if self._size == 0 else max(needed, self._size + self._size // 4 + 64)
            grown = np.zeros((capacity, *self._data.shape[1:]), self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._size = needed


NOWHERE = -1
"""A position where there is none. As an index it is the last one, which callers keep free."""

Places = NDArray[np.int32]


_NONE: Places = np.zeros(0, np.int32)


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
    def numbers(self) -> Places:
        """The session of each position, as a number from 0."""
        return self._numbers.view

    @property
    def before(self) -> Places:
        return self._before.view

    @property
    def after(self) -> Places:
        return self._after.view

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many terms the members of each session hold."""
        return self._lengths.view

    @property
    def members(self) -> NDArray[np.int64]:
        """How many members each session has."""
        return self._members.view

    def positions_of(self, name: str) -> Places:
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
        """Remove a member; its neighbours become neighbours of each other."""
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

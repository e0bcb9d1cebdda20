"""Which members hold a term: sorted arrays for the bulk, a short unsorted tail for what is new.

The tail is folded into the bulk when it has grown to a share of it, so that adding stays cheap and
finding stays one binary search and one look through the tail a term.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.index.growing import Growing
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

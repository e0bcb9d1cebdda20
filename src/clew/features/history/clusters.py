"""Old turns in runs of about equal length, for one summary each.

A run ends only where turns may be parted, so a request stays with its reply and a tool call with its
results, even where that makes one run longer than asked for and another shorter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

DEFAULT_SIZE = 20
"""Turns of one cluster where nothing else is asked for."""


def split(edges: Sequence[int], count: int, size: int) -> list[range]:
    """Positions 0 to `count` as ranges of about `size` turns, cut only at `edges`.

    `edges` rise from 0 to `count`; a `size` that is not positive means the default. The turns are first
    divided evenly, then each dividing line moves to the nearest edge, the earlier one where two are
    equally near. A cluster that loses all its turns by that vanishes.
    """
    size = size if size > 0 else DEFAULT_SIZE
    clusters = -(-max(count, 1) // size)
    even = (-(-number * count // clusters) for number in range(1, clusters))
    cuts = sorted({0, count, *(_nearest(edges, place) for place in even)})
    return [range(start, end) for start, end in pairwise(cuts)]


def _nearest(edges: Sequence[int], place: int) -> int:
    after = min(bisect_left(edges, place), len(edges) - 1)
    before = max(after - 1, 0)
    return edges[before] if place - edges[before] <= edges[after] - place else edges[after]

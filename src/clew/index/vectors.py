"""Unit vectors as small whole numbers, so that a similarity is the same number everywhere.

A component is stored as round(4000 x), two bytes. A dot product of two such vectors is a sum of
whole numbers that, by the Cauchy-Schwarz inequality, never passes 2**24, and float32 adds whole
numbers below 2**24 without rounding. So the result does not depend on the order of summation: not
on the rows beside it, the number of threads, the processor, or whether the index was built at once
or bit by bit. The grid costs less than 0.0002 of a cosine, about as much as float16.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

SCALE = 4000
DTYPE = np.dtype("<i2")

SPLIT_FROM = 20_000
"""Rows from which on several threads are faster than one."""

BLOCK_ITEMS = 3 << 17
"""Numbers that are widened and multiplied at a time: few enough to stay in a core's cache, and for the linear algebra
library to leave them to one thread; enough that the threads here seldom wait for each other."""

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""Set to 1 by the daemon: threads of the library wait for each other by spinning, which costs ten times the
work where the cores are busy; the few large scans are split here instead, and nobody spins."""

Rows = NDArray[np.int16]
"""Whole numbers as they are kept, in the store and in memory."""

Grid = NDArray[np.float32]
"""The same held as float32, the type matrix products are fast in."""


def to_grid(vectors: NDArray[np.float32]) -> Grid:
    """Rows scaled to unit length and rounded; a row that cannot be scaled becomes zero."""
    finite = np.nan_to_num(np.atleast_2d(vectors).astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(finite, axis=1, keepdims=True)
    units = np.divide(finite, lengths, out=np.zeros_like(finite), where=lengths > 1e-12)
    grid: Grid = np.rint(units * SCALE).astype(np.float32)
    return grid


def encode(vectors: NDArray[np.float32]) -> list[bytes]:
    return [encode_grid(row) for row in to_grid(vectors)]


def encode_grid(row: Grid) -> bytes:
    """One row that is on the grid already, as the store keeps it."""
    return row.astype(DTYPE).tobytes()


def decode(blobs: Sequence[bytes], dimensions: int) -> Rows:
    """One row a blob, each with this many dimensions."""
    return np.frombuffer(b"".join(blobs), dtype=DTYPE).reshape(len(blobs), dimensions)


def cosines(rows: Rows | Grid, query: Grid) -> NDArray[np.float32]:
    """The cosine of every row with the query; a large collection is read by several threads."""
    products = np.empty(len(rows), np.float32)
    height = max(BLOCK_ITEMS // max(query.size, 1), 1)
    blocks = deque(slice(start, start + height) for start in range(0, len(rows), height))
    others = [_pool.submit(_multiply, rows, query, products, blocks) for _ in range(_others(len(rows)))]
    _multiply(rows, query, products, blocks)
    for other in others:
        if not other.cancel():
            other.result()
    products /= np.float32(SCALE * SCALE)
    return products


def in_parts(count: int, work: Callable[[slice], None]) -> None:
    """Do some work on this many rows, by several threads where there are many."""
    height = -(-count // (_others(count) + 1)) or 1
    parts = [slice(start, min(start + height, count)) for start in range(0, count, height)]
    others = [(part, _pool.submit(work, part)) for part in parts[1:]]
    for part in parts[:1]:
        work(part)
    for part, other in others:
        if other.cancel():
            work(part)
        else:
            other.result()


def _multiply(rows: Rows | Grid, query: Grid, products: NDArray[np.float32], blocks: deque[slice]) -> None:
    """Take one block after the other until none is left."""
    widened = np.empty((0, query.size), np.float32)
    for block in _take_blocks(blocks):
        part = rows[block]
        if len(widened) < len(part):
            widened = np.empty(part.shape, np.float32)
        np.copyto(widened[: len(part)], part)
        np.matmul(widened[: len(part)], query, out=products[block])


def _take_blocks(blocks: deque[slice]) -> Iterator[slice]:
    while blocks:
        try:
            yield blocks.popleft()
        except IndexError:  # another thread was faster
            return


def _others(count: int) -> int:
    """How many threads besides the caller's are worth asking."""
    return _THREADS - 1 if count >= SPLIT_FROM else 0


_THREADS = min(os.cpu_count() or 1, 4)
_pool = ThreadPoolExecutor(max(_THREADS - 1, 1), thread_name_prefix="clew-scan")

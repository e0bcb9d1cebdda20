"""A quick look at many vectors that leaves out only those that are certainly too far.

Each row, less the centre of all of them, is rounded to eight bits, for which processors have instructions that are
several times as fast as the exact product. The length of each rounding error is known, so by the Cauchy-Schwarz
inequality the quick product misses the exact cosine by no more than a known bound for each row. A search for the
best computes exactly only the rows that the bounds leave open, and gets the same answer.
"""

from __future__ import annotations

import numpy as np
import simsimd
from numpy.typing import NDArray

from clew.index.vectors import SCALE, Grid, Rows, in_parts

Floats = NDArray[np.float32]

STEPS = 127
ROUNDING = np.float32(2e-5)
"""More than the error of all arithmetic on the way."""

_SAMPLE = 4096
_ROWS_A_STEP = 1024


class Coarse:
    """Rows as they were when this was made; rows that came or changed later are unknown to it."""

    def __init__(self, rows: Rows) -> None:
        self._centre = (rows[:: max(len(rows) // _SAMPLE, 1)].mean(axis=0) / SCALE).astype(np.float32)
        self._rounded = np.empty(rows.shape, np.int8)
        self._steps, self._lengths, self._errors, self._offsets = np.empty((4, len(rows)), np.float32)
        for start in range(0, len(rows), _ROWS_A_STEP):
            self._round(rows, slice(start, min(start + _ROWS_A_STEP, len(rows))))

    def __len__(self) -> int:
        return len(self._rounded)

    @property
    def nbytes(self) -> int:
        arrays = (self._rounded, self._steps, self._lengths, self._errors, self._offsets)
        return sum(array.nbytes for array in arrays)

    def _round(self, rows: Rows, part: slice) -> None:
        away = rows[part].astype(np.float32)
        away *= np.float32(1.0 / SCALE)
        self._offsets[part] = away @ self._centre
        away -= self._centre
        rounded, steps = _round_rows(away)
        kept = rounded * steps[:, None]
        self._rounded[part] = rounded
        self._steps[part] = steps
        self._lengths[part] = _norms(kept)
        away -= kept
        self._errors[part] = _norms(away)

    def bounds(self, query: Grid) -> tuple[Floats, Floats]:
        """The least and the highest cosine that each row can have with the query."""
        away = query / np.float32(SCALE) - self._centre
        rounded, steps = _round_rows(away[None])
        missing, length = np.linalg.norm(away - rounded[0] * steps[0]), np.linalg.norm(away)
        least, most = np.empty((2, len(self)), np.float32)

        def work(part: slice) -> None:
            products = np.asarray(simsimd.dot(self._rounded[part], rounded[0])).astype(np.float32)
            products *= self._steps[part]
            products *= steps[0]
            products += self._offsets[part]
            products += self._centre @ away
            slack = self._lengths[part] * missing
            slack += self._errors[part] * length
            slack += ROUNDING
            np.subtract(products, slack, out=least[part])
            np.add(products, slack, out=most[part])

        in_parts(len(self), work)
        return least, most


def _round_rows(away: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows as whole numbers of steps, and the size of a step of each."""
    steps = np.maximum(away.max(axis=1), -away.min(axis=1)) / np.float32(STEPS)
    steps[steps == 0.0] = 1.0
    return np.rint(away / steps[:, None]).astype(np.int8), steps


def _norms(rows: Floats) -> Floats:
    norms: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return norms

"""Arrays that grow at their end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
            # A first load is exact; only what keeps growing gets room to grow.
            capacity = needed if self._size == 0 else max(needed, self._size + self._size // 4 + 64)
            grown = np.zeros((capacity, *self._data.shape[1:]), self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._size = needed

"""How long the steps of a request take."""

from __future__ import annotations

import time

_DIGITS = 3


class Stopwatch:
    """Starts when it is made. Each lap ends a step."""

    def __init__(self) -> None:
        self.laps_ms: dict[str, float] = {}
        self._began = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps_ms[step] = round((now - self._began) * 1000, _DIGITS)
        self._began = now

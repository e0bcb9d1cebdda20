"""How slow this machine is now, and how long to wait for something on it.

Waiting goes by events. A limit on real time only ends a test that hangs, so it grows with the machine's slowness.
"""

from __future__ import annotations

import time
from functools import cache

_REFERENCE_S = 0.015
"""The time of the loop below on an idle machine of 2024."""


@cache
def slowness() -> float:
    """How many times slower than the reference this process runs; never below 1."""
    began = time.perf_counter()
    total = 0
    for number in range(200_000):
        total += number * number
    return max(1.0, (time.perf_counter() - began) / _REFERENCE_S)


def patience(seconds: float) -> float:
    """A limit that is generous on a fast machine and grows on a slow one."""
    return seconds * slowness()

"""Whether an assertion stays cheap when its subject has many facts: its time at 3,000 as a multiple of that at 100.

    python -m bench.fact_ratio

The predicate takes many values. A slow or busy machine slows both, and the run fails when the multiple is over three.
"""

from __future__ import annotations

import sys
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from clew import Memory

FEW, MANY = 100, 3_000
TIMED = 50
AT_MOST = 3.0


def main() -> int:
    few_ms, many_ms = (assert_ms(count) for count in (FEW, MANY))
    ratio = many_ms / few_ms
    print(f"asserting takes {few_ms:.2f} ms at {FEW} facts, {many_ms:.2f} ms at {MANY}: {ratio:.2f} times")
    return 0 if ratio <= AT_MOST else 1


def assert_ms(count: int) -> float:
    """The median time of an assertion on a subject that has so many facts."""
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        Memory.open(data_dir=folder, embedder="none", synchronous="normal") as memory,
    ):
        memory.put("user:ada", "said", "All of this was said.")
        taken_ms = []
        for number in range(count + TIMED):
            started = perf_counter()
            memory.facts_assert("Harbor", "uses", f"part {number}", user_id="ada", sources=["user:ada/said"])
            taken_ms.append((perf_counter() - started) * 1000.0)
        return median(taken_ms[count:])


if __name__ == "__main__":
    sys.exit(main())

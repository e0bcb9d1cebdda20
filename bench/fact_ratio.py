"""Whether facts and plans stay cheap when there are many: the time at 3,000 as a multiple of that at 100.

    python -m bench.fact_ratio

It measures an assertion on a subject with so many facts, of a predicate that takes many values and of one that takes a
single value at a time, and a pack for a user with so many plans. A slow or busy machine slows both sides of a ratio,
and the run fails when one is over three.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from clew import Memory

FEW, MANY = 100, 3_000
TIMED = 50
AT_MOST = 3.0

DAY_MS = 86_400_000
FIRST_DAY_MS = 1_500_000_000_000


def main() -> int:
    ratios = [
        report("asserting a fact with many values", "facts", lambda count: assert_ms(count, "uses")),
        report("asserting a fact with one value at a time", "facts", lambda count: assert_ms(count, "status")),
        report("asserting one of the past", "facts", lambda count: assert_ms(count, "status", backwards=True)),
        report("a pack", "plans", pack_ms),
    ]
    return 0 if max(ratios) <= AT_MOST else 1


def report(what: str, of: str, measure: Callable[[int], float]) -> float:
    few_ms, many_ms = measure(FEW), measure(MANY)
    ratio = many_ms / few_ms
    print(f"{what} takes {few_ms:.2f} ms at {FEW} {of}, {many_ms:.2f} ms at {MANY}: {ratio:.2f} times")
    return ratio


def assert_ms(count: int, predicate: str, *, backwards: bool = False) -> float:
    """The median time of an assertion on a subject that has so many facts, in the order of their days or against it."""
    with opened() as memory:
        memory.put("user:ada", "said", "All of this was said.")
        taken_ms = []
        for number in range(count + TIMED):
            day = count + TIMED - number if backwards else number
            started = perf_counter()
            memory.facts_assert(
                "Harbor",
                predicate,
                f"part {number}",
                user_id="ada",
                sources=["user:ada/said"],
                valid_from=FIRST_DAY_MS + day * DAY_MS // 100,
            )
            taken_ms.append((perf_counter() - started) * 1000.0)
        return median(taken_ms[count:])


def pack_ms(count: int) -> float:
    """The median time of a pack for a user with so many plans for later days."""
    with opened() as memory:
        for number in range(count):
            memory.plans_add(f"Paint wall {number}", user_id="ada", date="2099-01-01")
        taken_ms = []
        for _ in range(TIMED):
            started = perf_counter()
            memory.pack("where is the ladder", user_id="ada")
            taken_ms.append((perf_counter() - started) * 1000.0)
        return median(taken_ms)


@contextmanager
def opened() -> Iterator[Memory]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        Memory.open(data_dir=folder, embedder="none", synchronous="normal") as memory,
    ):
        yield memory


if __name__ == "__main__":
    sys.exit(main())

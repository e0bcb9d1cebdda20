"""Whether a context has become slower, on any machine: its time as a multiple of a loop of plain Python.

    python -m bench.assemble_ratio

A user has 10,000 memories and a session of 2,000 turns. Each context is timed beside the loop, so a slow or busy
machine slows both. The run fails when the median multiple is more than twice the one in `assemble_ratio.json`;
`--store` writes the measured one there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import msgspec
from msgspec import Struct

from bench.clew_store import ClewStore
from bench.continuity_assemble import assemble_ms, fill
from bench.corpus import make_questions

MEMORIES, TURNS = 10_000, 2_000
WARM_UP, CONTEXTS = 20, 150
TOLERANCE = 2.0
STORED = Path(__file__).with_suffix(".json")


class Figures(Struct, frozen=True):
    ratio: float
    """The median time of a context, in loops."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="write the measured ratio into assemble_ratio.json")
    options = parser.parse_args()
    measured = measure()
    if options.store:
        STORED.write_bytes(msgspec.json.encode(Figures(round(measured, 2))) + b"\n")
    stored = msgspec.json.decode(STORED.read_bytes(), type=Figures).ratio
    print(f"a context takes {measured:.2f} loops; stored: {stored:.2f}, at most {TOLERANCE * stored:.2f}")
    return 0 if measured <= TOLERANCE * stored else 1


def measure() -> float:
    with TemporaryDirectory(prefix="bench-") as folder:
        fill(Path(folder), MEMORIES, TURNS)
        store = ClewStore(Path(folder))
        questions = make_questions(WARM_UP + CONTEXTS, MEMORIES, 1)
        ratios = [assemble_ms(store, question.text) / loop_ms() for question in questions]
        store.close()
    return median(ratios[WARM_UP:])


def loop_ms() -> float:
    """The time of a loop that does what contexts do most: looks words up, counts and sorts."""
    started = perf_counter()
    counts: dict[str, int] = {}
    for number in range(20_000):
        word = str(number * 7919 % 4001)
        counts[word] = counts.get(word, 0) + len(word)
    sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return (perf_counter() - started) * 1000.0


if __name__ == "__main__":
    sys.exit(main())

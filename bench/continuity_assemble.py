"""How long a context takes for a user with 100,000 memories in a session of 2,000 turns.

    python -m bench.continuity_assemble

Measured before and after the session is compacted, each in a process that is set up as the daemon's is (its garbage
collection, and one thread of the linear algebra library) and in one that is not. The vector of each query is known
beforehand, so the embedder is left out. Every measurement runs in a process of its own over the same store. Processor
times stand beside those of the clock, since others may use the machine too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import msgspec
from msgspec import Struct

from bench.clew_store import ClewStore
from bench.corpus import make_questions, make_records
from bench.embedder import WordVectors
from bench.results import Spread, spread
from clew import Message
from clew.daemon.run import tune_interpreter
from clew.index.vectors import BLAS_THREADS

SESSION, USER = "bench", "0"
LIMIT_MS = 25.0
AS_DAEMON = "as in the daemon"
WARM_UP = 20
ROOT = Path(__file__).parent.parent


class Measured(Struct, frozen=True):
    wall_ms: Spread
    processor_ms: Spread


def main() -> int:
    options = _parser().parse_args()
    if options.store:
        sys.stdout.write(msgspec.json.encode(_measure(options.store, options.questions, options.memories)).decode())
        return 0
    with TemporaryDirectory(prefix="bench-") as folder:
        _fill(Path(folder), options.memories, options.turns)
        before = _in_processes(options, folder)
        _compact(Path(folder))
        after = _in_processes(options, folder)
    print("| assemble, ms | p50 | p95 | worst | processor p50 | processor p95 |\n| --- |" + " ---: |" * 5)
    for state, measured in (("before compaction", before), ("after compaction", after)):
        for threads, figures in measured.items():
            print(f"| {state}, {threads} | {' | '.join(_cells(figures))} |")
    worst = max(figures.wall_ms.p95 for measured in (before, after) for figures in measured.values())
    return 0 if worst <= LIMIT_MS else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000, help="memories of the user (100,000)")
    parser.add_argument("--turns", type=int, default=2000, help="turns of the session (2,000)")
    parser.add_argument("--questions", type=int, default=200, help="contexts to assemble (200)")
    parser.add_argument("--store", type=Path, help="measure over the store in this folder only, and print JSON")
    return parser


def _fill(folder: Path, memories: int, turns: int) -> None:
    store = ClewStore(folder)
    records = make_records(0, memories, 1)
    store.load(records, WordVectors().embed_query(""))
    texts = (record.text for record in make_records(memories, turns, 1))
    messages = [Message(role=role, text=text) for role, text in zip(cycle(("user", "assistant")), texts, strict=False)]
    store.memory.ingest_batch(SESSION, messages, user_id=USER)
    store.settle()
    store.close()


def _compact(folder: Path) -> None:
    store = ClewStore(folder)
    store.memory.compact(SESSION)
    store.settle()
    store.close()


def _in_processes(options: argparse.Namespace, folder: str) -> dict[str, Measured]:
    """The same measurement in both kinds of process."""
    given = ("--store", folder, "--questions", str(options.questions), "--memories", str(options.memories))
    command = [sys.executable, "-m", "bench.continuity_assemble", *given]
    plain = {name: value for name, value in os.environ.items() if name != BLAS_THREADS}
    measured = {}
    for name, environment in ((AS_DAEMON, plain | {BLAS_THREADS: "1"}), ("in any process", plain)):
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
        measured[name] = msgspec.json.decode(done.stdout, type=Measured)
    return measured


def _measure(folder: Path, count: int, size: int) -> Measured:
    if os.environ.get(BLAS_THREADS) == "1":
        tune_interpreter()
    store = ClewStore(folder)
    wall_ms, processor_ms = [], []
    for question in make_questions(count + WARM_UP, size, 1):
        store.memory.gate(question.text)  # makes the query's vector, which is then remembered
        started = perf_counter(), process_time()
        store.memory.assemble(SESSION, query=question.text, user_id=USER)
        wall_ms.append((perf_counter() - started[0]) * 1000.0)
        processor_ms.append((process_time() - started[1]) * 1000.0)
    store.close()
    return Measured(spread(wall_ms[WARM_UP:]), spread(processor_ms[WARM_UP:]))


def _cells(measured: Measured) -> list[str]:
    wall, processor = measured.wall_ms, measured.processor_ms
    return [f"{value:.1f}" for value in (wall.p50, wall.p95, wall.worst, processor.p50, processor.p95)]


if __name__ == "__main__":
    sys.exit(main())

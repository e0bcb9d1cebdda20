"""How long a context takes for a user with 100,000 memories in a session of 2,000 turns.

    python -m bench.continuity_assemble

Measured before and after the session is compacted, each in a process that is set up as the daemon's is (its garbage
collection, and one thread of the linear algebra library) and in one that is not. The vector of each query is known
beforehand, so the embedder is left out. Every measurement runs in a process of its own over the same store.

The questions are put in several rounds, far enough apart that nothing is remembered from one to the next. All times of
all rounds are shown, and beside them the shortest of each question: what it takes when nothing else uses the machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import msgspec
from msgspec import Struct

from bench.clew_store import ClewStore
from bench.corpus import make_questions, make_records
from bench.embedder import WordVectors
from bench.results import Spread, spread
from clew import Message
from clew.faces.daemon.run import tune_interpreter
from clew.index.vectors import BLAS_THREADS

SESSION, USER = "bench", "0"
LIMIT_MS = 25.0
AS_DAEMON = "as in the daemon"
WARM_UP = 20
ROUNDS = 5
ROOT = Path(__file__).parent.parent


class Measured(Struct, frozen=True):
    all_ms: Spread
    """Of every context."""
    undisturbed_ms: Spread
    """Of every question, its quickest context."""


def main() -> int:
    options = _parser().parse_args()
    if options.store:
        sys.stdout.write(msgspec.json.encode(_measure(options.store, options.questions, options.memories)).decode())
        return 0
    with TemporaryDirectory(prefix="bench-") as folder:
        fill(Path(folder), options.memories, options.turns)
        before = _in_processes(options, folder)
        _compact(Path(folder))
        after = _in_processes(options, folder)
    print("| assemble, ms | p50 | p95 | worst | undisturbed p50 | undisturbed p95 |\n| --- |" + " ---: |" * 5)
    for state, measured in (("before compaction", before), ("after compaction", after)):
        for threads, figures in measured.items():
            print(f"| {state}, {threads} | {' | '.join(_cells(figures))} |")
    worst = max(figures.undisturbed_ms.p95 for measured in (before, after) for figures in measured.values())
    return 0 if worst <= LIMIT_MS else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000, help="memories of the user (100,000)")
    parser.add_argument("--turns", type=int, default=2000, help="turns of the session (2,000)")
    parser.add_argument("--questions", type=int, default=200, help="contexts to assemble (200)")
    parser.add_argument("--store", type=Path, help="measure over the store in this folder only, and print JSON")
    return parser


def fill(folder: Path, memories: int, turns: int) -> None:
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
    os.sync()  # or what was just filled is written to the disk while it is measured
    measured = {}
    for name, environment in ((AS_DAEMON, plain | {BLAS_THREADS: "1"}), ("in any process", plain)):
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
        measured[name] = msgspec.json.decode(done.stdout, type=Measured)
    return measured


def _measure(folder: Path, count: int, size: int) -> Measured:
    if os.environ.get(BLAS_THREADS) == "1":
        tune_interpreter()
    store = ClewStore(folder)
    questions = make_questions(count + WARM_UP, size, 1)
    rounds = [[assemble_ms(store, question.text) for question in questions][WARM_UP:] for _ in range(ROUNDS)]
    store.close()
    return Measured(spread([ms for times in rounds for ms in times]), spread(list(map(min, *rounds))))


def assemble_ms(store: ClewStore, question: str) -> float:
    store.memory.gate(question)  # makes the query's vector, which is then remembered
    started = perf_counter()
    store.memory.assemble(SESSION, query=question, user_id=USER)
    return (perf_counter() - started) * 1000.0


def _cells(measured: Measured) -> list[str]:
    every, quickest = measured.all_ms, measured.undisturbed_ms
    return [f"{value:.1f}" for value in (every.p50, every.p95, every.worst, quickest.p50, quickest.p95)]


if __name__ == "__main__":
    sys.exit(main())

"""How long a pack takes for a user with 100,000 memories, beside that of `openclaw-context-pack` on the same records.

    python -m bench.pack

The vector of each query is known beforehand, so no embedder is timed; Clew's times include keeping the trace and
counting the uses. Both get the same budget and number of items. The peer searches by words and by vectors
where an embedding service answers: here one that answers at once stands in its place. It is left out, with
a word, where it is not installed. Every measurement runs in a process of its own. Processor times stand
beside those of the clock, since others may use the machine too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import msgspec
from msgspec import Struct

from bench.clew_store import ClewStore
from bench.corpus import Question, make_questions, make_records
from bench.embedder import WordVectors
from bench.results import Spread, spread
from bench.system import CANDIDATES
from clew.api import Pack
from clew.core.ports import Vectors
from clew.faces.daemon.run import tune_interpreter
from clew.index.vectors import BLAS_THREADS

USER = "0"
ITEMS = 12
BUDGET_TOKENS = 1200
LIMIT_MS = 30.0
WARM_UP = 10
LOADED_AT_ONCE = 10_000
ROOT = Path(__file__).parent.parent
PEER = CANDIDATES["context-pack"]


class Measured(Struct, frozen=True):
    wall_ms: Spread
    processor_ms: Spread
    items: float
    """In one pack, on average."""


def main() -> int:
    options = _parser().parse_args()
    if options.store:
        measure = _measure_clew if options.system == "clew" else _measure_peer
        sys.stdout.write(msgspec.json.encode(measure(options.store, options.questions, options.records)).decode())
        return 0
    print("| pack, ms | p50 | p95 | worst | processor p50 | processor p95 | items |\n| --- |" + " ---: |" * 6)
    own = _run("clew", _fill_clew, options)
    if PEER.installed:
        peer = _run(PEER.name, _fill_peer, options)
        print(f"\nAt the median, {peer.wall_ms.p50 / own.wall_ms.p50:.1f} times as long as Clew.")
    else:
        print(f"\n{PEER.name} was left out: {PEER.needs} is not installed (extra `bench`).")
    return 0 if own.wall_ms.p95 <= LIMIT_MS else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000, help="memories of the user (100,000)")
    parser.add_argument("--questions", type=int, default=100, help="packs to build (100)")
    parser.add_argument("--store", type=Path, help="measure over the store in this folder only, and print JSON")
    parser.add_argument("--system", default="clew", help="whose store it is")
    return parser


def _run(system: str, fill: Callable[[Path, int], None], options: argparse.Namespace) -> Measured:
    """Fill a store, and measure over it in a process that is set up as the daemon's is."""
    with TemporaryDirectory(prefix="bench-") as folder:
        fill(Path(folder), options.records)
        given = ("--store", folder, "--system", system, "--questions", options.questions, "--records", options.records)
        command = [sys.executable, "-m", "bench.pack", *map(str, given)]
        environment = os.environ | {BLAS_THREADS: "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    measured = msgspec.json.decode(done.stdout, type=Measured)
    wall, processor = measured.wall_ms, measured.processor_ms
    figures = (wall.p50, wall.p95, wall.worst, processor.p50, processor.p95, measured.items)
    print(f"| {system} | {' | '.join(f'{value:.1f}' for value in figures)} |", flush=True)
    return measured


def _timed(questions: Sequence[Question], prepare: Callable[[str], None], pack: Callable[[str], int]) -> Measured:
    wall_ms, processor_ms, items = [], [], []
    for question in questions:
        prepare(question.text)
        started = perf_counter(), process_time()
        items.append(pack(question.text))
        wall_ms.append((perf_counter() - started[0]) * 1000.0)
        processor_ms.append((process_time() - started[1]) * 1000.0)
    return Measured(spread(wall_ms[WARM_UP:]), spread(processor_ms[WARM_UP:]), sum(items) / len(items))


def _fill_clew(folder: Path, size: int) -> None:
    store = ClewStore(folder)
    store.load(make_records(0, size, 1), WordVectors().embed_query(""))
    store.close()


def _measure_clew(folder: Path, count: int, size: int) -> Measured:
    tune_interpreter()
    store = ClewStore(folder)
    questions = make_questions(count + WARM_UP, size, 1)

    def prepare(text: str) -> None:
        store.memory.gate(text)  # makes the query's vector, which is then remembered

    def pack(text: str) -> int:
        request = Pack(query=text, user_id=USER, budget_tokens=BUDGET_TOKENS, limit=ITEMS, trace=True)
        return len(store.memory.call(request).items)

    measured = _timed(questions, prepare, pack)
    store.close()
    return measured


def _fill_peer(folder: Path, size: int) -> None:
    store = PEER.opener()(folder)
    vectors = WordVectors()
    for first in range(0, size, LOADED_AT_ONCE):
        records = make_records(first, min(LOADED_AT_ONCE, size - first), 1)
        store.load(records, vectors.embed_passages([record.text for record in records]))
    store.close()


def _measure_peer(folder: Path, count: int, size: int) -> Measured:
    os.environ["OPENCLAW_STATE_DIR"] = str(folder)  # else it reads the settings of whoever runs the benchmark
    from openclaw_mem.core import api
    from openclaw_mem.core import pack as packing

    from bench.context_pack import MODEL

    known = _KnownVectors()
    packing.get_api_key = lambda *_, **__: "none is needed"
    packing.OpenAIEmbeddingsClient = lambda *_, **__: known
    connection = api.connect(str(folder / "memory.sqlite"))

    def pack(text: str) -> int:
        answer = api.pack(connection, text, limit=ITEMS, budget_tokens=BUDGET_TOKENS, scope=f"user:{USER}", model=MODEL)
        return len(answer["items"])

    measured = _timed(make_questions(count + WARM_UP, size, 1), known.prepare, pack)
    connection.close()
    return measured


class _KnownVectors:
    """An embedding service that has its answer ready."""

    def __init__(self) -> None:
        self._model = WordVectors()
        self._known: Vectors = self._model.embed_query("")

    def prepare(self, text: str) -> None:
        self._known = self._model.embed_query(text)

    def embed(self, texts: Sequence[str], model: str) -> list[list[float]]:  # noqa: ARG002 — its interface
        return [self._known.tolist() for _ in texts]


if __name__ == "__main__":
    sys.exit(main())

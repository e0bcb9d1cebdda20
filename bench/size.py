"""How long a search and a context take, against the size of the collection.

    python -m bench.size [--largest 1000000]

Once for a user's memories and once for a user's turns, in sessions of twenty, which are ranked by what stands around
them as well. One store of each kind grows from size to size. Each measurement runs in a process of its own, set up as
the daemon's is, with room in memory for the whole index. Stored texts have vectors of a stand-in that costs nothing.
Where the vector of a query is not known beforehand, the default model is run for it; its answer is thrown away.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import msgspec
from msgspec import Struct

from bench.clew_store import ClewStore, imported
from bench.corpus import Record, make_questions, make_records
from bench.embedder import WordVectors
from bench.picture import COLOURS, FOLDER, draw, tell
from bench.results import Spread, spread
from bench.run import ROOT
from bench.system import HITS
from clew import Memory
from clew.config import Config
from clew.core.collections import Collection
from clew.core.ids import turn_name
from clew.core.ports import Vectors
from clew.errors import ClewError, EmbedderFailed
from clew.faces.daemon.run import tune_interpreter
from clew.index.vectors import BLAS_THREADS
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.pack import DEFAULT_PACK, find_pack, packs_dir
from clew.text.terms import without_names

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
USUALLY_LARGEST = 100_000
USER = "0"
SESSION_TURNS = 20
SPEAKERS = ("Ada", "Bruno")
CACHE_BYTES = 8 << 30
WARM_UP = 20
QUESTIONS = 200
TICKS_MS = (1, 2, 5, 10, 20, 50, 100, 200)

KINDS = {"memories": Collection.memories(USER), "turns": Collection.turns(USER)}
"""What a collection holds, and its name."""


class Measured(Struct, frozen=True):
    """Times in milliseconds."""

    known: Spread
    unknown: Spread | None
    """None where the default model is not installed."""
    assemble: Spread


MEASURES: Mapping[str, Callable[[Measured], Spread | None]] = {
    "search, vector known": lambda measured: measured.known,
    "search, vector not known": lambda measured: measured.unknown,
    "assemble, vector known": lambda measured: measured.assemble,
}

Results = dict[str, dict[int, Measured]]
"""By kind, then by size."""


def main() -> int:
    options = _parser().parse_args()
    if options.store:
        measured = _measure(options.store, options.kind, options.largest)
        sys.stdout.write(msgspec.json.encode(measured).decode())
        return 0
    sizes = [size for size in SIZES if size <= options.largest]
    results = {kind: dict(_grown(kind, sizes)) for kind in KINDS if options.kind in (None, kind)}
    _print_table(results)
    fill = partial(_curves, results=results)
    print(tell(draw(options.out, columns=len(MEASURES), size_inches=(15, 5), fill=fill)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=USUALLY_LARGEST, help=f"members ({USUALLY_LARGEST:,})")
    parser.add_argument("--out", type=Path, default=FOLDER / "size.png", help="where to draw the picture")
    parser.add_argument("--store", type=Path, help="measure over the store in this folder only, and print JSON")
    parser.add_argument("--kind", choices=list(KINDS), help="only this kind of collection; of --store, what it holds")
    return parser


# --- filling -----------------------------------------------------------------------------------------------


def _grown(kind: str, sizes: Sequence[int]) -> Iterator[tuple[int, Measured]]:
    with TemporaryDirectory(prefix="bench-") as folder:
        before = 0
        for size in sizes:
            started = perf_counter()
            store = ClewStore(Path(folder))
            store.load_lines(_lines_of(kind, make_records(before, size - before, 1)))
            store.close()
            print(f"{kind}: {size:,} after {perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
            yield size, _in_a_process(folder, kind, size)
            before = size


def _lines_of(kind: str, records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        if kind == "memories":
            yield imported(record)
            continue
        where = f"s{record.number // SESSION_TURNS}"
        places = {Collection.session(where): record.id, Collection.raw(where): record.id}
        yield imported(
            record,
            raw=True,
            places=places | {KINDS[kind]: turn_name(where, record.id)},
            role="user",
            provenance="user_turn",
            metadata={"speaker": SPEAKERS[record.number % len(SPEAKERS)]},
        )


# --- measuring ---------------------------------------------------------------------------------------------


def _in_a_process(folder: str, kind: str, size: int) -> Measured:
    command = [sys.executable, "-m", "bench.size", "--store", folder, "--kind", kind, "--largest", str(size)]
    environment = os.environ | {BLAS_THREADS: "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Measured)


def _measure(folder: Path, kind: str, size: int) -> Measured:
    tune_interpreter()
    embedder = _Paced()
    config = Config.load(environment={}, data_dir=folder, index_cache_bytes=CACHE_BYTES)
    asked = [question.text for question in make_questions(WARM_UP + 3 * QUESTIONS, size, 1)]
    searched = _naming_a_speaker(asked) if kind == "turns" else asked
    with Memory(config, embedder=embedder) as memory:
        search = partial(_search, memory, KINDS[kind])
        assemble = partial(_assemble, memory)
        for text in asked[:WARM_UP]:
            memory.search(text, k=HITS, collections=[KINDS[kind]])
            assemble(text)
        known, unknown, assembled = (slice(WARM_UP + part, None, 3) for part in range(3))
        return Measured(
            known=_times(search, searched[known], memory),
            unknown=_times(search, searched[unknown]) if embedder.has_model else None,
            assemble=_times(assemble, asked[assembled], memory),
        )


def _naming_a_speaker(questions: Sequence[str]) -> list[str]:
    """Every second of them does."""
    return [f"{text} {SPEAKERS[0]}" if place % 2 else text for place, text in enumerate(questions)]


def _search(memory: Memory, collection: str, text: str) -> None:
    degraded = memory.search(text, k=HITS, collections=[collection]).degraded
    if degraded:
        raise EmbedderFailed(degraded[0])


def _assemble(memory: Memory, text: str) -> None:
    memory.assemble("s0", query=text, user_id=USER)


def _times(call: Callable[[str], None], texts: Iterable[str], knowing: Memory | None = None) -> Spread:
    """Each text once; in a memory that knows, its vector is made before."""
    times_ms = []
    for text in texts:
        if knowing is not None:
            knowing.gate(without_names(text, {SPEAKERS[0].casefold()}))
        started = perf_counter()
        call(text)
        times_ms.append((perf_counter() - started) * 1000.0)
    return spread(times_ms)


class _Paced(WordVectors):
    """Takes as long for a query as the default model does, where that is installed."""

    def __init__(self) -> None:
        super().__init__()
        try:
            self._model: OnnxEmbedder | None = OnnxEmbedder(find_pack(DEFAULT_PACK, packs_dir()))
        except ClewError:
            self._model = None

    @property
    def has_model(self) -> bool:
        return self._model is not None

    def embed_query(self, text: str) -> Vectors:
        if self._model is not None:
            self._model.embed_query(text)
        return super().embed_query(text)


# --- showing -----------------------------------------------------------------------------------------------


def _print_table(results: Results) -> None:
    print("| ms | members |" + "".join(f" {name}, p50 | p95 |" for name in MEASURES))
    print("| --- |" + " ---: |" * (1 + 2 * len(MEASURES)))
    for kind, sizes in results.items():
        for size, measured in sizes.items():
            cells = "".join(_cells(read(measured)) for read in MEASURES.values())
            print(f"| {kind} | {size:,} |{cells}")


def _cells(times: Spread | None) -> str:
    return " – | – |" if times is None else f" {times.p50:.1f} | {times.p95:.1f} |"


def _curves(_: Any, panels: Sequence[Any], results: Results) -> None:
    for panel, (name, read) in zip(panels, MEASURES.items(), strict=True):
        for (kind, sizes), colour in zip(results.items(), COLOURS, strict=False):
            times = {size: found for size, measured in sizes.items() if (found := read(measured)) is not None}
            for style, which in (("o-", "p95"), ("o--", "p50")):
                values = [getattr(each, which) for each in times.values()]
                panel.plot(list(times), values, style, color=colour, markersize=3, label=f"{kind}, {which}")
        panel.set_title(f"{name}, ms", fontsize=10)
        panel.set_xlabel("members of the collection", fontsize=9)
        panel.sharey(panels[0])
        panel.set(xscale="log", yscale="log")
        for axis, ticks in ((panel.xaxis, SIZES), (panel.yaxis, TICKS_MS)):
            axis.set_ticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
            axis.set_minor_formatter("")
        panel.set_xlim(min(SIZES) * 0.8, max(size for sizes in results.values() for size in sizes) * 1.25)
        panel.set_ylim(TICKS_MS[0], TICKS_MS[-1])
        panel.grid(True, linewidth=0.3)
        panel.legend(fontsize=8, frameon=False)


if __name__ == "__main__":
    sys.exit(main())

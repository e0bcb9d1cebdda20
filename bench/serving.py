"""The daemon and the default model, run in a process of its own: `python -m bench.serving`.

How long a fresh daemon needs until it answers, how much memory it holds when it has nothing to do, and
what the embedder adds to a bare loop over the same model.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from bench.corpus import make_questions, make_records
from bench.machine import resident_mb
from bench.results import Serving, Stopwatch
from clew.client import Client, connect
from clew.core.ports import Vectors
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.pack import DEFAULT_PACK, Pack, find_pack, packs_dir
from clew.models.runtime import onnx_runtime

RECORDS = 200
QUERIES = 200
TEXTS_PER_ROUND = 50
ROUNDS = 8
STOP_TIMEOUT_S = 30.0


def main() -> None:
    sys.stdout.write(msgspec.json.encode(measure_serving()).decode())


def measure_serving() -> Serving:
    """Raises NotFound where the default model is not installed."""
    pack = find_pack(DEFAULT_PACK, packs_dir())
    texts = [record.text for record in make_records(0, RECORDS, 1)]
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        with _daemon(Path(folder)) as (_, client):
            for number, text in enumerate(texts):
                client.put("user:0", str(number), text)
            client.flush(timeout_ms=60_000)
        first_ms, meaning_ms, idle_mb = _fresh_daemon(Path(folder))
    embedder = OnnxEmbedder(pack)
    ours, bare = _rates(texts, embedder.embed_passages, _bare_loop(pack))
    measured = _passages(pack, texts[:TEXTS_PER_ROUND])
    tokens = sum(len(encoding.ids) for encoding in _tokenizer(pack).encode_batch(measured))
    return Serving(
        first_answer_ms=first_ms,
        first_answer_by_meaning_ms=meaning_ms,
        idle_mb=idle_mb,
        embed_query_ms=_query_times(embedder).spread(),
        texts_per_s=ours,
        bare_texts_per_s=bare,
        tokens_per_s=ours * tokens / len(measured),
    )


def _fresh_daemon(folder: Path) -> tuple[float, float, float | None]:
    """Milliseconds from the start of the process to its first answer and to its first one by meaning; idle MB."""
    started = perf_counter()
    first_ms = 0.0
    with _daemon(folder) as (process_id, client):
        while True:
            answer = client.search("what was said about the server?", user_id="0")
            first_ms = first_ms or (perf_counter() - started) * 1000.0
            if not answer.degraded:
                break
        meaning_ms = (perf_counter() - started) * 1000.0
        client.put("user:0", "one more", "All that a write needs is loaded now, too.")
        client.flush()
        return first_ms, meaning_ms, resident_mb(process_id)


@contextmanager
def _daemon(folder: Path) -> Iterator[tuple[int, Client]]:
    """A daemon with every setting at its default, and a client of it."""
    arguments = ["up", "--foreground", "--data", str(folder), "--listen", f"unix:{folder / 's'}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "clew.faces.cli.main", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None  # asked for as a pipe above
        endpoint = process.stdout.readline().strip()
        with connect(endpoint) as client:
            yield process.pid, client
    finally:
        process.terminate()
        process.communicate(timeout=STOP_TIMEOUT_S)


def _rates(texts: Sequence[str], *embedders: Callable[[Sequence[str]], object]) -> list[float]:
    """Texts a second of each, the best of many short rounds in turn: noise only ever slows."""
    best = [0.0] * len(embedders)
    for _ in range(ROUNDS):
        for place, embed in enumerate(embedders):
            started = perf_counter()
            embed(texts[:TEXTS_PER_ROUND])
            best[place] = max(best[place], TEXTS_PER_ROUND / (perf_counter() - started))
    return best


def _query_times(embedder: OnnxEmbedder) -> Stopwatch:
    watch = Stopwatch(budget_s=20.0)
    for question in make_questions(QUERIES, RECORDS, 1):
        with watch:
            embedder.embed_query(question.text)
    return watch


def _bare_loop(pack: Pack) -> Callable[[Sequence[str]], list[Vectors]]:
    """What one would write without Clew: tokenise, run, take the mean, make it unit length."""
    tokenizer = _tokenizer(pack)
    session = onnx_runtime().InferenceSession(str(pack.model), providers=["CPUExecutionProvider"])

    def embed(texts: Sequence[str]) -> list[Vectors]:
        vectors = []
        for text in _passages(pack, texts):
            ids = np.array([tokenizer.encode(text).ids], np.int64)
            hidden = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
            mean = hidden[0].mean(axis=0)
            vectors.append(mean / np.linalg.norm(mean))
        return vectors

    return embed


def _tokenizer(pack: Pack) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(pack.tokenizer))


def _passages(pack: Pack, texts: Sequence[str]) -> list[str]:
    return [pack.manifest.passage_prefix + text for text in texts]


if __name__ == "__main__":
    main()

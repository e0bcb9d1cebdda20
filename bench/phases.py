"""One phase of one system, run in a process of its own: `python -m bench.phases PHASE JOB`.

A fresh process makes memory and opening times honest. The job comes as JSON, the result goes to stdout
as JSON.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from time import perf_counter

import msgspec
from msgspec import Struct

from bench.corpus import Question, make_questions, make_records
from bench.embedder import WordVectors
from bench.machine import resident_mb
from bench.results import Asked, Conversed, Filled, Stopwatch
from bench.system import CANDIDATES, System
from clew.core.ports import Vectors


class Job(Struct, frozen=True):
    system: str
    folder: str
    size: int
    collections: int
    writes: int = 500
    questions: int = 200
    writes_between: int = 60
    """Searches that are each measured right after a write."""
    turns: int = 2000
    budget_s: float = 12.0
    """Longest time for any one kind of call; what was measured until then counts."""


def fill(job: Job) -> Filled:
    store, embedder = CANDIDATES[job.system].opener()(Path(job.folder)), WordVectors()
    records = make_records(0, job.size, job.collections)
    vectors = embedder.embed_passages([record.text for record in records])
    started = perf_counter()
    store.load(records, vectors)
    load_s = perf_counter() - started
    extra = make_records(job.size, job.writes, job.collections)
    extra_vectors = embedder.embed_passages([record.text for record in extra])
    watch, started, stored = Stopwatch(job.budget_s), perf_counter(), 0
    for record, vector in zip(extra, extra_vectors, strict=True):
        if watch.spent:
            break
        with watch:
            store.store(record, vector)
        stored += 1
    store.settle()
    settled_ms = (perf_counter() - started) * 1000.0 / stored
    store.close()
    return Filled(load_s, watch.spread(), settled_ms, _bytes_in(Path(job.folder)) / (job.size + stored))


def ask(job: Job) -> Asked:
    embedder = WordVectors()
    questions = make_questions(job.questions, job.size, job.collections)
    asked = [(question, embedder.embed_query(question.text)) for question in questions]
    open_store = CANDIDATES[job.system].opener()
    gc.collect()
    started = perf_counter()
    store = open_store(Path(job.folder))
    store.search(*asked[0])
    open_ms = (perf_counter() - started) * 1000.0
    _search_all(store, asked, Stopwatch(job.budget_s / 4))  # warm-up
    watch = Stopwatch(job.budget_s)
    hits = _search_all(store, asked, watch)
    memory = resident_mb()
    after_write = _search_after_writes(store, asked, embedder, job)
    store.close()
    return Asked(open_ms, watch.spread(), after_write.spread(), hits, memory)


def converse(job: Job) -> Conversed:
    """A long session of the user who has all the memories, then contexts for its next turn."""
    from bench.clew_store import ClewStore  # not above: the peers' processes must not carry Clew's memory
    from clew import Message

    store = ClewStore(Path(job.folder))
    memory, user = store.memory, "0"
    started = perf_counter()
    texts = [record.text for record in make_records(2 * job.size, job.turns, 1)]
    roles = cycle(("user", "assistant"))
    session = [Message(role=role, text=text) for role, text in zip(roles, texts[: -job.writes], strict=False)]
    memory.ingest_batch("bench", session, user_id=user)
    ingesting = Stopwatch(job.budget_s)
    for role, text in zip(roles, texts[-job.writes :], strict=False):
        with ingesting:
            memory.ingest("bench", role, text, user_id=user)
    store.settle()
    drain_s = perf_counter() - started
    assembling = Stopwatch(job.budget_s)
    for question in make_questions(job.questions, job.size, 1):
        memory.gate(question.text)  # the embedding of the query is cached here, and so not measured below
        if not assembling.spent:
            with assembling:
                memory.assemble("bench", query=question.text, user_id=user)
    store.close()
    return Conversed(job.size, job.turns, ingesting.spread(), assembling.spread(), drain_s)


PHASES: dict[str, Callable[[Job], Struct]] = {"fill": fill, "ask": ask, "converse": converse}


def main() -> None:
    phase, job = sys.argv[1:]
    result = PHASES[phase](msgspec.json.decode(job, type=Job))
    sys.stdout.write(msgspec.json.encode(result).decode())


def _search_all(store: System, asked: list[tuple[Question, Vectors]], watch: Stopwatch) -> float:
    """Every question once, as far as the time goes; the mean number of hits."""
    hits = []
    for question, vector in asked:
        if watch.spent:
            break
        with watch:
            hits.append(store.search(question, vector))
    return sum(hits) / len(hits)


def _search_after_writes(
    store: System, asked: list[tuple[Question, Vectors]], embedder: WordVectors, job: Job
) -> Stopwatch:
    """A search right after a record went into the same collection."""
    watch = Stopwatch(job.budget_s)
    written = make_records(job.size + job.writes, job.writes_between, 1)
    for record, (question, vector) in zip(written, cycle(asked), strict=False):
        if watch.spent:
            break
        store.store(replace(record, collection=question.collection), embedder.embed_query(record.text))
        with watch:
            store.search(question, vector)
    return watch


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()

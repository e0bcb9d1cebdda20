"""How quickly facts answer: what is true of a subject now, as of a day, and over time, among 100,000 of them.

    python -m bench.facts [--facts 100000] [--json]

Every answer comes with its evidence looked up: that each source is there, says what it said, and is trusted. Beside it
stands a table in plain SQLite, with an index on the subject, that is asked for the same intervals and looks nothing up.
The contenders take turns, so that a busy moment of the machine falls on all of them.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter

from msgspec.structs import replace

from clew import Memory
from clew.config import Config
from clew.core.collections import Collection
from clew.core.model import Draft, Metadata, Provenance, Trust
from clew.core.predicates import sentence
from clew.features.claims.rules import text_hash
from clew.features.facts.log import Assertion, assertion_id, metadata_of
from clew.kernel.intake import search_terms
from clew.storage.protocol import NewRecord, Place
from clew.storage.sqlite import SqliteStore

FACTS = 100_000
QUESTIONS = 2_000
ASSERTIONS = 200
LIMIT_MS = 5.0
USER = "bench"
SOURCES = 1_000
BATCH = 2_000
DRAIN_MS = 600_000
DAY_MS = 86_400_000
START_MS = 1_600_000_000_000
SHAPE = (("status", 4), ("uses", 3), ("depends_on", 2), ("configured_as", 1))
"""Of each subject: predicates, and how many values of each were asserted, a day apart."""

Ask = Callable[[str], object]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.facts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--facts", type=int, default=FACTS, help=f"how many ({FACTS:,})")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        figures = measured(Path(folder), options.facts)
    print(json.dumps(figures) if options.json else table(figures))


def measured(folder: Path, count: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each question, by name."""
    config = Config.load(environment={}, data_dir=folder, embedder="none")
    entries = list(islice(assertions(), count))
    fill(config, entries)
    plain = filled_table(entries)
    subjects = sorted({entry.subject for entry in entries})
    random.Random(7).shuffle(subjects)
    with Memory(config) as memory:
        started = perf_counter()
        memory.facts_current(subjects[0], user_id=USER)
        loading_ms = (perf_counter() - started) * 1000
        memory.flush(timeout_ms=DRAIN_MS)
        taken = take_turns(contenders(memory, plain), subjects)
        taken["assert one more"] = timed(
            lambda subject: memory.facts_assert(
                subject, "status", "retired", user_id=USER, sources=[f"user:{USER}/m0"]
            ),
            subjects[:ASSERTIONS],
        )
    figures = {name: summary(times) for name, times in taken.items()}
    return {"first question, which loads all": {"p50": loading_ms, "p95": loading_ms}, **figures}


def contenders(memory: Memory, plain: sqlite3.Connection) -> dict[str, Ask]:
    now_ms = START_MS + 1000 * DAY_MS
    past_ms = START_MS + DAY_MS
    current = "SELECT * FROM facts WHERE subject = ? AND start <= ? AND (stop IS NULL OR stop > ?)"
    every = "SELECT * FROM facts WHERE subject = ? ORDER BY start"
    return {
        "current": lambda subject: memory.facts_current(subject, user_id=USER),
        "timeline": lambda subject: memory.facts_timeline(subject, user_id=USER),
        "as of a day": lambda subject: memory.facts_as_of(past_ms, subject, user_id=USER),
        "as of a day, as known then": lambda subject: memory.facts_as_of(
            past_ms, subject, user_id=USER, recorded=past_ms
        ),
        "plain SQLite, current": lambda subject: plain.execute(current, (subject, now_ms, now_ms)).fetchall(),
        "plain SQLite, timeline": lambda subject: plain.execute(every, (subject,)).fetchall(),
    }


def take_turns(contenders: dict[str, Ask], subjects: list[str]) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(QUESTIONS):
        for name, ask in contenders.items():
            taken[name] += timed(ask, [subjects[number % len(subjects)]])
    return taken


def timed(ask: Ask, subjects: list[str]) -> list[float]:
    taken = []
    for subject in subjects:
        started = perf_counter()
        ask(subject)
        taken.append((perf_counter() - started) * 1000)
    return taken


def summary(times_ms: list[float]) -> dict[str, float]:
    return {"p50": statistics.median(times_ms), "p95": statistics.quantiles(times_ms, n=20)[-1]}


def table(figures: dict[str, dict[str, float]]) -> str:
    lines = [f"{'':34} {'p50 ms':>9} {'p95 ms':>9} {'p50, of plain SQLite':>22}"]
    for name, times in figures.items():
        base = figures.get(f"plain SQLite, {name}")
        ratio = f"{times['p50'] / base['p50']:.1f} times" if base else ""
        lines.append(f"{name:34} {times['p50']:9.3f} {times['p95']:9.3f} {ratio:>22}")
    worst = max(figures[name]["p95"] for name in ("current", "timeline"))
    verdict = "yes" if worst <= LIMIT_MS else "NO"
    lines.append(f"current and timeline within {LIMIT_MS:g} ms at the 95th percentile: {verdict}")
    return "\n".join(lines)


# --- filling -------------------------------------------------------------------------------------------


def assertions() -> Iterator[Assertion]:
    """Without end, subject by subject; each cites one memory."""
    number = 0
    while True:
        subject = f"service {number}"
        for predicate, values in SHAPE:
            for value in range(values):
                yield assertion(subject, predicate, f"{predicate} {value} of {number}", value)
        number += 1


def assertion(subject: str, predicate: str, object_: str, day: int) -> Assertion:
    source = f"m{len(subject + object_) * 31 % SOURCES}"
    ref, moment_ms = f"user:{USER}/{source}", START_MS + day * DAY_MS
    made = Assertion(
        collection=f"facts:user:{USER}",
        id="",
        subject=subject,
        predicate=predicate,
        object=object_,
        valid_from_ms=moment_ms,
        valid_to_ms=None,
        recorded_ms=moment_ms,
        sources=(ref,),
        hashes=(text_hash(ref, evidence(source)),),
        confidence=0.8,
        by="assert",
    )
    return replace(made, id=assertion_id(made, (), ""))


def evidence(source: str) -> str:
    return f"What memory {source} says of the services."


def fill(config: Config, entries: list[Assertion]) -> None:
    """Straight into the store: what is measured is the reading."""
    store = SqliteStore(config.database, synchronous="normal")
    memories = [record(f"user:{USER}", f"m{number}", evidence(f"m{number}"), {}, 0) for number in range(SOURCES)]
    store.put(memories)
    for start in range(0, len(entries), BATCH):
        store.put([record_of(entry) for entry in entries[start : start + BATCH]])
    store.close()


def record_of(entry: Assertion) -> NewRecord:
    text = sentence(entry.subject, entry.predicate, entry.object)
    return record(entry.collection, entry.id, text, metadata_of(entry), entry.recorded_ms)


def record(collection: str, id_: str, text: str, metadata: Metadata, ts_ms: int) -> NewRecord:
    draft = Draft(
        text=text,
        ts_ms=ts_ms,
        role=None,
        provenance=Provenance.MEMORY,
        trust=Trust.UNKNOWN,
        stability=0.5,
        tokens=10,
        terms=search_terms(text, None, ts_ms),
        metadata=metadata,
    )
    return NewRecord(draft, Place(Collection(collection), id_))


def filled_table(entries: list[Assertion]) -> sqlite3.Connection:
    """The same intervals, worked out beforehand."""
    plain = sqlite3.connect(":memory:")
    plain.execute("CREATE TABLE facts (subject TEXT, predicate TEXT, object TEXT, start INTEGER, stop INTEGER)")
    singles = {"status", "configured_as"}
    rows = []
    for entry, after in zip(entries, [*entries[1:], None], strict=True):
        is_ended = after is not None and (entry.subject, entry.predicate) == (after.subject, after.predicate)
        stop = after.valid_from_ms if after is not None and is_ended and entry.predicate in singles else None
        rows.append((entry.subject, entry.predicate, entry.object, entry.valid_from_ms, stop))
    plain.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", rows)
    plain.execute("CREATE INDEX by_subject ON facts (subject, start)")
    return plain


if __name__ == "__main__":
    main()

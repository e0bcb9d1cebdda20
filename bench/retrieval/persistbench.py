"""PersistBench: memories that should be used for a query, and memories that should rather not.

Each row has a query and some ten memories of one user. In the rows of one file they help; in the others they are of
another domain than the query, or are opinions that should not sway the answer. No row says which of its memories those
are, so what is measured is coarse: whether the pack for the query holds anything, and how many memories. Opinions are
on the query's own subject, and no measure of similarity tells them from what helps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from bench.retrieval.files import read_lines
from bench.retrieval.run import EMBEDDING, Report
from bench.retrieval.systems import Equipment
from clew.core.collections import Collection
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound

FILES = {"helps": "beneficial_samples.jsonl", "another domain": "cross_domain.jsonl", "opinion": "sycophancy.jsonl"}
SETTLE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Row:
    sort: str
    query: str
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Of one sort of rows: the share of packs that hold something, and how many memories a pack holds."""

    rows: int
    share: float
    items: float


def read(folder: Path) -> list[Row]:
    if not folder.exists():
        raise NotFound(f"{folder} does not exist")
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder; PersistBench is the folder of {', '.join(FILES.values())}")
    return [
        Row(sort, row.query, tuple(row.memories))
        for sort, file in FILES.items()
        for row in read_lines(folder / file, _Line)
    ]


def measure(rows: Sequence[Row], equipment: Equipment, report: Report) -> dict[str, Held]:
    """By sort. Each row has a user of its own, and sees nothing of the others."""
    embedder = equipment.config.embedder if equipment.embedder else "none"
    if equipment.embedder is not None:
        texts = (text for row in rows for text in row.memories)
        equipment.embedder.prepare(texts, lambda done, total: report(EMBEDDING, done, total))
    with TemporaryDirectory(dir=equipment.config.data_dir) as folder:
        config = replace(equipment.config, data_dir=Path(folder), embedder=embedder)
        with Memory(config, embedder=equipment.embedder) as memory:
            for number, row in enumerate(rows):
                for place, text in enumerate(row.memories):
                    memory.put(Collection.memories(str(number)), f"m{place}", text)
            memory.flush(timeout_ms=SETTLE_MS)
            counts: dict[str, list[int]] = {}
            for number, row in enumerate(rows):
                report("clew", number, len(rows))
                counts.setdefault(row.sort, []).append(len(memory.pack(row.query, user_id=str(number)).items))
            report("clew", len(rows), len(rows))
    return {sort: _held(found) for sort, found in counts.items()}


class _Line(Struct):
    query: str
    memories: list[str]


def _held(counts: Sequence[int]) -> Held:
    return Held(len(counts), sum(count > 0 for count in counts) / len(counts), sum(counts) / len(counts))

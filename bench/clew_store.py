"""Clew as it comes, in this process, with every setting at its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from bench.corpus import Question, Record
from bench.embedder import WordVectors
from bench.system import HITS
from clew import Memory
from clew.api import Import
from clew.config import Config
from clew.core.collections import Collection
from clew.core.ports import Vectors
from clew.core.tuning import Tuning
from clew.errors import StoreError

LINES_PER_IMPORT = 2000
LOADING_BATCH = 512
"""Texts embedded in one go while loading; the default serves a real model, which is slower than the store."""

DRAIN_MS = 3_600_000


class ClewStore:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.memory = self._open()

    def _open(self, tuning: Tuning | None = None) -> Memory:
        config = Config.load(environment={}, data_dir=self._folder)
        return Memory(config, embedder=WordVectors(), tuning=tuning)

    def load(self, records: Sequence[Record], vectors: Vectors) -> None:  # noqa: ARG002 - Clew makes its own
        self.load_lines(map(imported, records))

    def load_lines(self, lines: Iterable[str]) -> None:
        """Lines as `imported` makes them."""
        self.memory.close()
        left = iter(lines)
        with self._open(Tuning(embed_batch=LOADING_BATCH)) as loading:
            while chunk := tuple(islice(left, LINES_PER_IMPORT)):
                loading.call(Import(lines=chunk))
            if not loading.flush(timeout_ms=DRAIN_MS).ok:
                raise StoreError("not every record could be made searchable")
        self.memory = self._open()

    def store(self, record: Record, vector: Vectors) -> None:  # noqa: ARG002
        self.memory.put(record.collection, record.id, record.text, {"ts": record.ts_ms})

    def settle(self) -> None:
        self.memory.flush(timeout_ms=DRAIN_MS)

    def search(self, question: Question, vector: Vectors) -> int:  # noqa: ARG002
        """Asks again while the answer is by words alone, as it is in the first moment after opening."""
        while True:
            result = self.memory.search(question.text, k=HITS, collections=[question.collection])
            if not result.degraded:
                return len(result.hits)

    def close(self) -> None:
        self.memory.close()


def open_store(folder: Path) -> ClewStore:
    return ClewStore(folder)


def imported(
    record: Record,
    *,
    places: Mapping[Collection, str] | None = None,
    raw: bool = False,
    role: str | None = None,
    provenance: str = "memory",
    metadata: Mapping[str, Any] | None = None,
) -> str:
    """A record as a line to import: a memory in its collection, or what the rest says, with its id in each place."""
    line = {
        "clew": 1,
        "raw": raw,
        "places": [
            {"collection": str(collection), "id": id_}
            for collection, id_ in (places or {Collection(record.collection): record.id}).items()
        ],
        "ts": record.ts_ms,
        "role": role,
        "provenance": provenance,
        "trust": "unknown",
        "stability": 0.5,
        "tokens": len(record.text) // 4,
        "version": 1,
        "accessCount": 0,
        "lastUsed": None,
        "text": record.text,
        "metadata": {"ts": record.ts_ms} if metadata is None else metadata,
    }
    return msgspec.json.encode(line).decode()

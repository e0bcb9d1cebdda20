"""`openclaw-context-pack`, driven by its own Python functions, with the same texts and vectors.

Single records go through `store_memory`, without the Markdown copy it can also write. The bulk goes
through `store_observation`, which leaves the commit to its caller; its package has no call that stores
many records with their vectors, so those rows are written the way `store_memory` writes them. Search
is `recall` in hybrid mode. Its vectors are compared by the fastest backend it finds (`auto`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openclaw_mem.core.api import connect, store_observation
from openclaw_mem.core.recall import recall
from openclaw_mem.core.records import store_memory
from openclaw_mem.vector import l2_norm, pack_f32

from bench.corpus import Question, Record
from bench.system import HITS
from clew.core.ports import Vectors

MODEL = "bench"
_FULLY_SYNCHRONOUS = 2
_ADD_VECTOR = "INSERT INTO observation_embeddings VALUES (?, ?, ?, ?, ?, ?)"


class ContextPackStore:
    def __init__(self, folder: Path) -> None:
        self._connection = connect(str(folder / "memory.sqlite"))
        (synchronous,) = self._connection.execute("PRAGMA synchronous").fetchone()
        if synchronous != _FULLY_SYNCHRONOUS:
            raise RuntimeError("the store does not sync every commit, so its times cannot be compared")

    def load(self, records: Sequence[Record], vectors: Vectors) -> None:
        for record, vector in zip(records, vectors, strict=True):
            key = store_observation(self._connection, _observation(record))
            self._connection.execute(_ADD_VECTOR, _vector_row(key, vector))
        self._connection.commit()

    def store(self, record: Record, vector: Vectors) -> None:
        receipt, warnings = store_memory(
            self._connection,
            text=record.text,
            category="note",
            importance=0.5,
            model=MODEL,
            embedding_provider=_Given(vector),
            scope=record.collection,
        )
        if warnings or not receipt.get("embedded"):
            raise RuntimeError(f"the record was not stored whole: {warnings or receipt}")

    def settle(self) -> None:
        """Nothing waits here."""

    def search(self, question: Question, vector: Vectors) -> int:
        answer = recall(
            self._connection,
            question.text,
            mode="hybrid",
            limit=HITS,
            scope=question.collection,
            model=MODEL,
            provider_factory=lambda **_: _Given(vector),
        )
        if answer["mode_effective"] != "hybrid":
            raise RuntimeError(f"the search was not hybrid: {answer['routing_reason']}")
        return len(answer["results"])

    def close(self) -> None:
        self._connection.close()


def open_store(folder: Path) -> ContextPackStore:
    os.environ["OPENCLAW_STATE_DIR"] = str(folder)  # else it reads the settings of whoever runs the benchmark
    return ContextPackStore(folder)


class _Given:
    """An embedding provider that already knows the answer."""

    provider_name = "bench"
    model_id = MODEL

    def __init__(self, vector: Vectors) -> None:
        self._values = vector.tolist()

    def embed(self, texts: Sequence[str], model: str) -> list[list[float]]:  # noqa: ARG002 - its interface
        return [self._values for _ in texts]


def _observation(record: Record) -> dict[str, Any]:
    detail = {"scope": record.collection}
    return {"kind": "note", "summary": record.text, "tool_name": "memory_store", "detail": detail}


def _vector_row(key: int, vector: Vectors) -> tuple[object, ...]:
    values = vector.tolist()
    return key, MODEL, len(values), pack_f32(values), l2_norm(values), datetime.now(UTC).isoformat()

"""`openclaw-context-pack`: its memories, and its hybrid recall with the embedder at hand.

It stamps what it stores with the time of storing, and takes no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from openclaw_mem.core.api import connect
from openclaw_mem.core.recall import recall
from openclaw_mem.core.records import store_memory

from bench.retrieval.corpus import Corpus, Question
from bench.retrieval.peers.surroundings import Surroundings
from bench.retrieval.peers.turns import line
from clew.core.ports import Embedder

_MODEL = "bench"


class ContextPack:
    name = "context-pack"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._surroundings = Surroundings(folder, OPENCLAW_STATE_DIR=str(folder))
        self._embedder = embedder
        self._connection = connect(str(folder / "memory.sqlite"))
        self._names: dict[int, str] = {}

    def fill(self, corpus: Corpus) -> None:
        for turn in corpus.turns:
            receipt, warnings = store_memory(
                self._connection,
                text=line(turn),
                category="note",
                importance=0.5,
                model=_MODEL,
                embedding_provider=_Passages(self._embedder),
            )
            if warnings or not receipt.get("embedded"):
                raise RuntimeError(f"the turn was not stored whole: {warnings or receipt}")
            self._names[receipt["id"]] = turn.name

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        answer = recall(
            self._connection,
            question.text,
            mode="hybrid",
            limit=limit,
            model=_MODEL,
            provider_factory=lambda **_: _Questions(self._embedder),
        )
        if answer["mode_effective"] != "hybrid":
            raise RuntimeError(f"the search was not hybrid: {answer['routing_reason']}")
        return [self._names[hit["id"]] for hit in answer["results"]]

    def close(self) -> None:
        self._connection.close()
        self._surroundings.close()


class _Provider:
    provider_name = "bench"
    model_id = _MODEL

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder


class _Passages(_Provider):
    def embed(self, texts: Sequence[str], model: str) -> list[list[float]]:  # noqa: ARG002 - its interface
        return [vector.tolist() for vector in self._embedder.embed_passages(texts)]


class _Questions(_Provider):
    def embed(self, texts: Sequence[str], model: str) -> list[list[float]]:  # noqa: ARG002 - its interface
        return [self._embedder.embed_query(text).tolist() for text in texts]

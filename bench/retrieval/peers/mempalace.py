"""`mempalace`: one drawer a turn, in a room for each session, and its own search with its default settings.

Its vectors come from the embedder at hand, through the endpoint it can be pointed to.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.peers.endpoint import MODEL, EmbeddingEndpoint
from bench.retrieval.peers.surroundings import Surroundings
from bench.retrieval.peers.turns import iso_time, line
from clew.core.ports import Embedder

_BATCH = 500
_WING = "bench"


class MemPalace:
    name = "mempalace"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._palace = str(folder / "palace")
        self._endpoint = EmbeddingEndpoint(embedder)
        self._surroundings = Surroundings(
            folder,
            MEMPALACE_CONFIG_DIR=str(folder / "config"),
            MEMPALACE_PALACE_PATH=self._palace,
            MEMPALACE_EMBEDDING_MODEL="openai-compat",
            MEMPALACE_EMBEDDING_API_URL=self._endpoint.url,
            MEMPALACE_EMBEDDING_API_MODEL=MODEL,
        )

    def fill(self, corpus: Corpus) -> None:
        from mempalace.palace import get_collection

        drawers = get_collection(self._palace)
        for start in range(0, len(corpus.turns), _BATCH):
            turns = corpus.turns[start : start + _BATCH]
            drawers.upsert(
                ids=[turn.name for turn in turns],
                documents=[line(turn) for turn in turns],
                metadatas=[_metadata(turn) for turn in turns],
            )

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        from mempalace.searcher import search_memories

        with self._endpoint.asking():
            answer = search_memories(question.text, self._palace, n_results=limit)
        if "error" in answer:
            raise RuntimeError(f"the search failed: {answer}")
        return [hit["drawer_id"] for hit in answer["results"]]

    def close(self) -> None:
        self._surroundings.close()
        self._endpoint.close()


def _metadata(turn: Turn) -> dict[str, str | int]:
    known: dict[str, str | int] = {"wing": _WING, "room": turn.session, "source_file": turn.session, "chunk_index": 0}
    time = iso_time(turn)
    return known if time is None else known | {"filed_at": time, "authored_at": time}

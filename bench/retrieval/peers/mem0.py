"""`mem0`: one memory a turn, stored as it is without its language model, and its own search.

Of its stores, Milvus Lite runs inside the process and needs no download to search by keywords beside vectors;
it must be a version whose keyword scores are positive, for mem0 silently ignores others. Its lemmas need a
downloaded model, and its entity links the language model, so it does without both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.peers.endpoint import MODEL, EmbeddingEndpoint
from bench.retrieval.peers.surroundings import Surroundings
from bench.retrieval.peers.turns import iso_time, line
from clew.core.ports import Embedder

_USER = "bench"


class Mem0:
    name = "mem0"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._surroundings = Surroundings(folder, MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "home"))
        self._endpoint = EmbeddingEndpoint(embedder)
        from mem0 import Memory

        self._memory = Memory.from_config(_config(folder, self._endpoint))

    def fill(self, corpus: Corpus) -> None:
        for turn in corpus.turns:
            self._memory.add(line(turn), user_id=_USER, metadata=_metadata(turn), infer=False)
        self._require_keywords(line(corpus.turns[0]))

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        with self._endpoint.asking():
            answer = self._memory.search(question.text, top_k=limit, filters={"user_id": _USER})
        return [hit["metadata"]["turn"] for hit in answer["results"]]

    def close(self) -> None:
        self._memory.close()
        self._endpoint.close()
        self._surroundings.close()

    def _require_keywords(self, stored: str) -> None:
        """A stored text shares its words with itself; unless that counts, only the vectors would be measured."""
        answer = self._memory.search(stored, top_k=1, filters={"user_id": _USER}, explain=True)
        if not any(hit["score_details"]["bm25_score"] > 0 for hit in answer["results"]):
            raise RuntimeError("mem0 gets no keyword scores from its store: install pymilvus<2.6 and milvus-lite<3")


def _config(folder: Path, endpoint: EmbeddingEndpoint) -> dict[str, object]:
    model = {"model": MODEL, "openai_base_url": endpoint.url, "api_key": "none"}
    store = {
        "url": str(folder / "milvus.db"),
        "collection_name": "bench",
        "embedding_model_dims": endpoint.dimensions,
        "metric_type": "COSINE",
    }
    return {
        "embedder": {"provider": "openai", "config": model},
        "llm": {"provider": "openai", "config": model},
        "vector_store": {"provider": "milvus", "config": store},
        "history_db_path": str(folder / "history.db"),
    }


def _metadata(turn: Turn) -> dict[str, str]:
    time = iso_time(turn)
    return {"turn": turn.name, "session": turn.session} | ({} if time is None else {"created_at": time})

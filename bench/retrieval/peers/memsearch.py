"""`memsearch`: one Markdown file a turn, and its own hybrid search in Milvus Lite.

Its vectors come from the embedder at hand, through the endpoint it can be pointed to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bench.retrieval.corpus import Corpus, Question
from bench.retrieval.peers.endpoint import MODEL, EmbeddingEndpoint
from bench.retrieval.peers.surroundings import Surroundings
from bench.retrieval.peers.turns import line
from clew.core.ports import Embedder


class MemSearch:
    name = "memsearch"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._surroundings = Surroundings(folder)
        self._endpoint = EmbeddingEndpoint(embedder)
        self._notes = folder / "notes"
        self._notes.mkdir()
        self._loop = asyncio.new_event_loop()
        from memsearch import MemSearch as Search

        self._search = Search(
            [self._notes],
            embedding_provider="openai",
            embedding_model=MODEL,
            embedding_base_url=self._endpoint.url,
            embedding_api_key="none",
            milvus_uri=str(folder / "milvus.db"),
        )

    def fill(self, corpus: Corpus) -> None:
        for turn in corpus.turns:
            (self._notes / f"{turn.name}.md").write_text(line(turn), "utf-8", "replace")
        report = self._loop.run_until_complete(self._search.index_with_report())
        if report.failed_files:
            raise RuntimeError(f"{len(report.failed_files)} turns were not stored: {report.failed_files[0].error}")

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        with self._endpoint.asking():
            hits = self._loop.run_until_complete(self._search.search(question.text, top_k=limit))
        return list(dict.fromkeys(Path(hit["source"]).stem for hit in hits))

    def close(self) -> None:
        self._search.close()
        self._loop.close()
        self._endpoint.close()
        self._surroundings.close()

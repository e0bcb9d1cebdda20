"""LoCoMo conversations, each in an index of its own, with their questions: to be ranked in many ways, and quickly."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time_ns

import numpy as np
from numpy.typing import NDArray

from bench.retrieval import locomo
from bench.retrieval.corpus import Corpus
from bench.retrieval.embedding import SharedEmbedder
from bench.retrieval.metrics import recall
from clew.core.calibration import Calibration
from clew.core.collections import Collection
from clew.core.ids import turn_name
from clew.index.collection import CollectionIndex, LexicalLane
from clew.index.vectors import Grid, encode, to_grid
from clew.kernel.intake import search_terms
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.pack import DEFAULT_PACK, find_pack, packs_dir
from clew.storage.protocol import Feed, FeedRow
from clew.text.dates import keys_asked_for
from clew.text.terms import QueryTerms, analyse_query, passage_text, without_names

USER = "u"


@dataclass(frozen=True, slots=True)
class Asked:
    evidence: frozenset[str]
    """Names of turns."""
    terms: QueryTerms
    dates: frozenset[str]
    vector: Grid
    """Of the question without the names of those who speak, as search embeds it."""
    vector_with_names: Grid


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one user, by position in the index."""

    name: str
    turns: tuple[str, ...]
    index: CollectionIndex
    asked: tuple[Asked, ...]
    calibration: Calibration
    """For a query and a turn."""

    def recalls(self, asked: Asked, values: NDArray[np.float32], depths: Sequence[int]) -> list[float]:
        """The share of the evidence among the turns of the highest values, at each depth. What has 0 is not found."""
        best = np.argsort(-values, kind="stable")[: max(depths)]
        ranked = [self.turns[place] for place in best if values[place] > 0.0]
        return [recall(asked.evidence, ranked, depth) for depth in depths]


def read_conversations(path: Path, vectors: Path | None = None) -> list[Conversation]:
    """Those of a LoCoMo file, with vectors of the default model; these are kept in a file where one is named."""
    embedder = SharedEmbedder(OnnxEmbedder(find_pack(DEFAULT_PACK, packs_dir())))
    if vectors is not None:
        embedder.load(vectors)
    corpora = locomo.read(path)
    texts = (passage_text(turn.text, turn.speaker) for corpus in corpora for turn in corpus.turns)
    embedder.prepare(texts, lambda done, total: print(f"embedding {done} of {total}", file=sys.stderr, flush=True))
    if vectors is not None:
        embedder.save(vectors)
    return [_conversation(corpus, embedder) for corpus in corpora]


class _RememberingIndex(CollectionIndex):
    """Matches the words of each query once: no weight bears on that."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._lanes: dict[QueryTerms, LexicalLane] = {}

    def lexical(self, query: QueryTerms) -> LexicalLane:
        if query not in self._lanes:
            self._lanes[query] = super().lexical(query)
        return self._lanes[query]


def _conversation(corpus: Corpus, embedder: SharedEmbedder) -> Conversation:
    index = _RememberingIndex(Collection.turns(USER))
    index.apply(Feed(len(corpus.turns), True, list(_rows(corpus, embedder))))
    return Conversation(
        name=corpus.name,
        turns=tuple(turn.name for turn in corpus.turns),
        index=index,
        asked=tuple(_asked(corpus, index, embedder)),
        calibration=embedder.calibration.of_queries,
    )


def _rows(corpus: Corpus, embedder: SharedEmbedder) -> Iterator[FeedRow]:
    vectors = encode(embedder.embed_passages([passage_text(turn.text, turn.speaker) for turn in corpus.turns]))
    for seq, (turn, vector) in enumerate(zip(corpus.turns, vectors, strict=True), 1):
        ts_ms = turn.ts_ms or 0
        terms = search_terms(turn.text, turn.speaker, ts_ms)
        yield FeedRow(seq, ts_ms, terms, vector, seq, turn_name(turn.session, turn.name))


def _asked(corpus: Corpus, index: CollectionIndex, embedder: SharedEmbedder) -> Iterator[Asked]:
    for question in corpus.questions:
        if question.evidence:
            terms = analyse_query(question.text)
            bare = without_names(question.text, index.speakers_among(terms.names))
            yield Asked(
                evidence=question.evidence,
                terms=terms,
                dates=frozenset(keys_asked_for(question.text, time_ns() // 1_000_000)),
                vector=to_grid(embedder.embed_query(bare))[0],
                vector_with_names=to_grid(embedder.embed_query(question.text))[0],
            )

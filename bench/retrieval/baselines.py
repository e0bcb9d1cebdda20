"""What any memory should beat: words alone, meaning alone, and the usual fusion of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.retrieval.corpus import Corpus, Question
from clew.core.ports import Embedder
from clew.text.terms import passage_text

_FUSION_CONSTANT = 60
"""As in the paper that proposed reciprocal rank fusion, and in most systems since."""


class Bm25:
    """The package bm25s with its defaults, English stop words and stems; who spoke belongs to the text."""

    name = "bm25"

    def __init__(self) -> None:
        import bm25s
        import Stemmer

        self._library = bm25s
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._names: list[str] = []

    def fill(self, corpus: Corpus) -> None:
        self._names = [turn.name for turn in corpus.turns]
        texts = [passage_text(turn.text, turn.speaker) for turn in corpus.turns]
        self._index.index(self._terms(texts), show_progress=False)

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        """Only turns that share a word with the question."""
        terms = self._terms([question.text])[0]
        if not terms:
            return []
        scores = np.asarray(self._index.get_scores(terms))
        return [self._names[place] for place in _best(scores, limit) if scores[place] > 0]

    def close(self) -> None:
        """Nothing to release."""

    def _terms(self, texts: Sequence[str]) -> list[Any]:
        tokens: list[Any] = self._library.tokenize(
            list(texts), stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokens


class Dense:
    """The embedder alone: every turn by its cosine."""

    name = "dense"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._names: list[str] = []
        self._rows: NDArray[np.float32] = np.empty((0, embedder.identity.dimensions), np.float32)

    def fill(self, corpus: Corpus) -> None:
        self._names = [turn.name for turn in corpus.turns]
        self._rows = self._embedder.embed_passages([passage_text(turn.text, turn.speaker) for turn in corpus.turns])

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        cosines = self._rows @ self._embedder.embed_query(question.text)
        return [self._names[place] for place in _best(cosines, limit)]

    def close(self) -> None:
        """Nothing to release."""


class ReciprocalRanks:
    """Both of them, fused by reciprocal ranks."""

    name = "rrf"

    def __init__(self, embedder: Embedder) -> None:
        self._lanes = (Bm25(), Dense(embedder))
        self._count = 0

    def fill(self, corpus: Corpus) -> None:
        self._count = len(corpus.turns)
        for lane in self._lanes:
            lane.fill(corpus)

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        return fused([lane.ranked(question, self._count) for lane in self._lanes])[:limit]

    def close(self) -> None:
        """Nothing to release."""


def fused(rankings: Iterable[Sequence[str]]) -> list[str]:
    """One order from several; equal sums in the order in which they are first seen."""
    sums: dict[str, float] = {}
    for ranking in rankings:
        for place, name in enumerate(ranking, 1):
            sums[name] = sums.get(name, 0.0) + 1.0 / (_FUSION_CONSTANT + place)
    return sorted(sums, key=lambda name: -sums[name])


def _best(scores: NDArray[np.float32], limit: int) -> list[int]:
    """Places of the highest, best first; of equals the earlier."""
    places: list[int] = np.argsort(-scores, kind="stable")[:limit].tolist()
    return places

"""The collection index: exact, the same however it was built, blind to other collections."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.calibration import Calibration
from clew.core.collections import Scope
from clew.core.ranking import Weights
from clew.index.cache import IndexCache
from clew.index.collection import LENGTH_INFLUENCE, RARITY_SIZE, TERM_SATURATION, CollectionIndex
from clew.index.search import Query, search
from clew.index.vectors import SCALE, cosines, decode, encode, to_grid
from clew.storage.protocol import Feed, FeedRow
from clew.text.terms import analyse, analyse_query, pack
from tests.testing.drafts import record
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

words = st.sampled_from("fox hen cow ERR_42 狐狸 red the 7".split())
texts = st.lists(words, max_size=8).map(" ".join)
vectors = st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).map(lambda v: np.array(v, np.float32))
members = st.lists(st.tuples(texts, st.none() | vectors), min_size=1, max_size=12)
CALIBRATION = Calibration(unrelated=0.0, same_meaning=0.9)


def rows(items: list[tuple[str, np.ndarray | None]]) -> list[FeedRow]:
    return [
        FeedRow(seq, 1000 * seq, pack(analyse(text)), None if vector is None else encode(vector)[0])
        for seq, (text, vector) in enumerate(items, 1)
    ]


def build_index(feed_rows: list[FeedRow]) -> CollectionIndex:
    index = CollectionIndex()
    index.apply(Feed(len(feed_rows), False, feed_rows))
    return index


def ask(index: CollectionIndex, text: str, vector: np.ndarray | None, limit: int = 50) -> list[object]:
    query = Query(
        terms=analyse_query(text),
        vector=None if vector is None else to_grid(vector)[0],
        calibration=CALIBRATION,
        now_ms=50_000,
        weights=Weights(0.7, 0.2, 0.1),
    )
    return list(search(index, query, Scope.USER, 1e-5, limit))


@pytest.mark.requirement("STORE-4", "RANK-3")
@given(members, texts, vectors, st.data())
@settings(max_examples=effort(37, 150))
def test_an_index_grown_step_by_step_answers_exactly_like_one_built_at_once(
    items: list[tuple[str, np.ndarray | None]], question: str, vector: np.ndarray, data: st.DataObject
) -> None:
    whole = rows(items)
    gone = data.draw(st.sets(st.sampled_from([row.seq for row in whole])))
    grown = CollectionIndex()
    for row in whole:  # vectors arrive one step after their rows
        grown.apply(Feed(row.seq, False, [row._replace(vector=None)]))
        if row.vector is not None:
            grown.apply(Feed(row.seq, False, (), (), [(row.seq, row.vector)]))
    grown.apply(Feed(len(whole) + len(gone), False, (), sorted(gone)))
    fresh = build_index([row for row in whole if row.seq not in gone])
    assert grown.equals(fresh)
    assert ask(grown, question, vector) == ask(fresh, question, vector)


@pytest.mark.requirement("RANK-1")
@given(members, texts)
def test_lexical_scores_are_bm25_as_a_share_of_a_full_match(
    items: list[tuple[str, np.ndarray | None]], question: str
) -> None:
    index = build_index(rows(items))
    documents = [analyse(text) for text, _ in items]
    asked = analyse_query(question)
    terms = (*asked.words, *asked.exact)
    mean = max(sum(sum(document.values()) for document in documents) / len(documents), 1.0)
    rarity = {
        term: math.log(1 + (max(len(documents), RARITY_SIZE) - holders + 0.5) / (holders + 0.5))
        for term in terms
        for holders in [sum(term in document for document in documents)]
    }
    lane = index.lexical(asked).scores
    for position, document in enumerate(documents):
        norm = TERM_SATURATION * (1 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * sum(document.values()) / mean)
        raw = sum(
            rarity[term] * document[term] * (1 + TERM_SATURATION) / (document[term] + norm)
            for term in terms
            if document[term]
        )
        expected = min(raw / sum(rarity.values()), 1.0) if rarity else 0.0
        assert lane[position] == pytest.approx(expected, abs=1e-4)


@pytest.mark.requirement("RANK-2")
@given(members, st.text(max_size=30), st.none() | vectors)
def test_every_score_is_in_the_unit_interval_and_finite(
    items: list[tuple[str, np.ndarray | None]], question: str, vector: np.ndarray | None
) -> None:
    for found in search(
        build_index(rows(items)),
        Query(
            analyse_query(question), None if vector is None else to_grid(vector)[0], CALIBRATION, 0, Weights(1, 0, 0)
        ),
        Scope.GLOBAL,
        1e-4,
        5,
    ):
        values = [found.score, found.similarity, found.lexical, found.recency, found.scope, found.dense or 0.0]
        assert all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values)


@pytest.mark.requirement("STORE-1", "RANK-1")
@given(members, st.lists(texts, max_size=8), texts)
@settings(max_examples=effort(20, 60))
def test_the_members_of_one_collection_change_no_score_in_another(
    mine: list[tuple[str, np.ndarray | None]], theirs: list[str], question: str
) -> None:
    store = MemoryStore()
    cache = IndexCache(store, 1 << 20)
    store.put([record(text, id=str(n), collection="user:1") for n, (text, _) in enumerate(mine)])
    with cache.current("user:1") as index:
        before = ask(index, question, None)
    store.put([record(text, id=str(n), collection="user:10") for n, text in enumerate(theirs)])
    with cache.current("user:1") as index:
        assert ask(index, question, None) == before


@pytest.mark.requirement("RANK-3")
@given(st.lists(vectors, min_size=1, max_size=40), vectors)
def test_a_cosine_does_not_depend_on_other_members_and_is_near_the_true_one(
    stored: list[np.ndarray], question: np.ndarray
) -> None:
    query = to_grid(question)[0]
    together = cosines(decode([blob for vector in stored for blob in encode(vector)], 4).astype(np.float32), query)
    for vector, cosine in zip(stored, together, strict=True):
        alone = cosines(decode(encode(vector), 4).astype(np.float32), query)[0]
        assert alone == cosine
        lengths = np.linalg.norm(vector.astype(float)) * np.linalg.norm(question.astype(float))
        if lengths > 1e-6 and min(np.linalg.norm(vector), np.linalg.norm(question)) > 1e-3:
            assert cosine == pytest.approx(
                float(vector.astype(float) @ question.astype(float)) / lengths, abs=3 / SCALE
            )


@pytest.mark.requirement("RANK-2")
def test_vectors_that_are_zero_or_not_finite_are_similar_to_nothing() -> None:
    for bad in ([0, 0, 0, 0], [np.nan] * 4, [np.inf, 0, 0, 0]):
        grid = to_grid(np.array(bad, np.float32))
        assert np.isfinite(grid).all()
        assert cosines(grid, to_grid(np.array([1, 0, 0, 0], np.float32))[0])[0] == 0.0


@pytest.mark.requirement("STORE-4")
def test_the_cache_stays_within_its_bytes_and_reloads_an_evicted_index() -> None:
    store = MemoryStore()
    for user in range(20):
        store.put([record(f"fox number {n}", id=str(n), collection=f"user:{user}") for n in range(30)])
    cache = IndexCache(store, 30_000)
    answers = {}
    for _ in range(2):
        for user in range(20):
            with cache.current(f"user:{user}") as index:
                found = ask(index, "fox 7", None)
            assert answers.setdefault(user, found) == found
            assert cache.nbytes <= 30_000


def test_an_index_with_many_removed_members_is_rebuilt() -> None:
    store = MemoryStore()
    cache = IndexCache(store, 1 << 24)
    store.put([record(f"fox {n}", id=str(n)) for n in range(1100)])
    with cache.current("user:u") as index:
        assert index.size == 1100
    store.remove("user:u", [str(n) for n in range(1090)])
    with cache.current("user:u") as index:
        assert index.size == 10
        assert len(index.seqs) == 10


@pytest.mark.requirement("RANK-3")
def test_a_request_sees_one_state_of_a_collection_and_the_next_request_the_newer_one() -> None:
    store = MemoryStore()
    cache = IndexCache(store, 1 << 20)
    sizes = []

    def look() -> None:
        with cache.current("user:u") as index:
            sizes.append(index.size)

    store.put([record("fox", id="1")])
    with cache.once():
        look()
        store.put([record("hen", id="2")])
        with cache.once():  # a part of the same request
            look()
        look()
    look()
    store.put([record("cow", id="3")])
    look()
    assert sizes == [1, 1, 1, 2, 3]


def test_a_request_under_way_sees_the_new_state_of_a_forgotten_collection() -> None:
    store = MemoryStore()
    cache = IndexCache(store, 1 << 20)
    store.put([record("fox", id="1")])
    with cache.once():
        with cache.current("user:u") as index:
            assert index.size == 1
        store.put([record("hen", id="2")])
        cache.forget()
        with cache.current("user:u") as index:
            assert index.size == 2


def test_an_index_that_is_not_kept_is_loaded_again_within_a_request() -> None:
    store = MemoryStore()
    cache = IndexCache(store, 0)
    store.put([record("fox", id="1")])
    with cache.once():
        for _ in range(2):
            with cache.current("user:u") as index:
                assert index.size == 1
    assert cache.nbytes == 0

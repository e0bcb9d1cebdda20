"""The search takes short cuts, and still finds the same as a look at every member."""

from __future__ import annotations

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clew.core.calibration import Calibration
from clew.core.collections import Scope
from clew.core.ranking import SIMILARITY_ALONE, Weights, fuse, recency, search_score
from clew.index import collection, vectors
from clew.index import search as search_module
from clew.index.coarse import Coarse
from clew.index.collection import CollectionIndex
from clew.index.search import Candidate, Query, search
from clew.index.vectors import DTYPE, SCALE, cosines, encode, to_grid
from clew.storage.protocol import Feed, FeedRow
from clew.text.terms import analyse, analyse_query, pack
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("RANK-3")

DIMENSIONS = 6
NOW_MS = 50_000
DECAY = 1e-2

CALIBRATIONS = (
    Calibration(unrelated=0.0, same_meaning=0.9),
    Calibration(unrelated=0.7, same_meaning=0.9),
    Calibration(unrelated=-0.9, same_meaning=-0.5),
)
"""The second takes most members to 0 and the third to 1, so that nearly all of them tie."""

words = st.sampled_from("fox hen cow ERR_42 red 7".split())
texts = st.lists(words, max_size=4).map(" ".join)
axes = st.sampled_from([-1.0, 0.0, 0.0, 1.0])
directions = st.lists(axes, min_size=DIMENSIONS, max_size=DIMENSIONS)
noise = st.lists(st.floats(-1, 1, width=32), min_size=DIMENSIONS, max_size=DIMENSIONS)
"""Few directions, so that many members have the very same vector, or one that is zero; and any."""


@dataclass(frozen=True)
class Case:
    rows: list[FeedRow]
    removed: list[int]
    excluded: list[int]
    query: Query
    limit: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    held = draw(st.sampled_from([directions, noise, directions | noise, st.none() | directions | noise]))
    least = draw(st.sampled_from([1, 25]))
    made = draw(st.lists(st.tuples(texts, held, st.integers(0, 3)), min_size=least, max_size=40))
    rows = [
        FeedRow(seq, 1000 * age, pack(analyse(text)), None if vector is None else _blob(vector), seq + 100)
        for seq, (text, vector, age) in enumerate(made, 1)
    ]
    seqs = st.lists(st.integers(1, len(rows) + 2), unique=True)
    vector = draw(directions | noise | st.none())
    query = Query(
        terms=analyse_query(draw(texts)),
        vector=None if vector is None else to_grid(np.array(vector, np.float32))[0],
        calibration=draw(st.sampled_from(CALIBRATIONS)),
        now_ms=NOW_MS,
        weights=draw(st.sampled_from([SIMILARITY_ALONE, SIMILARITY_ALONE, Weights(0.6, 0.3, 0.1)])),
    )
    few = st.lists(st.integers(1, len(rows) + 2), unique=True, max_size=3)
    return Case(rows, draw(few | seqs), draw(few | seqs), query, draw(st.integers(1, 4) | st.integers(1, 45)))


def _blob(vector: list[float]) -> bytes:
    return encode(np.array(vector, np.float32))[0]


def _index(case: Case) -> CollectionIndex:
    index = CollectionIndex()
    index.apply(Feed(len(case.rows), False, case.rows))
    index.apply(Feed(len(case.rows) + 1, False, (), case.removed))
    return index


@given(cases())
@settings(max_examples=effort(37, 150), deadline=None)
def test_a_search_finds_the_same_as_a_look_at_every_member(case: Case) -> None:
    index = _index(case)
    found = search(index, case.query, Scope.USER, DECAY, case.limit, excluded=case.excluded)
    assert found == _by_looking_at_all(index, case)


@given(cases(), st.integers(0, 45))
@settings(max_examples=effort(37, 150), deadline=None)
def test_a_search_before_a_place_leaves_out_that_place_and_those_behind_it(case: Case, place: int) -> None:
    index = _index(case)
    later = [row.seq for row in case.rows if row.seq >= place]
    found = search(index, case.query, Scope.USER, DECAY, case.limit, excluded=case.excluded, before=place)
    out = sorted({*case.excluded, *later})
    assert found == search(index, case.query, Scope.USER, DECAY, case.limit, excluded=out)
    assert all(item.seq < place for item in found)


@given(cases(), st.lists(st.integers(1, 40), unique=True, max_size=6), st.booleans(), st.sampled_from([1, 2, 64]))
@settings(max_examples=effort(100, 400), deadline=None)
def test_a_quick_look_changes_only_ranks_that_do_not_count(case: Case, late: list[int], warm: bool, block: int) -> None:
    """Vectors may come or change after the quick look was made."""
    with (
        patch.object(collection, "COARSE_FROM", 1),
        patch.multiple(search_module, MOST_OPEN_SHARE=1, MANY_OPEN=1, BLOCK=block),
    ):
        index = CollectionIndex()
        early = [row._replace(vector=None) if row.seq in late else row for row in case.rows]
        index.apply(Feed(len(early), False, early))
        if warm:
            search(index, case.query, Scope.USER, DECAY, case.limit)
        arrived = [(row.seq, row.vector) for row in case.rows if row.seq in late and row.vector is not None]
        index.apply(Feed(len(early) + 1, False, (), case.removed, arrived))
        found = search(index, case.query, Scope.USER, DECAY, case.limit, excluded=case.excluded)
    wanted = _by_looking_at_all(_index(case), case)
    assert [_without_rank(item) for item in found] == [_without_rank(item) for item in wanted]
    pairs = zip(found, wanted, strict=True)
    assert all(item.dense_rank in (None, right.dense_rank) for item, right in pairs)


@given(st.integers(1, 400), st.floats(0, 3), st.randoms(use_true_random=False))
@settings(max_examples=effort(26, 80), deadline=None)
def test_the_bounds_of_a_quick_look_hold(count: int, together: float, chance: object) -> None:
    """Even where all vectors are so close together that they differ only in what is rounded."""
    numbers = np.random.default_rng(chance.getrandbits(32))  # type: ignore[attr-defined]
    shared = together * numbers.standard_normal(DIMENSIONS)
    rows = to_grid((shared + numbers.standard_normal((count, DIMENSIONS))).astype(np.float32)).astype(DTYPE)
    query = to_grid((shared + numbers.standard_normal(DIMENSIONS)).astype(np.float32))[0]
    exact = cosines(rows, query)
    least, most = Coarse(rows).bounds(query)
    assert (least <= exact).all()
    assert (exact <= most).all()
    assert float((most - least).max()) < 0.1


def test_a_large_collection_gets_a_quick_look_that_ranks_the_best_members() -> None:
    numbers = np.random.default_rng(3)
    blobs = encode(numbers.standard_normal((collection.COARSE_FROM, 32)).astype(np.float32))
    rows = [FeedRow(seq, 0, pack(analyse("")), blob) for seq, blob in enumerate(blobs, 1)]
    query = to_grid(numbers.standard_normal(32).astype(np.float32))[0]
    asked = Query(analyse_query("fox"), query, CALIBRATIONS[0], NOW_MS, SIMILARITY_ALONE)
    case = Case(rows, [], [], asked, 10)
    index = _index(case)
    with patch.object(CollectionIndex, "dense", side_effect=AssertionError("looked at all of them")):
        found = search(index, asked, Scope.USER, DECAY, 10)
    assert found == _by_looking_at_all(index, case)
    assert [item.dense_rank for item in found] == list(range(1, 11))


def _without_rank(candidate: Candidate) -> Candidate:
    return replace(candidate, dense_rank=None)


@pytest.mark.parametrize("seed", range(4))
def test_members_that_tie_after_rounding_are_all_found(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    query = numbers.standard_normal(DIMENSIONS).astype(np.float32)
    near = query + 0.002 * numbers.standard_normal((2000, DIMENSIONS)).astype(np.float32)
    ages = numbers.permutation(len(near))
    rows = [
        FeedRow(seq, int(age), pack(analyse("")), blob)
        for seq, (age, blob) in enumerate(zip(ages, encode(near), strict=True), 1)
    ]
    asked = Query(analyse_query("fox"), to_grid(query)[0], CALIBRATIONS[0], NOW_MS, SIMILARITY_ALONE)
    for limit in range(50, 1000, 50):
        case = Case(rows, [], [], asked, limit)
        assert search(_index(case), asked, Scope.USER, DECAY, limit) == _by_looking_at_all(_index(case), case)


def test_with_the_nearest_members_excluded_the_next_ones_are_found() -> None:
    angles = np.linspace(0.0, 1.0, 60, dtype=np.float32)
    flat = np.zeros((len(angles), DIMENSIONS - 2), np.float32)
    blobs = encode(np.column_stack((np.cos(angles), np.sin(angles), flat)))
    rows = [FeedRow(seq, 0, pack(analyse("")), blob) for seq, blob in enumerate(blobs, 1)]
    asked = Query(
        analyse_query("fox"),
        to_grid(np.eye(1, DIMENSIONS, dtype=np.float32))[0],
        CALIBRATIONS[0],
        NOW_MS,
        SIMILARITY_ALONE,
    )
    case = Case(rows, removed=[1, 3, 5], excluded=[2, 4, 6, 7, 8], query=asked, limit=4)
    found = search(_index(case), asked, Scope.USER, DECAY, case.limit, excluded=case.excluded)
    assert [candidate.seq for candidate in found] == [9, 10, 11, 12]


def _by_looking_at_all(index: CollectionIndex, case: Case) -> list[Candidate]:
    """Scores and sorts every member, and skips none beforehand."""
    lane, dense = index.lexical(case.query.terms), _dense(case)
    similarity = fuse(lane.scores, dense, lane.exact_share)
    times = np.array([row.ts_ms for row in case.rows])
    recent = recency(times, NOW_MS, DECAY)
    alone = case.query.weights == SIMILARITY_ALONE
    score = similarity if alone else search_score(similarity, recent, Scope.USER, case.query.weights)
    living = [place for place, row in enumerate(case.rows) if row.seq not in case.removed]
    shown = [place for place in living if similarity[place] > 0.0 and case.rows[place].seq not in case.excluded]
    best = sorted(shown, key=lambda place: (-score[place], -times[place], -place))[: case.limit]
    asked = max(len(case.query.terms.words) + len(case.query.terms.exact), 1)
    return [
        Candidate(
            seq=case.rows[place].seq,
            ts_ms=case.rows[place].ts_ms,
            score=float(score[place]),
            similarity=float(similarity[place]),
            lexical=float(lane.scores[place]),
            lexical_rank=_rank(lane.scores, living, place),
            dense=None if dense is None or np.isnan(dense[place]) else float(dense[place]),
            dense_rank=None if dense is None else _rank(dense, living, place),
            recency=float(recent[place]),
            keywords=float(lane.matched[place] / asked),
            scope=0.6,
            record=case.rows[place].record,
            own=float(similarity[place]),
            words=int(lane.matched[place]),
        )
        for place in best
    ]


def _dense(case: Case) -> np.ndarray | None:
    known = [row.vector for row in case.rows if row.vector is not None]
    if case.query.vector is None or case.query.calibration is None or not known:
        return None
    zero = bytes(len(known[0]))
    rows = np.array([np.frombuffer(row.vector or zero, DTYPE) for row in case.rows], np.int64)
    products = (rows @ case.query.vector.astype(np.int64)).astype(np.float32)
    values = case.query.calibration.similarity(products / np.float32(SCALE * SCALE))
    values[[row.vector is None for row in case.rows]] = np.nan
    return values


def _rank(lane: np.ndarray, living: list[int], place: int) -> int | None:
    return 1 + int((lane[living] > lane[place]).sum()) if lane[place] > 0.0 else None


@given(st.integers(1, 300), st.integers(1, 80), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=effort(20, 60), deadline=None)
def test_products_are_exact_in_blocks_of_any_size_by_any_number_of_threads(
    count: int, block_items: int, threads: int, chance: object
) -> None:
    numbers = np.random.default_rng(chance.getrandbits(32))  # type: ignore[attr-defined]
    rows = to_grid(numbers.standard_normal((count, DIMENSIONS)).astype(np.float32)).astype(DTYPE)
    query = to_grid(numbers.standard_normal(DIMENSIONS).astype(np.float32))[0]
    with (
        patch.object(vectors, "BLOCK_ITEMS", block_items),
        patch.object(vectors, "SPLIT_FROM", 2),
        patch.object(vectors, "_THREADS", threads),
    ):
        found = cosines(rows, query)
    products = rows.astype(np.int64) @ query.astype(np.int64)
    assert found.tolist() == (products.astype(np.float32) / np.float32(SCALE * SCALE)).tolist()


def test_members_held_as_small_numbers_take_two_bytes_a_dimension() -> None:
    count, width = 1000, 64
    blobs = encode(np.random.default_rng(1).standard_normal((count, width)).astype(np.float32))
    index = CollectionIndex()
    index.apply(Feed(count, False, [FeedRow(seq, 0, b"", blob) for seq, blob in enumerate(blobs, 1)]))
    assert count * width * 2 < index.nbytes < count * (width * 2 + 40)

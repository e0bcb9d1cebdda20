"""The floor of relevance: pure, monotone, and defined for any input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.calibration import Calibration
from clew.core.collections import Scope
from clew.core.ranking import SIMILARITY_ALONE
from clew.core.relevance import Shared, asks_nothing, related
from clew.index.collection import CollectionIndex
from clew.index.search import Query, search
from clew.index.vectors import encode, to_grid
from clew.storage.protocol import Feed, FeedRow
from clew.text.terms import analyse, analyse_query, pack, signs
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("USE-4", "RANK-2")

QUESTION = "where is the lamp"
numbers = st.floats(allow_nan=True, allow_infinity=True)
shares = st.builds(Shared, numbers, numbers, st.integers(0, 50), by_meaning=st.booleans(), named=st.booleans())
several = st.lists(st.tuples(shares, st.booleans()), max_size=12)
texts = st.text(max_size=60) | st.sampled_from(["", "hello", "the", "lamp lighthouse", "灯塔", "what is it", "thanks!"])


@given(several)
def test_each_candidate_gets_one_answer_and_always_the_same(given_: list[tuple[Shared, bool]]) -> None:
    shared, may_lead = [one for one, _ in given_], [leads for _, leads in given_]
    kept = related(QUESTION, shared, may_lead)
    assert len(kept) == len(shared)
    assert kept == related(QUESTION, shared, may_lead)
    assert kept[::-1] == related(QUESTION, shared[::-1], may_lead[::-1])


@given(several, st.data())
def test_sharing_more_never_excludes_a_candidate(given_: list[tuple[Shared, bool]], data: st.DataObject) -> None:
    finite = [(one, leads) for one, leads in given_ if not math.isnan(one.similarity + one.lexical)]
    shared, may_lead = [one for one, _ in finite], [leads for _, leads in finite]
    if not shared:
        return
    place = data.draw(st.integers(0, len(shared) - 1))
    one = shared[place]
    more = Shared(
        max(one.similarity, data.draw(st.floats(0, 1))),
        max(one.lexical, data.draw(st.floats(0, 1))),
        one.words + data.draw(st.integers(0, 3)),
        one.by_meaning,
        one.named or data.draw(st.booleans()),
    )
    before = related(QUESTION, shared, may_lead)
    after = related(QUESTION, [*shared[:place], more, *shared[place + 1 :]], may_lead)
    assert all(now or not then for then, now in zip(before, after, strict=True))


@given(several)
def test_without_a_clear_candidate_nothing_is_kept_and_a_courtesy_keeps_nothing(
    given_: list[tuple[Shared, bool]],
) -> None:
    shared, may_lead = [one for one, _ in given_], [leads for _, leads in given_]
    assert not any(related("Hello, how are you?", shared, may_lead))
    dull = [replace(one, similarity=0.0, lexical=0.0) for one in shared]
    assert not any(related(QUESTION, dull, may_lead))


@given(texts)
def test_every_text_is_judged_on_whether_it_asks_something(text: str) -> None:
    assert asks_nothing(text) is asks_nothing(text)
    assert not asks_nothing(f"{text} where is the lighthouse")


@given(st.lists(texts, min_size=1, max_size=6), texts, st.booleans(), st.booleans())
@settings(max_examples=effort(20, 60), deadline=None)
def test_the_overlap_of_a_text_and_a_question_is_always_in_range(
    stored: list[str], asked: str, with_vectors: bool, zero: bool
) -> None:
    vectors = np.zeros((len(stored) + 1, 8), np.float32) if zero else np.eye(len(stored) + 1, 8, dtype=np.float32)
    blobs = encode(vectors)
    index = CollectionIndex()
    rows = [
        FeedRow(seq, 0, pack(analyse(text), signs(text, None, 0)), blobs[seq] if with_vectors else None)
        for seq, text in enumerate(stored, 1)
    ]
    index.apply(Feed(len(rows), False, rows))
    vector = to_grid(vectors)[0] if with_vectors else None
    query = Query(analyse_query(asked), vector, Calibration(0.1, 0.9), 0, SIMILARITY_ALONE, text=asked)
    found = [candidate.shared for candidate in search(index, query, Scope.USER, 0.0, 10)]
    assert all(0.0 <= one.similarity <= 1.0 and 0.0 <= one.lexical <= 1.0 and one.words >= 0 for one in found)
    assert len(related(asked, found, [True] * len(found))) == len(found)


@pytest.mark.parametrize("text", ["ok " * 60 + "x", "good to " * 25, "how are " * 25, "你好" * 100, "so very " * 24])
def test_a_text_is_read_in_one_pass(text: str) -> None:
    """An ambiguous list of phrases takes a time that doubles with every word; this would never end."""
    assert not asks_nothing(text[:200])


@pytest.mark.parametrize(
    "text", ["Hello.", "Good morning!", "ok, thanks a lot", "Danke schön", "Bonjour, ça va ?", "你好"]
)
def test_greetings_and_thanks_ask_for_nothing(text: str) -> None:
    assert asks_nothing(text)


@pytest.mark.parametrize("text", ["", "hello world", "who am I?", "thanks, now fix the tests", "good themes"])
def test_any_other_text_may_ask_for_something(text: str) -> None:
    assert not asks_nothing(text)

"""Clusters, projections and summaries keep their promises for any input."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.model import Role
from clew.features.history.summary import Source, condense, summarise
from clew.features.history.tail import TailTurn, boundaries, split_clusters
from clew.text import sanitise, sentences
from clew.text.framing import CUT_MARK
from clew.text.grading import salience

WORDS = st.sampled_from(
    "the port is 8080 no longer decided switched from Postgres src/a.py E4012 why? Ada said. 我们 决定。 好吗？ 서버 "
    '**bold** ```\n -\n {"command": error: → … Open: 09:30 \n \n\n , a.b.c instead of'.split(" ")
)
PROSE = st.lists(WORDS, max_size=40).map(" ".join)
ANY_TEXT = st.text(max_size=200) | PROSE
SOURCES = st.lists(
    st.builds(
        Source,
        who=st.sampled_from(["Ada", "Ben", "bash", "a:b\nc"]) | st.text(max_size=20),
        role=st.none() | st.sampled_from(Role),
        ts_ms=st.integers(0, 4_000_000_000_000) | st.integers(-(2**70), 2**70),
        text=ANY_TEXT,
    ),
    max_size=12,
)
BELOW = st.integers(-5, 400)
EDGES = st.integers(0, 120).flatmap(
    lambda count: st.tuples(
        st.just(count), st.sets(st.integers(0, count)).map(lambda edges: sorted({0, count, *edges}))
    )
)


def count(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // 4)


@pytest.mark.requirement("COMP-1")
@given(EDGES, st.integers(-3, 40))
def test_clusters_tile_the_turns_and_end_only_at_boundaries(given_edges: tuple[int, list[int]], size: int) -> None:
    total, edges = given_edges
    found = split_clusters(edges, total, size)
    assert [place for run in found for place in run] == list(range(total))
    assert all(run and run.start in edges and run.stop in edges for run in found)


@pytest.mark.requirement("COMP-1", "CONT-2")
@given(st.lists(st.builds(TailTurn, st.sampled_from(Role), st.just(1)), max_size=80), st.integers(1, 30))
def test_no_cluster_separates_coupled_turns(turns: list[TailTurn], size: int) -> None:
    edges = boundaries(turns)
    assert all(run.start in edges for run in split_clusters(edges, len(turns), size))


@pytest.mark.requirement("COMP-3")
@given(
    st.lists(
        st.text(max_size=40)
        | st.builds(lambda part, times: part * times, st.text(min_size=1, max_size=6), st.integers(1, 900))
        | st.binary(max_size=400).map(lambda data: data.decode("latin-1"))
        | st.binary(min_size=100, max_size=900).map(bytes.hex),
        max_size=6,
    ).map("\n".join)
)
def test_projecting_twice_changes_nothing(text: str) -> None:
    shown = sanitise.projection(text)
    assert sanitise.projection(shown) == shown
    shown.encode("utf-8")


@pytest.mark.requirement("COMP-3")
@given(st.lists(st.text("abcdefgh XYZ.,!?-'", max_size=60).map(str.strip), max_size=3, unique=True).map("\n".join))
def test_short_ordinary_text_is_untouched(text: str) -> None:
    assert sanitise.projection(text) == text


@pytest.mark.requirement("COMP-5")
@given(SOURCES, st.lists(ANY_TEXT, max_size=2), BELOW)
def test_a_summary_is_deterministic_and_strictly_smaller_or_none(
    sources: list[Source], earlier: list[str], below: int
) -> None:
    for make in (summarise, condense):
        made = make(sources, earlier=earlier, below=below, count=count)
        salience.terms_of.cache_clear()
        assert made == make(sources, earlier=earlier, below=below, count=count)
        if made is not None:
            assert made.tokens == count(made.text) < below


@pytest.mark.requirement("COMP-5", "COMP-7")
@given(SOURCES, BELOW)
def test_summaries_of_summaries_are_smaller_still(sources: list[Source], below: int) -> None:
    made = summarise(sources, earlier=(), below=below, count=count)
    if made is not None:
        children = [Source("summary", None, source.ts_ms, made.text) for source in sources[:4]]
        again = condense(children, earlier=(), below=made.tokens, count=count)
        assert again is None or again.tokens < made.tokens


@pytest.mark.requirement("COMP-6")
@given(st.lists(st.builds(Source, st.just("Ada"), st.just(Role.USER), st.just(0), PROSE), min_size=1, max_size=8))
def test_every_quote_occurs_in_a_source(sources: list[Source]) -> None:
    made = summarise(sources, earlier=(), below=10_000, count=count)
    if made is None:
        return
    plain = [_plain(source.text) for source in sources]
    for line in made.text.split("\n")[1:]:
        said = re.sub(r"^(?:Open: )?(?:\d\d:\d\d )?Ada: ", "", line)
        for quote in re.split(r" … | / ", said):
            assert any(_plain(quote.removesuffix(CUT_MARK)) in text for text in plain), (line, plain)


@pytest.mark.requirement("COMP-6")
@given(ANY_TEXT)
def test_sentences_hold_the_text_in_order(text: str) -> None:
    rest = _plain(text)
    for piece in sentences.split(text):
        at = rest.find(_plain(piece))
        assert at >= 0
        rest = rest[at:]


def _plain(text: str) -> str:
    """Letters and digits alone: a summary may change spaces and the punctuation between sentences."""
    return re.sub(r"[\W_]", "", text)

"""Graphs that compaction builds lead back to every turn. In damaged ones, the damage is noticed and traversal ends."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.lineage import Graph, Lineage, read_lineage

pytestmark = pytest.mark.requirement("COMP-7", "COMP-8")


def lineage(level: int, sources: list[str], turn_count: int) -> Lineage:
    return Lineage(
        level=level,
        source_ids=tuple(sources),
        turn_count=turn_count,
        first_ts_ms=0,
        last_ts_ms=0,
        compacted_ts_ms=0,
        method="extractive",
        confidence=0.5,
        source_tokens=1,
    )


@dataclass(frozen=True)
class Grown:
    graph: Graph
    view: frozenset[str]
    order: tuple[str, ...]


@st.composite
def grown(draw: st.DrawFn) -> Grown:
    """Turns, the oldest of which are covered run by run, and levels condensed while they have siblings."""
    turns = [f"t{number}" for number in range(draw(st.integers(1, 40)))]
    siblings = draw(st.integers(2, 4))
    summaries: dict[str, Lineage] = {}
    levels: dict[int, list[str]] = {}
    at = 0
    while at < len(turns) and draw(st.booleans()):
        run = turns[at : at + draw(st.integers(1, 6))]
        at += len(run)
        _cover(summaries, levels, 1, run, len(run))
        while (level := next((n for n in sorted(levels) if len(levels[n]) >= siblings), None)) is not None:
            below, levels[level] = levels[level][:siblings], levels[level][siblings:]
            _cover(summaries, levels, level + 1, below, sum(summaries[id_].turn_count for id_ in below))
    view = {id_ for held in levels.values() for id_ in held} | set(turns[at:])
    return Grown(Graph(summaries, set(turns)), frozenset(view), tuple(turns))


def _cover(
    summaries: dict[str, Lineage], levels: dict[int, list[str]], level: int, below: list[str], turn_count: int
) -> None:
    id_ = f"s{len(summaries)}"
    summaries[id_] = lineage(level, below, turn_count)
    levels.setdefault(level, []).append(id_)


@given(grown())
def test_every_turn_is_in_the_view_or_under_exactly_one_of_its_summaries(made: Grown) -> None:
    reached = [turn for id_ in made.view for turn in made.graph.turns_under(id_)]
    shown = [id_ for id_ in made.view if id_ in made.graph.turns]
    assert sorted(reached + shown) == sorted(made.order)
    assert made.graph.uncovered(made.view) == []


@given(grown())
def test_every_summary_reaches_as_many_turns_as_it_says_in_the_order_they_were_said(made: Grown) -> None:
    for id_, held in made.graph.summaries.items():
        reached = made.graph.turns_under(id_)
        assert len(reached) == held.turn_count >= 1
        assert reached == sorted(reached, key=made.order.index)


@given(grown())
def test_a_grown_graph_has_no_dangling_edge_no_cycle_and_one_parent_per_node(made: Grown) -> None:
    assert list(made.graph.dangling()) == []
    assert made.graph.cycle() == []
    assert all(len(parents) == 1 for parents in made.graph.parents().values())


@given(grown(), st.data())
def test_a_summary_that_is_lost_leaves_its_turns_uncovered_or_its_parent_dangling(
    made: Grown, data: st.DataObject
) -> None:
    if not made.graph.summaries:
        return
    lost = data.draw(st.sampled_from(sorted(made.graph.summaries)))
    rest = Graph({id_: held for id_, held in made.graph.summaries.items() if id_ != lost}, made.graph.turns)
    assert set(rest.uncovered(made.view)) == set(made.graph.turns_under(lost))
    assert bool(list(rest.dangling())) == (lost not in made.view)


@given(grown(), st.data())
def test_a_turn_that_is_lost_is_named_by_the_edge_that_leads_to_it(made: Grown, data: st.DataObject) -> None:
    lost = data.draw(st.sampled_from(made.order))
    broken = Graph(made.graph.summaries, made.graph.turns - {lost})
    assert bool(list(broken.dangling())) == (lost not in made.view)
    assert all(lost not in broken.turns_under(id_) for id_ in broken.summaries)


names = st.sampled_from(["a", "b", "c", "d"])


@given(st.dictionaries(names, st.tuples(st.integers(1, 4), st.lists(names, min_size=1, max_size=4))), st.sets(names))
def test_traversal_of_any_graph_ends_inside_the_history(
    drawn: dict[str, tuple[int, list[str]]], turns: set[str]
) -> None:
    graph = Graph({id_: lineage(level, sources, 1) for id_, (level, sources) in drawn.items()}, turns)
    for id_ in drawn:
        reached = graph.turns_under(id_)
        assert set(reached) <= turns
        assert len(reached) == len(set(reached))
    if not list(graph.dangling()):
        assert graph.cycle() == []
        assert all(graph.turns_under(id_) for id_ in drawn)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*lineage(1, ["a"], 1).as_metadata(), "other"]), json))
def test_metadata_of_any_kind_is_read_or_refused(given_parts: dict[str, object]) -> None:
    whole = lineage(1, ["a"], 1).as_metadata()
    for metadata in (given_parts, whole | given_parts):
        found = read_lineage(metadata)
        if found is not None:
            assert found.level >= 1
            assert found.source_ids
            assert 0.0 <= found.confidence <= 1.0
            assert read_lineage(found.as_metadata()) == found

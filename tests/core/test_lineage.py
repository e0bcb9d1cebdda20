"""The lineage of a summary, as its metadata records it, and the graph it forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clew.core.collections import Collection
from clew.core.lineage import Graph, Lineage, lineage_of, read_lineage
from clew.core.model import Provenance, Record, Trust

pytestmark = pytest.mark.requirement("COMP-7", "COMP-8")


def lineage(level: int, *source_ids: str, turn_count: int = 2) -> Lineage:
    return Lineage(
        level=level,
        source_ids=source_ids,
        turn_count=turn_count,
        first_ts_ms=1000,
        last_ts_ms=2000,
        compacted_ts_ms=3000,
        method="extractive",
        confidence=0.75,
        source_tokens=90,
        prior_ids=("earlier",),
    )


def record(provenance: Provenance, metadata: dict[str, Any]) -> Record:
    return Record(
        collection=Collection("session:s"), id="x", text="gist", ts_ms=2000, role=None, provenance=provenance,
        trust=Trust.UNKNOWN, stability=0.3, tokens=1, metadata=metadata, seq=1, version=1,
        access_count=0, last_used_ms=None,
    )  # fmt: skip


GRAPH = Graph(
    {
        "x": lineage(1, "a", "b"),
        "y": lineage(1, "c", "d"),
        "top": lineage(2, "x", "y"),
    },
    {"a", "b", "c", "d", "e"},
)


# --- in metadata -----------------------------------------------------------------------------------


def test_a_lineage_is_read_back_as_it_was_written() -> None:
    written = lineage(3, "x", "y")
    assert read_lineage(written.as_metadata()) == written
    assert written.decay == 0.25


def test_metadata_holds_the_keys_that_clients_read() -> None:
    keys = {"type", "source_ids", "confidence", "decay_rate", "method", "first_ts", "last_ts", "compacted_ts"}
    metadata = lineage(1, "a").as_metadata()
    assert keys <= set(metadata)
    assert metadata["type"] == "summary"


@pytest.mark.parametrize("key", [key for key in lineage(1, "a").as_metadata() if key not in ("type", "decay_rate")])
def test_metadata_with_a_missing_part_is_no_lineage(key: str) -> None:
    metadata = lineage(1, "a").as_metadata()
    del metadata[key]
    assert read_lineage(metadata) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("level", 0), ("level", -1), ("level", True), ("level", "1"), ("level", 1.0), ("level", None),
        ("source_ids", []), ("source_ids", "ab"), ("source_ids", [1]), ("source_ids", {"a": 1}), ("source_ids", None),
        ("turn_count", -1), ("first_ts", "now"), ("last_ts", None), ("compacted_ts", 1.5), ("source_tokens", [1]),
        ("confidence", 1.01), ("confidence", -0.01), ("confidence", float("nan")), ("confidence", "high"),
        ("prior_ids", "ab"), ("prior_ids", [None]),
    ],
)  # fmt: skip
def test_metadata_with_an_invalid_part_is_no_lineage(key: str, value: object) -> None:
    assert read_lineage(lineage(1, "a").as_metadata() | {key: value}) is None


def test_only_a_summary_has_a_lineage_whatever_its_metadata_says() -> None:
    claims = lineage(1, "a").as_metadata()
    assert lineage_of(record(Provenance.SUMMARY, claims)) == lineage(1, "a")
    for provenance in Provenance:
        if provenance is not Provenance.SUMMARY:
            assert lineage_of(record(provenance, claims)) is None


# --- the graph -------------------------------------------------------------------------------------


def test_a_summary_reaches_its_turns_in_order_through_every_level() -> None:
    assert GRAPH.turns_under("y") == ["c", "d"]
    assert GRAPH.turns_under("top") == ["a", "b", "c", "d"]
    assert GRAPH.turns_under("unknown") == []


def test_parents_are_found_by_level_and_id() -> None:
    assert GRAPH.parents() == {
        (0, "a"): ["x"], (0, "b"): ["x"], (0, "c"): ["y"], (0, "d"): ["y"], (1, "x"): ["top"], (1, "y"): ["top"],
    }  # fmt: skip


def test_a_sound_graph_has_no_dangling_edge_and_no_cycle() -> None:
    assert list(GRAPH.dangling()) == []
    assert GRAPH.cycle() == []


def test_turns_outside_the_view_and_its_summaries_are_uncovered() -> None:
    assert GRAPH.uncovered({"top", "e"}) == []
    assert GRAPH.uncovered({"top"}) == ["e"]
    assert GRAPH.uncovered({"x", "e"}) == ["c", "d"]
    assert GRAPH.uncovered(set()) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"x": lineage(1, "a", "lost")}, id="a turn that is not there"),
        pytest.param({"top": lineage(2, "lost")}, id="a summary that is not there"),
        pytest.param({"x": lineage(1, "a"), "top": lineage(3, "x")}, id="an edge over two levels"),
        pytest.param({"x": lineage(1, "a"), "top": lineage(2, "a")}, id="an edge from level 2 to a turn"),
        pytest.param({"x": lineage(2, "x")}, id="an edge to itself"),
    ],
)
def test_an_edge_that_does_not_lead_one_level_down_dangles(broken: dict[str, Lineage]) -> None:
    assert len(list(Graph(broken, {"a"}).dangling())) == 1


def test_a_cycle_of_summaries_is_named_and_traversal_ends() -> None:
    circle = Graph({"x": lineage(2, "y"), "y": lineage(3, "x"), "z": lineage(1, "a")}, {"a"})
    assert set(circle.cycle()) == {"x", "y"}
    assert circle.turns_under("x") == []
    assert circle.uncovered({"x", "y"}) == ["a"]


def test_the_level_tells_a_turn_from_a_summary_with_the_same_id() -> None:
    named = Graph({"a": lineage(1, "b"), "top": lineage(1, "a")}, {"a", "b"})
    assert named.turns_under("top") == ["a"]
    assert named.turns_under("a") == ["b"]
    assert named.cycle() == []


def test_a_turn_under_two_summaries_is_reached_once() -> None:
    doubled = Graph({**GRAPH.summaries, "x": lineage(1, "a", "b", "c")}, GRAPH.turns)
    assert doubled.turns_under("top") == ["a", "b", "c", "d"]


def test_a_very_deep_graph_is_traversed_to_its_end() -> None:
    levels = 5000
    deep = {
        str(level): replace(lineage(1, "a"), level=level, source_ids=(str(level - 1),)) for level in range(2, levels)
    }
    graph = Graph({"1": lineage(1, "a"), **deep}, {"a"})
    assert graph.turns_under(str(levels - 1)) == ["a"]
    assert graph.cycle() == []

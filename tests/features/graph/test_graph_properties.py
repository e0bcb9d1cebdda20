"""For any text the extract is bounded, well-formed and deterministic, and all stores agree on its graph."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.model import Provenance, Role
from clew.features.graph.extraction import MAX_EDGES, MAX_ENTITIES, extract
from clew.storage.protocol import Store
from clew.storage.purging import Purge, PurgeKind
from clew.storage.sqlite import SqliteStore
from clew.text.entities import MAX_NAME_CHARS, EntityKind, Extract, canonical, in_order
from tests.testing.drafts import record
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("GRAPH-1")

PIECES = st.sampled_from(
    [
        "Atlas", " uses ", "Kafka", ", ", " and ", "src/a.py", "`x_y()`", " decided to use ", "Redis", ". ", "\n",
        "**b c**", "[[Tide]]", "@maria ", "the Harbor project ", "https://github.com/a/b ", "is blocked by ", "PROJ-1",
        "```\n", "\x00", "漢字", "—", "Maria said ", "---\ntype: project\n", "title: X\n",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "project": st.text(max_size=20),
        "speaker": st.text(max_size=20),
        "source_doc": st.text(min_size=1, max_size=30),
        "kind": st.sampled_from(["front_matter", "paragraph"]),
        "hop_targets": st.lists(st.text(max_size=20), max_size=3),
        "fact": st.dictionaries(st.sampled_from(["subject", "predicate", "object"]), st.text(max_size=20)),
        "cwd": st.text(max_size=20),
    },
)


@given(TEXTS, METADATA, st.sampled_from(Provenance), st.sampled_from([None, *Role]))
def test_an_extract_is_bounded_well_formed_and_deterministic(
    text: str, metadata: dict[str, object], provenance: Provenance, role: Role | None
) -> None:
    found = extract(text, metadata, provenance, role)
    assert found == extract(text, metadata, provenance, role)
    assert found == in_order(found.entities, found.edges)
    assert len(found.entities) <= MAX_ENTITIES
    assert len(found.edges) <= MAX_EDGES
    assert len({(item.kind, item.name) for item in found.entities}) == len(found.entities)
    assert len({(edge.source, edge.target, edge.kind) for edge in found.edges}) == len(found.edges)
    for item in found.entities:
        assert 0 < len(item.name) <= MAX_NAME_CHARS
        assert 0 < len(item.title) <= MAX_NAME_CHARS
        assert canonical(item.name) == item.name
    for edge in found.edges:
        assert edge.source != edge.target
        assert 0 < edge.weight <= 1


@given(st.text(max_size=400))
def test_normalizing_a_name_twice_changes_nothing(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@settings(max_examples=effort(15, 25), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), TEXTS), max_size=8), st.sets(st.integers(0, 4)))
@pytest.mark.requirement("STORE-6")
def test_both_stores_hold_the_same_graph_also_after_a_purge(written: list[tuple[int, str]], purged: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores: list[Store] = [MemoryStore(), SqliteStore(Path(folder) / "c.db", synchronous="normal")]
        pictures = [_after(store, written, purged) for store in stores]
        assert pictures[0] == pictures[1]
        for store in stores:
            store.close()


def _after(store: Store, written: list[tuple[int, str]], purged: set[int]) -> object:
    """The graph after writing all records and purging some: the same as if the purged ones had never existed."""
    for number, text in written:
        store.put([record(text.replace("\ud800", ""), id=f"r{number}")])
        stored = store.export(0, 100)[-1]
        said = extract(stored.draft.text, {}, Provenance.USER_TURN, Role.USER)
        store.link([], {stored.key: ("user:u", said)})
    there = {number for number, _ in written}
    for number in sorted(purged & there):
        store.purge(Purge(f"p{number}", 1, PurgeKind.RECORD, f"user:u/r{number}"))
    assert [finding for finding in store.findings() if finding.problems] == []
    said_by = store.said([stored.key for stored in store.export(0, 100)])
    entities = {(item.kind, item.name) for _, found in said_by.values() for item in found.entities}
    assert entities == {
        (item.kind, item.name) for item in store.entities(["user:u"], list(EntityKind), 0, 999, untrusted=True)
    }
    return sorted((_shown(found) for _, found in said_by.values()), key=repr)


def _shown(found: Extract) -> object:
    return found.entities, found.edges

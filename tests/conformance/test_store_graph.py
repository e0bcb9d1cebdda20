"""What every store must do for the graph: keep the edges of each record, and remove them with the record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.core.collections import Collection
from clew.core.model import Trust
from clew.storage.graphing import Entity, GraphCounts
from clew.storage.protocol import Marking, NewRecord, Place, Store, Task
from clew.storage.purging import Purge, PurgeKind
from clew.storage.sqlite import SqliteStore
from clew.text.entities import EdgeKind, EntityKind, Extract, Joined, Named, in_order
from tests.testing.drafts import draft, record, turn
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("GRAPH-1")

ATLAS = Named(EntityKind.PROJECT, "atlas", "Atlas")
KAFKA = Named(EntityKind.TOOL, "kafka", "Kafka")
REDIS = Named(EntityKind.TOOL, "redis", "Redis")
OWNER = "user:u"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "c.db", synchronous="normal")
    yield made
    assert [finding for finding in made.findings() if finding.problems] == []
    made.close()


def says(*entities: Named, weight: float = 0.5, kind: EdgeKind = EdgeKind.USES) -> Extract:
    """Joins the first entity with each of the others."""
    return in_order(entities, [Joined(0, place, kind, weight) for place in range(1, len(entities))])


def write_record(store: Store, id_: str, extract: Extract, *, owner: str = OWNER, text: str = "") -> int:
    """Stores a record with these edges; returns its key."""
    store.put([record(text or id_, id=id_, tasks=(Task.LINK,))])
    (task,) = [task for task in store.queued(Task.LINK, 100) if task.places == (Place(Collection("user:u"), id_),)]
    store.link([task.seq], {task.record_key: (owner, extract)})
    return task.record_key


def find_entities(
    store: Store, *names: str, owners: tuple[str, ...] = (OWNER,), untrusted: bool = False
) -> list[Entity]:
    return store.entities_named(names, owners, untrusted=untrusted)


def edges_around(
    store: Store, name: str, *, untrusted: bool = False, limit: int = 10
) -> list[tuple[str, str, str, float]]:
    """The edges of an entity, with the names of both ends."""
    keys = [item.key for item in find_entities(store, name, untrusted=True)]
    edges = store.edges_of(keys, limit, untrusted=untrusted)
    ends = {item.key: item.name for edge in edges for item in store.entities_at([edge.source, edge.target])}
    return [(ends[edge.source], edge.kind.value, ends[edge.target], edge.weight) for edge in edges]


def test_an_edge_is_found_from_either_end(store: Store) -> None:
    key = write_record(store, "a", says(ATLAS, KAFKA))
    assert edges_around(store, "atlas") == [("atlas", "uses", "kafka", 0.5)]
    assert edges_around(store, "kafka") == [("atlas", "uses", "kafka", 0.5)]
    assert store.said([key, 999]) == {key: (OWNER, says(ATLAS, KAFKA))}
    assert store.pending(Task.LINK) == 0
    assert store.homes([key, 999]) == {key: (Place(Collection("user:u"), "a"),)}


def test_new_links_of_a_record_replace_its_old_ones(store: Store) -> None:
    key = write_record(store, "a", says(ATLAS, KAFKA))
    store.link([], {key: (OWNER, says(ATLAS, REDIS))})
    assert edges_around(store, "atlas") == [("atlas", "uses", "redis", 0.5)]
    assert find_entities(store, "kafka") == []
    store.link([], {key: (OWNER, Extract())})
    assert store.graph_counts(None) == GraphCounts(0, 0, 0)
    assert store.said([key]) == {}


def test_an_owner_sees_nothing_of_another_owner(store: Store) -> None:
    write_record(store, "a", says(ATLAS, KAFKA))
    write_record(store, "b", says(ATLAS, REDIS), owner="shared")
    assert [item.owner for item in find_entities(store, "atlas")] == [OWNER]
    assert [item.owner for item in find_entities(store, "atlas", owners=("shared",))] == ["shared"]
    assert sorted(item.owner for item in find_entities(store, "atlas", owners=("shared", OWNER))) == ["shared", OWNER]
    assert find_entities(store, "atlas", owners=("user:other",)) == []
    assert edges_around(store, "atlas") == [("atlas", "uses", "kafka", 0.5)]
    assert store.graph_counts(["shared"]) == GraphCounts(2, 1, 0)
    assert store.graph_counts(None) == GraphCounts(4, 2, 0)


@pytest.mark.requirement("STORE-6")
@pytest.mark.parametrize("way", ["remove", "clear", "replace", "purge record", "purge user"])
def test_edges_and_entities_go_with_the_last_record_that_names_them(store: Store, way: str) -> None:
    write_record(store, "a", says(ATLAS, KAFKA))
    store.put([record("stays", id="k", collection="global")])
    kept = store.export(0, 10)[-1].key
    store.link([], {kept: (OWNER, says(ATLAS, REDIS))})
    if way == "remove":
        store.remove("user:u", ["a"])
    elif way == "clear":
        store.clear("user:u")
    elif way == "replace":
        store.put([NewRecord(draft("other words", role=None), Place(Collection("user:u"), "a"))])
    else:
        kind = PurgeKind.RECORD if way == "purge record" else PurgeKind.USER
        store.purge(Purge("p", 1, kind, "user:u/a" if kind is PurgeKind.RECORD else "u"))
    assert find_entities(store, "kafka") == []
    assert edges_around(store, "atlas") == [("atlas", "uses", "redis", 0.5)]
    assert store.graph_counts(None) == GraphCounts(2, 1, 0)


@pytest.mark.requirement("STORE-6")
def test_purging_a_session_removes_the_edges_of_its_turns(store: Store) -> None:
    store.append([turn("we use kafka", id="1", tasks=(Task.LINK,))])
    (task,) = store.queued(Task.LINK, 1)
    store.link([task.seq], {task.record_key: ("session:s", says(ATLAS, KAFKA))})
    store.purge(Purge("p", 1, PurgeKind.SESSION, "s"))
    assert store.graph_counts(None) == GraphCounts(0, 0, 0)


def test_linking_a_record_that_has_gone_changes_nothing(store: Store) -> None:
    store.put([record("a", id="a", tasks=(Task.LINK,))])
    (task,) = store.queued(Task.LINK, 1)
    store.remove("user:u", ["a"])
    store.link([task.seq], {task.record_key: (OWNER, says(ATLAS, KAFKA))})
    assert store.graph_counts(None) == GraphCounts(0, 0, 0)


@pytest.mark.requirement("PACK-4")
def test_an_edge_has_the_trust_of_its_record(store: Store) -> None:
    key = write_record(store, "a", says(ATLAS, KAFKA))
    place = Place(Collection("user:u"), "a")
    store.mark([Marking(place, trust=Trust.UNTRUSTED)])
    assert (find_entities(store, "kafka"), edges_around(store, "atlas")) == ([], [])
    assert store.entities([OWNER], [], 0, 10, untrusted=False) == []
    assert len(find_entities(store, "kafka", untrusted=True)) == 1
    assert edges_around(store, "atlas", untrusted=True) == [("atlas", "uses", "kafka", 0.5)]
    store.mark([Marking(place, trust=Trust.QUARANTINED)])
    assert find_entities(store, "kafka", untrusted=True) == []
    assert store.entities_seen([place], [OWNER], untrusted=True) == []
    store.link([], {key: (OWNER, says(ATLAS, KAFKA))})
    assert find_entities(store, "kafka", untrusted=True) == []
    store.mark([Marking(place, trust=Trust.UNKNOWN)])
    assert edges_around(store, "atlas") == [("atlas", "uses", "kafka", 0.5)]


def test_the_heaviest_edges_come_first_and_untrusted_ones_do_not_displace_them(store: Store) -> None:
    for number in range(6):
        other = Named(EntityKind.TOOL, f"tool {number}", f"Tool {number}")
        write_record(store, f"t{number}", says(ATLAS, other, weight=0.9 - number / 10))
    store.mark([Marking(Place(Collection("user:u"), "t0"), trust=Trust.UNTRUSTED)])
    assert [target for _, _, target, _ in edges_around(store, "atlas", limit=2)] == ["tool 1", "tool 2"]
    shown = [target for _, _, target, _ in edges_around(store, "atlas", limit=2, untrusted=True)]
    assert shown == ["tool 1", "tool 2", "tool 0"]


def test_the_oldest_record_that_may_be_shown_gives_the_title(store: Store) -> None:
    first = write_record(store, "a", says(Named(EntityKind.PROJECT, "atlas", "ATLAS")))
    second = write_record(store, "b", says(ATLAS))
    (entity,) = find_entities(store, "atlas")
    assert store.titles([entity.key], untrusted=False) == {entity.key: "ATLAS"}
    assert store.naming(entity.key, 10, untrusted=False) == [second, first]
    assert store.namings([entity.key], 10, untrusted=False) == {entity.key: 2}
    assert store.namings([entity.key], 1, untrusted=False) == {entity.key: 1}
    store.mark([Marking(Place(Collection("user:u"), "a"), trust=Trust.UNTRUSTED)])
    assert store.titles([entity.key], untrusted=True) == {entity.key: "Atlas"}
    assert store.naming(entity.key, 10, untrusted=True) == [second, first]
    assert store.naming(entity.key, 10, untrusted=False) == [second]


def test_entities_are_listed_a_page_at_a_time_by_kind(store: Store) -> None:
    write_record(store, "a", says(ATLAS, KAFKA, REDIS))
    pages: list[Entity] = []
    while page := store.entities([OWNER], [], pages[-1].key if pages else 0, 2, untrusted=False):
        pages += page
    assert {item.name for item in pages} == {"atlas", "kafka", "redis"}
    tools = store.entities([OWNER], [EntityKind.TOOL], 0, 10, untrusted=False)
    assert {item.name for item in tools} == {"kafka", "redis"}
    assert store.entities(["shared"], [], 0, 10, untrusted=False) == []


def test_the_entities_that_a_place_names_are_found(store: Store) -> None:
    write_record(store, "a", says(ATLAS, KAFKA))
    place = Place(Collection("user:u"), "a")
    found = store.entities_seen(
        [place, Place(Collection("user:u"), "none"), Place(Collection("none"), "a")], [OWNER], untrusted=False
    )
    assert {(at, item.name) for at, item in found} == {(place, "atlas"), (place, "kafka")}
    assert store.entities_seen([place], ["shared"], untrusted=False) == []


@pytest.mark.requirement("STORE-4")
def test_forgetting_the_graph_queues_every_record_once(store: Store) -> None:
    key = write_record(store, "a", says(ATLAS, KAFKA))
    store.forget_graph()
    assert store.graph_counts(None) == GraphCounts(0, 0, 1)
    assert (store.pending(Task.LINK), store.queue_links()) == (1, 0)
    assert [task.record_key for task in store.queued(Task.LINK, 10)] == [key]

"""What every store must do for the graph: keep what each record says, and let it go with the record."""

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
    """The first of the entities is joined with each of the others."""
    return in_order(entities, [Joined(0, place, kind, weight) for place in range(1, len(entities))])


def written(store: Store, id_: str, extract: Extract, *, owner: str = OWNER, text: str = "") -> int:
    """A record that says something; its key."""
    store.put([record(text or id_, id=id_, tasks=(Task.LINK,))])
    (task,) = [task for task in store.queued(Task.LINK, 100) if task.places == (Place(Collection("user:u"), id_),)]
    store.link([task.seq], {task.record_key: (owner, extract)})
    return task.record_key


def named(store: Store, *names: str, owners: tuple[str, ...] = (OWNER,), untrusted: bool = False) -> list[Entity]:
    return store.entities_named(names, owners, untrusted=untrusted)


def around(store: Store, name: str, *, untrusted: bool = False, limit: int = 10) -> list[tuple[str, str, str, float]]:
    """The edges of an entity with the names of their ends."""
    keys = [item.key for item in named(store, name, untrusted=True)]
    edges = store.edges_of(keys, limit, untrusted=untrusted)
    ends = {item.key: item.name for edge in edges for item in store.entities_at([edge.source, edge.target])}
    return [(ends[edge.source], edge.kind.value, ends[edge.target], edge.weight) for edge in edges]


def test_what_a_record_says_is_found_from_either_end(store: Store) -> None:
    key = written(store, "a", says(ATLAS, KAFKA))
    assert around(store, "atlas") == [("atlas", "uses", "kafka", 0.5)]
    assert around(store, "kafka") == [("atlas", "uses", "kafka", 0.5)]
    assert store.said([key, 999]) == {key: (OWNER, says(ATLAS, KAFKA))}
    assert store.pending(Task.LINK) == 0
    assert store.homes([key, 999]) == {key: (Place(Collection("user:u"), "a"),)}


def test_a_record_says_something_else_in_place_of_what_it_said(store: Store) -> None:
    key = written(store, "a", says(ATLAS, KAFKA))
    store.link([], {key: (OWNER, says(ATLAS, REDIS))})
    assert around(store, "atlas") == [("atlas", "uses", "redis", 0.5)]
    assert named(store, "kafka") == []
    store.link([], {key: (OWNER, Extract())})
    assert store.graph_counts(None) == GraphCounts(0, 0, 0)
    assert store.said([key]) == {}


def test_an_owner_sees_nothing_of_another(store: Store) -> None:
    written(store, "a", says(ATLAS, KAFKA))
    written(store, "b", says(ATLAS, REDIS), owner="shared")
    assert [item.owner for item in named(store, "atlas")] == [OWNER]
    assert [item.owner for item in named(store, "atlas", owners=("shared",))] == ["shared"]
    assert sorted(item.owner for item in named(store, "atlas", owners=("shared", OWNER))) == ["shared", OWNER]
    assert named(store, "atlas", owners=("user:other",)) == []
    assert around(store, "atlas") == [("atlas", "uses", "kafka", 0.5)]
    assert store.graph_counts(["shared"]) == GraphCounts(2, 1, 0)
    assert store.graph_counts(None) == GraphCounts(4, 2, 0)


@pytest.mark.requirement("STORE-6")
@pytest.mark.parametrize("way", ["remove", "clear", "replace", "purge record", "purge user"])
def test_edges_and_entities_leave_with_the_last_record_that_says_them(store: Store, way: str) -> None:
    written(store, "a", says(ATLAS, KAFKA))
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
    assert named(store, "kafka") == []
    assert around(store, "atlas") == [("atlas", "uses", "redis", 0.5)]
    assert store.graph_counts(None) == GraphCounts(2, 1, 0)


@pytest.mark.requirement("STORE-6")
def test_purging_a_session_takes_along_what_its_turns_said(store: Store) -> None:
    store.append([turn("we use kafka", id="1", tasks=(Task.LINK,))])
    (task,) = store.queued(Task.LINK, 1)
    store.link([task.seq], {task.record_key: ("session:s", says(ATLAS, KAFKA))})
    store.purge(Purge("p", 1, PurgeKind.SESSION, "s"))
    assert store.graph_counts(None) == GraphCounts(0, 0, 0)


def test_a_record_that_has_gone_meanwhile_says_nothing(store: Store) -> None:
    store.put([record("a", id="a", tasks=(Task.LINK,))])
    (task,) = store.queued(Task.LINK, 1)
    store.remove("user:u", ["a"])
    store.link([task.seq], {task.record_key: (OWNER, says(ATLAS, KAFKA))})
    assert store.graph_counts(None) == GraphCounts(0, 0, 0)


@pytest.mark.requirement("PACK-4")
def test_what_a_record_says_is_trusted_as_the_record_is(store: Store) -> None:
    key = written(store, "a", says(ATLAS, KAFKA))
    place = Place(Collection("user:u"), "a")
    store.mark([Marking(place, trust=Trust.UNTRUSTED)])
    assert (named(store, "kafka"), around(store, "atlas")) == ([], [])
    assert store.entities([OWNER], [], 0, 10, untrusted=False) == []
    assert len(named(store, "kafka", untrusted=True)) == 1
    assert around(store, "atlas", untrusted=True) == [("atlas", "uses", "kafka", 0.5)]
    store.mark([Marking(place, trust=Trust.QUARANTINED)])
    assert named(store, "kafka", untrusted=True) == []
    assert store.entities_seen([place], [OWNER], untrusted=True) == []
    store.link([], {key: (OWNER, says(ATLAS, KAFKA))})
    assert named(store, "kafka", untrusted=True) == []
    store.mark([Marking(place, trust=Trust.UNKNOWN)])
    assert around(store, "atlas") == [("atlas", "uses", "kafka", 0.5)]


def test_the_heaviest_edges_come_first_and_untrusted_ones_do_not_displace_them(store: Store) -> None:
    for number in range(6):
        other = Named(EntityKind.TOOL, f"tool {number}", f"Tool {number}")
        written(store, f"t{number}", says(ATLAS, other, weight=0.9 - number / 10))
    store.mark([Marking(Place(Collection("user:u"), "t0"), trust=Trust.UNTRUSTED)])
    assert [target for _, _, target, _ in around(store, "atlas", limit=2)] == ["tool 1", "tool 2"]
    shown = [target for _, _, target, _ in around(store, "atlas", limit=2, untrusted=True)]
    assert shown == ["tool 1", "tool 2", "tool 0"]


def test_a_title_is_that_of_the_oldest_record_that_may_be_shown(store: Store) -> None:
    first = written(store, "a", says(Named(EntityKind.PROJECT, "atlas", "ATLAS")))
    second = written(store, "b", says(ATLAS))
    (entity,) = named(store, "atlas")
    assert store.titles([entity.key], untrusted=False) == {entity.key: "ATLAS"}
    assert store.naming(entity.key, 10, untrusted=False) == [second, first]
    assert store.namings([entity.key], 10, untrusted=False) == {entity.key: 2}
    assert store.namings([entity.key], 1, untrusted=False) == {entity.key: 1}
    store.mark([Marking(Place(Collection("user:u"), "a"), trust=Trust.UNTRUSTED)])
    assert store.titles([entity.key], untrusted=True) == {entity.key: "Atlas"}
    assert store.naming(entity.key, 10, untrusted=True) == [second, first]
    assert store.naming(entity.key, 10, untrusted=False) == [second]


def test_entities_are_listed_a_page_at_a_time_by_kind(store: Store) -> None:
    written(store, "a", says(ATLAS, KAFKA, REDIS))
    pages: list[Entity] = []
    while page := store.entities([OWNER], [], pages[-1].key if pages else 0, 2, untrusted=False):
        pages += page
    assert {item.name for item in pages} == {"atlas", "kafka", "redis"}
    tools = store.entities([OWNER], [EntityKind.TOOL], 0, 10, untrusted=False)
    assert {item.name for item in tools} == {"kafka", "redis"}
    assert store.entities(["shared"], [], 0, 10, untrusted=False) == []


def test_the_entities_that_a_place_names_are_found(store: Store) -> None:
    written(store, "a", says(ATLAS, KAFKA))
    place = Place(Collection("user:u"), "a")
    found = store.entities_seen(
        [place, Place(Collection("user:u"), "none"), Place(Collection("none"), "a")], [OWNER], untrusted=False
    )
    assert {(at, item.name) for at, item in found} == {(place, "atlas"), (place, "kafka")}
    assert store.entities_seen([place], ["shared"], untrusted=False) == []


@pytest.mark.requirement("STORE-4")
def test_the_graph_is_forgotten_and_every_record_queued_again_once(store: Store) -> None:
    key = written(store, "a", says(ATLAS, KAFKA))
    store.forget_graph()
    assert store.graph_counts(None) == GraphCounts(0, 0, 1)
    assert (store.pending(Task.LINK), store.queue_links()) == (1, 0)
    assert [task.record_key for task in store.queued(Task.LINK, 10)] == [key]

"""Turns of one user that get the same name, and records restored over newer ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clew.core.collections import Collection
from clew.core.model import Role
from clew.errors import Conflict
from clew.storage.protocol import NewRecord, Place, Store
from clew.storage.sqlite import SqliteStore
from tests.testing.drafts import draft, record, turn
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("STORE-1", "STORE-3")

MakeStore = Callable[[], Store]


@pytest.fixture(params=["memory", "sqlite"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    opened: list[Store] = []

    def make() -> Store:
        path = tmp_path / f"store-{len(opened)}.db"
        opened.append(MemoryStore() if request.param == "memory" else SqliteStore(path))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store()


def entries_of(store: Store, collection: str) -> list[tuple[str, str]]:
    return [(found.id, found.text) for found in store.page(collection, 0, 100)]


@pytest.mark.parametrize("second", ["yes", "no"])
def test_two_turns_of_one_name_are_both_kept(store: Store, second: str) -> None:
    first = turn("yes", id="c", session="a/b", user="u")
    assert store.append([first, turn(second, id="b/c", session="a", user="u")]) == [True, True]
    assert entries_of(store, "session_raw:a") == entries_of(store, "session:a") == [("b/c", second)]
    assert entries_of(store, "turns:u") == [("a/b/c", "yes"), ("a/b/c~2", second)]
    assert store.counts().records == 2


def test_turns_of_one_name_delivered_again_add_nothing(store: Store) -> None:
    turns = [turn("yes", id=id_, session=session, user="u") for session, id_ in (("a/b/c", "d"), ("a/b", "c/d"))]
    third = turn("yes", id="b/c/d", session="a", user="u")
    assert store.append([*turns, third]) == [True, True, True]
    assert store.append([third, *turns]) == [False, False, False]
    assert [name for name, _ in entries_of(store, "turns:u")] == ["a/b/c/d", "a/b/c/d~2", "a/b/c/d~3"]


@pytest.mark.requirement("STORE-7")
def test_turns_of_one_name_restore_to_an_equal_store(store: Store, make_store: MakeStore) -> None:
    store.append([turn("yes", id="c", session="a/b", user="u"), turn("yes", id="b/c", session="a", user="u")])
    store.touch({"session:a": ["b/c"]}, 5)
    other = make_store()
    exported = store.export(0, 9)
    assert other.restore(exported, ()) == (2, 0)
    assert other.restore(exported, ()) == (0, 2)
    assert [replace(item, key=0) for item in other.export(0, 9)] == [replace(item, key=0) for item in exported]


@pytest.mark.requirement("STORE-7")
def test_a_turn_restored_where_its_name_is_taken_keeps_its_own_uses(store: Store, make_store: MakeStore) -> None:
    other = make_store()
    other.append([turn("yes", id="b/c", session="a", user="u")])
    other.touch({"session:a": ["b/c"]}, 5)
    store.append([turn("yes", id="c", session="a/b", user="u")])
    assert store.restore(other.export(0, 9), ()) == (1, 0)
    assert [found.access_count for found in store.page("turns:u", 0, 9)] == [0, 1]


@pytest.mark.parametrize("text", ["yes", "no"])
def test_a_turn_with_the_id_of_a_record_in_its_view_is_a_conflict(store: Store, text: str) -> None:
    store.put([NewRecord(draft(text, role=Role.USER), Place(Collection("session:s"), "1"))])
    with pytest.raises(Conflict):
        store.append([turn("yes", id="1")])
    assert store.size("session_raw:s") == 0


# --- records in several places ---------------------------------------------------------------------------

SESSION, USER = Place(Collection("ledger:session:s"), "e"), Place(Collection("ledger:user:u"), "e")


def event(text: str, *also: Place) -> NewRecord:
    return replace(record(text, id="e", collection=SESSION.collection), also=also)


@pytest.mark.requirement("STORE-7")
def test_an_older_record_restored_over_a_newer_one_replaces_it_everywhere(store: Store) -> None:
    store.put([event("first", USER)])
    older = store.export(0, 9)
    store.put([event("second", USER)])
    assert store.restore(older, ()) == (1, 0)
    assert entries_of(store, SESSION.collection) == entries_of(store, USER.collection) == [("e", "first")]
    assert store.counts().records == 1
    assert store.restore(older, ()) == (0, 1)


@pytest.mark.requirement("STORE-7")
def test_a_place_that_another_record_holds_stays_with_it(store: Store, make_store: MakeStore) -> None:
    other = make_store()
    for text in ("older", "told there"):
        other.put([event(text, USER)])
    store.put([record("told here", id="e", collection=USER.collection)])
    assert store.restore(other.export(0, 9), ()) == (1, 0)
    assert entries_of(store, SESSION.collection) == [("e", "told there")]
    assert [(found.text, found.version) for found in store.get(*_args(USER))] == [("told here", 1)]


def _args(place: Place) -> tuple[str, list[str]]:
    return place.collection, [place.id]

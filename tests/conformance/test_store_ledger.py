"""Records in several places, and bookmarks that move with them: what harvesting needs from every store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clew.core.collections import Collection
from clew.core.marks import By, Mark, made, value_of
from clew.errors import RawHistoryProtected
from clew.storage.protocol import Marking, NewRecord, Place, Store
from clew.storage.sqlite import SqliteStore
from tests.testing.drafts import record, turn
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("CAPTURE-2")

SESSION, USER = Place(Collection("ledger:session:s"), "e"), Place(Collection("ledger:user:u"), "e")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")
    yield opened
    opened.close()


def event(text: str, *also: Place) -> NewRecord:
    return replace(record(text, id="e", collection=SESSION.collection), also=also)


def shown(store: Store, place: Place) -> list[tuple[str, int]]:
    return [(found.text, found.version) for found in store.get(place.collection, [place.id])]


def test_one_record_is_shown_in_each_of_its_places(store: Store) -> None:
    assert store.put([event("ran", USER)]) == [(1, True)]
    assert shown(store, SESSION) == shown(store, USER) == [("ran", 1)]
    assert store.places(*_of(USER)) == store.places(*_of(SESSION)) == (SESSION, USER)
    assert store.counts().records == 1


def test_putting_a_record_again_changes_nothing(store: Store) -> None:
    store.put([event("ran", USER)])
    assert store.put([event("ran", USER)]) == [(1, False)]
    assert store.size(USER.collection) == 1


def test_a_place_named_later_is_added(store: Store) -> None:
    store.put([event("ran")])
    assert store.put([event("ran", USER)]) == [(1, True)]
    assert shown(store, USER) == [("ran", 1)]
    assert store.counts().records == 1


def test_new_words_replace_the_record_in_all_its_places(store: Store) -> None:
    store.put([event("ran", USER)])
    assert store.put([event("failed", USER)]) == [(2, True)]
    assert shown(store, SESSION) == shown(store, USER) == [("failed", 2)]
    assert store.counts().records == 1


def test_a_place_that_another_record_holds_stays_with_it(store: Store) -> None:
    store.put([record("older", id="e", collection=USER.collection)])
    store.put([event("ran", USER)])
    store.put([event("failed", USER)])
    assert shown(store, USER) == [("older", 1)]
    assert shown(store, SESSION) == [("failed", 2)]


def test_the_operators_marks_stay_when_the_words_change(store: Store) -> None:
    store.put([event("ran", USER)])
    store.mark([Marking(USER, {Mark.RETENTION: made("P0", By.OPERATOR, 1)})])
    store.put([event("ran", USER), event("failed", USER)])
    (found,) = store.get(*_in(SESSION))
    assert (found.text, value_of(found.marks, Mark.RETENTION)) == ("failed", "P0")


def test_a_bookmark_moves_with_the_records_or_not_at_all(store: Store) -> None:
    assert store.bookmark("log") is None
    store.put([event("ran")], {"log": "1"})
    store.append([turn("hello", id="1")])
    with pytest.raises(RawHistoryProtected):
        store.put([event("failed"), record("x", id="1", collection="session_raw:s")], {"log": "2"})
    assert (store.bookmark("log"), shown(store, SESSION)) == ("1", [("ran", 1)])
    store.put([], {"log": "3"})
    assert store.bookmark("log") == "3"


def _of(place: Place) -> tuple[str, str]:
    return place.collection, place.id


def _in(place: Place) -> tuple[str, list[str]]:
    return place.collection, [place.id]

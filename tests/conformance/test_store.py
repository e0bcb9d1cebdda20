"""What every store must do. Each test runs on the in-memory reference and on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clew.core.collections import Collection
from clew.errors import Conflict, RawHistoryProtected
from clew.storage.protocol import JOURNAL_LIMIT, Place, Store, Task
from clew.storage.sqlite import SqliteStore
from clew.text.terms import ANALYSER_VERSION
from tests.testing.drafts import MODEL, OTHER_MODEL, VECTOR, record, turn
from tests.testing.memory_store import MemoryStore

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


def texts(store: Store, collection: str) -> list[str]:
    return [item.text for item in store.page(collection, 0, 1000)]


# --- turns -----------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-1", "INGEST-1")
def test_a_turn_is_in_each_of_its_places(store: Store) -> None:
    assert store.append([turn("hello", id="1", session="a", user="u")]) == [True]
    assert texts(store, "session:a") == texts(store, "session_raw:a") == texts(store, "turns:u") == ["hello"]
    assert [item.id for item in store.page("turns:u", 0, 9)] == ["a/1"]


@pytest.mark.requirement("STORE-3")
def test_a_turn_appended_twice_is_stored_once(store: Store) -> None:
    assert store.append([turn("hello", id="1"), turn("hello", id="1")]) == [True, False]
    assert texts(store, "session_raw:s") == ["hello"]


@pytest.mark.requirement("STORE-3")
def test_an_id_with_other_content_is_refused_and_nothing_of_the_batch_is_stored(store: Store) -> None:
    store.append([turn("hello", id="1")])
    with pytest.raises(Conflict):
        store.append([turn("before", id="0"), turn("other", id="1")])
    assert texts(store, "session_raw:s") == ["hello"]


@pytest.mark.requirement("STORE-2")
def test_a_turn_that_leaves_the_view_stays_in_its_history(store: Store) -> None:
    store.append([turn("hello", id="1"), turn("world", id="2")])
    assert store.remove("session:s", ["1", "unknown"]) == 1
    assert texts(store, "session:s") == ["world"]
    assert store.clear("session:s") == 1
    assert texts(store, "session_raw:s") == ["hello", "world"]


@pytest.mark.requirement("STORE-2")
def test_raw_history_refuses_removal_clearing_and_foreign_records(store: Store) -> None:
    store.append([turn("hello", id="1")])
    for attempt in (
        lambda: store.remove("session_raw:s", ["1"]),
        lambda: store.clear("session_raw:s"),
        lambda: store.put([record("forged", id="1", collection="session_raw:s")]),
        lambda: store.put([record("forged", id="1", collection="session:s")]),
    ):
        with pytest.raises(RawHistoryProtected):
            attempt()
    assert texts(store, "session_raw:s") == texts(store, "session:s") == ["hello"]


# --- records ---------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-3")
def test_putting_a_record_again_changes_nothing_and_other_content_updates_it(store: Store) -> None:
    assert store.put([record("one", id="m", colour="red")]) == [(1, True)]
    assert store.put([record("one", id="m", colour="red")]) == [(1, False)]
    assert store.put([record("two", id="m", colour="red")]) == [(2, True)]
    assert store.put([record("two", id="m", colour="blue")]) == [(3, True)]
    assert texts(store, "user:u") == ["two"]
    assert store.counts().records == 1


@pytest.mark.requirement("STORE-1")
def test_equal_ids_in_two_collections_are_two_records(store: Store) -> None:
    store.put([record("mine", id="m", collection="user:1"), record("yours", id="m", collection="user:10")])
    assert texts(store, "user:1") == ["mine"]
    assert store.clear("user:1") == 1
    assert texts(store, "user:10") == ["yours"]


def test_get_keeps_the_requested_order_and_skips_missing_records(store: Store) -> None:
    store.put([record(text, id=text) for text in ("a", "b", "c")])
    assert [item.id for item in store.get("user:u", ["c", "x", "a"])] == ["c", "a"]
    assert store.get("user:nobody", ["a"]) == []


def test_page_starts_at_the_oldest_and_newest_runs_backwards(store: Store) -> None:
    store.put([record(text, id=text) for text in "abcde"])
    page = store.page("user:u", 0, 2)
    assert [item.id for item in page] == ["a", "b"]
    assert [item.id for item in store.page("user:u", page[-1].seq, 9)] == ["c", "d", "e"]
    back = store.newest("user:u", None, 2)
    assert [item.id for item in back] == ["e", "d"]
    assert [item.id for item in store.newest("user:u", back[-1].seq, 2)] == ["c", "b"]
    assert [item.id for item in store.at("user:u", [back[0].seq, 999, page[0].seq])] == ["e", "a"]


def test_collections_are_listed_with_their_size_empty_ones_too(store: Store) -> None:
    store.ensure(["user:empty", "user:empty"])
    store.put([record("a", id="a")])
    assert store.collections() == [("user:empty", 0), ("user:u", 1)]


@pytest.mark.requirement("RANK-4")
def test_uses_are_counted_and_survive_an_update(store: Store) -> None:
    store.put([record("one", id="m")])
    assert store.touch({"user:u": ["m", "unknown"], "user:nobody": ["m"]}, 5) == 1
    assert store.touch({"user:u": ["m"]}, 3) == 1
    store.put([record("two", id="m")])
    (found,) = store.get("user:u", ["m"])
    assert (found.access_count, found.last_used_ms) == (2, 5)


# --- the feed --------------------------------------------------------------------------------------


@pytest.mark.requirement("INGEST-5", "STORE-4")
def test_the_feed_gives_the_changes_after_a_number(store: Store) -> None:
    assert store.feed("user:u", 0).until == 0
    store.put([record("a", id="a"), record("b", id="b")])
    first = store.feed("user:u", 0)
    assert [row.seq for row in first.added] == [1, 2]
    assert not first.reset
    store.put([record("b2", id="b"), record("c", id="c")])
    store.remove("user:u", ["a"])
    second = store.feed("user:u", first.until)
    assert sorted(second.removed) == [1, 2]
    assert len(second.added) == 2
    again = store.feed("user:u", second.until)
    assert (again.until, list(again.added), list(again.removed)) == (second.until, [], [])


def test_a_cleared_collection_tells_its_reader_to_start_again(store: Store) -> None:
    store.put([record("a", id="a")])
    until = store.feed("user:u", 0).until
    store.clear("user:u")
    store.put([record("b", id="b")])
    feed = store.feed("user:u", until)
    assert feed.reset
    assert len(feed.added) == 1


def test_vectors_arrive_through_the_feed_in_every_place_of_a_record(store: Store) -> None:
    store.adopt_model(MODEL)
    store.append([turn("hello", id="1", user="u", tasks=(Task.EMBED,))])
    seen = {name: store.feed(name, 0).until for name in ("session:s", "session_raw:s", "turns:u")}
    (task,) = store.queued(Task.EMBED, 10)
    store.finish([task.seq], {task.record_key: VECTOR})
    for name, until in seen.items():
        assert list(store.feed(name, until).vectors) == [(1, VECTOR)]
        assert store.feed(name, 0).added[0].vector == VECTOR


# --- the queue -------------------------------------------------------------------------------------


@pytest.mark.requirement("INGEST-3")
def test_tasks_wait_in_order_until_they_are_finished(store: Store) -> None:
    store.adopt_model(MODEL)
    store.append([turn(text, id=text, user="u", tasks=(Task.EMBED, Task.GATE)) for text in "abc"])
    assert [task.draft.text for task in store.queued(Task.EMBED, 2)] == ["a", "b"]
    assert store.pending(Task.GATE) == 3
    first = store.queued(Task.EMBED, 1)[0]
    store.finish([first.seq], {first.record_key: VECTOR})
    assert [task.draft.text for task in store.queued(Task.EMBED, 9)] == ["b", "c"]
    gate = store.queued(Task.GATE, 1)[0]
    assert gate.vector == VECTOR
    assert Place(Collection("turns:u"), "s/a") in gate.places


def test_finishing_a_task_stores_its_memory_in_the_same_step(store: Store) -> None:
    store.adopt_model(MODEL)
    store.append([turn("keep me", id="1", user="u", tasks=(Task.GATE,))])
    (task,) = store.queued(Task.GATE, 1)
    store.finish([task.seq], {}, {task.seq: record("keep me", id="m")})
    assert texts(store, "user:u") == ["keep me"]
    assert store.counts().pending == 0


def test_removing_a_record_removes_its_tasks_and_a_late_vector_is_dropped(store: Store) -> None:
    store.adopt_model(MODEL)
    store.put([record("a", id="a", tasks=(Task.EMBED,))])
    (task,) = store.queued(Task.EMBED, 1)
    store.remove("user:u", ["a"])
    store.finish([task.seq], {task.record_key: VECTOR})
    assert store.counts().pending == 0
    assert store.counts().records == 0


@pytest.mark.requirement("STORE-5")
def test_adopting_a_model_queues_the_records_it_has_not_embedded(store: Store) -> None:
    assert store.model() is None
    store.put([record("a", id="a"), record("b", id="b")])
    assert store.adopt_model(MODEL) == 2
    assert store.adopt_model(MODEL) == 0
    tasks = store.queued(Task.EMBED, 9)
    store.finish([task.seq for task in tasks], {task.record_key: VECTOR for task in tasks})
    until = store.feed("user:u", 0).until
    assert store.adopt_model(OTHER_MODEL) == 2
    assert store.model() == OTHER_MODEL
    feed = store.feed("user:u", until)
    assert feed.reset
    assert [row.vector for row in feed.added] == [None, None]


@pytest.mark.requirement("STORE-5")
def test_vectors_of_a_replaced_embedder_change_nothing(store: Store) -> None:
    store.adopt_model(MODEL)
    store.put([record("a", id="a", tasks=(Task.EMBED,))])
    (task,) = store.queued(Task.EMBED, 1)
    store.adopt_model(OTHER_MODEL)
    store.finish([task.seq], {task.record_key: VECTOR}, embedder=MODEL)
    assert store.pending(Task.EMBED) == 1
    assert store.feed("user:u", 0).added[0].vector is None
    store.finish([task.seq], {task.record_key: VECTOR}, embedder=OTHER_MODEL)
    assert store.pending(Task.EMBED) == 0


@pytest.mark.requirement("STORE-4")
def test_records_without_a_vector_are_found_and_queued(store: Store) -> None:
    store.adopt_model(MODEL)
    store.put([record("a", id="a")])
    assert store.queue_missing_vectors() == 1
    assert store.queue_missing_vectors() == 0


@pytest.mark.requirement("STORE-4")
def test_search_terms_can_be_rebuilt_from_the_rows(store: Store) -> None:
    store.put([record("a", id="a")])
    store.append([turn("hello", id="1")])
    until = store.feed("user:u", 0).until
    assert store.analyser_version() == ANALYSER_VERSION
    assert store.replace_terms(7, lambda draft: draft.text.encode().ljust(9, b"_")) == 2
    assert store.analyser_version() == 7
    feed = store.feed("user:u", until)
    assert feed.reset
    assert feed.added[0].terms == b"a________"


# --- journal, transfer, checks -----------------------------------------------------------------------


@pytest.mark.requirement("LIFE-6")
def test_the_journal_is_bounded_and_newest_first(store: Store) -> None:
    for number in range(JOURNAL_LIMIT + 5):
        store.add_hint(number, "session_end", f"s{number % 2}", {"n": number})
    assert store.counts().hints == JOURNAL_LIMIT
    newest = store.hints(None, 2)
    assert [hint.details["n"] for hint in newest] == [JOURNAL_LIMIT + 4, JOURNAL_LIMIT + 3]
    assert {hint.session_id for hint in store.hints("s1", 9)} == {"s1"}


@pytest.mark.requirement("STORE-7")
def test_an_export_restores_to_an_equal_store(make_store: MakeStore) -> None:
    first, second = make_store(), make_store()
    first.append([turn("hello", id="1", user="u"), turn("world", id="2")])
    first.put([record("one", id="m", colour="red")])
    first.put([record("two", id="m", colour="red")])
    first.remove("session:s", ["2"])
    first.touch({"user:u": ["m"]}, 5)
    exported = first.export(0, 100)
    assert second.restore(exported, ()) == (3, 0)
    assert second.restore(exported, ()) == (0, 3)
    strip = [(item.draft, item.raw, item.places, item.version, item.access_count) for item in exported]
    again = [(item.draft, item.raw, item.places, item.version, item.access_count) for item in second.export(0, 100)]
    assert again == strip
    assert texts(second, "session:s") == ["hello"]


def test_a_refused_restore_changes_nothing(make_store: MakeStore) -> None:
    first, second = make_store(), make_store()
    first.append([turn("new", id="0"), turn("hello", id="1")])
    second.append([turn("other", id="1")])
    with pytest.raises(Conflict):
        second.restore(first.export(0, 9), ())
    assert texts(second, "session_raw:s") == ["other"]


@pytest.mark.requirement("SAFE-1")
def test_a_healthy_store_has_no_problems(store: Store) -> None:
    store.adopt_model(MODEL)
    store.append([turn("hello", id="1", user="u", tasks=(Task.EMBED,))])
    store.put([record("one", id="m", tasks=(Task.EMBED,))])
    store.remove("session:s", ["1"])
    assert [finding.problems for finding in store.findings() if finding.problems] == []


def test_many_threads_write_and_nothing_is_lost(store: Store) -> None:
    def write(number: int) -> None:
        store.append([turn(f"text {number}", id=str(number), user="u", tasks=(Task.GATE,))])

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(200)))
    assert {item.id for item in store.page("session_raw:s", 0, 1000)} == {str(number) for number in range(200)}
    assert len({item.seq for item in store.page("turns:u", 0, 1000)}) == 200
    assert store.pending(Task.GATE) == 200

"""What every store must do for compaction: summaries replace turns in the view, and no turn is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from clew.core.collections import Collection
from clew.core.model import Provenance
from clew.errors import ClewError, Conflict, RawHistoryProtected
from clew.storage.protocol import NewSummary, Place, Shard, Store, Task
from clew.storage.sqlite import SqliteStore
from tests.testing.drafts import MODEL, VECTOR, draft, record, turn
from tests.testing.memory_store import MemoryStore

MakeStore = Callable[[], Store]

GUIDANCE = Place(Collection("elevated:user:u"), "s/a")


@pytest.fixture(params=["memory", "sqlite"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    opened: list[Store] = []

    def make() -> Store:
        path = tmp_path / f"store-{len(opened)}.db"
        opened.append(MemoryStore() if request.param == "memory" else SqliteStore(path, synchronous="normal"))
        return opened[-1]

    yield make
    for store in opened:
        assert [finding for finding in store.findings() if finding.problems] == []
        store.close()


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """With a session of four turns, the first of which a user said."""
    made = make_store()
    made.append([turn(f"said {id_}", id=id_, user="u" if id_ == "a" else None) for id_ in "abcd"])
    return made


def summary(id_: str, sources: Sequence[str], *, text: str = "", tasks: tuple[Task, ...] = ()) -> NewSummary:
    about = draft(text or f"of {' '.join(sources)}", role=None, source_ids=list(sources))
    return NewSummary(id_, replace(about, provenance=Provenance.SUMMARY), tuple(sources), tasks)


def ids(store: Store, collection: str) -> list[str]:
    return [item.id for item in store.page(collection, 0, 1000)]


def state(store: Store) -> tuple[object, ...]:
    return store.collections(), [(item.draft, item.places) for item in store.export(0, 1000)]


# --- condense --------------------------------------------------------------------------------------


@pytest.mark.requirement("COMP-2", "STORE-2")
def test_a_summary_replaces_its_sources_in_the_view_alone(store: Store) -> None:
    store.condense("s", [summary("x", "ab")])
    assert ids(store, "session:s") == ["c", "d", "x"]
    assert ids(store, "session_summary:s") == ["x"]
    assert [item.text for item in store.page("session_raw:s", 0, 9)] == ["said a", "said b", "said c", "said d"]
    assert ids(store, "turns:u") == ["s/a"]


@pytest.mark.requirement("COMP-7")
def test_a_summary_may_cover_an_earlier_one_of_the_same_step(store: Store) -> None:
    store.condense("s", [summary("x", "ab"), summary("y", "cd"), summary("z", "xy")])
    assert ids(store, "session:s") == ["z"]
    assert ids(store, "session_summary:s") == ["x", "y", "z"]
    assert store.get("session_summary:s", ["z"])[0].metadata["source_ids"] == ["x", "y"]


@pytest.mark.requirement("COMP-2")
@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param([summary("x", "ab"), summary("y", "bc")], id="a source that has left the view"),
        pytest.param([summary("y", "cz"), summary("z", "ab")], id="a source that comes later"),
        pytest.param([summary("x", "ab"), summary("x", "cd")], id="an id taken in the same step"),
        pytest.param([summary("x", "ab"), summary("d", "c")], id="an id that a turn has"),
        pytest.param([summary("x", "ab"), summary("y", "")], id="no source"),
        pytest.param([summary("x", "ab"), summary("y", ["c", "unknown"])], id="an unknown source"),
    ],
)
def test_a_summary_that_does_not_fit_the_view_changes_nothing(store: Store, wrong: list[NewSummary]) -> None:
    before = state(store)
    with pytest.raises(Conflict):
        store.condense("s", wrong, [Shard("a", GUIDANCE)])
    assert state(store) == before


@pytest.mark.requirement("COMP-2")
def test_a_shard_of_a_turn_the_session_does_not_have_changes_nothing(store: Store) -> None:
    before = state(store)
    with pytest.raises(Conflict):
        store.condense("s", [summary("x", "ab")], [Shard("a", GUIDANCE), Shard("unknown", GUIDANCE)])
    assert state(store) == before


@pytest.mark.requirement("COMP-2")
def test_a_record_that_a_client_put_into_the_view_is_never_summarised_away(store: Store) -> None:
    store.put([record("a client's own note", id="note", collection="session:s")])
    with pytest.raises(Conflict):
        store.condense("s", [summary("x", ["a", "note"])])
    assert store.get("session:s", ["note"])[0].text == "a client's own note"


@pytest.mark.requirement("COMP-2")
def test_a_clients_record_with_the_id_of_a_summary_is_never_summarised_away(store: Store) -> None:
    store.put([record("a client's own note", id="note", collection="session:s")])
    store.put([record("another text", id="note", collection="session_summary:s")])
    with pytest.raises(Conflict):
        store.condense("s", [summary("x", ["a", "note"])])
    assert store.get("session:s", ["note"])[0].text == "a client's own note"


def test_a_source_named_twice_leaves_the_view_once(store: Store) -> None:
    until = store.feed("session:s", 0).until
    store.condense("s", [summary("x", "aab")])
    assert ids(store, "session:s") == ["c", "d", "x"]
    assert sorted(store.feed("session:s", until).removed) == [1, 2]


@pytest.mark.requirement("COMP-2", "STORE-1")
def test_condensing_an_unknown_session_is_refused_and_leaves_no_trace(store: Store) -> None:
    before = state(store)
    with pytest.raises(Conflict):
        store.condense("other", [summary("x", "ab")])
    assert store.readmit("other", ["a"]) == 0
    assert state(store) == before


@pytest.mark.requirement("STORE-1")
def test_equal_ids_in_another_session_are_left_alone(store: Store) -> None:
    store.append([turn("elsewhere", id="a", session="t")])
    store.condense("s", [summary("x", "ab")])
    assert ids(store, "session:t") == ["a"]


@pytest.mark.requirement("COMP-2", "STORE-4")
def test_a_loaded_index_learns_of_a_condensation_through_the_feed(store: Store) -> None:
    until = store.feed("session:s", 0).until
    store.condense("s", [summary("x", "ab")])
    feed = store.feed("session:s", until)
    assert not feed.reset
    assert sorted(feed.removed) == [1, 2]
    assert [row.seq for row in feed.added] == [until + 1]
    assert [item.id for item in store.at("session:s", [until + 1])] == ["x"]


def test_a_summary_brings_its_vector_or_waits_for_one(store: Store) -> None:
    store.adopt_model(MODEL)
    waiting = store.pending(Task.EMBED)
    store.condense("s", [replace(summary("x", "ab"), vector=VECTOR), summary("y", "cd", tasks=(Task.EMBED,))])
    assert store.pending(Task.EMBED) == waiting + 1
    assert [row.vector for row in store.feed("session_summary:s", 0).added] == [VECTOR, None]


@pytest.mark.requirement("COMP-2")
def test_of_many_condensations_of_the_same_turns_one_succeeds(store: Store) -> None:
    def attempt(number: int) -> bool:
        try:
            store.condense("s", [summary(f"x{number}", "ab")])
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == 1
    assert len(ids(store, "session:s")) == 3
    assert len(ids(store, "session_summary:s")) == 1


# --- shards ------------------------------------------------------------------------------------------


@pytest.mark.requirement("GUIDE-2", "COMP-2")
def test_a_shard_is_the_turn_itself_in_one_more_place(store: Store) -> None:
    records = store.counts().records
    store.condense("s", [summary("x", "ab")], [Shard("a", GUIDANCE)])
    assert [item.text for item in store.page("elevated:user:u", 0, 9)] == ["said a"]
    assert store.places("elevated:user:u", "s/a") == (
        GUIDANCE,
        Place(Collection("session_raw:s"), "a"),
        Place(Collection("turns:u"), "s/a"),
    )
    assert store.counts().records == records + 1


@pytest.mark.requirement("GUIDE-2")
def test_an_existing_shard_stays_as_it_is(store: Store) -> None:
    store.condense("s", [summary("x", "ab")], [Shard("a", GUIDANCE)])
    store.condense("s", [summary("y", "cd")], [Shard("a", GUIDANCE)])
    assert ids(store, "elevated:user:u") == ["s/a"]


# --- what protects summaries ---------------------------------------------------------------------------


@pytest.mark.requirement("COMP-8", "STORE-2")
def test_no_record_can_be_written_over_a_summary(store: Store) -> None:
    store.condense("s", [summary("x", "ab", text="the gist")])
    for collection in ("session:s", "session_summary:s"):
        with pytest.raises(RawHistoryProtected):
            store.put([record("forged", id="x", collection=collection)])
        assert store.get(collection, ["x"])[0].text == "the gist"


@pytest.mark.requirement("COMP-8", "STORE-2")
@pytest.mark.parametrize("collection", ["session:s", "session_summary:s"])
def test_no_summary_can_be_taken_out_of_its_session(store: Store, collection: str) -> None:
    store.condense("s", [summary("x", "ab")])
    before = state(store)
    for attempt in (lambda: store.remove(collection, ["c", "x"]), lambda: store.clear(collection)):
        with pytest.raises(RawHistoryProtected):
            attempt()
        assert state(store) == before


@pytest.mark.requirement("COMP-8", "STORE-3")
def test_a_turn_delivered_again_after_its_compaction_does_not_come_back(store: Store) -> None:
    store.condense("s", [summary("x", "ab")])
    assert store.append([turn("said a", id="a", user="u")]) == [False]
    assert ids(store, "session:s") == ["c", "d", "x"]
    with pytest.raises(Conflict):
        store.append([turn("something else", id="a")])


@pytest.mark.requirement("COMP-8")
def test_a_turn_cannot_take_the_id_of_a_summary_in_the_view(store: Store) -> None:
    store.condense("s", [summary("x", "ab")])
    with pytest.raises(Conflict):
        store.append([turn("in its place", id="x")])
    assert ids(store, "session:s") == ["c", "d", "x"]


# --- dismissed and readmitted --------------------------------------------------------------------------


@pytest.mark.requirement("COMP-8", "STORE-2")
@pytest.mark.parametrize("take_out", [lambda s: s.remove("session:s", ["a", "b", "a"]), lambda s: s.clear("session:s")])
def test_only_turns_taken_out_of_the_view_are_noted_as_dismissed(
    store: Store, take_out: Callable[[Store], int]
) -> None:
    store.put([record("a client's own note", id="note", collection="session:s")])
    shown = len(ids(store, "session:s"))
    gone = take_out(store)
    assert len(ids(store, "session:s")) == shown - gone
    assert ids(store, "_dismissed:s") == [id_ for id_ in "abcd" if id_ not in ids(store, "session:s")]
    assert ids(store, "session_raw:s") == list("abcd")


@pytest.mark.requirement("COMP-8")
def test_compacted_turns_are_not_noted_as_dismissed(store: Store) -> None:
    store.condense("s", [summary("x", "ab")])
    assert ids(store, "_dismissed:s") == []


@pytest.mark.requirement("STORE-2")
def test_a_turn_that_leaves_another_collection_is_not_dismissed_from_its_session(store: Store) -> None:
    assert store.remove("turns:u", ["s/a"]) == 1
    assert store.size("_dismissed:s") == 0
    assert ids(store, "session:s") == list("abcd")


@pytest.mark.requirement("COMP-8")
def test_turns_and_summaries_come_back_into_the_view_once(store: Store) -> None:
    store.condense("s", [summary("x", "ab"), summary("y", "xc")])
    store.remove("session:s", ["d"])
    assert store.readmit("s", ["x", "d", "unknown", "d", "y"]) == 2
    assert ids(store, "session:s") == ["y", "x", "d"]
    assert store.readmit("s", ["x", "d"]) == 0
    assert store.places("session:s", "x") == (
        Place(Collection("session:s"), "x"),
        Place(Collection("session_summary:s"), "x"),
    )


@pytest.mark.requirement("STORE-1")
def test_nothing_of_another_session_is_readmitted(store: Store) -> None:
    store.append([turn("elsewhere", id="other", session="t")])
    assert store.readmit("s", ["other"]) == 0
    assert store.readmit("t", ["a"]) == 0


# --- places and size -----------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-1")
def test_places_lists_where_a_record_is_and_is_empty_where_there_is_none(store: Store) -> None:
    everywhere = (
        Place(Collection("session:s"), "a"),
        Place(Collection("session_raw:s"), "a"),
        Place(Collection("turns:u"), "s/a"),
    )
    assert store.places("turns:u", "s/a") == store.places("session:s", "a") == everywhere
    store.remove("session:s", ["a"])
    assert store.places("session_raw:s", "a") == (Place(Collection("_dismissed:s"), "a"), *everywhere[1:])
    assert store.places("session:s", "a") == store.places("session:s", "unknown") == store.places("nowhere", "a") == ()


def test_size_counts_the_members_of_one_collection(store: Store) -> None:
    assert (store.size("session:s"), store.size("turns:u"), store.size("session:unknown")) == (4, 1, 0)
    store.condense("s", [summary("x", "abc")])
    assert (store.size("session:s"), store.size("session_raw:s"), store.size("session_summary:s")) == (2, 4, 1)
    store.clear("turns:u")
    assert store.size("turns:u") == 0


# --- moving --------------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-7", "COMP-8")
def test_a_compacted_session_restores_to_an_equal_one(store: Store, make_store: MakeStore) -> None:
    store.condense("s", [summary("x", "ab"), summary("y", "x")], [Shard("a", GUIDANCE)])
    store.remove("session:s", ["c"])
    other = make_store()
    exported = store.export(0, 100)
    assert other.restore(exported, ()) == (6, 0)
    assert state(other) == state(store)
    assert other.restore(exported, ()) == (0, 6)
    assert state(other) == state(store)


@pytest.mark.requirement("STORE-7", "COMP-8")
def test_an_older_export_does_not_undo_a_newer_compaction(store: Store) -> None:
    store.condense("s", [summary("x", "ab")])
    older = store.export(0, 100)
    store.condense("s", [summary("y", "xc")])
    before = state(store)
    assert store.restore(older, ()) == (0, 5)
    assert state(store) == before


@pytest.mark.requirement("STORE-7")
def test_a_restore_leaves_a_summary_made_in_both_stores_as_it_is(store: Store, make_store: MakeStore) -> None:
    other = make_store()
    other.restore(store.export(0, 100), ())
    store.condense("s", [summary("x", "ab", text="told here")])
    other.condense("s", [summary("x", "ab", text="told there")])
    assert store.restore(other.export(0, 100), ()) == (0, 5)
    assert store.get("session:s", ["x"])[0].text == "told here"


@pytest.mark.requirement("STORE-2")
def test_raw_history_refuses_its_removal_after_compaction_too(store: Store) -> None:
    store.condense("s", [summary("x", "abcd")])
    for attempt in (lambda: store.remove("session_raw:s", ["a"]), lambda: store.clear("session_raw:s")):
        with pytest.raises(ClewError):
            attempt()
    assert store.size("session_raw:s") == 4

"""What every store must do for judging and purging: keep marks beside the text, archive records, purge them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clew.core.collections import Collection
from clew.core.ids import memory_id
from clew.core.lineage import Lineage
from clew.core.marks import By, Mark, made, value_of
from clew.core.model import Provenance, Trust
from clew.errors import NotFound, RawHistoryProtected
from clew.storage.protocol import TRACE_LIMIT, Marking, NewRecord, NewSummary, Place, Shard, Store, StoredTrace, Task
from clew.storage.purging import Purge, PurgeEntry, PurgeKind, target_digest
from clew.storage.sqlite import SqliteStore
from tests.testing.drafts import MODEL, VECTOR, draft, record, turn
from tests.testing.memory_store import MemoryStore


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made_: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "c.db", synchronous="normal")
    yield made_
    assert [finding for finding in made_.findings() if finding.problems] == []
    made_.close()


def ids(store: Store, collection: str) -> list[str]:
    return [item.id for item in store.page(collection, 0, 1000)]


def trace(id_: str, *, user: str | None = "u", session: str | None = None, refs: tuple[str, ...] = ()) -> StoredTrace:
    cited = ",".join(f'{{"ref":"{ref}"}}' for ref in refs)
    return StoredTrace(id_, 1, user, session, f'{{"candidates":[{cited}]}}')


def summary(id_: str, *sources: str, level: int = 1, priors: tuple[str, ...] = ()) -> NewSummary:
    lineage = Lineage(
        level=level, source_ids=sources, turn_count=len(sources), first_ts_ms=1, last_ts_ms=2, compacted_ts_ms=3,
        method="extractive", confidence=0.5, source_tokens=9, prior_ids=priors,
    )  # fmt: skip
    about = replace(draft(f"of {' '.join(sources)}", role=None), provenance=Provenance.SUMMARY)
    return NewSummary(id_, replace(about, metadata=lineage.as_metadata()), sources)


def order(kind: PurgeKind, target: str, id_: str = "p1") -> Purge:
    return Purge(id_, 5, kind, target)


# --- marks -------------------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-4", "PACK-4")
def test_marking_a_turn_leaves_its_text_unchanged(store: Store) -> None:
    store.append([turn("said", id="a", user="u")])
    mark = made({"trust": "quarantined", "reason": "asked for"}, By.OPERATOR, 7)
    assert store.mark([Marking(Place(Collection("session:s"), "a"), {Mark.TRUST: mark}, Trust.QUARANTINED)]) == 1
    for name, id_ in (("session:s", "a"), ("session_raw:s", "a"), ("turns:u", "s/a")):
        (found,) = store.get(name, [id_])
        assert (found.text, found.trust, found.marks) == ("said", Trust.QUARANTINED, {"trust": mark})
        assert store.withheld(name) == [found.seq]
    assert [item.draft.text for item in store.trusted(Trust.QUARANTINED, 0, 10)] == ["said"]
    assert store.trusted(Trust.TRUSTED, 0, 10) == []


@pytest.mark.requirement("CAPTURE-2")
def test_the_operators_marks_are_not_overwritten(store: Store) -> None:
    store.put([record("old", id="a")])
    place = Place(Collection("user:u"), "a")
    store.mark([Marking(place, {Mark.KIND: made("decision", By.OPERATOR, 1)})])
    store.mark([Marking(place, {Mark.KIND: made("note", By.CLEW, 2), Mark.RETENTION: made("P1", By.CLEW, 2)})])
    marked = replace(draft("new"), marks={"kind": made("note", By.CLEW, 3)})
    store.put([NewRecord(marked, place)])
    (found,) = store.get("user:u", ["a"])
    assert (found.text, value_of(found.marks, Mark.KIND), value_of(found.marks, Mark.RETENTION)) == (
        "new", "decision", None,
    )  # fmt: skip
    store.mark([Marking(place, {Mark.KIND: None})])
    assert store.get("user:u", ["a"])[0].marks == {}


@pytest.mark.requirement("PACK-4")
def test_when_a_text_changes_the_operators_quarantine_stays_and_a_confirmation_ends(
    store: Store,
) -> None:
    for verdict in (Trust.QUARANTINED, Trust.TRUSTED):
        place = Place(Collection("user:u"), verdict.value)
        store.put([NewRecord(draft("old"), place)])
        mark = made({"trust": verdict.value, "reason": ""}, By.OPERATOR, 1)
        store.mark([Marking(place, {Mark.TRUST: mark}, verdict)])
        store.put([NewRecord(draft("new"), place)])
        again = Place(Collection("user:u"), f"same {verdict.value}")
        store.put([NewRecord(draft("same"), again)])
        store.mark([Marking(again, {Mark.TRUST: mark}, verdict)])
        store.put([NewRecord(draft("same", other="metadata"), again)])
        assert store.get("user:u", [again.id])[0].trust is verdict
    held, free = store.get("user:u", ["quarantined", "trusted"])
    assert (held.trust, value_of(held.marks, Mark.TRUST)["trust"]) == (Trust.QUARANTINED, "quarantined")
    assert (free.trust, free.marks) == (Trust.UNKNOWN, {})


@pytest.mark.requirement("PACK-4")
def test_marking_a_missing_record_changes_nothing(store: Store) -> None:
    assert store.mark([Marking(Place(Collection("user:u"), "a"), {Mark.KIND: made("note", By.CLEW, 1)})]) == 0
    assert store.collections() == []
    assert store.withheld("user:u") == []


# --- moving ------------------------------------------------------------------------------------------


@pytest.mark.requirement("PACK-4")
def test_only_the_feed_of_plans_reports_new_marks(store: Store) -> None:
    places = [Place(Collection.plans("u"), "p"), Place(Collection.memories("u"), "m")]
    store.put([record("call", id=place.id, collection=place.collection) for place in places])
    seen = {place: store.feed(place.collection, 0).until for place in places}
    for change in ({"marks": {Mark.KIND: made("plan", By.CLEW, 1)}}, {"trust": Trust.QUARANTINED}):
        store.mark([Marking(place, **change) for place in places])
        plans, memories = (store.feed(place.collection, seen[place]) for place in places)
        assert list(plans.marked) == [1]
        assert (plans.added, plans.removed, plans.reset) == ([], [], False)
        assert memories.until == seen[places[1]]
        seen[places[0]] = plans.until
    assert store.feed(places[0].collection, seen[places[0]]).marked in ((), [])


@pytest.mark.requirement("LIFE-3")
def test_a_record_keeps_everything_when_it_moves_to_another_collection_and_back(store: Store) -> None:
    store.adopt_model(MODEL)
    store.put([NewRecord(draft("kept"), Place(Collection("user:u"), "a"), vector=VECTOR)])
    store.touch({"user:u": ["a"]}, 9)
    before = store.feed("user:u", 0).until
    assert store.move([Place(Collection("user:u"), "a"), Place(Collection("user:u"), "unknown")], "archive:user:u") == 1
    assert ids(store, "user:u") == []
    assert store.feed("user:u", before).removed == [1]
    assert store.feed("archive:user:u", 0).added[0].vector == VECTOR
    assert store.move([Place(Collection("archive:user:u"), "a")], "user:u") == 1
    (found,) = store.get("user:u", ["a"])
    assert (found.text, found.access_count, found.last_used_ms) == ("kept", 1, 9)


@pytest.mark.requirement("LIFE-3")
def test_a_record_does_not_move_over_another(store: Store) -> None:
    store.put([record("old", id="a"), NewRecord(draft("new"), Place(Collection("archive:user:u"), "a"))])
    assert store.move([Place(Collection("archive:user:u"), "a")], "user:u") == 0
    assert store.get("user:u", ["a"])[0].text == "old"


@pytest.mark.requirement("STORE-2")
def test_turns_and_summaries_do_not_move(store: Store) -> None:
    store.append([turn("said", id="a", user="u"), turn("more", id="b")])
    store.condense("s", [summary("x", "a", "b")])
    for place in (
        Place(Collection("session_raw:s"), "a"),
        Place(Collection("turns:u"), "s/a"),
        Place(Collection("session:s"), "x"),
    ):
        with pytest.raises(RawHistoryProtected):
            store.move([place], "archive:x")


# --- traces and bookmarks ------------------------------------------------------------------------------


@pytest.mark.requirement("PACK-3")
def test_traces_are_bounded_in_number_and_each_is_kept_once(store: Store) -> None:
    for number in range(TRACE_LIMIT + 2):
        store.touch({}, 1, trace(f"t{number}"))
    store.touch({}, 1, trace(f"t{TRACE_LIMIT + 1}"))
    assert [item.id for item in store.traces(2)] == [f"t{TRACE_LIMIT + 1}", f"t{TRACE_LIMIT}"]
    assert len(store.traces(10_000)) == TRACE_LIMIT
    assert store.trace("t0") is None
    assert store.trace("t5") == trace("t5")


@pytest.mark.requirement("CAPTURE-2")
def test_a_bookmark_moves_with_the_records_or_not_at_all(store: Store) -> None:
    assert store.bookmark("log") is None
    store.put([record("a", id="a")], {"log": "12"})
    with pytest.raises(RawHistoryProtected):
        store.put([replace(record("b", id="b"), place=Place(Collection("session_raw:s"), "b"))], {"log": "99"})
    assert store.bookmark("log") == "12"


# --- purging -----------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-6")
def test_purging_a_turn_removes_what_was_made_from_it_and_uncovers_the_other_turns(store: Store) -> None:
    store.append([turn(f"said {id_}", id=id_, user="u") for id_ in "abcdef"])
    memory = memory_id("turns:u", "s/a")
    store.put([NewRecord(draft("kept"), Place(Collection("user:u"), memory)), record("other", id="o")])
    store.condense(
        "s", [summary("x", "a", "b"), summary("y", "c", "d")], [Shard("a", Place(Collection("elevated:user:u"), "s/a"))]
    )
    store.condense("s", [summary("z", "x", "y", level=2), summary("w", "e", priors=("z",))])
    foreseen = store.foresee(order(PurgeKind.RECORD, "session_raw:s/a"))
    assert ids(store, "session_raw:s") == list("abcdef")
    purged = store.purge(order(PurgeKind.RECORD, "session_raw:s/a"))
    assert purged == foreseen
    assert (purged.records, purged.turns, purged.summaries, purged.memories, purged.readmitted) == (5, 1, 3, 1, 3)
    assert ids(store, "session_raw:s") == list("bcdef")
    assert sorted(ids(store, "session:s")) == ["b", "e", "f", "y"]
    assert ids(store, "session_summary:s") == ["y"]
    assert ids(store, "user:u") == ["o"]
    assert ids(store, "elevated:user:u") == []
    assert ids(store, "turns:u") == [f"s/{id_}" for id_ in "bcdef"]


@pytest.mark.requirement("STORE-6")
def test_purging_a_user_removes_their_sessions_whole_and_leaves_the_records_of_others(store: Store) -> None:
    store.append([turn("mine", id="a", user="u"), turn("reply", id="b")])
    store.append([turn("shared", id="c", session="both", user="u"), turn("not mine", id="d", session="both", user="v")])
    owned = replace(turn("said for u", id="e", session="both"))
    store.append([replace(owned, places=(*owned.places, Place(Collection("_owned:u"), "both/e")))])
    store.put([record("memory", id="m"), NewRecord(draft("old"), Place(Collection("archive:user:u"), "n"))])
    store.put(
        [
            NewRecord(draft("v's"), Place(Collection("user:v"), "m")),
            NewRecord(draft("note"), Place(Collection("ledger:session:s"), "n")),
        ]
    )
    store.add_hint(1, "session_end", "s", {})
    store.add_hint(1, "session_end", "both", {})
    store.touch({}, 1, trace("t1"))
    store.touch({}, 1, trace("t2", user="v", refs=("user:u/m",)))
    store.touch({}, 1, trace("t3", user="v"))
    purged = store.purge(order(PurgeKind.USER, "u"))
    assert (purged.turns, purged.memories, purged.observations, purged.hints, purged.traces) == (4, 2, 1, 1, 2)
    assert purged.sessions == ("s",)
    assert [name for name, count in store.collections()] == [
        "session:both", "session_raw:both", "turns:v", "user:v",
    ]  # fmt: skip
    assert ids(store, "session_raw:both") == ["d"]
    assert [item.id for item in store.traces(10)] == ["t3"]


@pytest.mark.requirement("STORE-6")
def test_purging_a_source_removes_everything_from_that_address(store: Store) -> None:
    page = replace(draft("page", role=None), metadata={"sourceUrl": "https://a.example/x", "artifact": "f1"})
    other = replace(draft("other", role=None), metadata={"sourceUrl": "https://a.example/y", "artifact": "f2"})
    again = replace(draft("again", role=None), metadata={"sourceUrl": "https://a.example/x", "artifact": "f2"})
    for id_, about in (("p", page), ("o", other), ("q", again)):
        store.put([NewRecord(about, Place(Collection("ledger:user:u"), id_))])
    purged = store.purge(order(PurgeKind.SOURCE, "https://a.example/x"))
    assert (purged.records, purged.captures, purged.artifacts) == (2, ("ledger:user:u/p", "ledger:user:u/q"), ("f1",))
    assert ids(store, "ledger:user:u") == ["o"]


@pytest.mark.requirement("STORE-6")
def test_a_purged_collection_tells_its_reader_to_start_again(store: Store) -> None:
    store.append([turn(f"said {number}", id=str(number)) for number in range(5)])
    known = store.feed("session_raw:s", 0).until
    store.purge(order(PurgeKind.SESSION, "s"))
    assert store.feed("session_raw:s", known).reset
    store.append([turn(f"new {number}", id=str(number)) for number in range(9)])
    feed = store.feed("session_raw:s", known)
    assert feed.reset
    assert len(feed.added) == 9
    assert store.feed("session_raw:s", 0).added == feed.added


@pytest.mark.requirement("STORE-6")
def test_work_under_way_does_not_bring_back_purged_records(store: Store) -> None:
    store.adopt_model(MODEL)
    store.append([turn("said", id="a", user="u", tasks=(Task.EMBED, Task.GATE))])
    (task,) = store.queued(Task.GATE, 1)
    store.purge(order(PurgeKind.USER, "u"))
    kept = NewRecord(task.draft, Place(Collection("user:u"), "m"), vector=VECTOR)
    store.finish([task.seq], {task.record_key: VECTOR}, {task.seq: kept})
    assert store.pending(Task.EMBED) == 0
    assert "said" not in [item.draft.text for item in store.export(0, 100)]


@pytest.mark.requirement("STORE-6")
def test_a_purge_of_an_unknown_target_is_refused_or_does_nothing(store: Store) -> None:
    with pytest.raises(NotFound):
        store.purge(order(PurgeKind.RECORD, "user:u/none"))
    assert store.purges() == []
    assert store.purge(order(PurgeKind.USER, "nobody")).records == 0


@pytest.mark.requirement("STORE-6")
def test_the_purge_ledger_names_a_target_only_until_the_files_are_clean(store: Store) -> None:
    store.put([record("memory", id="m")])
    store.purge(order(PurgeKind.USER, "u"))
    (entry,) = store.purges()
    assert (entry.target, entry.digest) == ("u", target_digest(PurgeKind.USER, "u"))
    store.finish_purge("p1", {"records": 1})
    other = PurgeEntry("p0", 1, PurgeKind.SESSION, "d", None, {"records": 3})
    store.note_purge(other)
    assert store.purges() == [other, replace(entry, target=None, counts={"records": 1})]


@pytest.mark.requirement("STORE-6", "FACT-3", "OBS-1")
def test_a_claim_goes_when_none_of_its_sources_is_left(store: Store) -> None:
    store.append([turn("said", id="a", user="u"), turn("said again", id="b", user="u")])
    raw = "session_raw:s"
    resting = {
        "facts:user:u/alone": (f"{raw}/a",),
        "facts:user:u/both": (f"{raw}/a", f"{raw}/b"),
        "facts:user:u/upon": ("facts:user:u/alone",),
        "facts:user:u/circle": ("facts:user:u/circle", f"{raw}/a"),
        "plans:user:u/p": (f"{raw}/a",),
        "observations:s/o": (f"{raw}/a", f"{raw}/b"),
        "observations:s/other": (f"{raw}/b",),
    }
    for ref, sources in resting.items():
        collection, _, id_ = ref.partition("/")
        about = replace(draft(ref, role=None), metadata={"sources": list(sources)})
        store.put([NewRecord(about, Place(Collection(collection), id_))])
    store.purge(order(PurgeKind.RECORD, f"{raw}/a"))
    assert ids(store, "facts:user:u") == ["both"]
    assert ids(store, "plans:user:u") == []
    assert ids(store, "observations:s") == ["other"]
    store.purge(order(PurgeKind.RECORD, f"{raw}/b", "p2"))
    assert ids(store, "facts:user:u") == []
    store.purge(order(PurgeKind.USER, "u", "p3"))
    assert not [name for name, _ in store.collections() if name.startswith(("facts", "plans", "observations"))]

"""Ageing in a real store: grades, the archive and the way back, contradictions, labels, the journal."""

from __future__ import annotations

from typing import Any

import pytest

from clew.api import AddHint, Age, Export, Import, Label, MemoryApi, ReadJournal, RecordView
from clew.core.collections import Collection
from clew.core.marks import By, Mark, set_by, value_of
from clew.core.model import Trust
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound, TooLarge
from clew.features.lifecycle import archive
from clew.features.lifecycle import service as lifecycle
from clew.features.lifecycle.retention import DAY_MS
from clew.storage.protocol import JOURNAL_LIMIT, Marking, Place, StoredRecord
from clew.text.grading import importance
from tests.conftest import NOW_MS, FixedClock, OpenMemory
from tests.testing.drafts import draft, record

LONG_AGO = 1_000_000_000_000
TEA = "Ana prefers green tea in the morning."


def only(memory: MemoryApi, ref: str) -> RecordView:
    collection, _, id_ = ref.partition("/")
    (found,) = memory.get(collection, id_).records
    return found


def shelf(memory: MemoryApi, collection: str) -> list[str]:
    return [item.id for item in memory.list(collection).records]


def forget(memory: MemoryApi, collection: str = "user:ana", id_: str = "tea", text: str = TEA) -> str:
    """An old, unused record of a class that Clew archives."""
    memory.put(collection, id_, text, {"ts": LONG_AGO})
    ref = f"{collection}/{id_}"
    memory.call(Label(ref=ref, retention="P1"))
    return ref


# --- grades ------------------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-1")
def test_a_record_without_a_grade_receives_one_with_reasons(memory: Memory) -> None:
    memory._store.put([record(TEA, id="tea")])
    memory.call(Label(ref="user:u/tea", retention="P0"))
    receipt = memory.age(dry_run=False)
    marks = only(memory, "user:u/tea").marks
    grade = value_of(marks, Mark.GRADE)
    assert receipt.graded == {grade["label"]: 1}
    assert importance.label_of(grade["score"]).value == grade["label"]
    assert set(grade) == {"score", "label", "reasons", "method", "version"}
    assert marks["grade"]["ts"] == NOW_MS
    assert memory.age(dry_run=False).graded == {}


@pytest.mark.requirement("LIFE-1")
def test_clew_does_not_replace_the_operators_grade(memory: Memory) -> None:
    memory._store.put([record(TEA, id="tea")])
    memory.call(Label(ref="user:u/tea", importance="ignore", retention="P0"))
    assert memory.age(dry_run=False).graded == {}
    grade = value_of(only(memory, "user:u/tea").marks, Mark.GRADE)
    assert (grade["label"], grade["method"], importance.label_of(grade["score"])) == ("ignore", "operator", "ignore")


# --- the archive -------------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-3")
def test_an_unused_record_leaves_ordinary_recall_and_can_be_revived(api: MemoryApi) -> None:
    ref = forget(api)
    assert api.flush().ok
    assert api.age().archived == {"P1": 1}
    assert shelf(api, "user:ana") == ["tea"]
    receipt = api.age(dry_run=False)
    assert (receipt.archived, receipt.archived_refs, receipt.looked_at) == ({"P1": 1}, (ref,), 1)
    assert shelf(api, "user:ana") == []
    assert api.search("green tea", user_id="ana").hits == ()
    assert value_of(only(api, f"archive:{ref}").marks, Mark.ARCHIVED) == "user:ana"
    assert api.revive(ref).count == 1
    back = only(api, ref)
    assert (back.text, value_of(back.marks, Mark.ARCHIVED), back.last_used) == (TEA, None, None)
    assert [hit.record.id for hit in api.search("green tea", user_id="ana").hits] == ["tea"]
    assert api.age(dry_run=False).archived == {}, "its rest counts from the operator's word"
    assert api.verify().ok


@pytest.mark.requirement("LIFE-3")
def test_each_class_stays_as_long_as_its_setting_allows(open_memory: OpenMemory, clock: FixedClock) -> None:
    memory = open_memory(retention_days=(40, 20))
    for retention in ("P0", "P1", "P2"):
        memory.put("global", retention, f"{TEA} {retention}")
        memory.call(Label(ref=f"global/{retention}", retention=retention))
    clock.ms += 21 * DAY_MS
    assert memory.age(dry_run=False).archived == {"P2": 1}
    clock.ms += 20 * DAY_MS
    assert memory.age(dry_run=False).archived == {"P1": 1}
    clock.ms += 4000 * DAY_MS
    assert memory.age(dry_run=False).archived == {}
    assert shelf(memory, "global") == ["P0"]


@pytest.mark.requirement("LIFE-2", "LIFE-3")
def test_use_postpones_archiving_and_a_lookup_does_not(open_memory: OpenMemory, clock: FixedClock) -> None:
    memory = open_memory()
    for id_ in ("used", "seen"):
        memory.put("user:ana", id_, f"{TEA} {id_}")
        memory.call(Label(ref=f"user:ana/{id_}", retention="P1"))
    clock.ms += 80 * DAY_MS
    memory.touch({"user:ana": ["used"]})
    memory.search("tea", user_id="ana")
    shelf(memory, "user:ana")
    clock.ms += 20 * DAY_MS
    assert memory.age(dry_run=False).archived_refs == ("user:ana/seen",)


@pytest.mark.requirement("LIFE-3")
def test_turns_guidance_and_records_under_review_are_never_archived(memory: Memory, clock: FixedClock) -> None:
    memory.ingest("s", "user", "You must never deploy on Fridays.", user_id="ana")
    ref = forget(memory)
    memory._store.mark([Marking(Place(Collection("user:ana"), "tea"), trust=Trust.QUARANTINED)])
    clock.ms += 4000 * DAY_MS
    receipt = memory.age(dry_run=False)
    assert receipt.archived == {}
    assert only(memory, ref).trust == "quarantined"
    assert len(shelf(memory, "session_raw:s")) == len(shelf(memory, "turns:ana")) == 1


@pytest.mark.requirement("LIFE-3")
def test_a_record_in_two_ledgers_is_archived_and_revived_in_both(memory: Memory) -> None:
    places = (Place(Collection("ledger:session:s"), "e1"), Place(Collection("ledger:user:ana"), "e1"))
    stored = StoredRecord(0, draft("make test: 3 failed", ts_ms=LONG_AGO, role=None), False, places, 1, 0, None)
    memory._store.restore([stored], ())
    memory.call(Label(ref="ledger:user:ana/e1", retention="P2"))
    foretold = memory.age()
    receipt = memory.age(dry_run=False)
    assert (receipt.archived, receipt.looked_at, sum(receipt.graded.values())) == ({"P2": 1}, 1, 1)
    assert (foretold.archived, foretold.looked_at, foretold.graded) == ({"P2": 1}, 1, receipt.graded)
    assert shelf(memory, "ledger:session:s") == shelf(memory, "ledger:user:ana") == []
    assert memory.revive("ledger:session:s/e1").count == 1
    assert shelf(memory, "ledger:session:s") == shelf(memory, "ledger:user:ana") == ["e1"]


@pytest.mark.requirement("LIFE-3")
def test_a_reused_id_belongs_to_the_newer_record(memory: Memory) -> None:
    ref = forget(memory)
    memory.age(dry_run=False)
    memory.put("user:ana", "tea", "Ana prefers coffee now.")
    assert memory.revive(ref, f"archive:{ref}").count == 0
    assert only(memory, ref).text == "Ana prefers coffee now."
    memory.call(Label(ref=ref, retention="P1"))
    memory.put("user:ana", "tea", "Ana prefers coffee now!", {"ts": LONG_AGO})
    assert memory.age().archived == memory.age(dry_run=False).archived == {}, "there is no room for it"
    assert only(memory, f"archive:{ref}").text == TEA


@pytest.mark.requirement("LIFE-3")
def test_revive_refuses_unknown_records(api: MemoryApi) -> None:
    ref = forget(api)
    assert api.revive(ref).count == 0, "it does not rest"
    for unknown in (["user:ana/nothing"], [ref, "user:ana/nothing"], ["archive:user:ana/tea"]):
        with pytest.raises(NotFound):
            api.revive(*unknown)
    for senseless in ([], ["nothing"]):
        with pytest.raises(InvalidInput):
            api.revive(*senseless)


@pytest.mark.requirement("LIFE-2", "LIFE-3", "LIFE-4")
def test_use_revives_a_record_and_never_raises_trust(memory: Memory) -> None:
    ref = forget(memory)
    memory._store.mark([Marking(Place(Collection("user:ana"), "tea"), trust=Trust.UNTRUSTED)])
    memory.age(dry_run=False)
    parts = memory._parts
    assert archive.bring_back(parts, parts.store.get("archive:user:ana", ["tea"])) == [ref]
    assert "archived" not in only(memory, ref).marks
    memory.age(dry_run=False)
    for named in ("user:ana", "archive:user:ana"):
        uses = archive.wake(parts, {named: ["tea", "nothing"], "turns:ana": ["t"]})
        assert uses["turns:ana"] == ["t"]
        assert memory.touch(uses).count == 1
    used = only(memory, ref)
    assert (used.trust, used.access_count, used.last_used) == ("untrusted", 2, NOW_MS)
    assert memory.age(dry_run=False).archived == {}


@pytest.mark.requirement("LIFE-3", "STORE-7")
def test_the_archive_travels_with_an_export(open_memory: OpenMemory, tmp_path: Any) -> None:
    memory = open_memory()
    ref = forget(memory)
    memory.age(dry_run=False)
    other = open_memory(data_dir=tmp_path / "other")
    other.call(Import(lines=memory.call(Export()).lines))
    assert value_of(only(other, f"archive:{ref}").marks, Mark.ARCHIVED) == "user:ana"
    assert other.revive(ref).count == 1


# --- contradictions ----------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-4")
def test_a_contradiction_is_marked_on_both_records_and_deletes_neither(api: MemoryApi) -> None:
    api.put("user:ana", "before", "The budget is 500 euros.")
    api.put("user:ana", "after", "The budget is 700 euros.")
    api.put("user:ana", "other", TEA)
    api.put("user:bo", "theirs", "The budget is 900 euros.")
    assert api.flush().ok
    receipt = api.age(dry_run=False)
    assert (receipt.contradictions, receipt.contradiction_refs) == (1, ("user:ana/after", "user:ana/before"))
    assert value_of(only(api, "user:ana/before").marks, Mark.CONTRADICTS) == ["user:ana/after"]
    assert value_of(only(api, "user:ana/after").marks, Mark.CONTRADICTS) == ["user:ana/before"]
    assert "contradicts" not in only(api, "user:ana/other").marks
    assert "contradicts" not in only(api, "user:bo/theirs").marks
    assert api.age(dry_run=False).contradictions == 0


@pytest.mark.requirement("LIFE-4")
def test_a_superseded_or_quarantined_record_contradicts_nothing(memory: Memory) -> None:
    for id_, amount in (("a", 500), ("b", 700), ("c", 900)):
        memory.put("user:ana", id_, f"The budget is {amount} euros.")
    memory.call(Label(ref="user:ana/a", superseded_by="user:ana/c"))
    memory._store.mark([Marking(Place(Collection("user:ana"), "b"), trust=Trust.QUARANTINED)])
    assert memory.age(dry_run=False).contradictions == 0


@pytest.mark.requirement("LIFE-4")
def test_a_bounded_run_continues_where_the_last_one_stopped(memory: Memory) -> None:
    for user in ("ana", "bo", "cy"):
        memory.put(f"user:{user}", "a", "The budget is 500 euros.")
        memory.put(f"user:{user}", "b", "The budget is 700 euros.")
    assert memory.flush().ok
    runs = [lifecycle._Run(memory._parts, dry_run=False, now_ms=NOW_MS, comparisons=1) for _ in range(4)]
    found: list[str] = []
    for run in runs:
        run.look_at_all()
        found += run.finish().contradiction_refs
    assert sorted(found) == [f"user:{user}/{id_}" for user in ("ana", "bo", "cy") for id_ in "ab"]


# --- the daily run -----------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-3")
def test_the_daily_run_happens_once_a_period_and_leaves_its_figures(open_memory: OpenMemory, clock: FixedClock) -> None:
    memory = open_memory(lifecycle_hours=24)
    parts = memory._parts
    forget(memory)
    assert lifecycle.last_run(parts) is None
    assert memory.call(Age(last=True)).ts == 0
    memory.age(dry_run=True)
    assert lifecycle.due(parts)
    assert memory.call(Age(dry_run=False, if_due=True)).archived == {}, "what came in today is spared"
    assert not lifecycle.due(parts)
    clock.ms += 91 * DAY_MS
    assert memory.call(Age(dry_run=False, if_due=True)).archived == {"P1": 1}
    forget(memory, id_="again")
    assert memory.call(Age(dry_run=False, if_due=True)).archived == {"P1": 1}, "the figures of the run before"
    kept = memory.call(Age(last=True))
    assert (kept.ts, kept.archived, kept.archived_refs, kept.dry_run) == (clock.ms, {"P1": 1}, (), False)
    clock.ms += DAY_MS
    assert lifecycle.due(parts)
    clock.ms -= 2 * DAY_MS
    assert lifecycle.due(parts), "a run in the future says nothing"


@pytest.mark.requirement("LIFE-3")
def test_no_period_leaves_ageing_to_the_operator(open_memory: OpenMemory) -> None:
    memory = open_memory(lifecycle_hours=0)
    assert not lifecycle.due(memory._parts)
    assert memory.call(Age(dry_run=False, if_due=True)).ts == 0


# --- the operator's labels ---------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-1", "LIFE-4")
def test_labels_can_be_set_and_cleared_and_do_not_change_the_text(api: MemoryApi) -> None:
    api.put("user:ana", "tea", TEA)
    api.put("user:ana", "coffee", "Ana prefers coffee now.")
    word = Label(
        ref="user:ana/tea",
        kind="preference",
        importance="must_remember",
        retention="P0",
        superseded_by="user:ana/coffee",
    )
    said = api.call(word)
    assert said.text == TEA
    assert {set_by(said.marks, mark) for mark in (Mark.KIND, Mark.GRADE, Mark.RETENTION)} == {By.OPERATOR}
    assert value_of(said.marks, Mark.KIND) == "preference"
    assert value_of(said.marks, Mark.GRADE)["label"] == "must_remember"
    assert value_of(said.marks, Mark.SUPERSEDED_BY) == "user:ana/coffee"
    api.put("user:ana", "tea", f"{TEA} With milk.")
    assert value_of(only(api, "user:ana/tea").marks, Mark.KIND) == "preference"
    empty = api.call(Label(ref="user:ana/tea", kind="", importance="", retention="", superseded_by=""))
    assert not set(empty.marks) & {"kind", "grade", "retention", "superseded_by"}


@pytest.mark.requirement("LIFE-4")
def test_labelling_a_raw_turn_does_not_change_it(api: MemoryApi) -> None:
    api.ingest("s", "user", TEA, user_id="ana", id="t1")
    assert value_of(api.call(Label(ref="session_raw:s/t1", kind="preference")).marks, Mark.KIND) == "preference"
    assert value_of(only(api, "session:s/t1").marks, Mark.KIND) == "preference"
    assert only(api, "session_raw:s/t1").text == TEA
    with pytest.raises(InvalidInput, match="itself"):
        api.call(Label(ref="session_raw:s/t1", superseded_by="session:s/t1"))
    assert api.verify().ok


@pytest.mark.requirement("LIFE-4")
def test_an_invalid_label_changes_nothing(api: MemoryApi) -> None:
    for collection, id_ in (("user:ana", "tea"), ("user:ana", "coffee"), ("user:bo", "tea")):
        api.put(collection, id_, TEA)
    api.call(Label(ref="user:ana/coffee", superseded_by="user:ana/tea"))
    before = only(api, "user:ana/tea")
    refused: list[dict[str, str]] = [
        {},
        {"kind": "poem"},
        {"importance": "very"},
        {"retention": "P9"},
        {"superseded_by": "user:ana/tea"},
        {"superseded_by": "user:ana/coffee"},
        {"superseded_by": "user:bo/tea"},
        {"superseded_by": "nothing"},
    ]
    for word in refused:
        with pytest.raises(InvalidInput):
            api.call(Label(ref="user:ana/tea", **word))
    with pytest.raises(NotFound):
        api.call(Label(ref="user:ana/tea", superseded_by="user:ana/nothing"))
    assert only(api, "user:ana/tea") == before


# --- the journal -------------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-6")
def test_the_journal_is_bounded_and_drops_the_oldest_first(memory: Memory) -> None:
    for number in range(JOURNAL_LIMIT + 3):
        memory.call(AddHint(hook="session_end", session_id="s", details={"number": number, "word": "unicorns"}))
    entries = memory.call(ReadJournal(limit=1000)).entries
    assert [entry.details["number"] for entry in entries] == list(range(JOURNAL_LIMIT + 2, 2, -1))
    assert memory.search("unicorns", session_id="s", user_id="ana").hits == ()
    assert memory.status().lifecycle_hint_count == JOURNAL_LIMIT


@pytest.mark.requirement("LIFE-6")
def test_a_hint_is_bounded_too(api: MemoryApi) -> None:
    with pytest.raises(TooLarge):
        api.call(AddHint(hook="before_reset", session_id="s", details={"text": "x" * 100_000}))
    with pytest.raises((TooLarge, InvalidInput)):
        api.call(AddHint(hook="h" * 100_000, session_id="s"))
    assert api.call(ReadJournal()).entries == ()

"""Purging leaves nothing behind: in no file, for nobody, not even when an older copy is put back."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from clew.api import (
    AddHint,
    Backup,
    Event,
    Export,
    FactsAssert,
    FactsInvalidate,
    Label,
    ListPurges,
    MemoryApi,
    Message,
    PlansAdd,
    PlansClose,
    Purge,
)
from clew.client import connect
from clew.core.collections import Collection
from clew.errors import InvalidInput, NotFound, StoreError, StoreInUse
from clew.features.ledger import artifacts
from clew.storage.protocol import Place
from clew.storage.sqlite.restore import restore
from tests.conftest import OpenMemory
from tests.testing.daemons import running, short_folder
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("STORE-6")

FILLER = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda".split()
KINDS = 16
"""Of what a user can leave behind."""

SECRET_PAGE = "https://example.org/poisoned"


def canaries_in(folder: Path, canaries: Iterable[str]) -> dict[str, list[str]]:
    """By file: the canaries whose bytes stand in it."""
    found = {}
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            hits = [canary for canary in canaries if canary.encode() in content]
            if hits:
                found[str(file.relative_to(folder))] = hits
    return found


def plant_words(memory: MemoryApi, number: int, canary: str, text: str, user: str) -> None:
    """What was said, noted and captured."""
    session = f"s{number % 5}"
    match number % KINDS:
        case 0 | 1 | 2 | 3:
            role = ("user", "assistant", "tool", "user")[number % 4]
            message = Message(role=role, text=text, ts=1000 + number, metadata={"note": canary})
            memory.ingest_batch(session, [message], user_id=user)
        case 4:
            memory.put(f"user:{user}", f"r{number % 24}", text, {"note": canary})
        case 5:
            payload = {"out": f"{canary} " * (1, 2000)[number % 2]}
            memory.capture(Event(text=text, tool="shell", payload=payload, user_id=user, session_id=session))
        case 6:
            memory.call(AddHint(hook="session_end", session_id=session, details={"why": canary}))
        case 7:
            memory.ingest(session, "user", f"You must always use {canary}.", user_id=user, ts=1000 + number)
        case 8:
            memory.call(AddHint(hook="session_end", details={"why": canary}))
        case 9:
            memory.call(AddHint(hook="session_end", session_id=f"stray{number}", details={"why": canary}))


def plant_claims(memory: MemoryApi, number: int, canary: str, text: str, user: str) -> None:
    """What was made of it, and what is not there any more."""
    session = f"s{number % 5}"
    match number % KINDS:
        case 10:
            memory.ingest(session, "user", f"My editor is {canary}.", user_id=user, ts=1000 + number, id=f"f{number}")
            source = f"session_raw:{session}/f{number}"
            memory.call(FactsAssert(subject=canary, predicate="status", object=canary, user_id=user, sources=(source,)))
        case 11:
            memory.ingest(session, "user", f"I plan {canary}.", user_id=user, ts=1000 + number, id=f"p{number}")
            memory.call(PlansAdd(what=f"Move to {canary}", user_id=user, sources=(f"session_raw:{session}/p{number}",)))
        case 12:  # a record that is deleted, with a name of its own
            memory.put(f"user:{user}", canary, text, {canary: "note"})
            memory.delete(f"user:{user}", canary)
        case 13:  # one that is replaced, and one that is replaced and deleted
            for id_ in ("kept", f"x{number}"):
                memory.put(f"user:{user}", id_, text, {"note": canary})
                memory.put(f"user:{user}", id_, "something else")
            memory.delete(f"user:{user}", f"x{number}")
        case 14:  # a fact that is taken back, with the words it rests on
            said = FactsAssert(
                subject=f"page {number}", predicate="status", object=canary, statement=text, user_id=user
            )
            fact = memory.call(said).fact.id
            memory.call(FactsInvalidate(fact=fact, user_id=user, reason=f"It never was {canary}."))
        case 15:  # a turn that somebody took out of its session's view, and a plan that is closed
            memory.ingest(session, "user", text, user_id=user, ts=1000 + number, id=f"d{number}")
            memory.delete(f"session:{session}", f"d{number}")
            plan = memory.call(PlansAdd(what=f"Leave {canary}", condition=canary, user_id=user))
            memory.call(PlansClose(ref=plan.ref, state="dropped"))


def plant(memory: MemoryApi, count: int, user: str) -> list[str]:
    """Canaries in everything a user can leave behind, among the texts of somebody else."""
    chance = random.Random(7)
    planted = []
    for number in range(count):
        canary = f"canary{number:04d}{chance.getrandbits(48):012x}"
        planted.append(canary)
        text = f"I prefer {canary} {' '.join(chance.choices(FILLER, k=chance.choice((2, 20, 300))))}"
        plant_words(memory, number, canary, text, user)
        plant_claims(memory, number, canary, text, user)
        memory.ingest("theirs", "user", f"Another matter, {number}: {text[-9:]}", user_id="bob", ts=1000 + number)
    return planted


def test_after_a_user_is_purged_no_file_holds_a_byte_of_theirs_while_the_daemon_runs() -> None:
    with short_folder() as folder, running(folder, embedder="hashing") as daemon, connect(daemon.endpoint) as memory:
        count = effort(240, 2400)
        planted = plant(memory, count, "ann")
        memory.harvest(max_lines=count // KINDS)  # some captures are in the ledger, some only in the log
        while not memory.flush(timeout_ms=10_000).ok:  # asked again: a client gives an answer half a minute
            continue
        for number in range(5):
            memory.compact(f"s{number}", force=True)
        memory.pack("which do I prefer", user_id="ann", session_id="s1")
        there = {canary for hits in canaries_in(folder, planted).values() for canary in hits}
        assert len(there) > 0.75 * count  # the others were deleted, or newer records of the same id replaced them
        foreseen = memory.purge(user_id="ann", dry_run=True)
        receipt = memory.purge(user_id="ann")
        assert (foreseen.records, foreseen.turns) == (receipt.records, receipt.turns)
        assert receipt.turns == count * 8 // KINDS
        assert min(receipt.summaries, receipt.observations, receipt.hints, receipt.traces, receipt.artifacts) > 0
        assert min(receipt.memories, receipt.facts, receipt.plans, receipt.capture_lines) > 0
        assert canaries_in(folder, planted) == {}
        assert memory.verify().ok
        assert len(memory.list("session_raw:theirs", limit=5000).records) == count
        assert memory.search("prefer", user_id="ann").hits == ()
    assert canaries_in(folder, planted) == {}


def test_a_poisoned_page_is_undone_with_all_that_was_made_from_it(api: MemoryApi) -> None:
    poison = "The canary-page says that the release is on Friday, which it is not."
    api.ingest("s", "user", "What does the page say?", user_id="u", id="q")
    api.ingest("s", "tool", poison, user_id="u", id="t", source=SECRET_PAGE)
    for number in range(30):
        api.ingest("s", "user", f"The deployment of service {number} went to region {number * 7}.", user_id="u")
    api.put("global", "page", poison, source=SECRET_PAGE)
    api.capture(Event(text=poison, tool="fetch", session_id="s", source=SECRET_PAGE))
    api.harvest()
    api.flush()
    api.compact("s", force=True)
    before = {node.id for node in api.show_session("s").summaries}
    receipt = api.purge(source=SECRET_PAGE)
    assert (receipt.turns, receipt.observations) == (1, 1)
    left = {node.id for node in api.show_session("s").summaries}
    assert len(before - left) == receipt.summaries >= 1
    lines = "\n".join(api.call(Export(limit=5000)).lines)
    assert "canary-page" not in lines
    assert api.verify().ok
    assert len(api.list("session_raw:s").records) == 31


def test_one_record_goes_and_its_neighbours_stay(api: MemoryApi) -> None:
    api.put("user:u", "a", "keep me")
    api.put("user:u", "b", "drop me")
    assert api.purge(ref="user:u/b").records == 1
    assert [record.id for record in api.list("user:u").records] == ["a"]
    with pytest.raises(NotFound):
        api.purge(ref="user:u/b")


@pytest.mark.parametrize(
    "request_",
    [Purge(), Purge(user_id="u", session_id="s"), Purge(user_id=""), Purge(ref="no-reference")],
    ids=["no target", "two targets", "an empty target", "no reference"],
)
def test_an_order_that_is_not_clear_is_refused(api: MemoryApi, request_: Purge) -> None:
    with pytest.raises(InvalidInput):
        api.call(request_)
    assert api.call(ListPurges()).purges == ()


def test_the_receipt_and_the_ledger_hold_figures_and_no_names(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.put("user:ann-of-the-canary", "a", "text")
    receipt = memory.purge(user_id="ann-of-the-canary")
    (entry,) = memory.call(ListPurges()).purges
    assert (entry.id, entry.kind, entry.counts["records"]) == (receipt.id, "user", 1)
    memory.close()
    assert canaries_in(tmp_path, ["ann-of-the-canary"]) == {}


def test_an_older_copy_of_the_store_is_purged_again_when_it_is_put_back(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory()
    for user in ("ann", "bob", "cal"):
        memory.ingest(f"s-{user}", "user", f"{user} said canary-{user}", user_id=user)
    memory.put("global", "r", "canary-record")
    memory.put("global", "p", "canary-page", source=SECRET_PAGE)
    memory.purge(user_id="cal")
    copy = tmp_path / "old-copy"
    memory.call(Backup(path=str(copy)))
    memory.purge(user_id="ann")
    memory.purge(ref="global/r")
    memory.purge(source=SECRET_PAGE)
    memory.ingest("s-cal", "user", "cal is back", user_id="cal")
    memory.call(Backup(path=str(tmp_path / "newer-copy")))
    memory.close()
    database = memory._parts.config.database
    restore(database, copy)
    memory = open_memory()
    assert canaries_in(database.parent, ["canary-ann", "canary-record", "canary-page"]) == {}
    assert [record.text for record in memory.list("turns:bob").records] == ["bob said canary-bob"]
    memory.close()
    restore(database, tmp_path / "newer-copy")
    memory = open_memory()
    assert [record.text for record in memory.list("turns:cal").records] == ["cal is back"]
    assert len(memory.call(ListPurges()).purges) == 4
    assert memory.verify().ok


def test_a_purge_that_was_cut_short_is_finished_when_the_store_is_opened(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    event = Event(text="canary-text", payload="canary-payload " * 2000, user_id="ann")
    memory.capture(event)
    memory.harvest()
    memory._indexer.close()  # it would finish the purge

    def crash(*_: object) -> int:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patched:
        patched.setattr(artifacts, "remove", crash)
        with pytest.raises(RuntimeError):
            memory.purge(user_id="ann")
    assert [entry.target for entry in memory._parts.store.purges()] == ["ann"]
    memory.close()
    memory = open_memory()
    assert [entry.target for entry in memory._parts.store.purges()] == [None]
    assert canaries_in(tmp_path, ["canary-payload", "canary-text", "user:ann"]) == {}
    assert len((tmp_path / "data" / "purges.jsonl").read_text("utf-8").splitlines()) == 1


def test_a_session_goes_with_the_memories_kept_from_it(api: MemoryApi) -> None:
    api.ingest("s1", "user", "We decided that canary-session moves to PostgreSQL 16 on 3 March.", user_id="ann")
    api.ingest("s2", "user", "I prefer tea in the morning, always.", user_id="ann")
    assert api.flush().ok
    assert len(api.list("user:ann").records) == 2
    assert api.purge(session_id="s1").memories == 1
    assert "canary-session" not in "".join(api.call(Export(limit=100)).lines)
    assert len(api.list("user:ann").records) == 1


def test_an_event_of_somebody_else_with_the_same_id_stays(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.capture(Event(id="call_1", text="of ann", user_id="ann"), Event(id="call_1", text="of bob", user_id="bob"))
    memory.capture(Event(id="call_1", text="also of ann", user_id="ann", session_id="s"))
    assert memory.purge(user_id="ann").capture_lines == 2
    memory.harvest()
    assert [record.text for record in memory.list("ledger:user:bob").records] == ["of bob"]
    assert memory.list("ledger:user:ann").records == memory.list("ledger:session:s").records == ()


def test_a_record_goes_with_what_rests_under_its_id_and_stays_gone(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.put("user:ann", "a", "canary-old")
    memory.call(Backup(path=str(tmp_path / "copy")))
    memory._parts.store.move([Place(Collection("user:ann"), "a")], "archive:user:ann")
    memory.put("user:ann", "a", "canary-new")
    assert memory.purge(ref="archive:user:ann/a").records == 2
    memory.close()
    restore(memory._parts.config.database, tmp_path / "copy")
    memory = open_memory()
    assert memory.list("user:ann").records == ()


def test_an_address_is_the_same_with_another_fragment_or_a_slash(open_memory: OpenMemory) -> None:
    memory = open_memory(redaction_scopes=("user:ann=pii",))
    for id_, address in enumerate(("https://example.org/p", "https://example.org/p/", "https://example.org/p#a")):
        memory.put("global", str(id_), "text", source=address)
    memory.put("user:ann", "m", "text", source="https://example.org/p?to=ann@example.org")
    memory.put("global", "other", "text", source="https://example.org/pp")
    assert memory.purge(source="https://example.org/p#b").records == 3
    assert memory.purge(source="https://example.org/p?to=ann@example.org").records == 1
    assert [record.id for record in memory.list("global").records] == ["other"]


def test_what_was_superseded_by_something_purged_holds_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.put("global", "good", "The release is on Monday.")
    memory.put("global", "page", "The release is on Friday.", source=SECRET_PAGE)
    memory.call(Label(ref="global/good", superseded_by="global/page"))
    memory.purge(source=SECRET_PAGE)
    (record,) = memory.list("global").records
    assert "superseded_by" not in record.marks


@pytest.mark.parametrize("how", ["delete", "replace", "clear"])
def test_a_purge_that_finds_no_record_erases_what_deleted_ones_have_left(open_memory: OpenMemory, how: str) -> None:
    memory = open_memory()
    database = memory._parts.config.database
    memory.put("user:ann", "a", "canary-a")
    if how == "delete":
        memory.delete("user:ann", "a")
    elif how == "clear":
        memory.clear("user:ann")
    else:
        memory.put("user:ann", "a", "another text")
        memory.delete("user:ann", "a")
    copy = database.with_name("clew.db.before-restore")
    copy.write_bytes(b"canary-a")
    assert canaries_in(database.parent, ["canary-a"]) != {}
    assert memory.purge(user_id="ann").records == 0
    assert canaries_in(database.parent, ["canary-a"]) == {}
    assert [entry.kind for entry in memory.call(ListPurges()).purges] == ["user"]


def test_a_purge_of_a_record_that_was_deleted_erases_its_bytes_and_says_that_it_is_not_there(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    memory.put("user:ann", "a", "canary-a")
    memory.delete("user:ann", "a")
    with pytest.raises(NotFound):
        memory.purge(ref="user:ann/a")
    assert canaries_in(memory._parts.config.data_dir, ["canary-a"]) == {}
    assert memory.status().degraded == open_memory().status().degraded


def test_an_older_copy_is_purged_of_what_was_deleted_before_the_purge(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.put("user:ann", "a", "canary-a")
    memory.call(Backup(path=str(tmp_path / "copy")))
    memory.delete("user:ann", "a")
    memory.purge(user_id="ann")
    memory.close()
    restore(memory._parts.config.database, tmp_path / "copy")
    memory = open_memory()
    assert memory.list("user:ann").records == ()
    assert canaries_in(memory._parts.config.data_dir, ["canary-a"]) == {}


def test_a_look_at_a_purge_that_finds_nothing_leaves_the_copies_beside_the_store_alone(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.put("global", "a", "text")
    copy = memory._parts.config.database.with_name("clew.db.before-restore")
    copy.write_bytes(b"kept")
    assert memory.purge(user_id="nobody", dry_run=True).records == 0
    assert memory.call(ListPurges()).purges == ()
    assert copy.exists()


def test_a_line_that_a_crash_cut_short_does_not_hide_the_next_purge(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.put("user:ann", "a", "canary-a")
    memory.call(Backup(path=str(tmp_path / "copy")))
    database = memory._parts.config.database
    (database.parent / "purges.jsonl").write_bytes(b'{"clew":1,"id":"x"')
    memory.purge(user_id="ann")
    memory.close()
    restore(database, tmp_path / "copy")
    assert open_memory().list("user:ann").records == ()


def test_files_that_could_not_be_cleaned_are_cleaned_when_the_store_is_opened(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.put("user:ann", "a", "canary-a")
    database = memory._parts.config.database
    reader = open_memory()
    with pytest.MonkeyPatch.context() as patched, reader._parts.store.reading():
        patched.setattr("clew.storage.sqlite.store.SCRUB_WAIT_MS", 1)
        reader._parts.store.get("user:ann", ["a"])
        with pytest.raises(StoreError, match="tries again"):
            memory.purge(user_id="ann")
    reader.close()
    memory.close()
    assert open_memory().verify().ok
    assert canaries_in(database.parent, ["canary-a"]) == {}


@pytest.mark.parametrize("kind", ["empty", "other", "itself", "live"])
def test_what_is_no_backup_is_not_restored(open_memory: OpenMemory, tmp_path: Path, kind: str) -> None:
    memory = open_memory()
    memory.put("global", "a", "text")
    memory.close()
    database = memory._parts.config.database
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"" if kind == "empty" else b"no database at all, but long enough to be one" * 40)
    if kind == "live":
        wrong.write_bytes(database.read_bytes())
        wrong.with_name("wrong-wal").write_bytes(b"log")
    with pytest.raises((StoreError, InvalidInput)):
        restore(database, database if kind == "itself" else wrong)
    assert [record.id for record in open_memory().list("global").records] == ["a"]
    assert sorted(path.name for path in database.parent.glob("clew.db.*")) == ["clew.db.use"]


def test_a_store_that_is_open_is_not_replaced(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.call(Backup(path=str(tmp_path / "copy")))
    with pytest.raises(StoreInUse):
        restore(memory._parts.config.database, tmp_path / "copy")
    memory.close()
    restore(memory._parts.config.database, tmp_path / "copy")
    restore(memory._parts.config.database, tmp_path / "copy")
    kept = sorted(path.name for path in memory._parts.config.database.parent.glob("clew.db.before-*"))
    assert kept == ["clew.db.before-restore", "clew.db.before-restore-2"]


def test_a_record_in_a_view_of_no_session_can_be_deleted_and_purged(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for id_ in ("a", "b"):
        memory.put("session", id_, f"left over {id_}")
    assert memory.delete("session", "a").count == 1
    assert memory.purge(ref="session/b").records == 1
    assert memory.get("session", "a", "b").records == ()

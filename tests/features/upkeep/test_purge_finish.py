"""A purge that has begun is finished, whoever is in the way, and says so until it is."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from clew.api import AddHint, Backup, Event, FactsAssert, Label, ListPurges, ReadJournal
from clew.engine import Memory
from clew.errors import InvalidInput, StoreError
from clew.features.facts import writing
from clew.features.ledger import artifacts
from clew.features.ledger import log as capture_log
from clew.features.upkeep import purge as purging
from clew.kernel.queue import Indexer
from clew.storage.sqlite import store
from tests.conftest import OpenMemory
from tests.features.upkeep.test_purge import canaries_in

pytestmark = pytest.mark.requirement("STORE-6", "SAFE-1")


@contextmanager
def foreign_reader(database: Path) -> Iterator[None]:
    """Another program in the middle of a read of the store."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    connection.execute("BEGIN").execute("SELECT count(*) FROM records").fetchall()
    try:
        yield
    finally:
        connection.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SCRUB_WAIT_MS", 1)


def purge_in_status(memory: Memory) -> list[str]:
    return [reason for reason in memory.status().degraded if "purge" in reason]


def test_notes_that_name_no_session_or_one_without_a_history_go_with_a_user(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.ingest("s", "user", "hello", user_id="ann")
    memory.ingest("theirs", "user", "hello", user_id="bob")
    for session in (None, "s", "stray", "theirs"):
        memory.call(AddHint(hook="session_end", session_id=session, details={}))
    assert memory.purge(user_id="ann").hints == 3
    assert [entry.session_id for entry in memory.call(ReadJournal()).entries] == ["theirs"]


@pytest.mark.usefixtures("impatient")
def test_a_purge_that_a_reader_delays_is_shown_and_no_later_purge_claims_success(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory._indexer.close()  # nobody else tries
    database = memory._parts.config.database
    memory.put("user:ann", "a", "canary-a")
    with foreign_reader(database):
        for _ in range(2):
            with pytest.raises(StoreError, match="tries again"):
                memory.purge(user_id="ann")
            assert purge_in_status(memory)
        assert canaries_in(database.parent, ["canary-a"]) != {}
    memory.purge(user_id="ann")
    assert canaries_in(database.parent, ["canary-a"]) == {}
    assert purge_in_status(memory) == []


@pytest.mark.usefixtures("impatient")
def test_a_purge_that_a_reader_delays_is_finished_behind_other_work(open_memory: OpenMemory) -> None:
    memory = open_memory()
    database = memory._parts.config.database
    memory.put("user:ann", "a", "canary-a")
    with foreign_reader(database), pytest.raises(StoreError):
        memory.purge(user_id="ann")
    work_alone(memory)
    assert not memory._parts.store.needs_scrub()
    assert canaries_in(database.parent, ["canary-a"]) == {}


def work_alone(memory: Memory) -> None:
    """One step of the worker, once its next try is due. The engine's own does not go on."""
    memory._indexer.close()
    memory._indexer.join()
    memory._parts.clock.ms += purging.LONGEST_PAUSE_MS  # type: ignore[attr-defined]
    Indexer(memory._parts, [purging.WORKER], memory._courtesy, None)._work_without_meaning()


def fail_once(monkeypatch: pytest.MonkeyPatch, module: object, step: str) -> None:
    """The next call of a function fails, and the others work."""
    real = getattr(module, step)

    def fail(*_: object, **__: object) -> int:
        monkeypatch.setattr(module, step, real)
        raise StoreError("the disk did not answer")

    monkeypatch.setattr(module, step, fail)


@pytest.mark.parametrize("owner", [{"user_id": "ann"}, {"session_id": "s"}])
@pytest.mark.parametrize("how", ["worker", "restart"])
def test_what_comes_after_a_purge_that_failed_midway_stays(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owner: dict[str, str], how: str
) -> None:
    memory = open_memory()
    memory._indexer.close()
    memory.ingest("s", "user", "canary-before", user_id="ann", id="before")
    memory.call(AddHint(hook="session_end", session_id="s", details={"why": "canary-before"}))
    memory.capture(Event(id="b", text="canary-before", user_id="ann", session_id="s"))
    fail_once(monkeypatch, capture_log, "forget")
    with pytest.raises(StoreError):
        memory.purge(**owner)
    memory.harvest()
    memory.ingest("s", "user", "I like the later tea.", user_id="ann", id="later")
    memory.ingest("later", "user", "I like the other tea.", user_id="ann", id="other")
    memory.put("user:ann", "m", "a later memory")
    memory.call(AddHint(hook="session_end", session_id="s", details={"why": "later"}))
    for harvested in ("e1", "e2"):
        memory.capture(Event(id=harvested, text=f"a later event {harvested}", user_id="ann", session_id="s"))
        if harvested == "e1":
            memory.harvest()
    if how == "worker":
        work_alone(memory)
    else:
        memory.close()
        memory = open_memory()
        memory._indexer.close()
    assert purge_in_status(memory) == []
    assert canaries_in(tmp_path, ["canary-before"]) == {}
    assert [turn.id for turn in memory.list("session_raw:s").records] == ["later"]
    assert [turn.id for turn in memory.list("session:s").records] == ["later"]
    assert [turn.id for turn in memory.list("turns:ann").records] == ["s/later", "later/other"]
    assert [record.id for record in memory.list("user:ann").records if record.id == "m"] == ["m"]
    memory.harvest()
    assert [event.id for event in memory.list("ledger:session:s").records] == ["e1", "e2"]
    assert len(memory.call(ReadJournal()).entries) == 1
    lines = "".join(file.read_text("utf-8") for file in (tmp_path / "data" / "captures").glob("log-*.jsonl"))
    assert ("event e1" in lines, "event e2" in lines) == (True, True)
    assert memory.verify().ok


def test_a_purge_that_failed_midway_takes_what_was_made_meanwhile(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = open_memory()
    memory._indexer.close()
    for number in range(30):
        memory.ingest("s", "user", f"The deployment of canary-{number} went to region {number * 7}.", user_id="ann")
    memory.capture(Event(text="canary-captured", user_id="ann"))
    fail_once(monkeypatch, capture_log, "forget")
    with pytest.raises(StoreError):
        memory.purge(user_id="ann")
    memory.harvest()
    memory.compact("s", force=True)
    source = f"session_raw:s/{memory.list('session_raw:s').records[0].id}"
    memory.call(FactsAssert(subject="x", predicate="status", object="canary-0", user_id="ann", sources=(source,)))
    work_alone(memory)
    assert canaries_in(tmp_path, ["canary-"]) == {}
    assert memory.verify().ok


def test_a_purge_that_fails_again_is_tried_less_and_less_often(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory._indexer.close()
    memory._indexer.join()
    memory.put("user:ann", "a", "canary-a")
    tries: list[int] = []
    clock = memory._parts.clock
    begun = clock.now_ms()

    def fill_disk(*_: object, **__: object) -> None:
        tries.append(clock.now_ms() - begun)
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(store.SqliteStore, "scrub", fill_disk)
        with pytest.raises(StoreError):
            memory.purge(user_id="ann")
        tries.clear()
        alone = Indexer(memory._parts, [purging.WORKER], memory._courtesy, None)
        for _ in range(3 * 2 * 3600):
            alone._work_without_meaning()
            clock.ms += 500  # type: ignore[attr-defined]
    pauses = [(after - before) // 1000 for before, after in itertools.pairwise(tries)]
    assert pauses[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert set(pauses[10:]) == {600}
    clock.ms -= 86_400_000  # type: ignore[attr-defined]  # the clock is set back
    alone._work_without_meaning()
    assert purge_in_status(memory) == []


def test_a_store_is_not_written_anew_where_a_second_one_would_not_fit(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory._indexer.close()
    memory.put("user:ann", "a", "canary-a")
    size = memory.status().store_bytes
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=size // 2))
        with pytest.raises(StoreError, match="too full"):
            memory.purge(user_id="ann")
        assert purge_in_status(memory)
    memory.purge(user_id="ann")
    assert purge_in_status(memory) == []


BREAK = {
    "marks": "UPDATE records SET marks = '{#' || substr(marks, 3) WHERE text = ?",
    "metadata": "UPDATE records SET metadata = '{#' || substr(metadata, 3) WHERE text = ?",
}


def break_json(memory: Memory, column: str, text: str) -> None:
    """A bit of a row's JSON flips, of the quotation mark at its beginning, and it is none any more."""
    connection = apsw.Connection(str(memory._parts.config.database))
    connection.execute("DROP TRIGGER IF EXISTS raw_turns_do_not_change")
    connection.execute(BREAK[column], (text,))
    assert connection.changes() == 1
    connection.close()


@pytest.mark.parametrize("column", ["marks", "metadata"])
def test_damaged_json_of_one_record_stops_no_purge(open_memory: OpenMemory, column: str) -> None:
    page = "https://example.org/page"
    memory = open_memory()
    memory._indexer.close()
    memory.put("global", "new", "the new text")
    for id_ in ("damaged", "good", "other"):
        memory.put("global", id_, f"the {id_} text", source=page if id_ != "other" else None)
        memory.call(Label(ref=f"global/{id_}", superseded_by="global/new"))
    memory.ingest("s", "user", "the turn", user_id="ann", metadata={"note": "x"})
    damaged = ("the damaged text", "the turn") if column == "metadata" else ("the damaged text",)
    for text in damaged:
        break_json(memory, column, text)
    assert [memory.purge(ref=f"global/{id_}").records for id_ in ("other", "new")] == [1, 1]
    assert memory.purge(source=page).records == 2
    assert memory.purge(user_id="ann").turns == 1
    assert memory._parts.store.counts().records == 0


def test_a_damaged_record_is_purged_by_its_name(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory._indexer.close()
    memory.put("global", "new", "the new text")
    memory.put("global", "a", "canary-a", {"n": 1}, source="https://example.org/page")
    memory.call(Label(ref="global/a", superseded_by="global/new"))
    for column in ("marks", "metadata"):
        break_json(memory, column, "canary-a")
    memory.verify(repair=True)
    assert memory.purge(ref="global/a").records == 1
    assert canaries_in(tmp_path, ["canary-a"]) == {}


def test_no_backup_is_made_inside_the_data_folder(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    folder = memory._parts.config.data_dir
    (tmp_path / "link").symlink_to(folder)
    for place in (folder / "copy.db", tmp_path / "link" / "copy.db", folder / ".." / "data" / "copy.db"):
        with pytest.raises(InvalidInput, match="inside the data folder"):
            memory.call(Backup(path=str(place)))
    with pytest.raises(InvalidInput, match="that a file can have"):
        memory.call(Backup(path="/nul\0byte"))


@pytest.mark.parametrize(
    ("module", "step"),
    [
        (capture_log, "forget"),
        (store.SqliteStore, "purge"),
        (writing, "keep"),
        (artifacts, "remove"),
        (store.SqliteStore, "finish_purge"),
        (store.SqliteStore, "scrub"),
    ],
)
def test_a_purge_that_dies_before_a_step_is_finished_before_anything_is_served(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, step: str
) -> None:
    memory = open_memory()
    for value, user in (("draft", "bob"), ("live", "ann")):
        statement = f"The canary-{user} page is {value}."
        memory.call(FactsAssert(subject="page", predicate="status", object=value, statement=statement, user_id=user))
    memory.capture(Event(text="canary-ann", payload="canary-ann " * 2000, user_id="ann"))

    def die(*_: object, **__: object) -> int:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patched:
        patched.setattr(module, step, die)
        with pytest.raises(RuntimeError):
            memory.purge(user_id="ann")
        assert purge_in_status(memory)
        memory.close()
    memory = open_memory()
    assert purge_in_status(memory) == []
    assert canaries_in(tmp_path, ["canary-ann", "user:ann"]) == {}
    assert memory.call(ListPurges()).purges[0].counts["facts"] == 1
    assert memory.verify().ok


def test_an_artifact_of_a_capture_that_died_leaves_when_the_store_is_opened(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    kept = Event(text="kept", payload="kept " * 3000, user_id="ann")
    memory.capture(kept)

    def die(*_: object) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patched:
        patched.setattr(capture_log, "append_whole", die)
        for event in (kept, Event(text="t", payload="canary-a " * 2000, user_id="ann")):
            with pytest.raises(RuntimeError):
                memory.capture(event)
    memory.close()
    memory = open_memory()
    assert canaries_in(tmp_path, ["canary-a"]) == {}
    assert len(list((tmp_path / "data" / "artifacts").rglob("*.json"))) == 1
    assert not list((tmp_path / "data").rglob("*.new"))

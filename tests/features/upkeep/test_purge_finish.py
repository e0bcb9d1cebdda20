"""A purge that has begun is finished, whoever is in the way, and says so until it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from clew.api import AddHint, Backup, Event, FactsAssert, ListPurges, ReadJournal
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
    memory._indexer.close()
    memory._indexer.join()
    again = Indexer(memory._parts, [purging.WORKER], memory._courtesy, None)
    again._work_without_meaning()
    assert not memory._parts.store.needs_scrub()
    assert canaries_in(database.parent, ["canary-a"]) == {}


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

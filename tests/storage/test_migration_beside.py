"""A store is brought to a new schema by one process that holds it alone: no other writes rows as it knows them."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from clew.errors import StoreInUse
from clew.storage.sqlite import SqliteStore
from clew.storage.sqlite import connection as opening
from clew.storage.sqlite.connection import UseLock, connect, migrate, open_newest
from clew.storage.sqlite.rows import draft_values, migration_scripts
from tests.testing.drafts import draft

pytestmark = pytest.mark.requirement("STORE-8", "STORE-4")

NEWEST = len(migration_scripts())
BEFORE_SEALS = 4


def ingest(connection: apsw.Connection, number: int) -> None:
    """As a process of the version before seals writes a turn."""
    values = draft_values(draft(f"told {number}"), raw=True)
    columns = ", ".join(values)
    with connection:
        ((key,),) = connection.execute(
            f"INSERT INTO records ({columns}) VALUES (:{', :'.join(values)}) RETURNING key",  # noqa: S608
            values,
        ).fetchall()
        member = "INSERT INTO members (key, id, record, version) VALUES (?, ?, ?, 1)"
        connection.execute(member, (1 << 32 | number, str(number), key))
        connection.execute("UPDATE collections SET next_seq = ? WHERE key = 1", (number + 1,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of the version before seals, with one turn."""
    path = tmp_path / "data" / "clew.db"
    opening.prepare_file(path)
    connection = connect(path, "normal")
    migrate(connection, path, migration_scripts()[:BEFORE_SEALS])
    connection.execute("INSERT INTO collections (name, raw) VALUES ('session_raw:s', 1)")
    ingest(connection, 1)
    connection.close()
    return path


@pytest.fixture
def daemon(path: Path) -> Iterator[apsw.Connection]:
    """What a running process of that version holds."""
    use = UseLock(path)
    connection = connect(path, "normal")
    yield connection
    connection.close()
    use.release()


def version(path: Path) -> int:
    return int(apsw.Connection(str(path)).pragma("user_version"))


def turns(store: SqliteStore) -> list[str]:
    return [item.text for item in store.page("session_raw:s", 0, 100)]


def test_a_store_that_an_earlier_version_has_open_is_left_as_it_is(
    path: Path, daemon: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "ALONE_WAIT_S", 0.0)
    with pytest.raises(StoreInUse, match=r"earlier Clew.*`clew down`"):
        SqliteStore(path)
    assert version(path) == BEFORE_SEALS
    ingest(daemon, 2)


def test_every_turn_is_served_that_an_earlier_version_acknowledged_before_it_ended(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = UseLock(path)
    daemon = connect(path, "normal")
    monkeypatch.setattr(opening, "ALONE_WAIT_S", 60.0)
    looked = threading.Event()
    migrate_once = opening.migrate

    def noted(*given: object, **named: object) -> bool:
        outcome = migrate_once(*given, **named)  # type: ignore[arg-type]
        looked.set()
        return outcome

    monkeypatch.setattr(opening, "migrate", noted)
    with ThreadPoolExecutor(1) as pool:
        opened = pool.submit(SqliteStore, path)
        assert looked.wait(60)
        ingest(daemon, 2)
        daemon.close()
        use.release()
        store = opened.result(60)
    assert turns(store) == ["told 1", "told 2"]
    assert store.damage() == ()
    assert [finding for finding in store.findings() if finding.problems] == []
    store.close()


def test_an_earlier_version_cannot_open_the_store_while_it_is_migrated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []
    copy = opening.write_copy

    def beside(connection: apsw.Connection, target: Path) -> None:
        with pytest.raises(StoreInUse, match="replaced or migrated"):
            UseLock(path)  # without waiting, as earlier versions take it
        refused.append(target)
        copy(connection, target)

    monkeypatch.setattr(opening, "write_copy", beside)
    SqliteStore(path).close()
    assert len(refused) == 1
    assert version(path) == NEWEST


def test_whoever_opens_a_store_during_a_migration_waits_for_its_end(path: Path) -> None:
    alone = UseLock(path, alone=True)
    with ThreadPoolExecutor(1) as pool:
        opened = pool.submit(SqliteStore, path)
        with pytest.raises(TimeoutError):
            opened.result(0.1)
        connection = connect(path, "normal")
        migrate(connection, path, migration_scripts())
        connection.close()
        alone.release()
        store = opened.result(60)
    assert turns(store) == ["told 1"]
    store.close()


def test_a_migration_that_takes_too_long_is_told_to_those_who_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "SHARED_WAIT_S", 0.0)
    alone = UseLock(path, alone=True)
    with pytest.raises(StoreInUse, match="replaced or migrated"):
        SqliteStore(path)
    alone.release()
    SqliteStore(path).close()


def test_threads_that_open_an_older_store_at_once_all_get_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "ALONE_WAIT_S", 60.0)
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: SqliteStore(path), range(6)))
    assert [turns(store) for store in stores] == [["told 1"]] * 6
    for store in stores:
        store.close()
    assert [file.name for file in path.parent.glob("*.before-*")] == ["clew.db.before-schema-5"]


OPEN = """
import sys
from pathlib import Path
from clew.storage.sqlite import SqliteStore, connection
connection.ALONE_WAIT_S = 60.0
store = SqliteStore(Path(sys.argv[1]))
print(len(store.page("session_raw:s", 0, 9)), store.damage())
store.close()
"""


def test_processes_that_open_an_older_store_at_once_all_get_it(path: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(path)]
    opened = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in opened] == ["1 ()\n"] * 3


def test_a_failed_migration_leaves_nothing_locked(path: Path) -> None:
    with pytest.raises(apsw.SQLError):
        open_newest(path, "normal", [*migration_scripts()[:BEFORE_SEALS], "CREATE TABLE added (x); SELECT nonsense;"])
    assert version(path) == BEFORE_SEALS
    UseLock(path, alone=True).release()
    store = SqliteStore(path)
    assert turns(store) == ["told 1"]
    store.close()


def test_a_new_store_that_an_earlier_version_makes_first_is_not_migrated_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    path.touch()
    connection, other = connect(path, "normal"), connect(path, "normal")
    assert migrate(other, path, migration_scripts()[:BEFORE_SEALS])
    assert not migrate(connection, path, migration_scripts(), alone=False)
    assert version(path) == BEFORE_SEALS
    connection.close()
    other.close()

"""What only a file can get wrong: versions, permissions, triggers, damage, several processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from clew.errors import StoreCorrupt, StoreError, StoreTooNew
from clew.storage.protocol import Task
from clew.storage.sqlite import SqliteStore
from clew.storage.sqlite.connection import connect, migrate
from clew.storage.sqlite.rows import migration_scripts
from tests.testing.drafts import record, turn

RAW_ATTACKS = [
    "UPDATE records SET text = 'forged' WHERE raw",
    "UPDATE records SET metadata = '{}', role = 'system' WHERE raw",
    "UPDATE records SET raw = 0 WHERE raw",
    "DELETE FROM records WHERE raw",
    "DELETE FROM members WHERE key >> 32 IN (SELECT key FROM collections WHERE raw)",
    "UPDATE members SET id = 'x' WHERE key >> 32 IN (SELECT key FROM collections WHERE raw)",
    "UPDATE collections SET raw = 0 WHERE raw",
    "DELETE FROM collections WHERE raw",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "clew.db"


def schema(path: Path) -> list[tuple[str, ...]]:
    rows = apsw.Connection(str(path)).execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
    return [tuple(map(str, row)) for row in rows]


@pytest.mark.requirement("STORE-2")
@pytest.mark.parametrize("attack", RAW_ATTACKS)
def test_the_database_itself_refuses_to_change_raw_history(path: Path, attack: str) -> None:
    store = SqliteStore(path)
    store.append([turn("hello", id="1")])
    store.close()
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        connection.execute(attack)


def test_the_file_and_its_folder_belong_to_their_owner_alone(path: Path) -> None:
    store = SqliteStore(path)
    store.append([turn("hello", id="1")])
    files = [path, *path.parent.glob("clew.db-*")]
    assert len(files) >= 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    store.close()


@pytest.mark.requirement("STORE-4")
def test_raw_turns_are_written_with_full_sync_unless_asked_otherwise(path: Path) -> None:
    for setting, level in (("full", 2), ("normal", 1)):
        SqliteStore(path, synchronous=setting).close()
        assert connect(path, setting).execute("PRAGMA synchronous").fetchone() == (level,)


# --- versions --------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-8")
def test_an_older_schema_is_migrated_after_a_backup(path: Path) -> None:
    store = SqliteStore(path)
    store.append([turn("hello", id="1")])
    store.close()
    connection = connect(path, "full")
    migrate(connection, path, [*migration_scripts(), "CREATE TABLE added (x);"])
    assert connection.pragma("user_version") == len(migration_scripts()) + 1
    backup = path.with_name(f"clew.db.before-schema-{len(migration_scripts()) + 1}")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    restored = SqliteStore(backup)
    assert [item.text for item in restored.page("session_raw:s", 0, 9)] == ["hello"]
    restored.close()


@pytest.mark.requirement("STORE-8")
def test_a_failing_migration_leaves_the_store_as_it_was(path: Path) -> None:
    SqliteStore(path).close()
    before = schema(path)
    with pytest.raises(apsw.SQLError):
        migrate(connect(path, "full"), path, [*migration_scripts(), "CREATE TABLE added (x); SELECT nonsense;"])
    assert schema(path) == before
    SqliteStore(path).close()


@pytest.mark.requirement("STORE-8")
def test_a_newer_store_is_refused_with_a_clear_word(path: Path) -> None:
    SqliteStore(path).close()
    apsw.Connection(str(path)).pragma("user_version", 99)
    with pytest.raises(StoreTooNew, match="newer Clew"):
        SqliteStore(path)


def test_a_fresh_schema_equals_one_migrated_step_by_step(path: Path, tmp_path: Path) -> None:
    SqliteStore(path).close()
    stepped = tmp_path / "stepped.db"
    stepped.touch()
    connection = connect(stepped, "full")
    scripts = migration_scripts()
    for count in range(1, len(scripts) + 1):
        migrate(connection, stepped, scripts[:count])
    assert schema(stepped) == schema(path)


# --- damage ----------------------------------------------------------------------------------------


def test_a_file_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    foreign = apsw.Connection(str(path))
    foreign.execute("CREATE TABLE theirs (x)")
    foreign.close()
    with pytest.raises(StoreCorrupt, match="another program"):
        SqliteStore(path)
    assert [row[1] for row in schema(path)] == ["theirs"]


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(StoreCorrupt):
        SqliteStore(path)


@pytest.mark.requirement("SAFE-1")
def test_a_changed_row_is_noticed(path: Path) -> None:
    store = SqliteStore(path)
    store.append([turn("hello", id="1")])
    store.put([record("honest", id="m")])
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE records SET text = 'forged' WHERE NOT raw")
    problems = {finding.name: finding.problems for finding in store.findings() if finding.problems}
    assert list(problems) == ["hashes"]
    store.close()


@pytest.mark.requirement("SAFE-1")
@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("PRAGMA foreign_keys=OFF; DELETE FROM members WHERE id = 'm'", "membership"),
        ("PRAGMA foreign_keys=OFF; DELETE FROM records WHERE NOT raw", "members"),
        ("UPDATE collections SET next_seq = 1 WHERE name = 'user:u'", "sequences"),
    ],
)
def test_each_kind_of_damage_is_named(path: Path, damage: str, check: str) -> None:
    store = SqliteStore(path)
    store.put([record("one", id="m")])
    connection = apsw.Connection(str(path))
    for statement in damage.split("; "):
        connection.execute(statement)
    assert check in {finding.name for finding in store.findings() if finding.problems}
    store.close()


@pytest.mark.requirement("SAFE-1")
def test_a_full_disk_is_a_clear_error_and_loses_nothing_acknowledged(path: Path) -> None:
    store = SqliteStore(path)
    store.append([turn("kept", id="0")])
    store._writer.run(lambda connection: connection.pragma("max_page_count", connection.pragma("page_count") + 2))
    acknowledged = ["0"]

    def fill() -> None:
        for number in range(1, 1000):
            store.append([turn(f"{number} " * 400, id=str(number))])
            acknowledged.append(str(number))

    with pytest.raises(StoreError, match="full"):
        fill()
    assert [item.id for item in store.page("session_raw:s", 0, 2000)] == acknowledged
    assert [finding for finding in store.findings() if finding.problems] == []
    store.close()


def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.page("user:u", 0, 1)
    with pytest.raises(StoreError, match="closed"):
        store.append([turn("late", id="1")])


# --- sharing ---------------------------------------------------------------------------------------

WRITE_MANY = """
import sys
from pathlib import Path
from clew.storage.sqlite import SqliteStore
from tests.testing.drafts import turn
store = SqliteStore(Path(sys.argv[1]))
for number in range(60):
    store.append([turn(f"text {number}", id=f"{sys.argv[2]}-{number}", user="u")])
store.close()
"""


@pytest.mark.requirement("STORE-4")
def test_several_processes_open_and_write_one_new_file(path: Path) -> None:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}:{root}"}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE_MANY, str(path), name], env=environment) for name in "abcd"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    store = SqliteStore(path)
    records = store.page("session_raw:s", 0, 1000)
    assert len(records) == len({item.id for item in records}) == len({item.seq for item in records}) == 240
    assert [finding for finding in store.findings() if finding.problems] == []
    store.close()


def test_a_backup_that_is_acknowledged_outlives_a_power_cut(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content is on the disk before the file has its name, and the name before the call returns."""
    store = SqliteStore(path)
    store.append([turn("text", id="1")])
    target = tmp_path / "kept" / "copy.db"
    target.parent.mkdir()
    synced: list[tuple[str, bool]] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        sync(descriptor)
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), target.exists()))

    monkeypatch.setattr(os, "fsync", noted)
    store.backup(target)
    assert synced == [(f"{target}.partial", False), (str(target.parent), True)]
    store.close()


def test_a_backup_is_made_while_others_write(path: Path, tmp_path: Path) -> None:
    store = SqliteStore(path)
    store.append([turn(f"text {number}", id=str(number), tasks=(Task.GATE,)) for number in range(50)])
    target = tmp_path / "copy.db"
    store.backup(target)
    store.append([turn("later", id="later")])
    copy = SqliteStore(target)
    assert len(copy.page("session_raw:s", 0, 100)) == 50
    assert copy.pending(Task.GATE) == 50
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy.close()
    store.close()

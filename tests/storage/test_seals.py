"""Seals: the same in every version of Python; kept by a purge; and damage that is over is no longer reported."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.errors import RecordDamaged
from clew.storage.protocol import Marking, Place, Task
from clew.storage.purging import Purge, PurgeKind
from clew.storage.sqlite import SqliteStore
from clew.storage.sqlite.rows import first, row_hash
from clew.storage.sqlite.seals import NOT_SOUND, add_functions, seal, seal_record
from tests.testing.drafts import MODEL, VECTOR, record, turn

pytestmark = pytest.mark.requirement("SAFE-1", "STORE-4")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "clew.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path, synchronous="normal")
    opened.put([record("honest", id="m"), record("sound", id="n")])
    yield opened
    opened.close()


@contextmanager
def rows(path: Path) -> Iterator[apsw.Connection]:
    """The file behind the store's back."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(10_000)
    add_functions(connection)
    connection.pragma("foreign_keys", False)
    try:
        yield connection
    finally:
        connection.close()


def change(path: Path, *statements: str) -> None:
    with rows(path) as connection:
        for statement in statements:
            connection.execute(statement)


def ids(store: SqliteStore) -> list[str]:
    return [item.id for item in store.page("user:u", 0, 10)]


# --- what a seal is --------------------------------------------------------------------------------

SEALS: list[tuple[tuple[Any, ...], int]] = [
    ((), 0x220D7CC9),
    ((None,), 0xB2E76B14),
    ((0, 127, 128, -1, -33, 2**31, 2**63 - 1, -(2**63)), 0x7D12F9DE),
    ((0.5, 1.0, -0.0), 0xFCBB4D13),
    (("", "word", "naïve 🫨", "x" * 300), 0xC55E781B),
    ((b"", b"\x00\xff", bytes(70_000)), 0x28FB3D4E),
    ((7, 1, 1_700_000_000_000, "user", "user_turn", "unknown", 0.5, 3, "Hold 🫨", "{}", "{}"), 0x4B1AEFDE),
]
"""A store keeps its seals for years: where one of these changes, every store counts as damaged."""


@pytest.mark.parametrize(("columns", "wanted"), SEALS, ids=range(len(SEALS)))
def test_a_seal_stays_the_same_for_good(columns: tuple[Any, ...], wanted: int) -> None:
    assert seal(*columns) == wanted


def written(column: int | float | str | bytes | None) -> bytes:
    """One column in MessagePack, as its specification says."""
    match column:
        case None:
            return b"\xc0"
        case float():
            return b"\xcb" + struct.pack(">d", column)
        case int():
            return _written_number(column)
        case str():
            text = column.encode()
            return _written_length(text, 32, 0xA0, (0xD9, 0xDA, 0xDB)) + text
        case bytes():
            return _written_length(column, 0, 0, (0xC4, 0xC5, 0xC6)) + column


def _written_number(number: int) -> bytes:
    if -32 <= number < 128:
        return struct.pack(">b" if number < 0 else ">B", number)
    forms = "bhiq" if number < 0 else "BHIQ"
    head = 0xD0 if number < 0 else 0xCC
    fitting = [place for place in range(4) if -(2 ** (8 * 2**place - 1)) <= number < 2 ** (8 * 2**place)]
    return bytes([head + fitting[0]]) + struct.pack(f">{forms[fitting[0]]}", number)


def _written_length(held: bytes, short: int, short_head: int, heads: tuple[int, int, int]) -> bytes:
    if len(held) < short:
        return bytes([short_head + len(held)])
    place = 0 if len(held) < 2**8 else 1 if len(held) < 2**16 else 2
    return bytes([heads[place]]) + struct.pack(f">{'BHI'[place]}", len(held))


COLUMNS = st.lists(
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.sampled_from(
        [edge + off for power in (7, 8, 15, 16, 31, 32) for edge in (2**power, -(2**power)) for off in (-1, 0)]
    )
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
    | st.binary(max_size=300),
    max_size=12,
)


@given(COLUMNS)
def test_a_seal_is_the_checksum_of_the_columns_in_messagepack(columns: list[Any]) -> None:
    assert seal(*columns) == crc32(bytes([0x90 + len(columns)]) + b"".join(map(written, columns)))


@given(COLUMNS, st.data())
def test_a_seal_tells_columns_apart_that_look_alike(columns: list[Any], data: st.DataObject) -> None:
    assert seal(*columns) != seal(*columns, None)
    assert seal("1") != seal(1) != seal(1.0)
    assert seal("ab", "c") != seal("a", "bc")
    assert seal("a") != seal(b"a")


def test_a_row_from_before_there_were_seals_gets_the_seal_that_a_write_gives() -> None:
    columns = (7, 1, 1_700_000_000_000, "user", "user_turn", "unknown", 0.5, 3, "Hold 🫨", "{}", "{}")
    whole = row_hash(1_700_000_000_000, "user", "user_turn", "Hold 🫨", "{}")
    assert seal_record(whole, *columns) == seal(*columns)
    assert seal_record(b"x" * 16, *columns) == NOT_SOUND


def test_a_statement_seals_a_row_as_python_does(store: SqliteStore, path: Path) -> None:
    store.put([record("Shaking 🫨 face", id="face", name="\U0001fae8", count=3)])
    with rows(path) as connection:
        statement = """SELECT seal, key, raw, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks
                       FROM records"""
        for sealed, *columns in connection.execute(statement).fetchall():
            assert sealed == seal(*columns)


# --- what keeps its seal ---------------------------------------------------------------------------


@pytest.mark.parametrize("forged", ["text = 'forged'", "trust = 'trusted'", "text = CAST(x'ff' AS TEXT)"])
@pytest.mark.requirement("SAFE-1", "STORE-6")
def test_a_purge_does_not_make_a_damaged_row_look_sound(store: SqliteStore, path: Path, forged: str) -> None:
    link = made("user:u/n", By.CLEW, 1)
    place = Place(Collection("user:u"), "m")
    store.mark([Marking(place, {Mark.SUPERSEDED_BY: link})])
    change(path, f"UPDATE records SET {forged} WHERE text = 'honest'")  # noqa: S608
    store.purge(Purge("p", 1, PurgeKind.RECORD, "user:u/n"))
    assert ids(store) == []
    assert store.damage() != ()
    with rows(path) as connection:
        assert connection.execute("SELECT marks FROM records").fetchall() == [("{}",)]
    with pytest.raises(RecordDamaged):
        store.get("user:u", ["m"], strict=True)


def test_a_purge_seals_the_sound_rows_that_it_changes(store: SqliteStore) -> None:
    store.mark([Marking(Place(Collection("user:u"), "m"), {Mark.SUPERSEDED_BY: made("user:u/n", By.CLEW, 1)})])
    store.purge(Purge("p", 1, PurgeKind.RECORD, "user:u/n"))
    assert [(item.id, dict(item.marks)) for item in store.page("user:u", 0, 10)] == [("m", {})]
    assert store.damage() == ()


# --- damage that is over ---------------------------------------------------------------------------

DAMAGE = {
    "letters": "UPDATE records SET text = 'forged' WHERE text = 'honest'",
    "bytes": "UPDATE records SET text = CAST(x'ff00ff' AS TEXT) WHERE text = 'honest'",
    "metadata": "UPDATE records SET metadata = CAST(x'7bff7d' AS TEXT) WHERE text = 'honest'",
    "member": "UPDATE members SET version = 7 WHERE id = 'm'",
}


@pytest.fixture(params=DAMAGE)
def damaged(store: SqliteStore, path: Path, request: pytest.FixtureRequest) -> SqliteStore:
    """A store that has come upon a damaged memory."""
    change(path, DAMAGE[request.param])
    assert ids(store) == ["n"]
    store.export(0, 10)
    return store


def test_damage_is_reported_as_long_as_it_lasts(damaged: SqliteStore) -> None:
    (told,) = damaged.damage()
    assert "damaged and left out" in told
    assert damaged.damage() == (told,)


@pytest.mark.parametrize("damaged", ["letters", "bytes", "member"], indirect=True)
def test_a_damaged_row_that_was_purged_is_no_longer_reported(damaged: SqliteStore) -> None:
    damaged.purge(Purge("p", 1, PurgeKind.RECORD, "user:u/m"))
    assert damaged.damage() == ()
    assert [item.places[0].id for item in damaged.export(0, 10)] == ["n"]
    assert damaged.damage() == ()


def test_a_damaged_row_that_was_set_aside_is_no_longer_reported(damaged: SqliteStore) -> None:
    assert len(damaged.repair()) == 1
    assert ids(damaged) == ["n"]
    damaged.export(0, 10)
    assert damaged.damage() == ()


def test_a_row_that_another_process_set_aside_is_no_longer_reported(damaged: SqliteStore, path: Path) -> None:
    other = SqliteStore(path)
    other.repair()
    other.close()
    assert damaged.damage() == ()
    assert ids(damaged) == ["n"]
    damaged.export(0, 10)
    assert damaged.damage() == ()


def test_a_row_that_is_whole_again_is_no_longer_reported(store: SqliteStore, path: Path) -> None:
    change(path, DAMAGE["letters"])
    assert ids(store) == ["n"]
    assert store.damage() == ("record 1 is damaged and left out",)
    change(path, "UPDATE records SET text = 'honest' WHERE text = 'forged'")
    assert store.damage() == ()
    assert ids(store) == ["m", "n"]


def test_terms_that_were_made_again_are_no_longer_reported(store: SqliteStore, path: Path) -> None:
    change(path, "UPDATE records SET terms = x'00' WHERE text = 'honest'")
    assert len(store.feed("user:u", 0).added) == 1
    assert store.damage() == ("record 1 is damaged and left out",)
    assert store.replace_terms(9, lambda draft: draft.terms[:0]) == 2
    assert store.damage() == ()


def test_a_member_whose_record_is_lost_stays_reported(store: SqliteStore, path: Path) -> None:
    change(path, "DELETE FROM records WHERE text = 'honest'")
    assert ids(store) == ["n"]
    assert store.damage() == store.damage() == ("record 1 is damaged and left out",)


def test_a_damaged_vector_is_reported_until_it_is_made_again(store: SqliteStore, path: Path) -> None:
    store.adopt_model(MODEL)
    (task, *_) = store.queued(Task.EMBED, 1)
    store.finish([task.seq], {task.record_key: VECTOR})
    change(path, "UPDATE vectors SET vector = x'0000000000000000'")
    store.feed("user:u", 0)
    assert store.damage() == store.damage() == ("the vector of record 1 is damaged and not used",)
    store.finish([], {task.record_key: VECTOR})
    assert store.damage() == ()


LOST_VECTORS = {
    "row": "DELETE FROM vectors",
    "key": "UPDATE vectors SET record = record + 90",
    "model": "UPDATE vectors SET model = 9",
    "which model is the store's": "UPDATE settings SET value = '9' WHERE name = 'model'",
}


@pytest.mark.parametrize("how", LOST_VECTORS)
def test_a_lost_vector_is_reported_until_it_is_made_again(store: SqliteStore, path: Path, how: str) -> None:
    store.adopt_model(MODEL)
    waiting = store.queued(Task.EMBED, 9)
    (first_, second) = [task.record_key for task in waiting]
    store.finish([waiting[0].seq], {first_: VECTOR})
    store.feed("user:u", 0)
    assert store.damage() == ()  # the other one waits for its own
    store.finish([waiting[1].seq], {second: VECTOR})
    change(path, LOST_VECTORS[how])
    store.feed("user:u", 0)
    assert len(store.damage()) == 2
    store.adopt_model(MODEL)
    assert len(store.damage()) == (0 if "store's" in how else 2)
    store.finish([], {first_: VECTOR, second: VECTOR})
    assert store.damage() == ()


def test_lost_vectors_are_reported_by_who_queues_them(store: SqliteStore, path: Path) -> None:
    store.adopt_model(MODEL)
    store.finish([task.seq for task in store.queued(Task.EMBED, 9)], {1: VECTOR, 2: VECTOR})
    change(path, "DELETE FROM vectors WHERE record = 1")
    assert store.queue_missing_vectors() == 1
    assert store.damage() == ("the vector of record 1 is damaged and not used",)
    store.finish([], {1: VECTOR})
    assert store.damage() == ()


# --- members that the index has lost ---------------------------------------------------------------

LOST_ENTRIES = {
    "entry": ("id", " WHERE id <> 'm'"),
    "letter": ("CASE id WHEN 'm' THEN 'M' ELSE id END", ""),
}


@pytest.fixture(params=LOST_ENTRIES)
def unlisted(store: SqliteStore, path: Path, request: pytest.FixtureRequest) -> Iterator[SqliteStore]:
    """A store whose index has lost the entry of a member, or a letter of it."""
    store.close()
    column, where = LOST_ENTRIES[request.param]
    with rows(path) as connection:
        ((sound,),) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'members_by_id'").fetchall()
        connection.execute("DROP INDEX members_by_id")
        connection.execute(f"CREATE UNIQUE INDEX members_by_id ON members (key >> 32, {column}){where}")
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.pragma("writable_schema", True)
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'members_by_id'", (sound,))
    opened = SqliteStore(path, synchronous="normal")
    yield opened
    opened.close()


def test_a_member_that_the_index_has_lost_is_not_taken_for_missing(unlisted: SqliteStore) -> None:
    assert unlisted.get("user:u", ["x", "y"], strict=True) == []
    with pytest.raises(RecordDamaged, match="user:u/m"):
        unlisted.get("user:u", ["x", "m"], strict=True)


def test_who_does_not_find_what_the_index_has_lost_is_told(unlisted: SqliteStore) -> None:
    assert unlisted.get("user:u", ["m"]) == []
    assert unlisted.damage() == ("members of collection 1 are lost",)


def test_a_place_that_the_index_has_lost_is_not_missing_without_a_word(unlisted: SqliteStore) -> None:
    assert unlisted.seqs("user:u", ["n", "m"]) == [2]
    assert unlisted.damage() == ("members of collection 1 are lost",)


def test_what_was_never_there_is_looked_for_once(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr("clew.storage.sqlite.seals._is_damaged", lambda *given: bool(looks.append(given[2])))
    for _ in range(3):
        assert store.seqs("user:u", ["x"]) == []
        assert store.get("user:u", ["y"]) == []
    assert looks == [1]
    assert store.damage() == ()


def test_members_behind_a_key_that_changed_are_lost_with_a_word(store: SqliteStore, path: Path) -> None:
    """The key now lies behind all that the collection has given out, and yet in its range."""
    change(path, "UPDATE members SET key = key | 4096 WHERE id = 'n'")
    assert [row.id for row in store.feed("user:u", 0).added] == ["m"]
    assert store.damage() == store.damage() == ("members of collection 1 are lost",)


def test_a_lost_name_of_a_collection_is_told_when_the_store_is_opened(store: SqliteStore, path: Path) -> None:
    store.close()
    whole = path.read_bytes()
    at = whole.rindex(b"user:u")  # in the index, which comes behind the table
    path.write_bytes(whole[:at] + b"user:v" + whole[at + 6 :])
    opened = SqliteStore(path, synchronous="normal")
    assert opened.damage() == ("the list of collections is damaged, and some may not be found",)
    with pytest.raises(RecordDamaged, match="list of collections"):
        opened.get("user:u", ["m"], strict=True)
    opened.repair()
    assert opened.damage() == ()
    opened.close()


def test_missing_ids_are_looked_for_in_one_pass(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[str] = []

    def counted(connection: apsw.Connection, name: str, values: Any = ()) -> Any:
        passes.append(name)
        return first(connection, name, values)

    monkeypatch.setattr("clew.storage.sqlite.reads.first", counted)
    assert len(store.get("user:u", [*(f"x{n}" for n in range(50)), "m"], strict=True)) == 1
    assert passes.count("find_unlisted") == 1
    passes.clear()
    store.get("user:u", ["m", "n"], strict=True)
    assert "find_unlisted" not in passes


def test_damaged_terms_and_damaged_vectors_are_named_apart(store: SqliteStore, path: Path) -> None:
    store.append([turn("told", id="1")])
    change(path, "UPDATE records SET terms = x'00' WHERE text = 'honest'")
    broken = {finding.name: finding.problems for finding in store.findings() if finding.problems}
    assert broken == {"terms": ("the terms of record 1 are not what was written",)}

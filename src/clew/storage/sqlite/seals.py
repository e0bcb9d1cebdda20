"""Damage, noticed where a row is read: every row that an answer is made from carries a checksum of itself, its seal.

SQLite sees a page that makes no sense, and not a letter that changed. A seal covers the key, too, so a row that a
damaged page gives for another is noticed as well. It is no signature: it tells damage, not a forger.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from zlib import crc32

import apsw
import msgspec

from clew.core.ids import digest
from clew.storage.sqlite.rows import Row, Values, current_model, cursor, first, many, member_key, only

NOT_SOUND = -1
"""A seal that no row has: of a row whose text was damaged before there were seals."""

MOST_NOTED = 100

RECORD, MEMBER, ITS_VECTOR, COLLECTION = "record", "member", "vector", "collection"
NAMES, UNREADABLE = "names", "unreadable"

Note = tuple[str, int | None]
"""What is damaged, and its key; without one where nobody can say which row it is."""

_WORDS = {
    RECORD: "record {} is damaged and left out",
    MEMBER: "member {} is damaged and left out",
    ITS_VECTOR: "the vector of record {} is damaged and not used",
    COLLECTION: "members of collection {} are lost",
    NAMES: "the list of collections is damaged, and some may not be found",
    UNREADABLE: "a row holds bytes that are no text, and is left out",
}

_encode = msgspec.msgpack.Encoder().encode


def seal(*columns: int | float | str | bytes | None) -> int:
    """Of all columns that it covers, in their order. Loading an index makes three for each member.

    It is kept in the store, so it must come out the same in every later version of Python and of its libraries: it is
    the CRC-32 of the columns as an array in MessagePack, each number in its shortest form.
    """
    return crc32(_encode(columns))


def is_sealed(connection: apsw.Connection, record: int) -> bool:
    """Whether a record is what was written. Only then may a change seal it anew."""
    try:
        *columns, sealed = only(connection, "record_columns", (record,))
    except UnicodeDecodeError:
        return False
    return bool(sealed == seal(record, *columns))


def seal_record(*columns: int | float | str | bytes | None) -> int:
    """For rows from before there were seals: (row_hash, then the columns of a record's seal)."""
    stored, *sealed = columns
    _, _, ts_ms, role, provenance, _, _, _, text, metadata, _ = sealed
    whole = digest(str(ts_ms), str(role or ""), str(provenance), str(text), str(metadata), size_bytes=16) == stored
    return seal(*sealed) if whole else NOT_SOUND


def add_functions(connection: apsw.Connection) -> None:
    """The seals, for statements that write rows."""
    connection.create_scalar_function("seal", seal, deterministic=True)
    connection.create_scalar_function("seal_record", seal_record, deterministic=True)


class Damage:
    """The damaged rows that this process has come upon, but for those that a repair has set aside."""

    def __init__(self) -> None:
        self._noted: dict[Note, None] = {}
        self._aside: frozenset[Note] = frozenset()
        self._unreadable: dict[tuple[int, int], tuple[Note, ...]] = {}
        """Rows that hold bytes that are no text, by the checksum and the number of the bytes."""
        self._looked_through: set[int] = set()
        self._lock = threading.Lock()

    def load(self, connection: apsw.Connection) -> None:
        """Begin anew, with the rows that are set aside.

        A collection whose name is lost looks like one that never was, so the list of them is checked here.
        """
        aside = frozenset(many(connection, "set_aside"))
        try:
            is_whole = many(connection, "check_names") == [("ok",)]
        except (apsw.Error, UnicodeDecodeError):
            is_whole = False
        with self._lock:
            self._aside = aside
            self._noted = {} if is_whole else {(NAMES, None): None}
            self._unreadable = {}
            self._looked_through = set()

    def look_through(self, connection: apsw.Connection, collection: int) -> None:
        """Once: note whether the index has lost members. For who does not find one: most often there is none."""
        if collection not in self._looked_through:
            self._looked_through.add(collection)
            if _is_damaged(connection, COLLECTION, collection):
                self.note(COLLECTION, collection)

    def note(self, what: str, key: int | None) -> None:
        with self._lock:
            if (what, key) not in self._aside and len(self._noted) < MOST_NOTED:
                self._noted[what, key] = None

    def note_unreadable(self, connection: apsw.Connection, error: UnicodeDecodeError) -> None:
        """Note a row that could not be read, since it holds bytes that are no text."""
        known = crc32(error.object), len(error.object)
        found = self._unreadable.get(known)
        if found is None:
            found = (*_rows_with(connection, error.object),) or ((UNREADABLE, None),)
            with self._lock:
                self._unreadable[known] = found
        for what, key in found:
            self.note(what, key)

    @property
    def has_lost_names(self) -> bool:
        return (NAMES, None) in self._noted

    @property
    def is_noted(self) -> bool:
        return bool(self._noted)

    def report(self, connection: apsw.Connection) -> tuple[str, ...]:
        """What is noted, one by one, but for rows that are gone, whole again or set aside by now."""
        connection.release_memory()  # pages that it read before the damage came would still look whole
        aside = frozenset(many(connection, "set_aside"))
        with self._lock:
            noted = tuple(self._noted)
        over = [note for note in noted if note in aside or not _is_damaged(connection, *note)]
        with self._lock:
            self._aside = aside
            if over:
                self._unreadable = {}
            for note in over:
                self._noted.pop(note, None)
            return tuple(_WORDS[what].format(key) for what, key in self._noted)


def _rows_with(connection: apsw.Connection, held: bytes) -> Iterator[Note]:
    for what, statement in ((RECORD, "records_with_bytes"), (MEMBER, "members_with_bytes")):
        for (key,) in many(connection, statement, (held,)):
            yield what, key


def _is_damaged(connection: apsw.Connection, what: str, key: int | None) -> bool:
    """Whether a row is still what was noted."""
    if key is None:
        return True
    try:
        return _CHECKS[what](connection, key)
    except (apsw.Error, UnicodeDecodeError):
        return True


def _is_damaged_record(connection: apsw.Connection, key: int) -> bool:
    if first(connection, "record_columns", (key,)) is not None and not is_sealed(connection, key):
        return True
    rows = many(connection, "scan_record", (key,))
    if not rows:
        return first(connection, "members_of_record", (key,)) is not None
    return any(
        terms_seal != seal(key, ts_ms, terms) or sealed != seal(*columns)
        for terms_seal, ts_ms, terms, sealed, *columns in rows
    )


def _is_damaged_member(connection: apsw.Connection, key: int) -> bool:
    return _is_broken(connection, "check_member", key) or _is_broken(connection, "scan_member", key)


def _is_damaged_vector(connection: apsw.Connection, record: int) -> bool:
    """Until it is made again: that it waits is no comfort to who asks meanwhile."""
    if _is_broken(connection, "check_vector_seal", record):
        return True
    model = current_model(connection)
    if model == (0, 0):
        return bool(lost_vectors(connection, [record]))
    return first(connection, "lacks_vector", (record, *model)) is not None


def lost_vectors(connection: apsw.Connection, records: Sequence[int]) -> list[int]:
    """The records among these that should have a vector and do not: once there is a model, each has one or waits for
    one. Also where the store does not know any more which model it has."""
    model = current_model(connection)
    if model == (0, 0):
        return [record for record in records if first(connection, "check_vector_seal", (record,)) is not None]
    return [key for (key,) in many(connection, "lost_vectors", (json.dumps(records), *model))]


def _is_broken(connection: apsw.Connection, statement: str, key: int) -> bool:
    return any(sealed != seal(*columns) for sealed, *columns in many(connection, statement, (key,)))


def has_lost_members(connection: apsw.Connection, collection: int) -> bool:
    """Whether the index of a collection's members and their table disagree.

    The table is asked for the range that an index is loaded from: where a key changed, the rows behind it are found in
    one range, and not in another.
    """
    found = first(connection, "last_seq_of", (collection,))
    if found is None:
        return False
    rows = many(connection, "members_in_range", (member_key(collection, 0), member_key(collection, found[0])))
    if differ_from_listed(connection, collection, [key for key, _ in rows]):
        return True
    ids = "".join(sorted(id_ for _, id_ in rows))  # the index has them in the order of their bytes, which is the same
    return bool(only(connection, "listed_ids", (collection,))[0] != ids.encode("utf-8"))


def differ_from_listed(connection: apsw.Connection, collection: int, keys: Sequence[int]) -> bool:
    """Whether the members that the table gives are others than those that the index lists, as far as keys tell."""
    return only(connection, "sum_listed", (collection,)) != (len(keys), sum(keys))


_CHECKS: Mapping[str, Callable[[apsw.Connection, int], bool]] = {
    RECORD: _is_damaged_record,
    MEMBER: _is_damaged_member,
    ITS_VECTOR: _is_damaged_vector,
    COLLECTION: has_lost_members,
}


def sound_rows(connection: apsw.Connection, name: str, values: Values, damage: Damage) -> Iterator[Row]:
    """The rows of a statement that can be read at all."""
    rows = cursor(connection, name, values)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            damage.note_unreadable(connection, error)


def find_damage(row: Row) -> tuple[str, int | None] | None:
    """The damage of a member with its record, from the columns of the `member_*` and `members_*` statements."""
    key, id_, version, *columns, _, _, record, sealed, raw, record_sealed = row
    if sealed != seal(key, id_, record, version):
        return MEMBER, key
    return None if record_sealed == seal(record, raw, *columns) else (RECORD, record)

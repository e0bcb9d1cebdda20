"""Damage, noticed where a row is read: every row that an answer is made from carries a checksum of itself, its seal.

SQLite sees a page that makes no sense, and not a letter that changed. A seal covers the key, too, so a row that a
damaged page gives for another is noticed as well. It is no signature: it tells damage, not a forger.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from zlib import crc32

import apsw

from clew.core.ids import digest
from clew.storage.sqlite.rows import Row, Values, cursor, many

NOT_SOUND = -1
"""A seal that no row has: of a row whose text was damaged before there were seals."""

MOST_NOTED = 100

RECORD, MEMBER = "record", "member"


def seal(*columns: int | float | str | bytes | None) -> int:
    """Of all columns that it covers, in their order; bytes come last. Loading an index makes three for each member."""
    last = columns[-1]
    if isinstance(last, bytes):
        return crc32(last, crc32(repr(columns[:-1]).encode()))
    return crc32(repr(columns).encode())


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
    """The damaged rows that this process has come upon, and those that a repair has set aside."""

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}
        self._aside: frozenset[tuple[str, int]] = frozenset()
        self._lock = threading.Lock()

    def load(self, connection: apsw.Connection) -> None:
        """Begin anew, with the rows that are set aside."""
        with self._lock:
            self._aside = frozenset(many(connection, "set_aside"))
            self._noted = {}

    def note(self, reason: str) -> None:
        with self._lock:
            if len(self._noted) < MOST_NOTED:
                self._noted[reason] = None

    @property
    def noted(self) -> tuple[str, ...]:
        return tuple(self._noted)

    def note_row(self, what: str, key: int | None) -> None:
        if (what, key) not in self._aside:
            self.note(f"{what} {key} is damaged and left out")


def sound_rows(connection: apsw.Connection, name: str, values: Values, damage: Damage) -> Iterator[Row]:
    """The rows of a statement that can be read at all."""
    rows = cursor(connection, name, values)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except UnicodeDecodeError:
            damage.note("a row holds bytes that are no text, and is left out")


def find_damage(row: Row) -> tuple[str, int | None] | None:
    """The damage of a member with its record, from the columns of the `member_*` and `members_*` statements."""
    key, id_, version, *columns, _, _, record, sealed, raw, record_sealed = row
    if sealed != seal(key, id_, record, version):
        return MEMBER, key
    return None if record_sealed == seal(record, raw, *columns) else (RECORD, record)

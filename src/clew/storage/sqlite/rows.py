"""The named statements of `queries.sql` and the migrations beside it; and the types that rows become.

No statement is ever put together from strings at run time: values are bound, names are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

import apsw
import msgspec

from clew.core.collections import Collection
from clew.core.ids import digest
from clew.core.model import Draft, Metadata, Provenance, Record, Role, Trust
from clew.core.structs import plain

SEQ_BITS = 32
MAX_SEQ = (1 << SEQ_BITS) - 1
VECTOR_ITEM_BYTES = 2
"""Of one component of a vector; the index says how it is written."""

_ROLES: Mapping[str | None, Role | None] = {None: None} | {role.value: role for role in Role}
_PROVENANCES = {provenance.value: provenance for provenance in Provenance}
_TRUSTS = {trust.value: trust for trust in Trust}
"""Looked up many times a search, for which calling an enumeration is too slow."""

_encoder = msgspec.json.Encoder(order="sorted", enc_hook=plain)


def member_key(collection: int, seq: int) -> int:
    """A member's place as one integer, so that a collection is one range of the table."""
    return collection << SEQ_BITS | seq


def seq_of(key: int) -> int:
    return key & MAX_SEQ


def key_range(collection: int) -> tuple[int, int]:
    return member_key(collection, 0), member_key(collection, MAX_SEQ)


def encode_metadata(metadata: Metadata) -> str:
    """Canonical JSON: equal metadata is equal text."""
    return _encoder.encode(metadata).decode("utf-8")


def decode_metadata(text: str | bytes) -> dict[str, Any]:
    return {} if text == "{}" else msgspec.json.decode(text, type=dict[str, Any])


def read_metadata(written: bytes) -> dict[str, Any] | None:
    """The metadata or marks of a row that may be damaged; None where these bytes are none."""
    try:
        return decode_metadata(written)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def row_hash(ts_ms: int, role: str | None, provenance: str, text: str, metadata: str) -> bytes:
    """Over all that must never change unnoticed."""
    return digest(str(ts_ms), role or "", provenance, text, metadata, size_bytes=16)


def draft_values(draft: Draft, *, raw: bool) -> Mapping[str, Any]:
    metadata = encode_metadata(draft.metadata)
    return {
        "raw": int(raw),
        "ts_ms": draft.ts_ms,
        "role": draft.role,
        "provenance": draft.provenance,
        "trust": draft.trust,
        "stability": draft.stability,
        "tokens": draft.tokens,
        "row_hash": row_hash(draft.ts_ms, draft.role, draft.provenance, draft.text, metadata),
        "terms": draft.terms,
        "text": draft.text,
        "metadata": metadata,
        "marks": encode_metadata(draft.marks),
    }


def to_draft(row: Row) -> Draft:
    """From (ts_ms, role, provenance, trust, stability, tokens, terms, text, metadata, marks)."""
    ts_ms, role, provenance, trust, stability, tokens, terms, text, metadata, marks = row
    return Draft(
        text=text,
        ts_ms=ts_ms,
        role=_ROLES[role],
        provenance=_PROVENANCES[provenance],
        trust=_TRUSTS[trust],
        stability=stability,
        tokens=tokens,
        terms=terms,
        metadata=decode_metadata(metadata),
        marks=decode_metadata(marks),
    )


def to_record(collection: str, row: Row) -> Record:
    """From the columns of the `member_*` and `members_*` statements."""
    key, id_, version, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks, count, used = row[:14]
    return Record(
        collection=Collection(collection),
        id=id_,
        text=text,
        ts_ms=ts_ms,
        role=_ROLES[role],
        provenance=_PROVENANCES[provenance],
        trust=_TRUSTS[trust],
        stability=stability,
        tokens=tokens,
        metadata=decode_metadata(metadata),
        seq=seq_of(key),
        version=version,
        access_count=count,
        last_used_ms=used,
        marks=decode_metadata(marks),
    )


def collection_key(connection: apsw.Connection, name: str) -> int | None:
    row = first(connection, "find_collection", (name,))
    return None if row is None else int(row[0])


def current_model(connection: apsw.Connection) -> tuple[int, int]:
    """The store's embedder: its key and the bytes of a whole vector of it. Without one, values that no vector has."""
    row = first(connection, "current_model")
    if row is None:
        return 0, 0
    key, _, dimensions, _, _ = row
    return key, dimensions * VECTOR_ITEM_BYTES


Row = tuple[Any, ...]
Values = tuple[Any, ...] | Mapping[str, Any]

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def _load() -> Mapping[str, str]:
    source = resources.files(__package__).joinpath("queries.sql").read_text("utf-8")
    pieces = _NAME.split(source)
    return dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))


_STATEMENTS = _load()


def run(connection: apsw.Connection, name: str, values: Values = ()) -> None:
    connection.execute(_STATEMENTS[name], values)


def run_each(connection: apsw.Connection, name: str, values: Iterable[tuple[Any, ...]]) -> None:
    connection.executemany(_STATEMENTS[name], values)


def each(connection: apsw.Connection, name: str, values: Values = ()) -> Iterator[Row]:
    """Rows as they are read; for results too large to hold at once."""
    yield from connection.execute(_STATEMENTS[name], values)


def cursor(connection: apsw.Connection, name: str, values: Values = ()) -> Iterator[Row]:
    """Rows one by one; after an error in one, the next can still be asked for."""
    return connection.execute(_STATEMENTS[name], values)


def many(connection: apsw.Connection, name: str, values: Values = ()) -> list[Row]:
    return connection.execute(_STATEMENTS[name], values).fetchall()


def first(connection: apsw.Connection, name: str, values: Values = ()) -> Row | None:
    return connection.execute(_STATEMENTS[name], values).fetchone()


def only(connection: apsw.Connection, name: str, values: Values = ()) -> Row:
    """The row of a statement that always gives one."""
    row = first(connection, name, values)
    assert row is not None, name
    return row


def statement_names() -> frozenset[str]:
    return frozenset(_STATEMENTS)


def migration_scripts() -> list[str]:
    """The scripts that bring a store from version n to n + 1, in order, starting from an empty file."""
    folder = resources.files(__package__).joinpath("migrations")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [folder.joinpath(name).read_text("utf-8") for name in names]

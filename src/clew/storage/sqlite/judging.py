"""What changes the judgement of records and leaves their text alone. Runs inside a transaction of the writer."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from clew.core.collections import Collection
from clew.core.marks import merged
from clew.core.model import Provenance
from clew.errors import RawHistoryProtected
from clew.storage.protocol import TRACE_LIMIT, Marking, Place, StoredTrace
from clew.storage.sqlite.queries import first, only, run
from clew.storage.sqlite.rows import collection_key, decode_metadata, encode_metadata
from clew.storage.sqlite.writes import add_place, drop_member


def mark(connection: apsw.Connection, markings: Sequence[Marking]) -> int:
    count = 0
    for marking in markings:
        collection = collection_key(connection, marking.place.collection)
        found = first(connection, "find_member", (collection, marking.place.id))
        if found is not None:
            count += 1
            _mark(connection, found[1], marking)
    return count


def _mark(connection: apsw.Connection, record: int, marking: Marking) -> None:
    if marking.marks:
        old = decode_metadata(only(connection, "record_marks", (record,))[0])
        run(connection, "set_marks", (encode_metadata(merged(old, marking.marks)), record))
    if marking.trust is not None:
        run(connection, "set_trust", (marking.trust, record))


def move(connection: apsw.Connection, places: Sequence[Place], collection: str) -> int:
    return sum(_move(connection, place, collection) for place in places)


def _move(connection: apsw.Connection, place: Place, collection: str) -> bool:
    found = first(connection, "find_member", (collection_key(connection, place.collection), place.id))
    if found is None:
        return False
    key, record, version, raw, provenance, *_ = found
    if raw or provenance == Provenance.SUMMARY or Collection(collection).is_raw:
        raise RawHistoryProtected(f"{place.id!r} in {place.collection} is a turn or a summary; it does not move")
    moved = add_place(connection, Place(Collection(collection), place.id), record, version)
    if moved:
        drop_member(connection, key)
    return moved


def keep_trace(connection: apsw.Connection, trace: StoredTrace) -> None:
    run(connection, "add_trace", (trace.id, trace.ts_ms, trace.user_id, trace.session_id, trace.body))
    run(connection, "trim_traces", (TRACE_LIMIT,))

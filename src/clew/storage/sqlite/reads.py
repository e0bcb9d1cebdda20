"""Reads rows. Every function that asks more than one question runs inside a snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from clew.core.collections import Collection
from clew.core.model import Record, Trust
from clew.core.ports import EmbedderIdentity
from clew.storage.protocol import (
    Counts,
    Feed,
    FeedRow,
    Hint,
    Place,
    QueuedTask,
    StoredRecord,
    StoredTrace,
    Task,
)
from clew.storage.sqlite.rows import (
    Row,
    collection_key,
    current_model,
    decode_metadata,
    first,
    key_range,
    many,
    member_key,
    only,
    seq_of,
    to_draft,
    to_record,
)
from clew.storage.sqlite.writes import RELOAD, REMOVED, VECTOR


def members_by_id(connection: apsw.Connection, name: str, ids: Iterable[str]) -> list[Record]:
    collection = collection_key(connection, name)
    rows = (first(connection, "member_by_id", (collection, id_)) for id_ in ids)
    return [to_record(name, row) for row in rows if row is not None]


def seqs(connection: apsw.Connection, name: str, ids: Iterable[str]) -> list[int]:
    collection = collection_key(connection, name)
    wanted = list(ids)
    found: dict[str, int] = dict(many(connection, "member_keys_by_ids", (collection, json.dumps(wanted))))
    return [seq_of(found[id_]) for id_ in wanted if id_ in found]


def places(connection: apsw.Connection, name: str, id_: str) -> tuple[Place, ...]:
    found = first(connection, "find_member", (collection_key(connection, name), id_))
    return () if found is None else _places(connection, found[1])[0]


def members_at(connection: apsw.Connection, name: str, seqs: Iterable[int]) -> list[Record]:
    collection = collection_key(connection, name)
    if collection is None:
        return []
    keys = [member_key(collection, seq) for seq in seqs]
    found = {row[0]: row for row in many(connection, "members_by_keys", (json.dumps(keys),))}
    return [to_record(name, found[key]) for key in keys if key in found]


def page(connection: apsw.Connection, name: str, after: int, limit: int) -> list[Record]:
    collection = collection_key(connection, name)
    if collection is None:
        return []
    bounds = (member_key(collection, after), key_range(collection)[1])
    return [to_record(name, row) for row in many(connection, "members_after", (*bounds, limit))]


def newest(connection: apsw.Connection, name: str, before: int | None, limit: int) -> list[Record]:
    collection = collection_key(connection, name)
    if collection is None:
        return []
    low, high = key_range(collection)
    upper = high if before is None else member_key(collection, before)
    return [to_record(name, row) for row in many(connection, "members_before", (low, upper, limit))]


def size(connection: apsw.Connection, name: str) -> int:
    collection = collection_key(connection, name)
    return 0 if collection is None else int(only(connection, "collection_size", key_range(collection))[0])


def is_at(connection: apsw.Connection, name: str, seq: int) -> bool:
    """Whether a collection has not changed after this."""
    found = first(connection, "last_seq", (name,))
    return seq == (0 if found is None else found[1])


def feed(connection: apsw.Connection, name: str, after: int) -> Feed:
    found = first(connection, "last_seq", (name,))
    if found is None:
        return Feed(until=0, reset=after > 0)
    collection, until = found
    if until == after:
        return Feed(until=until, reset=False)
    changes = _changes(connection, collection, after, until)
    reset = after > until or any(kind == RELOAD for kind, _ in changes)
    start = 0 if reset else after
    added = _feed_rows(connection, collection, start, until)
    if reset or start == 0:
        return Feed(until=until, reset=reset, added=added)
    removed = [target for kind, target in changes if kind == REMOVED and target <= after]
    arrived = [target for kind, target in changes if kind == VECTOR and target <= after]
    return Feed(until, False, added, removed, _vectors(connection, collection, arrived))


def _changes(connection: apsw.Connection, collection: int, after: int, until: int) -> list[tuple[int, int]]:
    if after == 0:  # the caller knows nothing yet, so the present rows are enough
        return []
    bounds = (member_key(collection, after), member_key(collection, until))
    return many(connection, "feed_changes", bounds)


def _feed_rows(connection: apsw.Connection, collection: int, after: int, until: int) -> list[FeedRow]:
    model = current_model(connection)
    bounds = (member_key(collection, after), member_key(collection, until))
    return list(map(FeedRow._make, many(connection, "feed_rows", (*model, *bounds))))


def _vectors(connection: apsw.Connection, collection: int, seqs: Iterable[int]) -> list[tuple[int, bytes]]:
    model = current_model(connection)
    found = []
    for seq in dict.fromkeys(seqs):
        row = first(connection, "member_vector", (*model, member_key(collection, seq)))
        if row is not None:
            found.append((seq, row[0]))
    return found


def counts(connection: apsw.Connection) -> Counts:
    return Counts(*only(connection, "counts"))


def queued(connection: apsw.Connection, task: Task, limit: int) -> list[QueuedTask]:
    model = current_model(connection)
    return [
        QueuedTask(seq, task, key, to_draft(tuple(rest)), _places(connection, key)[0], vector)
        for seq, key, *rest, vector in many(connection, "queued", (*model, task, limit))
    ]


def _places(connection: apsw.Connection, record: int) -> tuple[tuple[Place, ...], int]:
    """The places of a record, and the highest version it has there."""
    rows = many(connection, "members_of_record", (record,))
    places = tuple(Place(Collection(name), id_) for name, id_, _, _ in rows)
    return places, max((version for _, _, version, _ in rows), default=1)


def model(connection: apsw.Connection) -> EmbedderIdentity | None:
    row = first(connection, "current_model")
    if row is None:
        return None
    _, family, dimensions, normalised, weights_hash = row
    return EmbedderIdentity(family, dimensions, bool(normalised), weights_hash)


def setting(connection: apsw.Connection, name: str) -> str | None:
    row = first(connection, "get_setting", (name,))
    return None if row is None else str(row[0])


def withheld(connection: apsw.Connection, name: str) -> list[int]:
    collection = collection_key(connection, name)
    return [] if collection is None else [row[0] for row in many(connection, "withheld", key_range(collection))]


def of_trust(connection: apsw.Connection, trust: Trust, after: int, limit: int) -> list[StoredRecord]:
    return [_to_stored(connection, row) for row in many(connection, "records_of_trust", (trust, after, limit))]


def traces(connection: apsw.Connection, limit: int) -> list[StoredTrace]:
    return [StoredTrace(*row) for row in many(connection, "newest_traces", (limit,))]


def trace(connection: apsw.Connection, id_: str) -> StoredTrace | None:
    row = first(connection, "find_trace", (id_,))
    return None if row is None else StoredTrace(*row)


def export(connection: apsw.Connection, after: int, limit: int) -> list[StoredRecord]:
    return [_to_stored(connection, row) for row in many(connection, "records_after", (after, limit))]


def _to_stored(connection: apsw.Connection, row: Row) -> StoredRecord:
    key, raw, *rest, count, used = row
    places, version = _places(connection, key)
    return StoredRecord(key, to_draft(tuple(rest)), bool(raw), places, version, count, used)


def hints(connection: apsw.Connection, session_id: str | None, limit: int) -> list[Hint]:
    rows = many(connection, "hints", (session_id, limit))
    return [Hint(seq, ts, hook, session, decode_metadata(text)) for seq, ts, hook, session, text in rows]

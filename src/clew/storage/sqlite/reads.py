"""Reads rows. Every function that asks more than one question runs inside a snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import apsw

from clew.core.collections import Collection
from clew.core.model import Record, Trust
from clew.core.ports import EmbedderIdentity
from clew.errors import RecordDamaged, StoreCorrupt
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
    MAX_SEQ,
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
from clew.storage.sqlite.seals import (
    COLLECTION,
    ITS_VECTOR,
    MEMBER,
    RECORD,
    Damage,
    differ_from_listed,
    find_damage,
    lost_vectors,
    seal,
    sound_rows,
)
from clew.storage.sqlite.writes import MARKED, RELOAD, REMOVED, VECTOR

EVERY_ROW = -1
"""No limit in the statement: rows are read one by one, up to as many sound ones as are wanted."""


def members_by_id(
    connection: apsw.Connection, name: str, ids: Iterable[str], damage: Damage, *, strict: bool
) -> list[Record]:
    collection = collection_key(connection, name)
    if strict and collection is None and damage.has_lost_names:
        raise RecordDamaged(f"the list of collections is damaged, and {name} is not found; `clew verify` says more")
    found: list[Record] = []
    missing = []
    is_lost = False
    for id_ in ids:
        try:
            row = first(connection, "member_by_id", (collection, id_))
        except UnicodeDecodeError as error:
            damage.note_unreadable(connection, error)
            row, damaged = None, True
        else:
            damaged = row is not None and (row[1] != id_ or find_damage(row) is not None)
            if row is None or row[1] != id_:
                missing.append(id_)
            else:
                found += _sound(name, [row], damage)
        if damaged and strict:
            raise _damaged(name, id_)
        is_lost = is_lost or damaged or row is None
    if is_lost and collection is not None:  # the index may be to blame, and lead nowhere or to another member
        damage.look_through(connection, collection)
    if strict and missing and collection is not None and (lost := _unlisted(connection, collection, missing)):
        raise _damaged(name, lost)
    return found


def _damaged(name: str, id_: str) -> RecordDamaged:
    return RecordDamaged(f"{name}/{id_} is not what was written; `clew verify` says more")


def _unlisted(connection: apsw.Connection, collection: int, missing: list[str]) -> str | None:
    """One of these members that the table holds and its index has lost.

    Passes over the whole collection, once for all of them. To count the rows of the table and of the index takes as
    long, and does not show an entry of which a letter changed.
    """
    found = first(connection, "find_unlisted", (*key_range(collection), json.dumps(missing)))
    return None if found is None else str(found[0])


def _sound(name: str, rows: Iterable[Row], damage: Damage) -> list[Record]:
    """Those whose seals hold; the others are noted."""
    found = []
    for row in rows:
        broken = find_damage(row)
        if broken is None:
            found.append(to_record(name, row))
        else:
            damage.note(*broken)
    return found


def seqs(connection: apsw.Connection, name: str, ids: Iterable[str], damage: Damage) -> list[int]:
    collection = collection_key(connection, name)
    wanted = list(ids)
    found = _listed(connection, collection, wanted, damage)
    return [seq_of(found[id_][0]) for id_ in wanted if id_ in found]


def _listed(
    connection: apsw.Connection, collection: int | None, ids: list[str], damage: Damage
) -> dict[str, tuple[int, int]]:
    """The keys and records of the members that the index and the table both have."""
    if collection is None:
        return {}
    rows = many(connection, "member_keys_by_ids", (collection, json.dumps(ids)))
    found = {id_: (key, record) for id_, key, record in rows}
    if not found.keys() >= set(ids):
        damage.look_through(connection, collection)
    return found


def places(connection: apsw.Connection, name: str, id_: str, damage: Damage) -> tuple[Place, ...]:
    found = _listed(connection, collection_key(connection, name), [id_], damage)
    return places_of(connection, found[id_][1], damage)[0] if found else ()


def members_at(connection: apsw.Connection, name: str, seqs: Iterable[int], damage: Damage) -> list[Record]:
    collection = collection_key(connection, name)
    if collection is None:
        return []
    keys = [member_key(collection, seq) for seq in seqs]
    found = {row[0]: row for row in sound_rows(connection, "members_by_keys", (json.dumps(keys),), damage)}
    return _sound(name, [found[key] for key in keys if key in found], damage)


def page(connection: apsw.Connection, name: str, after: int, limit: int, damage: Damage) -> list[Record]:
    collection = collection_key(connection, name)
    if collection is None:
        return []
    low, high = member_key(collection, after), key_range(collection)[1]
    rows = sound_rows(connection, "members_after", (low, high, EVERY_ROW), damage)
    return _take(name, rows, limit, damage)


def newest(connection: apsw.Connection, name: str, before: int | None, limit: int, damage: Damage) -> list[Record]:
    collection = collection_key(connection, name)
    if collection is None:
        return []
    low, high = key_range(collection)
    upper = high if before is None else member_key(collection, before)
    rows = sound_rows(connection, "members_before", (low, upper, EVERY_ROW), damage)
    return _take(name, rows, limit, damage)


def _take(name: str, rows: Iterator[Row], limit: int, damage: Damage) -> list[Record]:
    """As many sound ones as are asked for: fewer would mean that there are no more."""
    found: list[Record] = []
    while len(found) < limit and (chunk := list(islice(rows, limit - len(found)))):
        found += _sound(name, chunk, damage)
    return found


def size(connection: apsw.Connection, name: str) -> int:
    collection = collection_key(connection, name)
    return 0 if collection is None else int(only(connection, "collection_size", key_range(collection))[0])


def is_at(connection: apsw.Connection, name: str, seq: int) -> bool:
    """Whether a collection has not changed after this."""
    found = first(connection, "last_seq", (name,))
    return seq == (0 if found is None else found[1])


def feed(connection: apsw.Connection, name: str, after: int, damage: Damage) -> Feed:
    found = first(connection, "last_seq", (name,))
    if found is None:
        return Feed(until=0, reset=after > 0)
    collection, until = found
    if until == after:
        return Feed(until=until, reset=False)
    changes = _changes(connection, collection, after, until)
    reset = after > until or any(kind == RELOAD for kind, _ in changes)
    start = 0 if reset else after
    added = _feed_rows(connection, name, start, until, damage)
    if reset or start == 0:
        return Feed(until=until, reset=reset, added=added)
    removed = [target for kind, target in changes if kind == REMOVED and target <= after]
    arrived = [target for kind, target in changes if kind == VECTOR and target <= after]
    marked = [target for kind, target in changes if kind == MARKED and target <= after]
    return Feed(until, False, added, removed, _vectors(connection, collection, arrived, damage), marked)


def _changes(connection: apsw.Connection, collection: int, after: int, until: int) -> list[tuple[int, int]]:
    if after == 0:  # the caller knows nothing yet, so the present rows are enough
        return []
    bounds = (member_key(collection, after), member_key(collection, until))
    return many(connection, "feed_changes", bounds)


def _feed_rows(connection: apsw.Connection, name: str, after: int, until: int, damage: Damage) -> list[FeedRow]:
    collection = int(only(connection, "last_seq", (name,))[0])
    model = current_model(connection)
    bounds = (member_key(collection, after), member_key(collection, until))
    found: list[FeedRow] = []
    read: list[int] = []
    bare: list[int] = []
    for row in sound_rows(connection, "feed_rows", bounds, damage):
        key, ts_ms, terms, vector, record, id_, version, sealed, terms_sealed, of_model, vector_sealed, has_row = row
        read.append(key)
        if sealed != seal(key, id_, record, version):
            damage.note(MEMBER, key)
        elif terms is None or terms_sealed != seal(record, ts_ms, terms):
            damage.note(RECORD, record)
        else:
            if has_row is not None and vector_sealed != seal(record, of_model, vector):
                damage.note(ITS_VECTOR, record)
                vector = None
            elif vector is None or (of_model, len(vector)) != model:
                bare.append(record)
                vector = None
            found.append(FeedRow(key & MAX_SEQ, ts_ms, terms, vector, record, id_))
    if bare and not Collection(name).is_internal:
        for record in lost_vectors(connection, bare):
            damage.note(ITS_VECTOR, record)
    if after == 0 and differ_from_listed(connection, collection, read):
        damage.note(COLLECTION, collection)
    return found


def _vectors(
    connection: apsw.Connection, collection: int, seqs: Iterable[int], damage: Damage
) -> list[tuple[int, bytes]]:
    model = current_model(connection)
    found = []
    for seq in dict.fromkeys(seqs):
        row = first(connection, "member_vector", (*model, member_key(collection, seq)))
        if row is not None and row[2] == seal(row[1], model[0], row[0]):
            found.append((seq, row[0]))
        elif row is not None:
            damage.note(ITS_VECTOR, row[1])
    return found


def missing_vectors(connection: apsw.Connection) -> list[int]:
    """Some of the records that should have a vector, and neither have one nor wait for one."""
    model = current_model(connection)
    return [row[0] for row in many(connection, "check_missing_vectors", model)] if model != (0, 0) else []


def counts(connection: apsw.Connection) -> Counts:
    return Counts(*only(connection, "counts"))


def queued(connection: apsw.Connection, task: Task, limit: int, damage: Damage) -> list[QueuedTask]:
    model = current_model(connection)
    found: list[QueuedTask] = []
    for row in sound_rows(connection, "queued", (*model, task), damage):
        seq, key, raw, *rest, sealed, vector, of_model, vector_sealed = row
        if not _draft_is_sound(key, raw, rest, sealed, damage):
            continue  # its task waits until somebody repairs the store
        whole = vector if vector is None or vector_sealed == seal(key, of_model, vector) else None
        found.append(QueuedTask(seq, task, key, to_draft(tuple(rest)), places_of(connection, key, damage)[0], whole))
        if len(found) == limit:
            break
    return found


def _draft_is_sound(key: int, raw: int, rest: list[Any], sealed: int, damage: Damage) -> bool:
    """From the columns of `to_draft`; terms have a seal of their own."""
    before, after = rest[:6], rest[7:]
    if sealed != seal(key, raw, *before, *after):
        damage.note(RECORD, key)
        return False
    return True


def places_of(connection: apsw.Connection, record: int, damage: Damage) -> tuple[tuple[Place, ...], int]:
    """The places of a record, and the highest version it has there."""
    places = []
    highest = 1
    for name, id_, version, key, sealed, held in sound_rows(connection, "members_of_record", (record,), damage):
        if sealed == seal(key, id_, held, version):
            places.append(Place(Collection(name), id_))
            highest = max(highest, version)
        else:  # this row, or the entry of the index that leads to it
            damage.note(MEMBER, key)
            damage.look_through(connection, key >> 32)
    return tuple(places), highest


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


def of_trust(connection: apsw.Connection, trust: Trust, after: int, limit: int, damage: Damage) -> list[StoredRecord]:
    rows = sound_rows(connection, "records_of_trust", (trust, after, EVERY_ROW), damage)
    return _take_stored(connection, rows, limit, damage)


def traces(connection: apsw.Connection, limit: int) -> list[StoredTrace]:
    return [StoredTrace(*row) for row in many(connection, "newest_traces", (limit,))]


def trace(connection: apsw.Connection, id_: str) -> StoredTrace | None:
    row = first(connection, "find_trace", (id_,))
    return None if row is None else StoredTrace(*row)


def export(connection: apsw.Connection, after: int, limit: int, damage: Damage) -> list[StoredRecord]:
    if after == 0:  # places are found by an index, and one that it has lost would be missing without a word
        for pragma in ("PRAGMA integrity_check(members)", "PRAGMA integrity_check(collections)"):
            wrong = [str(row[0]) for row in connection.execute(pragma) if row[0] != "ok"]
            if wrong:
                raise StoreCorrupt(f"{wrong[0]}; `clew verify --repair` makes indexes again")
    found = _take_stored(connection, sound_rows(connection, "records_after", (after, EVERY_ROW), damage), limit, damage)
    for name in {place.collection for stored in found for place in stored.places}:
        if collection_key(connection, name) is None:  # the index, which holds each name a second time, knows it not
            raise RecordDamaged(f"the name of collection {name} is not what was written; `clew verify` says more")
    return found


def _take_stored(connection: apsw.Connection, rows: Iterator[Row], limit: int, damage: Damage) -> list[StoredRecord]:
    found: list[StoredRecord] = []
    for key, raw, *rest, sealed, count, used in rows:
        if _draft_is_sound(key, raw, rest, sealed, damage):
            places, version = places_of(connection, key, damage)
            found.append(StoredRecord(key, to_draft(tuple(rest)), bool(raw), places, version, count, used))
            if len(found) == limit:
                break
    return found


def hints(connection: apsw.Connection, session_id: str | None, limit: int) -> list[Hint]:
    rows = many(connection, "hints", (session_id, limit))
    return [Hint(seq, ts, hook, session, decode_metadata(text)) for seq, ts, hook, session, text in rows]

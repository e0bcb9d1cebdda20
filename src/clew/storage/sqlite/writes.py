"""Changes rows. Every function runs inside a transaction of the writer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import apsw

from clew.core.collections import Collection, CollectionKind
from clew.core.marks import keep_operator_marks, merge_marks
from clew.core.model import Draft, Provenance
from clew.core.ports import EmbedderIdentity
from clew.errors import Conflict, RawHistoryProtected, RecordDamaged
from clew.storage.protocol import (
    TRACE_LIMIT,
    Marking,
    NewRecord,
    NewSummary,
    NewTurn,
    Place,
    Shard,
    StoredRecord,
    StoredTrace,
    Task,
    names_of,
    tells_marks,
)
from clew.storage.sqlite.rows import (
    collection_key,
    current_model,
    decode_metadata,
    draft_values,
    encode_metadata,
    first,
    key_range,
    many,
    member_key,
    only,
    run,
    run_each,
    seq_of,
)
from clew.storage.sqlite.seals import seal

REMOVED, VECTOR, RELOAD, MARKED = 1, 2, 3, 4
"""Kinds of change, as `changes.kind` stores them."""


def append_turn(connection: apsw.Connection, turn: NewTurn) -> bool:
    taken = [_same_turn(connection, place, turn.draft) for place in turn.places if place.collection.is_raw]
    if any(taken):
        return False
    record = _add_record(connection, turn.draft, raw=True)
    for place in turn.places:
        collection = ensure_collection(connection, place.collection)
        _add_member(connection, collection, _free_name(connection, collection, place), record)
    _add_tasks(connection, record, turn.tasks)
    return True


def _same_turn(connection: apsw.Connection, place: Place, draft: Draft) -> bool:
    found = first(connection, "find_member", (collection_key(connection, place.collection), place.id))
    if found is None:
        return False
    *_, role, text, _, _ = found
    if (role, text) != (draft.role, draft.text):
        raise Conflict(f"{place.collection} already holds a turn {place.id!r} with other content")
    return True


def _free_name(connection: apsw.Connection, collection: int, place: Place) -> str:
    return next(name for name in names_of(place) if first(connection, "find_member", (collection, name)) is None)


def put_record(connection: apsw.Connection, new: NewRecord) -> tuple[int, bool]:
    place = new.place
    if place.collection.is_raw:
        raise RawHistoryProtected(f"{place.collection} is raw history; it takes turns only")
    collection = ensure_collection(connection, place.collection)
    found = first(connection, "find_member", (collection, place.id))
    if found is None:
        record = _add_record(connection, new.draft, raw=False)
        version = 1
    else:
        key, old, version, raw, provenance, role, text, metadata, marks = found
        if (role, text, metadata) == (new.draft.role, new.draft.text, encode_metadata(new.draft.metadata)):
            return version, _show_also(connection, new.also, old, version)
        if raw or provenance == Provenance.SUMMARY:
            raise RawHistoryProtected(f"{place.id!r} in {place.collection} is a turn or a summary; it does not change")
        drop_member(connection, key)
        _hide_also(connection, new.also, old)
        draft = keep_operator_marks(new.draft, decode_metadata(marks), same_text=text == new.draft.text)
        record = _add_record(connection, draft, raw=False)
        run(connection, "move_uses", (record, old))
        _drop_orphan(connection, old)
        version += 1
    _add_member(connection, collection, place.id, record, version)
    _show_also(connection, new.also, record, version)
    if new.vector is not None:
        _set_vector(connection, record, new.vector)
    _add_tasks(connection, record, new.tasks)
    return version, True


def _show_also(connection: apsw.Connection, places: Iterable[Place], record: int, version: int) -> bool:
    return sum(add_place(connection, place, record, version) for place in places) > 0


def _hide_also(connection: apsw.Connection, places: Iterable[Place], record: int) -> None:
    """Leaves alone the places that another record holds."""
    for place in places:
        found = first(connection, "find_member", (collection_key(connection, place.collection), place.id))
        if found is not None and found[1] == record:
            drop_member(connection, found[0])


def remove_members(connection: apsw.Connection, name: str, ids: Sequence[str]) -> int:
    collection = _removable(connection, name)
    count = 0
    for id_ in ids:
        found = first(connection, "find_member", (collection, id_))
        if found is not None:
            key, record, _, raw, provenance, *_ = found
            _refuse_summary(name, provenance)
            drop_member(connection, key)
            _note_dismissed(connection, name, id_, record, raw=raw)
            _drop_orphan(connection, record)
            count += 1
    return count


def clear_collection(connection: apsw.Connection, name: str) -> int:
    collection = _removable(connection, name)
    if collection is None:
        return 0
    low, high = key_range(collection)
    members = many(connection, "members_of_collection", (low, high))
    for key, id_, record, raw, provenance in members:
        _refuse_summary(name, provenance)
        run(connection, "delete_member", (key,))
        _note_dismissed(connection, name, id_, record, raw=raw)
        _drop_orphan(connection, record)
    mark_reload(connection, collection)
    return len(members)


def _removable(connection: apsw.Connection, name: str) -> int | None:
    if Collection(name).is_raw:
        raise RawHistoryProtected(f"{name} is raw history; it is kept for good")
    return collection_key(connection, name)


def _refuse_summary(name: str, provenance: str) -> None:
    if provenance == Provenance.SUMMARY and Collection(name).holds_summaries:
        raise RawHistoryProtected(f"{name} holds summaries, which lead back to turns; they are kept for good")


def _note_dismissed(connection: apsw.Connection, name: str, id_: str, record: int, *, raw: bool) -> None:
    collection = Collection(name)
    if raw and collection.kind is CollectionKind.SESSION:
        add_place(connection, Place(Collection.dismissed(collection.owner), id_), record)


def condense(
    connection: apsw.Connection, session_id: str, summaries: Sequence[NewSummary], shards: Sequence[Shard]
) -> None:
    history = collection_key(connection, Collection.raw(session_id))
    for shard in shards:
        turn = first(connection, "find_member", (history, shard.turn_id))
        if turn is None:
            raise Conflict(f"session {session_id!r} has no turn {shard.turn_id!r}")
        _keep(connection, shard, turn[1])
    view = ensure_collection(connection, Collection.session(session_id))
    kept = ensure_collection(connection, Collection.summaries(session_id))
    for summary in summaries:
        _add_summary(connection, view, kept, summary)


def _keep(connection: apsw.Connection, shard: Shard, record: int) -> None:
    add_place(connection, shard.place, record)
    _mark(connection, record, Marking(shard.place, shard.marks))


def _add_summary(connection: apsw.Connection, view: int, kept: int, summary: NewSummary) -> None:
    sources = [_node(connection, view, kept, id_) for id_ in dict.fromkeys(summary.sources)]
    taken = [first(connection, "find_member", (collection, summary.id)) for collection in (view, kept)]
    priors = [first(connection, "find_member", (kept, id_)) for id_ in summary.prior_ids]
    if not sources or None in sources or None in priors or any(taken):
        raise Conflict(f"the active view has changed; summary {summary.id!r} no longer fits it")
    record = _add_record(connection, summary.draft, raw=False)
    for collection in (kept, view):
        _add_member(connection, collection, summary.id, record)
    if summary.vector is not None:
        _set_vector(connection, record, summary.vector)
    _add_tasks(connection, record, summary.tasks)
    for source in sources:
        assert source is not None
        drop_member(connection, source)


def _node(connection: apsw.Connection, view: int, kept: int, id_: str) -> int | None:
    """The key of a turn or summary in the view. A client's own record there would be lost if it left."""
    found = first(connection, "find_member", (view, id_))
    summary = first(connection, "find_member", (kept, id_))
    if found is None or not (found[3] or (summary is not None and summary[1] == found[1])):
        return None
    return int(found[0])


def readmit(connection: apsw.Connection, session_id: str, ids: Sequence[str]) -> int:
    sources = [
        collection_key(connection, name) for name in (Collection.raw(session_id), Collection.summaries(session_id))
    ]
    count = 0
    for id_ in ids:
        found = [first(connection, "find_member", (collection, id_)) for collection in sources]
        record = next((row[1] for row in found if row is not None), None)
        if record is not None:
            count += add_place(connection, Place(Collection.session(session_id), id_), record)
    return count


def add_place(connection: apsw.Connection, place: Place, record: int, version: int = 1) -> bool:
    """Show a record in one more collection; False where that id is taken there already."""
    collection = ensure_collection(connection, place.collection)
    if first(connection, "find_member", (collection, place.id)) is not None:
        return False
    _add_member(connection, collection, place.id, record, version)
    return True


def ensure_collection(connection: apsw.Connection, name: str) -> int:
    key = collection_key(connection, name)
    if key is not None:
        return key
    key, first_seq = only(connection, "add_collection", (name, int(Collection(name).is_raw)))
    if first_seq > 1:  # an index of an earlier one with this name must not take this for its sequel
        mark_reload(connection, key)
    return int(key)


def touch(connection: apsw.Connection, uses: Mapping[str, Sequence[str]], now_ms: int) -> int:
    count = 0
    for name, ids in uses.items():
        collection = collection_key(connection, name)
        if collection is not None:
            run(connection, "add_uses", (collection, json.dumps(list(ids)), now_ms))
            count += connection.changes()
    return count


def finish_tasks(
    connection: apsw.Connection,
    done: Sequence[int],
    vectors: Mapping[int, bytes],
    promoted: Mapping[int, NewRecord],
    kept: Mapping[int, Shard],
) -> None:
    for record, vector in vectors.items():
        if _set_vector(connection, record, vector):
            for _, _, _, key, *_ in many(connection, "members_of_record", (record,)):
                _add_change(connection, key >> 32, VECTOR, seq_of(key))
    for seq, new in promoted.items():
        if first(connection, "find_task", (seq,)) is not None:
            put_record(connection, new)
    for seq, shard in kept.items():
        if (task := first(connection, "find_task", (seq,))) is not None:
            _keep(connection, shard, task[0])
    run_each(connection, "delete_task", [(seq,) for seq in done])


def adopt_model(connection: apsw.Connection, identity: EmbedderIdentity) -> int:
    values = (identity.family, identity.dimensions, int(identity.normalised), identity.weights_hash)
    run(connection, "add_model", values)
    key = only(connection, "find_model", values)[0]
    changed = key != current_model(connection)[0]
    run(connection, "set_setting", ("model", str(key)))
    if changed:  # loaded indexes hold vectors that can no longer be compared
        _reload_all(connection)
    return queue_missing_vectors(connection)


def forget_vectors(connection: apsw.Connection) -> None:
    """In one step with their tasks: whatever happens next, each text has a vector or waits for one."""
    run(connection, "delete_vectors")
    _reload_all(connection)
    if current_model(connection)[0]:
        queue_missing_vectors(connection)


def queue_missing_vectors(connection: apsw.Connection) -> int:
    run(connection, "queue_missing_vectors", current_model(connection))
    return connection.changes()


def set_aside(connection: apsw.Connection, damaged: Iterable[tuple[str, int]]) -> None:
    """The rows stay as they are, for a person to look at; no read serves them any more."""
    run_each(connection, "add_aside", damaged)
    run(connection, "drop_tasks_aside")
    _reload_all(connection)


def drop_vectors(connection: apsw.Connection, records: Iterable[int]) -> None:
    run_each(connection, "delete_vector", [(record,) for record in records])
    _reload_all(connection)


def set_terms(connection: apsw.Connection, terms: Iterable[tuple[bytes, int]]) -> None:
    run_each(connection, "set_terms", terms)


def void_terms(connection: apsw.Connection, records: Iterable[int]) -> None:
    """Leave nothing that could be taken for the terms of these records, so that they are made again.

    Their seals do not fit: nobody can say without the text whether the terms are wrong, or only the seals.
    """
    run_each(connection, "void_terms", [(record,) for record in records])


def finish_terms(connection: apsw.Connection, version: int) -> None:
    run(connection, "set_setting", ("analyser", str(version)))
    _reload_all(connection)


def restore_record(connection: apsw.Connection, stored: StoredRecord, tasks: tuple[Task, ...]) -> bool:
    """Write one exported record; False where the store holds it already."""
    if stored.raw:
        new = append_turn(connection, NewTurn(stored.draft, _raw_first(stored.places), tasks))
    elif stored.draft.provenance is Provenance.SUMMARY and _any_taken(connection, stored.places):
        new = False
    else:
        place, *others = stored.places
        _, new = put_record(connection, NewRecord(stored.draft, place, tasks, also=tuple(others)))
    if new:
        record = _record_at(connection, _raw_first(stored.places)[0])
        if stored.access_count:
            run(connection, "set_uses", (record, stored.access_count, stored.last_used_ms))
        run(connection, "set_version", (stored.version, record))
    return new


def _raw_first(places: tuple[Place, ...]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=lambda place: not place.collection.is_raw))


def _any_taken(connection: apsw.Connection, places: Iterable[Place]) -> bool:
    keys = ((collection_key(connection, place.collection), place.id) for place in places)
    return any(first(connection, "find_member", key) is not None for key in keys)


def _record_at(connection: apsw.Connection, place: Place) -> int:
    collection = ensure_collection(connection, place.collection)
    return int(only(connection, "find_member", (collection, place.id))[1])


def _add_record(connection: apsw.Connection, draft: Draft, *, raw: bool) -> int:
    record = int(only(connection, "add_record", draft_values(draft, raw=raw))[0])
    for statement in ("seal_record", "seal_terms"):
        run(connection, statement, (record,))
    return record


def _next_seq(connection: apsw.Connection, collection: int) -> int:
    return int(only(connection, "next_seq", (collection,))[0])


def _add_member(connection: apsw.Connection, collection: int, id_: str, record: int, version: int = 1) -> None:
    key = member_key(collection, _next_seq(connection, collection))
    run(connection, "add_member", (key, id_, record, version))


def drop_member(connection: apsw.Connection, key: int) -> None:
    run(connection, "delete_member", (key,))
    _add_change(connection, key >> 32, REMOVED, seq_of(key))


def _drop_orphan(connection: apsw.Connection, record: int) -> None:
    """A record that no collection shows any more leaves nothing behind; a raw turn always stays."""
    if first(connection, "orphan_record", (record,)) is None:
        return
    for statement in ("delete_vector", "delete_uses", "delete_tasks_of_record", "delete_record"):
        run(connection, statement, (record,))


def _add_change(connection: apsw.Connection, collection: int, kind: int, target: int) -> None:
    key = member_key(collection, _next_seq(connection, collection))
    run(connection, "add_change", (key, kind, target))


def mark_reload(connection: apsw.Connection, collection: int) -> None:
    """Earlier changes tell a loaded index nothing that the reload does not."""
    run(connection, "delete_changes", key_range(collection))
    _add_change(connection, collection, RELOAD, 0)


def _reload_all(connection: apsw.Connection) -> None:
    for (key,) in many(connection, "collection_keys"):
        mark_reload(connection, key)


def _set_vector(connection: apsw.Connection, record: int, vector: bytes) -> bool:
    """Whether it was kept: without an embedder, no vector can be compared with any other."""
    model, _ = current_model(connection)
    if model == 0:
        return False
    run(connection, "set_vector", (record, model, vector))
    return True


def _add_tasks(connection: apsw.Connection, record: int, tasks: Iterable[Task]) -> None:
    run_each(connection, "add_task", [(record, task) for task in tasks])


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
    refuse_damage(connection, record)
    if marking.marks:
        old = decode_metadata(only(connection, "record_marks", (record,))[0])
        run(connection, "set_marks", (encode_metadata(merge_marks(old, marking.marks)), record))
    if marking.trust is not None:
        run(connection, "set_trust", (marking.trust, record))
    run(connection, "seal_record", (record,))
    tell_marks(connection, record)


def tell_marks(connection: apsw.Connection, record: int) -> None:
    """Note in the feeds of its collections that a record has other marks now."""
    for name, _, _, key, *_ in many(connection, "members_of_record", (record,)):
        if tells_marks(name):
            _add_change(connection, key >> 32, MARKED, seq_of(key))


def refuse_damage(connection: apsw.Connection, record: int) -> None:
    """A new seal must not make damage look sound."""
    *columns, sealed = only(connection, "record_columns", (record,))
    if sealed != seal(record, *columns):
        raise RecordDamaged(f"record {record} is not what was written; `clew verify --repair` sets it aside")


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

"""The way out of the store: removes the target of a purge and everything made from it, in one transaction.

The records to go are listed in the table `purging`; the triggers that keep raw history let only those
leave, and the list is empty again before the transaction ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace

import apsw
import msgspec

from clew.core.collections import Collection, CollectionKind
from clew.core.lineage import Lineage, read_lineage
from clew.core.model import Metadata
from clew.errors import ClewError, NotFound
from clew.storage.purging import (
    OrderedPurge,
    Purge,
    Purged,
    PurgeEntry,
    PurgeKind,
    bared_nodes,
    cited_in,
    citing,
    collections_of_session,
    collections_of_user,
    fallen_claims,
    fallen_summaries,
    holds_captures,
    holds_memories,
    home_ref,
    is_from,
    memory_places,
    of_kind,
    record_places,
    rests_on_others,
    target_digest,
    without_links,
)
from clew.storage.sqlite.rows import (
    collection_key,
    decode_metadata,
    encode_metadata,
    first,
    key_range,
    many,
    only,
    run,
    run_each,
)
from clew.storage.sqlite.writes import mark_reload, readmit

_SESSION_KINDS = (CollectionKind.RAW, CollectionKind.SESSION, CollectionKind.SUMMARIES)

_DELETIONS = (
    "delete_doomed_members",
    "delete_doomed_vectors",
    "delete_doomed_uses",
    "delete_doomed_tasks",
    "delete_doomed_records",
    "forget_doomed",
)
"""In this order: rows that refer to a record go before it."""


class Foreseen(ClewError):
    """Undoes a purge that was only to be looked at."""

    def __init__(self, purged: Purged) -> None:
        super().__init__("nothing was purged")
        self.purged = purged


def foresee(connection: apsw.Connection, order: Purge) -> None:
    raise Foreseen(purge(connection, order))


def order(connection: apsw.Connection, ordered: OrderedPurge) -> None:
    written = msgspec.json.encode(ordered, enc_hook=str)  # a target may be a collection's name
    run(connection, "set_setting", (_order_name(ordered.purge.id), written.decode("utf-8")))


def orders(connection: apsw.Connection) -> list[OrderedPurge]:
    found = [msgspec.json.decode(value, type=OrderedPurge) for (value,) in many(connection, "ordered_purges")]
    return sorted(found, key=lambda ordered: (ordered.purge.ts_ms, ordered.purge.id))


def finish(connection: apsw.Connection, id_: str, counts: Metadata) -> None:
    run(connection, "finish_purge", (encode_metadata(counts), id_))
    run(connection, "delete_setting", (_order_name(id_),))


def _order_name(id_: str) -> str:
    return f"purge:{id_}"


def purge(connection: apsw.Connection, order: Purge) -> Purged:
    done = first(connection, "purge_counts", (order.id,))
    if done is not None:
        return msgspec.convert(decode_metadata(done[0]), Purged)
    whole = _select(connection, order)
    _doom_memories(connection)
    bared = _doom_summaries(connection)
    sessions = sorted({*whole, *_emptied_sessions(connection)})
    _doom_collections(connection, [name for session in sessions for name in collections_of_session(session)])
    _doom_claims(connection)
    purged = _count(connection, order, sessions)
    _unlink(connection)
    affected = [row[0] for row in many(connection, "collections_of_doomed")]
    for statement in _DELETIONS:
        run(connection, statement)
    back = sum(readmit(connection, session, nodes) for session, nodes in bared.items() if session not in sessions)
    _leave(connection, affected, order, sessions)
    purged = replace(purged, readmitted=back)
    values = (order.id, order.ts_ms, order.kind, target_digest(order.kind, order.target), order.target)
    run(connection, "add_purge", (*values, encode_metadata(asdict(purged))))
    return purged


def note(connection: apsw.Connection, entry: PurgeEntry) -> None:
    values = (entry.id, entry.ts_ms, entry.kind, entry.digest, entry.target)
    run(connection, "add_purge", (*values, encode_metadata(entry.counts)))


def entries(connection: apsw.Connection) -> list[PurgeEntry]:
    return [
        PurgeEntry(id_, ts_ms, PurgeKind(kind), digest, target, decode_metadata(counts))
        for id_, ts_ms, kind, digest, target, counts in many(connection, "purges")
    ]


# --- the records that go -------------------------------------------------------------------------------


def _select(connection: apsw.Connection, order: Purge) -> list[str]:
    """List the records an order names; gives the sessions that go whole."""
    match order.kind:
        case PurgeKind.USER:
            _doom_collections(connection, collections_of_user(order.target))
            return _sessions_of_user(connection, order.target)
        case PurgeKind.SESSION:
            _doom_collections(connection, collections_of_session(order.target))
            return [order.target]
        case PurgeKind.SOURCE:
            from_outside = many(connection, "records_from_outside")
            run_each(connection, "doom_record", [(key,) for key, address in from_outside if is_from(address, order)])
        case PurgeKind.RECORD:
            run_each(connection, "doom_record", _records(connection, order.target))
    return []


def _records(connection: apsw.Connection, ref: str) -> list[tuple[int]]:
    found = _found(connection, ref)
    if not found:
        raise NotFound(f"there is no record {ref!r}")
    return found


def _found(connection: apsw.Connection, ref: str) -> list[tuple[int]]:
    """The records that a reference may mean, at home and in the archive."""
    members = [
        first(connection, "find_member", (collection_key(connection, collection), id_))
        for collection, id_ in record_places(ref)
    ]
    return [(int(member[1]),) for member in members if member is not None]


def _sessions_of_user(connection: apsw.Connection, user_id: str) -> list[str]:
    """Sessions in which nobody else spoke."""
    own = {Collection.turns(user_id), Collection.replies(user_id), Collection.owned(user_id)}
    found = []
    for session in _touched_sessions(connection):
        history = collection_key(connection, Collection.raw(session))
        speakers = {row[0] for row in many(connection, "speakers_of_session", key_range(history or 0))}
        if speakers <= own:
            found.append(session)
    return found


def _touched_sessions(connection: apsw.Connection) -> list[str]:
    names = {Collection(name) for _, name, _ in many(connection, "doomed_places")}
    return sorted({name.owner for name in names if name.kind in _SESSION_KINDS and name.owner})


def _doom_collections(connection: apsw.Connection, names: Sequence[str]) -> None:
    run(connection, "doom_collections", (json.dumps(names),))


def _doom_memories(connection: apsw.Connection) -> None:
    """A memory is made from one turn, and goes with it."""
    turns = [(name, id_) for _, name, id_ in many(connection, "doomed_places")]
    found = [
        first(connection, "find_member", (collection_key(connection, name), id_)) for name, id_ in memory_places(turns)
    ]
    run_each(connection, "doom_record", [(memory[1],) for memory in found if memory is not None])


def _doom_summaries(connection: apsw.Connection) -> dict[str, list[str]]:
    """Dooms summaries that words of doomed records may have entered; gives the nodes under them that stay."""
    lost: dict[str, set[str]] = {}
    for _, name, id_ in many(connection, "doomed_places"):
        collection = Collection(name)
        if collection.kind in _SESSION_KINDS and collection.owner:
            lost.setdefault(collection.owner, set()).add(id_)
    bared = {}
    for session, ids in lost.items():
        records, lineages = _summaries(connection, session)
        fallen = fallen_summaries(lineages, ids)
        run_each(connection, "doom_record", [(records[id_],) for id_ in fallen])
        bared[session] = bared_nodes(lineages, fallen, ids)
    return bared


def _summaries(connection: apsw.Connection, session: str) -> tuple[dict[str, int], dict[str, Lineage]]:
    collection = collection_key(connection, Collection.summaries(session))
    rows = many(connection, "records_of_collection", key_range(collection)) if collection is not None else []
    read = {id_: read_lineage(decode_metadata(metadata)) for id_, _, metadata in rows}
    return {id_: record for id_, record, _ in rows}, {id_: found for id_, found in read.items() if found is not None}


def _doom_claims(connection: apsw.Connection) -> None:
    """Facts, plans and observations go with the records they rest on."""
    claims = [
        citing(record, name, id_, decode_metadata(metadata))
        for key, name in many(connection, "named_collections")
        if rests_on_others(name)
        for id_, record, metadata in many(connection, "records_of_collection", key_range(key))
    ]
    if claims:
        gone = {home_ref(name, id_) for _, name, id_ in many(connection, "doomed_places")}
        doomed = {row[0] for row in many(connection, "doomed_places")}
        fallen = fallen_claims(claims, gone, lambda ref: any(key not in doomed for (key,) in _found(connection, ref)))
        run_each(connection, "doom_record", [(record,) for record in sorted(fallen)])


def _emptied_sessions(connection: apsw.Connection) -> list[str]:
    """A session that loses its last turn goes whole."""
    histories = {
        session: collection_key(connection, Collection.raw(session)) for session in _touched_sessions(connection)
    }
    return [
        session
        for session, history in histories.items()
        if history is not None and first(connection, "undoomed_member", key_range(history)) is None
    ]


# --- counting and cleaning up ----------------------------------------------------------------------------


def _count(connection: apsw.Connection, order: Purge, sessions: Sequence[str]) -> Purged:
    places = many(connection, "doomed_places")
    named = [(record, name) for record, name, _ in places]
    records, turns, summaries, vectors = only(connection, "doomed_counts")
    captured = {(record, home_ref(name, id_)) for record, name, id_ in places if holds_captures(name)}
    return Purged(
        records=records,
        turns=turns,
        summaries=summaries,
        memories=len({record for record, name, _ in places if holds_memories(name)}),
        observations=len({record for record, _ in captured}),
        facts=of_kind(named, CollectionKind.FACTS),
        plans=of_kind(named, CollectionKind.PLANS),
        log_lines=of_kind(named, CollectionKind.OBSERVATIONS),
        vectors=vectors,
        traces=_drop_traces(connection, order, sessions, {f"{name}/{id_}" for _, name, id_ in places}),
        hints=_drop_hints(connection, order, sessions),
        sessions=tuple(sessions),
        captures=tuple(sorted({ref for _, ref in captured})),
        artifacts=_orphan_artifacts(connection),
    )


def _drop_traces(connection: apsw.Connection, order: Purge, sessions: Sequence[str], refs: AbstractSet[str]) -> int:
    """Drops traces of a doomed user or session, and those that cite doomed records."""
    user_id = order.target if order.kind is PurgeKind.USER else None
    gone = [
        (id_,)
        for id_, user, session, body in many(connection, "all_traces")
        if (user is not None and user == user_id) or session in sessions or cited_in(body) & refs
    ]
    run_each(connection, "delete_trace", gone)
    return len(gone)


def _drop_hints(connection: apsw.Connection, order: Purge, sessions: Sequence[str]) -> int:
    """Drops notes about doomed sessions, and those of which nobody can say that they are not about the target."""
    before = connection.total_changes()
    run(connection, "delete_hints", (json.dumps(list(sessions)),))
    if order.kind in (PurgeKind.USER, PurgeKind.SESSION):
        run(connection, "delete_unnamed_hints")
    if order.kind is PurgeKind.USER:
        run(connection, "delete_stray_hints")
    return connection.total_changes() - before


def _unlink(connection: apsw.Connection) -> None:
    """Removes the references to doomed records from the marks of those that stay."""
    gone = {home_ref(name, id_) for _, name, id_ in many(connection, "doomed_places")}
    for record, marks in many(connection, "linking_marks"):
        old = decode_metadata(marks)
        new = without_links(old, gone)
        if new != old:
            run(connection, "set_marks", (encode_metadata(new), record))
            run(connection, "seal_record", (record,))


def _orphan_artifacts(connection: apsw.Connection) -> tuple[str, ...]:
    doomed = {row[0] for row in many(connection, "doomed_artifacts")}
    kept = {row[0] for row in many(connection, "kept_artifacts")} if doomed else set()
    return tuple(sorted(doomed - kept))


def _leave(connection: apsw.Connection, affected: Iterable[int], order: Purge, sessions: Iterable[str]) -> None:
    """Lets indexes load the rest anew; drops the names of collections that belonged to the target alone."""
    for collection in affected:
        mark_reload(connection, collection)
    names = [name for session in sessions for name in collections_of_session(session)]
    names += collections_of_user(order.target) if order.kind is PurgeKind.USER else []
    for name in names:
        key = collection_key(connection, name)
        if key is not None:
            run(connection, "raise_floor", (key,))
            run(connection, "delete_changes", key_range(key))
            run(connection, "delete_collection", (key,))

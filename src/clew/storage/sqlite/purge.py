"""The way out of the store: removes the target of a purge and everything made from it, in one transaction.

The records to go are listed in the table `purging`; the triggers that keep raw history let only those
leave, and the list is empty again before the transaction ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace

import apsw
import msgspec

from clew.core.collections import Collection, CollectionKind
from clew.core.lineage import Lineage, read_lineage
from clew.core.model import Metadata
from clew.errors import ClewError, NotFound
from clew.storage.purging import (
    Extent,
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
    Row,
    Values,
    collection_key,
    decode_metadata,
    encode_metadata,
    first,
    key_range,
    many,
    only,
    read_metadata,
    run,
    run_each,
)
from clew.storage.sqlite.seals import Damage, is_sealed, sound_rows
from clew.storage.sqlite.writes import mark_reload, readmit, tell_marks

_EVERYTHING = Extent(*[2**63 - 1] * 3)

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
    """Keep an order, bounded to what the store holds now: it may be carried out much later."""
    purge = replace(ordered.purge, extent=Extent(*only(connection, "extent")))
    written = msgspec.json.encode(replace(ordered, purge=purge), enc_hook=str)  # a target may be a collection's name
    run(connection, "set_setting", (_order_name(purge.id), written.decode("utf-8")))


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
    extent = order.extent or _EVERYTHING
    named = _select(connection, order, extent)
    _doom_memories(connection)
    bared = _doom_summaries(connection)
    named = sorted({*named, *_emptied_sessions(connection)})
    _doom_sessions(connection, named, extent)
    _doom_claims(connection)
    gone = [session for session in named if _is_gone(connection, session)]
    purged = replace(_count(connection), sessions=tuple(gone))
    traces, hints = _drop_traces(connection, order, named), _drop_hints(connection, order, named)
    _unlink(connection)
    affected = [row[0] for row in many(connection, "collections_of_doomed")]
    for statement in _DELETIONS:
        run(connection, statement)
    back = sum(readmit(connection, session, nodes) for session, nodes in bared.items() if session not in gone)
    _leave(connection, affected, order, named)
    purged = replace(purged, readmitted=back, traces=traces, hints=hints)
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


def _select(connection: apsw.Connection, order: Purge, extent: Extent) -> list[str]:
    """List the records an order names; gives the sessions that go whole, but for what came after the order."""
    match order.kind:
        case PurgeKind.USER:
            _doom_collections(connection, collections_of_user(order.target), extent)
            sessions = _sessions_of_user(connection, order.target)
        case PurgeKind.SESSION:
            sessions = [order.target]
        case PurgeKind.SOURCE:
            sessions = []
            run_each(connection, "doom_record", _from_outside(connection, order, extent))
        case PurgeKind.RECORD:
            sessions = []
            run_each(connection, "doom_record", _records(connection, order.target, extent))
    _doom_sessions(connection, sessions, extent)
    return sessions


def _from_outside(connection: apsw.Connection, order: Purge, extent: Extent) -> list[tuple[int]]:
    """Of damaged metadata nobody can say which address it has, so each that holds the address goes."""
    names = [address.encode() for address in (order.target, *order.also)]
    return [
        (key,)
        for key, address, unreadable in _rows(connection, "records_from_outside")
        if key <= extent.records
        and (is_from(address, order) if unreadable is None else any(name in unreadable for name in names))
    ]


def _rows(connection: apsw.Connection, name: str, values: Values = ()) -> Iterator[Row]:
    """Rows that can be read: damage to one must not keep others from being purged."""
    return sound_rows(connection, name, values, Damage())


def _records(connection: apsw.Connection, ref: str, extent: Extent) -> list[tuple[int]]:
    found = [(key,) for (key,) in _found(connection, ref) if key <= extent.records]
    if not found:
        raise NotFound(f"there is no record {ref!r}")
    return found


def _found(connection: apsw.Connection, ref: str) -> list[tuple[int]]:
    """The records that a reference may mean, at home and in the archive."""
    members = [
        first(connection, "record_at", (collection_key(connection, collection), id_))
        for collection, id_ in record_places(ref)
    ]
    return [(int(member[0]),) for member in members if member is not None]


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
    names = {Collection(name) for _, name, _ in _rows(connection, "doomed_places")}
    return sorted({name.owner for name in names if name.kind in _SESSION_KINDS and name.owner})


def _doom_collections(connection: apsw.Connection, names: Sequence[str], extent: Extent) -> None:
    run(connection, "doom_collections", (json.dumps(names), extent.records))


def _doom_sessions(connection: apsw.Connection, sessions: Iterable[str], extent: Extent) -> None:
    _doom_collections(connection, [name for session in sessions for name in collections_of_session(session)], extent)


def _is_gone(connection: apsw.Connection, session: str) -> bool:
    """Whether nothing of a session stays."""
    keys = (collection_key(connection, name) for name in collections_of_session(session))
    return all(key is None or first(connection, "undoomed_member", key_range(key)) is None for key in keys)


def _doom_memories(connection: apsw.Connection) -> None:
    """A memory is made from one turn, and goes with it."""
    turns = [(name, id_) for _, name, id_ in _rows(connection, "doomed_places")]
    found = [
        first(connection, "record_at", (collection_key(connection, name), id_)) for name, id_ in memory_places(turns)
    ]
    run_each(connection, "doom_record", [memory for memory in found if memory is not None])


def _doom_summaries(connection: apsw.Connection) -> dict[str, list[str]]:
    """Dooms summaries that words of doomed records may have entered; gives the nodes under them that stay."""
    lost: dict[str, set[str]] = {}
    for _, name, id_ in _rows(connection, "doomed_places"):
        collection = Collection(name)
        if collection.kind in _SESSION_KINDS and collection.owner:
            lost.setdefault(collection.owner, set()).add(id_)
    bared = {}
    for session, ids in lost.items():
        records, lineages, unread = _summaries(connection, session)
        fallen = fallen_summaries(lineages, ids | unread)  # nobody can say what those were made from
        run_each(connection, "doom_record", [(records[id_],) for id_ in fallen | unread])
        bared[session] = bared_nodes(lineages, fallen, ids)
    return bared


def _summaries(connection: apsw.Connection, session: str) -> tuple[dict[str, int], dict[str, Lineage], set[str]]:
    """The summaries of a session: their records, their lineages, and those whose lineage is damaged."""
    collection = collection_key(connection, Collection.summaries(session))
    rows = list(_rows(connection, "records_of_collection", key_range(collection))) if collection is not None else []
    read = {id_: read_metadata(metadata) for id_, _, metadata in rows}
    lineages = {id_: found for id_, known in read.items() if known is not None and (found := read_lineage(known))}
    unread = {id_ for id_, known in read.items() if known is None}
    return {id_: record for id_, record, _ in rows}, lineages, unread


def _doom_claims(connection: apsw.Connection) -> None:
    """Facts, plans and observations go with the records they rest on."""
    claims = [
        citing(record, name, id_, read_metadata(metadata) or {})
        for key, name in _rows(connection, "named_collections")
        if rests_on_others(name)
        for id_, record, metadata in _rows(connection, "records_of_collection", key_range(key))
    ]
    if claims:
        gone = {home_ref(name, id_) for _, name, id_ in _rows(connection, "doomed_places")}
        doomed = {row[0] for row in _rows(connection, "doomed_places")}
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


def _count(connection: apsw.Connection) -> Purged:
    places = list(_rows(connection, "doomed_places"))
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
        captures=tuple(sorted({ref for _, ref in captured})),
        artifacts=_orphan_artifacts(connection),
    )


def _drop_traces(connection: apsw.Connection, order: Purge, sessions: Sequence[str]) -> int:
    """Drops traces of a doomed user or session, and those that cite doomed records, or that nobody can read."""
    extent = order.extent or _EVERYTHING
    user_id = order.target if order.kind is PurgeKind.USER else None
    refs = {f"{name}/{id_}" for _, name, id_ in _rows(connection, "doomed_places")}
    gone = []
    for seq, id_, user, session, body in _rows(connection, "all_traces"):
        is_theirs = (user is not None and user == user_id) or session in sessions
        if (is_theirs and seq <= extent.traces) or _cites(body, refs):
            gone.append((id_,))
    run_each(connection, "delete_trace", gone)
    return len(gone)


def _cites(trace_body: bytes, refs: AbstractSet[str]) -> bool:
    try:
        return not refs.isdisjoint(cited_in(trace_body))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True


def _drop_hints(connection: apsw.Connection, order: Purge, sessions: Sequence[str]) -> int:
    """Drops notes about doomed sessions, and those of which nobody can say that they are not about the target."""
    newest = (order.extent or _EVERYTHING).hints
    before = connection.total_changes()
    run(connection, "delete_hints", (json.dumps(list(sessions)), newest))
    if order.kind in (PurgeKind.USER, PurgeKind.SESSION):
        run(connection, "delete_unnamed_hints", (newest,))
    if order.kind is PurgeKind.USER:
        run(connection, "delete_stray_hints", (newest,))
    return connection.total_changes() - before


def _unlink(connection: apsw.Connection) -> None:
    """Removes the references to doomed records from the marks of those that stay."""
    gone = {home_ref(name, id_) for _, name, id_ in _rows(connection, "doomed_places")}
    for record, marks in many(connection, "linking_marks"):
        old = read_metadata(marks)
        if old is not None and (new := without_links(old, gone)) != old:
            is_whole = is_sealed(connection, record)
            run(connection, "set_marks", (encode_metadata(new), record))
            if is_whole:  # or the new seal would make damage look sound
                run(connection, "seal_record", (record,))
            tell_marks(connection, record)


def _orphan_artifacts(connection: apsw.Connection) -> tuple[str, ...]:
    doomed = {row[0] for row in _rows(connection, "doomed_artifacts")}
    kept = {row[0] for row in _rows(connection, "kept_artifacts")} if doomed else set()
    return tuple(sorted(doomed - kept))


def _leave(connection: apsw.Connection, affected: Iterable[int], order: Purge, sessions: Iterable[str]) -> None:
    """Lets indexes load the rest anew; drops the collections that were the target's alone and are empty."""
    for collection in affected:
        mark_reload(connection, collection)
    names = [name for session in sessions for name in collections_of_session(session)]
    names += collections_of_user(order.target) if order.kind is PurgeKind.USER else []
    for name in names:
        key = collection_key(connection, name)
        if key is not None and first(connection, "undoomed_member", key_range(key)) is None:
            run(connection, "raise_floor", (key,))
            run(connection, "delete_changes", key_range(key))
            run(connection, "delete_collection", (key,))

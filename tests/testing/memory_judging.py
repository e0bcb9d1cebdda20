"""The reference store's judgements and purges: the same contract, in plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace

import msgspec

from clew.core.collections import Collection, CollectionKind
from clew.core.lineage import read_lineage
from clew.core.marks import merge_marks
from clew.core.model import Metadata, Provenance, Trust
from clew.errors import NotFound, RawHistoryProtected
from clew.storage.protocol import TRACE_LIMIT, Hint, Marking, Place, StoredRecord, StoredTrace
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
from tests.testing.memory_state import Held, Text


class Judged(Held):
    def mark(self, markings: Sequence[Marking]) -> int:
        with self._transaction():
            return sum(self._mark(marking) for marking in markings)

    def _mark(self, marking: Marking) -> bool:
        member = self._collection(marking.place.collection).members.get(marking.place.id)
        if member is None:
            return False
        text = self._state.texts[member.text]
        text.draft = replace(text.draft, marks=merge_marks(text.draft.marks, marking.marks))
        if marking.trust is not None:
            text.draft = replace(text.draft, trust=marking.trust)
        self._tell_marks(text)
        return True

    def move(self, places: Sequence[Place], collection: str) -> int:
        with self._transaction():
            return sum(self._move(place, collection) for place in places)

    def _move(self, place: Place, collection: str) -> bool:
        member = self._collection(place.collection).members.get(place.id)
        if member is None:
            return False
        text = self._state.texts[member.text]
        if text.raw or text.draft.provenance is Provenance.SUMMARY or Collection(collection).is_raw:
            raise RawHistoryProtected(f"{place.id!r} in {place.collection} is a turn or a summary; it does not move")
        target = self._ensured(collection)
        if place.id in target.members:
            return False
        self._add_member(Place(Collection(collection), place.id), member.text, member.version)
        self._drop_member(place)
        return True

    @contextmanager
    def reading(self) -> Iterator[None]:
        yield

    def withheld(self, collection: str) -> list[int]:
        members = self._collection(collection).members.values()
        return [member.seq for member in members if self._state.texts[member.text].draft.trust is Trust.QUARANTINED]

    def trusted(self, trust: Trust, after: int, limit: int) -> list[StoredRecord]:
        found = [(key, text) for key, text in sorted(self._state.texts.items()) if key > after]
        return [self._stored(key, text) for key, text in found if text.draft.trust is trust][:limit]

    def _stored(self, key: int, text: Text) -> StoredRecord:
        places = tuple(sorted(text.places))
        version = max(self._state.collections[place.collection].members[place.id].version for place in places)
        return StoredRecord(key, text.draft, text.raw, places, version, text.access_count, text.last_used_ms)

    def _keep_trace(self, trace: StoredTrace) -> None:
        self._state.traces.setdefault(trace.id, trace)
        for id_ in list(self._state.traces)[:-TRACE_LIMIT]:
            del self._state.traces[id_]

    def traces(self, limit: int) -> list[StoredTrace]:
        return list(reversed(self._state.traces.values()))[:limit]

    def trace(self, id_: str) -> StoredTrace | None:
        return self._state.traces.get(id_)

    # --- purging -----------------------------------------------------------------------------------

    def order_purge(self, order: OrderedPurge) -> None:
        with self._transaction():
            self._state.orders[order.purge.id] = order

    def ordered_purges(self) -> list[OrderedPurge]:
        return sorted(self._state.orders.values(), key=lambda ordered: (ordered.purge.ts_ms, ordered.purge.id))

    def purge(self, purge: Purge) -> Purged:
        with self._transaction():
            if purge.id in self._state.purges:
                return msgspec.convert(dict(self._state.purges[purge.id].counts), Purged)
            purged = self._purge(purge)
            entry = PurgeEntry(
                purge.id, purge.ts_ms, purge.kind, target_digest(purge.kind, purge.target), purge.target,
                asdict(purged),
            )  # fmt: skip
            self._state.purges.setdefault(purge.id, entry)
            return purged

    def foresee(self, purge: Purge) -> Purged:
        with self._lock:
            try:
                with self._transaction():
                    raise _UndoneError(self.purge(purge))
            except _UndoneError as undone:
                return undone.purged

    def purges(self) -> list[PurgeEntry]:
        return sorted(self._state.purges.values(), key=lambda entry: (entry.ts_ms, entry.id))

    def note_purge(self, entry: PurgeEntry) -> None:
        with self._transaction():
            self._state.purges.setdefault(entry.id, entry)

    def finish_purge(self, id_: str, counts: Metadata) -> None:
        with self._transaction():
            self._state.orders.pop(id_, None)
            if id_ in self._state.purges:
                self._state.purges[id_] = replace(self._state.purges[id_], target=None, counts=counts)

    def scrub(self, *, waits: bool = True) -> None:
        """There are no files."""

    def needs_scrub(self) -> bool:
        return False

    def _purge(self, order: Purge) -> Purged:
        doomed, whole = self._selected(order)
        doomed |= set(self._keys(memory_places((p.collection, p.id) for p in self._places(doomed))))
        bared: dict[str, list[str]] = {}
        for session in self._touched(doomed):
            fallen, bared[session] = self._fallen(session, doomed)
            doomed |= fallen
        sessions = sorted({*whole, *(name for name in self._touched(doomed) if self._is_emptied(name, doomed))})
        doomed |= self._in([name for session in sessions for name in collections_of_session(session)])
        doomed |= self._fallen_claims(doomed)
        purged = self._counted(order, sessions, doomed)
        gone = {home_ref(place.collection, place.id) for place in self._places(doomed)}
        for text in self._state.texts.values():
            kept = without_links(text.draft.marks, gone)
            if kept != text.draft.marks:
                text.draft = replace(text.draft, marks=kept)
                self._tell_marks(text)
        for collection in {place.collection for place in self._places(doomed)}:
            self._reload(self._state.collections[collection])
        for key in doomed:
            self._erase(key)
        back = [
            self._add_place(Place(Collection.session(session), id_), key)
            for session, nodes in bared.items()
            if session not in sessions
            for id_ in nodes
            for key in self._keys([(Collection.raw(session), id_), (Collection.summaries(session), id_)])
        ]
        owned = [name for session in sessions for name in collections_of_session(session)]
        for name in owned + (collections_of_user(order.target) if order.kind is PurgeKind.USER else []):
            left = self._state.collections.pop(name, None)
            self._state.floor = max(self._state.floor, left.last_seq if left else 0)
        return replace(purged, readmitted=sum(back))

    def _selected(self, order: Purge) -> tuple[set[int], list[str]]:
        match order.kind:
            case PurgeKind.USER:
                doomed = self._in(collections_of_user(order.target))
                return doomed, [name for name in self._touched(doomed) if self._is_alone(name, order.target)]
            case PurgeKind.SESSION:
                return self._in(collections_of_session(order.target)), [order.target]
            case PurgeKind.SOURCE:
                texts = self._state.texts.items()
                return {key for key, text in texts if is_from(text.draft.metadata.get("sourceUrl"), order)}, []
            case PurgeKind.RECORD:
                found = set(self._keys(record_places(order.target)))
                if not found:
                    raise NotFound(f"there is no record {order.target!r}")
                return found, []

    def _keys(self, places: Iterable[tuple[str, str]]) -> Iterator[int]:
        for collection, id_ in places:
            member = self._collection(collection).members.get(id_)
            if member is not None:
                yield member.text

    def _in(self, names: Iterable[str]) -> set[int]:
        return {member.text for name in names for member in self._collection(name).members.values()}

    def _places(self, keys: Iterable[int]) -> list[Place]:
        return sorted(place for key in keys for place in self._state.texts[key].places)

    def _touched(self, keys: Iterable[int]) -> list[str]:
        kinds = (CollectionKind.RAW, CollectionKind.SESSION, CollectionKind.SUMMARIES)
        names = (place.collection for place in self._places(keys))
        return sorted({name.owner for name in names if name.kind in kinds and name.owner})

    def _is_alone(self, session: str, user_id: str) -> bool:
        own = {Collection.turns(user_id), Collection.replies(user_id), Collection.owned(user_id)}
        names = {place.collection for place in self._places(self._in([Collection.raw(session)]))}
        return {
            name for name in names if name.kind in (CollectionKind.TURNS, CollectionKind.REPLIES, CollectionKind.OWNED)
        } <= own

    def _is_emptied(self, session: str, doomed: set[int]) -> bool:
        history = Collection.raw(session)
        return history in self._state.collections and self._in([history]) <= doomed

    def _fallen(self, session: str, doomed: set[int]) -> tuple[set[int], list[str]]:
        members = self._collection(Collection.summaries(session)).members
        read = {id_: read_lineage(self._state.texts[held.text].draft.metadata) for id_, held in members.items()}
        lineages = {id_: found for id_, found in read.items() if found is not None}
        names = {Collection.raw(session), Collection.session(session), Collection.summaries(session)}
        lost = {place.id for place in self._places(doomed) if place.collection in names}
        fallen = fallen_summaries(lineages, lost)
        return {members[id_].text for id_ in fallen}, bared_nodes(lineages, fallen, lost)

    def _fallen_claims(self, doomed: set[int]) -> set[int]:
        claims = [
            citing(member.text, name, id_, self._state.texts[member.text].draft.metadata)
            for name, collection in self._state.collections.items()
            if rests_on_others(name)
            for id_, member in collection.members.items()
        ]
        gone = {home_ref(place.collection, place.id) for place in self._places(doomed)}
        return fallen_claims(claims, gone, lambda ref: any(key not in doomed for key in self._keys(record_places(ref))))

    def _counted(self, order: Purge, sessions: Sequence[str], doomed: set[int]) -> Purged:
        texts = [self._state.texts[key] for key in doomed]
        named = [(key, place.collection) for key in doomed for place in self._state.texts[key].places]
        refs = {f"{place.collection}/{place.id}" for place in self._places(doomed)}
        user_id = order.target if order.kind is PurgeKind.USER else None
        traces = [
            trace.id
            for trace in self._state.traces.values()
            if (user_id and trace.user_id == user_id) or trace.session_id in sessions or cited_in(trace.body) & refs
        ]
        for id_ in traces:
            del self._state.traces[id_]
        hints = [hint for hint in self._state.hints if self._is_doomed_hint(hint, order, sessions)]
        self._state.hints = [hint for hint in self._state.hints if hint not in hints]
        captured = {
            home_ref(place.collection, place.id) for place in self._places(doomed) if holds_captures(place.collection)
        }
        artifacts = {text.draft.metadata.get("artifact") for text in texts} - {None}
        kept = {text.draft.metadata.get("artifact") for key, text in self._state.texts.items() if key not in doomed}
        return Purged(
            records=len(texts),
            turns=sum(text.raw for text in texts),
            summaries=sum(text.draft.provenance is Provenance.SUMMARY for text in texts),
            memories=sum(any(holds_memories(place.collection) for place in text.places) for text in texts),
            observations=sum(any(holds_captures(place.collection) for place in text.places) for text in texts),
            facts=of_kind(named, CollectionKind.FACTS),
            plans=of_kind(named, CollectionKind.PLANS),
            log_lines=of_kind(named, CollectionKind.OBSERVATIONS),
            vectors=sum(bool(text.vectors) for text in texts),
            traces=len(traces),
            hints=len(hints),
            sessions=tuple(sessions),
            captures=tuple(sorted(captured)),
            artifacts=tuple(sorted(str(name) for name in artifacts - kept)),
        )

    def _is_doomed_hint(self, hint: Hint, order: Purge, sessions: Sequence[str]) -> bool:
        if hint.session_id is None:
            return order.kind in (PurgeKind.USER, PurgeKind.SESSION)
        is_stray = Collection.raw(hint.session_id) not in self._state.collections
        return hint.session_id in sessions or (is_stray and order.kind is PurgeKind.USER)

    def _erase(self, key: int) -> None:
        for place in self._state.texts.pop(key).places:
            del self._state.collections[place.collection].members[place.id]
        for seq in [seq for seq, (owner, _) in self._state.queue.items() if owner == key]:
            del self._state.queue[seq]


class _UndoneError(Exception):
    def __init__(self, purged: Purged) -> None:
        super().__init__()
        self.purged = purged

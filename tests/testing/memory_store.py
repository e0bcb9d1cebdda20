"""The reference store: the contract in plain dictionaries, the oracle the real stores are tested against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from clew.core.collections import Collection, CollectionKind
from clew.core.marks import keep_operator_marks, merge_marks
from clew.core.model import Draft, Metadata, Provenance, Record, Trust
from clew.core.ports import EmbedderIdentity
from clew.errors import Conflict, NotAvailable, RawHistoryProtected
from clew.storage.protocol import (
    JOURNAL_LIMIT,
    Counts,
    Feed,
    Finding,
    Hint,
    NewRecord,
    NewSummary,
    NewTurn,
    Place,
    QueuedTask,
    Shard,
    StoredRecord,
    StoredTrace,
    Task,
    TermsOf,
    names_of,
)
from tests.testing.memory_graph import Graphed
from tests.testing.memory_judging import Judged
from tests.testing.memory_state import Members, same_content


class MemoryStore(Graphed, Judged):
    # --- writing ---------------------------------------------------------------------------------

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        with self._transaction():
            return [self._append(turn) for turn in turns]

    def _append(self, turn: NewTurn) -> bool:
        taken = [self._same_turn(place, turn.draft) for place in turn.places if place.collection.is_raw]
        if any(taken):
            return False
        self.ensure([place.collection for place in turn.places])
        key = self._add_text(turn.draft, raw=True, tasks=turn.tasks)
        for place in turn.places:
            held = self._collection(place.collection).members
            self._add_member(replace(place, id=next(name for name in names_of(place) if name not in held)), key)
        return True

    def _same_turn(self, place: Place, draft: Draft) -> bool:
        member = self._collection(place.collection).members.get(place.id)
        if member is None:
            return False
        held = self._state.texts[member.text].draft
        if (held.role, held.text) != (draft.role, draft.text):
            raise Conflict(f"{place.collection} already holds a turn {place.id!r} with other content")
        return True

    def put(self, records: Sequence[NewRecord], bookmarks: Mapping[str, str] | None = None) -> list[tuple[int, bool]]:
        with self._transaction():
            self._state.bookmarks.update(bookmarks or {})
            return [self._put(new) for new in records]

    def bookmark(self, name: str) -> str | None:
        return self._state.bookmarks.get(name)

    def _put(self, new: NewRecord) -> tuple[int, bool]:
        if new.place.collection.is_raw:
            raise RawHistoryProtected(f"{new.place.collection} is raw history; it takes turns only")
        self.ensure([new.place.collection])
        member = self._state.collections[new.place.collection].members.get(new.place.id)
        version, uses = 1, (0, None)
        if member is not None:
            held = self._state.texts[member.text]
            if same_content(held.draft, new.draft):
                return member.version, self._show_also(new, member.text, member.version)
            if held.raw or held.draft.provenance is Provenance.SUMMARY:
                raise RawHistoryProtected(f"{new.place.id!r} is a turn or a summary; it does not change")
            version, uses = member.version + 1, (held.access_count, held.last_used_ms)  # type: ignore[assignment]
            for place in [new.place, *(place for place in new.also if place in held.places)]:
                self._drop_member(place)
            new = replace(
                new, draft=keep_operator_marks(new.draft, held.draft.marks, same_text=held.draft.text == new.draft.text)
            )
        key = self._add_text(new.draft, raw=False, tasks=new.tasks)
        text = self._state.texts[key]
        text.access_count, text.last_used_ms = uses
        if new.vector is not None and self._state.model is not None:
            text.vectors[self._state.model] = new.vector
        self._add_member(new.place, key, version)
        self._show_also(new, key, version)
        return version, True

    def _show_also(self, new: NewRecord, key: int, version: int) -> bool:
        self.ensure([place.collection for place in new.also])
        free = [place for place in new.also if place.id not in self._collection(place.collection).members]
        for place in free:
            self._add_member(place, key, version)
        return bool(free)

    def remove(self, collection: str, ids: Sequence[str]) -> int:
        with self._transaction():
            held = self._removable(collection).members
            present = [id_ for id_ in dict.fromkeys(ids) if id_ in held]
            for id_ in present:
                self._refuse_summary(collection, id_)
                self._note_dismissed(collection, id_)
                self._drop_member(Place(Collection(collection), id_))
            return len(present)

    def _refuse_summary(self, collection: str, id_: str) -> None:
        text = self._state.texts[self._state.collections[collection].members[id_].text]
        if text.draft.provenance is Provenance.SUMMARY and Collection(collection).holds_summaries:
            raise RawHistoryProtected(f"{collection} holds summaries, which lead back to turns; they are kept for good")

    def _note_dismissed(self, collection: str, id_: str) -> None:
        key = self._state.collections[collection].members[id_].text
        if Collection(collection).kind is CollectionKind.SESSION and self._state.texts[key].raw:
            self._add_place(Place(Collection.dismissed(Collection(collection).owner), id_), key)

    def condense(self, session_id: str, summaries: Sequence[NewSummary], shards: Sequence[Shard] = ()) -> None:
        with self._transaction():
            history = self._collection(Collection.raw(session_id)).members
            for shard in shards:
                if shard.turn_id not in history:
                    raise Conflict(f"session {session_id!r} has no turn {shard.turn_id!r}")
                self._keep(shard, history[shard.turn_id].text)
            self.ensure([Collection.session(session_id), Collection.summaries(session_id)])
            for summary in summaries:
                self._add_summary(Collection.session(session_id), Collection.summaries(session_id), summary)

    def _keep(self, shard: Shard, key: int) -> None:
        self._add_place(shard.place, key)
        held = self._state.texts[key]
        held.draft = replace(held.draft, marks=merge_marks(held.draft.marks, shard.marks))

    def _add_summary(self, view: str, kept: str, summary: NewSummary) -> None:
        shown = self._state.collections[view].members
        summaries = self._state.collections[kept].members
        turns = {id_ for id_, member in shown.items() if self._state.texts[member.text].raw}
        sources = dict.fromkeys(summary.sources)
        taken = summary.id in shown or summary.id in summaries
        known = turns | {id_ for id_ in shown.keys() & summaries.keys() if shown[id_].text == summaries[id_].text}
        if taken or not sources or not sources.keys() <= known or not set(summary.prior_ids) <= summaries.keys():
            raise Conflict(f"the active view has changed; summary {summary.id!r} no longer fits it")
        key = self._add_text(summary.draft, raw=False, tasks=summary.tasks)
        if summary.vector is not None and self._state.model is not None:
            self._state.texts[key].vectors[self._state.model] = summary.vector
        for collection in (kept, view):
            self._add_member(Place(Collection(collection), summary.id), key)
        for id_ in sources:
            self._drop_member(Place(Collection(view), id_))

    def readmit(self, session_id: str, ids: Sequence[str]) -> int:
        with self._transaction():
            names = (Collection.summaries(session_id), Collection.raw(session_id))
            sources = {id_: member for name in names for id_, member in self._collection(name).members.items()}
            known = [(Place(Collection.session(session_id), id_), sources[id_].text) for id_ in ids if id_ in sources]
            return sum(self._add_place(place, key) for place, key in known)

    def clear(self, collection: str) -> int:
        with self._transaction():
            held = self._removable(collection)
            count = len(held.members)
            for id_ in list(held.members):
                self._refuse_summary(collection, id_)
                self._note_dismissed(collection, id_)
                self._forget(Place(Collection(collection), id_))
            self._reload(held)
            return count

    def ensure(self, collections: Sequence[str]) -> None:
        with self._transaction():
            for name in collections:
                self._ensured(name)

    def touch(self, uses: Mapping[str, Sequence[str]], now_ms: int, trace: StoredTrace | None = None) -> int:
        with self._transaction():
            if trace is not None:
                self._keep_trace(trace)
            texts = [
                self._state.texts[member.text]
                for name, ids in uses.items()
                for id_ in ids
                if (member := self._collection(name).members.get(id_)) is not None
            ]
            for text in texts:
                text.access_count += 1
                text.last_used_ms = max(text.last_used_ms or now_ms, now_ms)
            return len(texts)

    # --- reading ---------------------------------------------------------------------------------

    def repair(self) -> tuple[str, ...]:
        return ()

    def damage(self) -> tuple[str, ...]:
        return ()

    def get(self, collection: str, ids: Sequence[str], *, strict: bool = False) -> list[Record]:
        members = self._collection(collection).members
        return [self._record(collection, id_, members[id_]) for id_ in ids if id_ in members]

    def seqs(self, collection: str, ids: Sequence[str]) -> list[int]:
        members = self._collection(collection).members
        return [members[id_].seq for id_ in ids if id_ in members]

    def places(self, collection: str, id_: str) -> tuple[Place, ...]:
        member = self._collection(collection).members.get(id_)
        return () if member is None else tuple(sorted(self._state.texts[member.text].places))

    def at(self, collection: str, seqs: Sequence[int]) -> list[Record]:
        by_seq = {member.seq: id_ for id_, member in self._collection(collection).members.items()}
        return self.get(collection, [by_seq[seq] for seq in seqs if seq in by_seq])

    def page(self, collection: str, after: int, limit: int) -> list[Record]:
        ordered = self._collection(collection).in_order()
        return [self._record(collection, *item) for item in ordered if item[1].seq > after][:limit]

    def newest(self, collection: str, before: int | None, limit: int) -> list[Record]:
        ordered = reversed(self._collection(collection).in_order())
        wanted = [item for item in ordered if before is None or item[1].seq < before]
        return [self._record(collection, *item) for item in wanted[:limit]]

    def size(self, collection: str) -> int:
        return len(self._collection(collection).members)

    def collections(self) -> list[tuple[Collection, int]]:
        return sorted((Collection(name), len(held.members)) for name, held in self._state.collections.items())

    def counts(self) -> Counts:
        held = self.collections()
        return Counts(
            records=len(self._state.texts),
            user_turns=sum(count for name, count in held if name.kind is CollectionKind.TURNS and ":" in name),
            memories=sum(count for name, count in held if name.kind is CollectionKind.MEMORIES and ":" in name),
            hints=len(self._state.hints),
            pending=len(self._state.queue),
            store_bytes=0,
            quarantined=len(self.trusted(Trust.QUARANTINED, 0, len(self._state.texts))),
        )

    def feed(self, collection: str, after: int) -> Feed:
        held = self._collection(collection)
        if collection not in self._state.collections:
            return Feed(until=0, reset=after > 0)
        reset = after > 0 and (held.reset_at > after or after > held.last_seq)
        start = 0 if reset else after
        added = [self._feed_row(member, id_) for id_, member in held.in_order() if member.seq > start]
        if reset or start == 0:
            return Feed(held.last_seq, reset, added)
        removed = [seq for at, seq in held.removed if at > after and seq <= after]
        marked = [seq for at, seq in held.marked if at > after and seq <= after]
        return Feed(held.last_seq, False, added, removed, self._arrived(held, after), marked)

    def _arrived(self, held: Members, after: int) -> list[tuple[int, bytes]]:
        by_seq = {member.seq: member for member in held.members.values()}
        seqs = dict.fromkeys(seq for at, seq in held.vectors if at > after and seq <= after)
        rows = [self._feed_row(by_seq[seq]) for seq in seqs if seq in by_seq]
        return [(row.seq, row.vector) for row in rows if row.vector is not None]

    # --- the queue behind writes -------------------------------------------------------------------

    def queued(self, task: Task, limit: int) -> list[QueuedTask]:
        waiting = [(seq, key) for seq, (key, kind) in sorted(self._state.queue.items()) if kind is task]
        return [self._queued(seq, key, task) for seq, key in waiting[:limit]]

    def pending(self, task: Task) -> int:
        return sum(kind is task for _, kind in self._state.queue.values())

    def _queued(self, seq: int, key: int, task: Task) -> QueuedTask:
        text = self._state.texts[key]
        vector = text.vectors.get(self._state.model) if self._state.model else None
        return QueuedTask(seq, task, key, text.draft, tuple(sorted(text.places)), vector)

    def finish(
        self,
        done: Sequence[int],
        vectors: Mapping[int, bytes],
        promoted: Mapping[int, NewRecord] | None = None,
        embedder: EmbedderIdentity | None = None,
        kept: Mapping[int, Shard] | None = None,
    ) -> None:
        with self._transaction():
            if embedder not in (None, self._state.model):
                return
            for key, vector in vectors.items():
                self._set_vector(key, vector)
            for seq, new in (promoted or {}).items():
                if seq in self._state.queue:
                    self._put(new)
            for seq, shard in (kept or {}).items():
                if seq in self._state.queue:
                    self._keep(shard, self._state.queue[seq][0])
            for seq in done:
                self._state.queue.pop(seq, None)

    def _set_vector(self, key: int, vector: bytes) -> None:
        text = self._state.texts.get(key)
        if text is None or self._state.model is None:
            return
        text.vectors = {self._state.model: vector}
        for place in sorted(text.places):
            held = self._state.collections[place.collection]
            held.vectors.append((held.next_seq(), held.members[place.id].seq))

    def model(self) -> EmbedderIdentity | None:
        return self._state.model

    def adopt_model(self, identity: EmbedderIdentity) -> int:
        with self._transaction():
            if identity != self._state.model:
                self._state.model = identity
                self._reload_all()
            return self.queue_missing_vectors()

    def forget_vectors(self) -> None:
        with self._transaction():
            for text in self._state.texts.values():
                text.vectors.clear()
            self._reload_all()

    def queue_missing_vectors(self) -> int:
        with self._transaction():
            waiting = {key for key, task in self._state.queue.values() if task is Task.EMBED}
            missing = [
                key
                for key, text in sorted(self._state.texts.items())
                if self._state.model not in text.vectors and key not in waiting
            ]
            for key in missing:
                self._add_task(key, Task.EMBED)
            return len(missing)

    def analyser_version(self) -> int:
        return self._state.analyser

    def replace_terms(self, version: int, compute: TermsOf) -> int:
        with self._transaction():
            for text in self._state.texts.values():
                text.draft = replace(text.draft, terms=compute(text.draft))
            self._state.analyser = version
            self._reload_all()
            return len(self._state.texts)

    # --- the lifecycle journal -----------------------------------------------------------------------

    def add_hint(self, ts_ms: int, hook: str, session_id: str | None, details: Metadata) -> None:
        with self._transaction():
            self._state.last_hint += 1
            self._state.hints.append(Hint(self._state.last_hint, ts_ms, hook, session_id, details))
            del self._state.hints[:-JOURNAL_LIMIT]

    def hints(self, session_id: str | None, limit: int) -> list[Hint]:
        newest_first = reversed(self._state.hints)
        return [hint for hint in newest_first if session_id in (None, hint.session_id)][:limit]

    # --- moving and checking -----------------------------------------------------------------------

    def export(self, after: int, limit: int) -> list[StoredRecord]:
        keys = [key for key in sorted(self._state.texts) if key > after][:limit]
        return [self._stored(key, self._state.texts[key]) for key in keys]

    def restore(self, records: Iterable[StoredRecord], tasks: tuple[Task, ...]) -> tuple[int, int]:
        with self._transaction():
            outcomes = [self._restore(stored, tasks) for stored in records]
            return sum(outcomes), len(outcomes) - sum(outcomes)

    def _restore(self, stored: StoredRecord, tasks: tuple[Task, ...]) -> bool:
        if stored.raw:
            new = self._append(NewTurn(stored.draft, stored.places, tasks))
        elif stored.draft.provenance is Provenance.SUMMARY and self._any_taken(stored.places):
            new = False
        else:
            first, *others = stored.places
            _, new = self._put(NewRecord(stored.draft, first, tasks, also=tuple(others)))
        if new:
            self._set_history(stored)
        return new

    def _any_taken(self, places: Iterable[Place]) -> bool:
        return any(place.id in self._collection(place.collection).members for place in places)

    def _set_history(self, stored: StoredRecord) -> None:
        place = next((place for place in stored.places if place.collection.is_raw), stored.places[0])
        text = self._state.texts[self._state.collections[place.collection].members[place.id].text]
        for shown in text.places:
            self._state.collections[shown.collection].members[shown.id].version = stored.version
        if stored.access_count:
            text.access_count, text.last_used_ms = stored.access_count, stored.last_used_ms

    def findings(self) -> Iterator[Finding]:
        yield Finding("structure", f"{len(self._state.texts)} records in memory")

    def backup(self, target: Path) -> None:
        raise NotAvailable(f"a store in memory has no file to copy to {target}")

    def close(self) -> None:
        """Nothing to release."""

"""The state of the reference store: plain objects that can be copied as a whole, and the steps that change them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from clew.core.collections import Collection
from clew.core.model import Draft, Record
from clew.core.ports import EmbedderIdentity
from clew.errors import RawHistoryProtected
from clew.storage.protocol import FeedRow, Hint, Place, StoredTrace, Task, tells_marks
from clew.storage.purging import OrderedPurge, PurgeEntry
from clew.text.entities import Extract
from clew.text.terms import ANALYSER_VERSION


@dataclass
class Text:
    draft: Draft
    raw: bool
    places: set[Place] = field(default_factory=set)
    vectors: dict[EmbedderIdentity, bytes] = field(default_factory=dict)
    access_count: int = 0
    last_used_ms: int | None = None
    said: tuple[str, Extract] | None = None
    """Its statements about the entities of an owner."""


@dataclass
class Member:
    seq: int
    text: int
    version: int


@dataclass
class Members:
    last_seq: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    removed: list[tuple[int, int]] = field(default_factory=list)
    vectors: list[tuple[int, int]] = field(default_factory=list)
    marked: list[tuple[int, int]] = field(default_factory=list)
    reset_at: int = 0

    def next_seq(self) -> int:
        self.last_seq += 1
        return self.last_seq

    def in_order(self) -> list[tuple[str, Member]]:
        return sorted(self.members.items(), key=lambda item: item[1].seq)


@dataclass
class State:
    texts: dict[int, Text] = field(default_factory=dict)
    collections: dict[str, Members] = field(default_factory=dict)
    queue: dict[int, tuple[int, Task]] = field(default_factory=dict)
    hints: list[Hint] = field(default_factory=list)
    traces: dict[str, StoredTrace] = field(default_factory=dict)
    purges: dict[str, PurgeEntry] = field(default_factory=dict)
    orders: dict[str, OrderedPurge] = field(default_factory=dict)
    bookmarks: dict[str, str] = field(default_factory=dict)
    model: EmbedderIdentity | None = None
    analyser: int = ANALYSER_VERSION
    floor: int = 0
    last_text: int = 0
    last_task: int = 0
    last_hint: int = 0


class Held:
    """A state and the ways to change it; atomic by keeping a copy until the operation has succeeded."""

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.RLock()
        self._in_transaction = False

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Inside another transaction, part of that one."""
        with self._lock:
            if self._in_transaction:
                yield
                return
            before = copy.deepcopy(self._state)
            self._in_transaction = True
            try:
                yield
            except BaseException:
                self._state = before
                raise
            finally:
                self._in_transaction = False

    def _ensured(self, name: str) -> Members:
        """A new collection begins above every number that a purged one had given out."""
        if name not in self._state.collections:
            self._state.collections[name] = held = Members(last_seq=self._state.floor)
            if self._state.floor:
                self._reload(held)
        return self._state.collections[name]

    def _tell_marks(self, text: Text) -> None:
        for place in sorted(text.places):
            held = self._collection(place.collection)
            if tells_marks(place.collection) and place.id in held.members:
                held.marked.append((held.next_seq(), held.members[place.id].seq))

    def _collection(self, name: str) -> Members:
        return self._state.collections.get(name) or Members()

    def _removable(self, name: str) -> Members:
        if Collection(name).is_raw:
            raise RawHistoryProtected(f"{name} is raw history; it is kept for good")
        return self._collection(name)

    def _add_text(self, draft: Draft, *, raw: bool, tasks: Iterable[Task]) -> int:
        self._state.last_text += 1
        key = self._state.last_text
        self._state.texts[key] = Text(draft, raw)
        for task in tasks:
            self._add_task(key, task)
        return key

    def _add_task(self, key: int, task: Task) -> None:
        if (key, task) not in self._state.queue.values():
            self._state.last_task += 1
            self._state.queue[self._state.last_task] = (key, task)

    def _add_member(self, place: Place, key: int, version: int = 1) -> None:
        held = self._state.collections[place.collection]
        held.members[place.id] = Member(held.next_seq(), key, version)
        self._state.texts[key].places.add(place)

    def _add_place(self, place: Place, key: int) -> bool:
        """Show a text in one more collection; False where that id is taken there already."""
        held = self._ensured(place.collection)
        if place.id in held.members:
            return False
        self._add_member(place, key)
        return True

    def _drop_member(self, place: Place) -> None:
        held = self._state.collections[place.collection]
        held.removed.append((held.next_seq(), held.members[place.id].seq))
        self._forget(place)

    def _forget(self, place: Place) -> None:
        key = self._state.collections[place.collection].members.pop(place.id).text
        text = self._state.texts[key]
        text.places.discard(place)
        if not text.places and not text.raw:
            del self._state.texts[key]
            for seq in [seq for seq, (owner, _) in self._state.queue.items() if owner == key]:
                del self._state.queue[seq]

    def _reload(self, held: Members) -> None:
        held.reset_at = held.next_seq()
        held.removed.clear()
        held.vectors.clear()
        held.marked.clear()

    def _reload_all(self) -> None:
        for held in self._state.collections.values():
            self._reload(held)

    def _record(self, collection: str, id_: str, member: Member) -> Record:
        text = self._state.texts[member.text]
        draft = text.draft
        return Record(
            Collection(collection),
            id_, draft.text, draft.ts_ms, draft.role, draft.provenance, draft.trust, draft.stability,
            draft.tokens, draft.metadata, member.seq, member.version, text.access_count, text.last_used_ms,
            draft.marks,
        )  # fmt: skip

    def _feed_row(self, member: Member, id_: str = "") -> FeedRow:
        text = self._state.texts[member.text]
        vector = text.vectors.get(self._state.model) if self._state.model else None
        return FeedRow(member.seq, text.draft.ts_ms, text.draft.terms, vector, member.text, id_)


def same_content(one: Draft, other: Draft) -> bool:
    """Whether two texts have the same content, so that writing one over the other changes nothing."""
    return (one.role, one.text, dict(one.metadata)) == (other.role, other.text, dict(other.metadata))

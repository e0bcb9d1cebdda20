"""Keeps turns as guidance: when they are said, from the store's queue, and at the latest when they are compacted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

from msgspec.structs import replace

from clew.core.collections import Collection, CollectionKind
from clew.core.ids import turn_name
from clew.core.marks import By, Mark, made, value_of
from clew.core.model import Metadata, Provenance, Record, Role, Trust
from clew.errors import EmbedderFailed
from clew.features.guidance.likeness import Likeness
from clew.kernel.parts import Parts
from clew.kernel.queue import Pace, Worker
from clew.storage.paging import every_member
from clew.storage.protocol import Marking, Place, QueuedTask, Shard, Task
from clew.text.rules import Said, Turn, replaces_turn

BATCH = 64
MAX_STANDING = 500
"""Pieces of guidance of one user that a context or a new rule is compared with: the newest."""


def _mark_some(parts: Parts, pace: Pace) -> bool:
    """Judges waiting turns, oldest first. A turn leaves the queue in the step that keeps it."""
    queued = parts.store.queued(Task.GUIDE, BATCH)
    if not queued:
        return False
    until = pace.begin_step()
    guide = Guide(parts)
    done: list[int] = []
    for task in queued:
        shard = guide.shard_of_task(task)
        done.append(task.seq)
        if shard is not None:  # written at once: the next turn is compared with it
            parts.store.finish(done, {}, kept={task.seq: shard})
            done = []
        if pace.is_over(until):
            break
    if done:
        parts.store.finish(done, {})
    return True


WORKER = Worker(_mark_some, Task.GUIDE, needs_meaning=False)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The guidance of one collection."""

    records: dict[str, Record] = field(default_factory=dict)
    """By reference."""

    def add(self, record: Record) -> None:
        self.records[record.ref] = record

    def holds_text(self, text: str) -> bool:
        return any(record.text == text for record in self.live())

    def live(self) -> list[Record]:
        """The newest of those that no other one takes the place of."""
        holding = (
            record
            for record in self.records.values()
            if guidance_mark(record.marks).get("superseded_by") not in self.records
        )
        return nlargest(MAX_STANDING, holding, key=lambda record: record.ts_ms)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A turn, and those of its sentences that are rules."""

    turn: Turn
    rules: Sequence[Said]

    @property
    def is_general(self) -> bool:
        """Whether the rules hold whatever the task, all of them."""
        return all(rule.is_general for rule in self.rules)


class Guide:
    """Finds the turns that guide, and what they replace. Meant for one step of work, or one compaction.

    A bare imperative alone is not enough: "run the tests" asks for one thing, once. And a turn that is at
    odds with itself is kept all the same, because a doubtful rule must not be lost.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._kept: dict[Collection, _Kept] = {}

    def shard_of_task(self, task: QueuedTask) -> Shard | None:
        """Where the turn of a task is to be kept, as it is trusted now; None where it guides nothing."""
        raw = next((place for place in task.places if place.collection.is_raw), None)
        turn = None if raw is None else next(iter(self._parts.store.get(raw.collection, [raw.id])), None)
        return None if turn is None else self._shard(turn, task.places)

    def shards(self, session_id: str, turns: Sequence[Record]) -> tuple[list[Shard], int]:
        """The turns of a session's view that guide and are not kept yet, and how many of the turns are kept then.

        A turn that was kept once and is not any more was taken back: it stays out.
        """
        found: list[Shard] = []
        before = 0
        for turn in turns:
            if guidance_mark(turn.marks):
                before += _is_kept(self._places(session_id, turn))
            elif (shard := self._shard(turn, None, session_id)) is not None:
                found.append(shard)
        return found, before + len(found)

    def _shard(self, turn: Record, places: Sequence[Place] | None, session_id: str = "") -> Shard | None:
        if not _may_lay_down(turn) or turn.stability < self._parts.config.guidance_min_stability:
            return None
        spoken = Turn.read(turn.text)
        rules = self._rules(spoken)
        if not rules:
            return None
        places = self._places(session_id, turn) if places is None else places
        raw = next(place for place in places if place.collection.is_raw)
        return self._keep(turn, _Spoken(spoken, rules), raw, _guidance_place(raw, places))

    def _keep(self, turn: Record, said: _Spoken, raw: Place, place: Place) -> Shard | None:
        """A rule that is said again is kept once, and the turn is noted, so that nobody judges it anew."""
        kept = self._kept_in(place.collection)
        mark = self._mark(general=said.is_general)
        if kept.holds_text(turn.text):
            self._parts.store.mark([Marking(raw, mark)])
            return None
        successor = self._settle_order(turn, said.turn, place, kept)
        if successor is not None:
            mark = self._mark(general=said.is_general, superseded_by=successor)
        kept.add(replace(turn, collection=place.collection, id=place.id, marks={**turn.marks, **mark}))
        return Shard(raw.id, place, mark)

    def _places(self, session_id: str, turn: Record) -> Sequence[Place]:
        return self._parts.store.places(Collection.raw(session_id), turn.id)

    def _rules(self, spoken: Turn) -> list[Said]:
        """The sentences that are rules by their words or, where those leave it open, by their meaning as well.

        Without vectors the words have to do alone.
        """
        hints = spoken.hints
        if any(not rule.hints for rule in spoken.rules) or not hints or not self._parts.meaning.usable:
            return spoken.rules
        try:
            likeness = self._parts.state(Likeness).of(hints)
        except EmbedderFailed:
            likeness = None
        if likeness is None:
            return spoken.rules
        return [hint for hint, like in zip(hints, likeness, strict=True) if like >= 0]

    # --- what replaces what -----------------------------------------------------------------------------

    def _settle_order(self, turn: Record, spoken: Turn, place: Place, kept: _Kept) -> str | None:
        """Marks the earlier pieces that the turn replaces; the later piece that replaces the turn.

        The marks are written before the turn is kept: they mean nothing until it is there, so a crash in between does
        no harm.
        """
        successor: str | None = None
        for other in kept.live():
            if other.ts_ms > turn.ts_ms:
                successor = other.ref if replaces_turn(Turn.read(other.text), spoken) else successor
            elif replaces_turn(spoken, Turn.read(other.text)):
                known = {**guidance_mark(other.marks), "superseded_by": place.collection.ref(place.id)}
                mark = self._mark(**known)
                self._parts.store.mark([Marking(Place(other.collection, other.id), mark)])
                kept.add(replace(other, marks={**other.marks, **mark}))
        return successor

    def _mark(self, **known: Any) -> dict[str, Any]:
        return {Mark.GUIDANCE.value: made(known, By.CLEW, self._parts.clock.now_ms())}

    def _kept_in(self, collection: Collection) -> _Kept:
        if collection not in self._kept:
            found = filter(may_guide, every_member(self._parts.store, collection))
            self._kept[collection] = _Kept({record.ref: record for record in found})
        return self._kept[collection]


def may_guide(turn: Record) -> bool:
    """Whether a turn may guide: not if it is held back, or came from a tool or from outside."""
    return turn.trust in (Trust.TRUSTED, Trust.UNKNOWN)


def guidance_mark(marks: Metadata) -> Metadata:
    """What was noted of a turn when it was kept as guidance; empty where it was not, or by an older version."""
    found = value_of(marks, Mark.GUIDANCE)
    return found if isinstance(found, dict) else {}


def _may_lay_down(turn: Record) -> bool:
    """Whether these are words of the user that may guide. Some hosts send tool results in the user's name."""
    said_by_user = turn.provenance is Provenance.USER_TURN and turn.role is Role.USER
    return said_by_user and "toolCallId" not in turn.metadata and may_guide(turn)


def _is_kept(places: Sequence[Place]) -> bool:
    return any(place.collection.kind is CollectionKind.GUIDANCE for place in places)


def _guidance_place(raw: Place, places: Sequence[Place]) -> Place:
    """With the user whose turn it is, where one is known."""
    owner = next((place for place in places if place.collection.kind is CollectionKind.TURNS), None)
    if owner is not None:
        return Place(Collection.guidance(owner.collection.owner), owner.id)
    session_id = raw.collection.owner
    return Place(Collection.guidance(None, session_id), turn_name(session_id, raw.id))

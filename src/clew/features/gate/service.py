"""The gate at work: two searches a turn, a grade, and the memory a good grade makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from clew.core.calibration import Calibration
from clew.core.collections import Collection, CollectionKind
from clew.core.ids import memory_id
from clew.core.model import STABILITY_OF_PROVENANCE, TRUST_OF_PROVENANCE, Provenance, Record, Trust, least
from clew.core.ranking import SIMILARITY_ALONE
from clew.features.gate.operations import Gate, GateScore
from clew.features.gate.rules import ALREADY_KEPT, MEMORY_NEIGHBOURS, TURN_NEIGHBOURS, GateParts, grade, refusal
from clew.features.trust.service import follow_sources
from clew.index.search import Query, search
from clew.index.vectors import Grid, decode
from clew.kernel import intake
from clew.kernel.echoes import confirmations
from clew.kernel.parts import Parts
from clew.kernel.queue import Pace, Worker
from clew.kernel.search import cut
from clew.kernel.services import serves
from clew.storage.protocol import NewRecord, Place, QueuedTask, Task
from clew.text.own_text import without_own
from clew.text.terms import analyse_query


@serves(Gate)
def gate(parts: Parts, request: Gate) -> GateScore:
    """Grade a text as if this user said it now; nothing is kept."""
    meant = parts.meaning.of_query(cut(request.text))
    query = _query(parts, request.text, meant.vector, meant.calibration)
    graded, near = _grade(parts, request.text, request.user_id, query, own_id=None)
    threshold, refused = parts.config.gate_threshold, refusal(request.text, graded, near.same)
    keep = refused is None and graded.gate >= threshold
    return GateScore(**asdict(graded), threshold=threshold, keep=keep, refusal=refused)


def worker(*listeners: Callable[[Parts, QueuedTask], None]) -> Worker:
    """Judges the turns that wait. Listeners hear of each turn that is judged."""

    def judge_some(parts: Parts, pace: Pace) -> bool:
        ready = _ready(parts, parts.store.queued(Task.GATE, parts.tuning.embed_batch))
        if not ready:
            return False
        until = pace.begin_step()
        done: list[int] = []
        for task in ready:
            memory = promote_turn(parts, task)
            for listen in listeners:
                listen(parts, task)
            done.append(task.seq)
            if memory is not None:  # written at once: the next turn is compared with it
                parts.store.finish(done, {}, {task.seq: memory}, parts.meaning.identity if memory.vector else None)
                follow_sources(parts, [memory.place])
                done = []
            if pace.is_over(until):
                break
        if done:
            parts.store.finish(done, {})
        return True

    return Worker(judge_some, Task.GATE)


def _ready(parts: Parts, queued: Sequence[QueuedTask]) -> list[QueuedTask]:
    """The turns that can be judged now, in order.

    The gate compares meanings, so it waits for the vector where one is to come. What a user said later waits with it:
    a turn is judged by what came before.
    """
    ready: list[QueuedTask] = []
    waiting: set[Collection | None] = set()
    for task in queued:
        own = _own_place(task)
        collection = None if own is None else own.collection
        if collection not in waiting and (task.vector is not None or not parts.meaning.usable):
            ready.append(task)
        elif collection is not None:
            waiting.add(collection)
    return ready


def _own_place(task: QueuedTask) -> Place | None:
    """Where a turn stands among those of its user."""
    return next((place for place in task.places if place.collection.kind is CollectionKind.TURNS), None)


def promote_turn(parts: Parts, task: QueuedTask) -> NewRecord | None:
    """The memory to keep from a user's turn; None where the gate stays shut.

    It stays shut for a turn that is quarantined by now, for Clew's own words, and for what the rules refuse.
    """
    own = _own_place(task)
    draft = replace(task.draft, text=without_own(task.draft.text))
    if own is None or not draft.text.strip():
        return None
    user_id = own.collection.partition(":")[2]
    calibration = parts.meaning.calibration
    vector = None
    if task.vector is not None and calibration is not None:
        vector = decode([task.vector], len(task.vector) // 2)[0].astype(np.float32)
    query = _query(parts, draft.text, vector, calibration)
    graded, near = _grade(parts, draft.text, user_id, query, own.id)
    turn = next(iter(parts.store.get(own.collection, [own.id])), None)
    if turn is None or turn.trust is Trust.QUARANTINED:
        return None
    if turn.trust is not Trust.UNTRUSTED and (said := confirmations(parts, near.all, turn.ref, draft.text)):
        parts.store.mark(said)
    if refusal(draft.text, graded, near.same) is not None or graded.gate < parts.config.gate_threshold:
        return None
    return _memory(parts, replace(task, draft=replace(draft, trust=turn.trust)), own, user_id, graded)


def _query(parts: Parts, text: str, vector: Grid | None, calibration: Calibration | None) -> Query:
    return Query(
        terms=analyse_query(cut(text)),
        vector=vector,
        calibration=calibration,
        now_ms=parts.clock.now_ms(),
        weights=SIMILARITY_ALONE,
        by_surroundings=False,
    )


@dataclass(frozen=True, slots=True)
class _Near:
    """The memories that are nearest to a text, and the words of those so near that they may say the same."""

    all: tuple[Record, ...] = ()
    same: tuple[str, ...] = ()


def _grade(parts: Parts, text: str, user_id: str | None, query: Query, own_id: str | None) -> tuple[GateParts, _Near]:
    if user_id is None:
        return grade(text, [], []), _Near()
    kept = Collection.memories(user_id)
    memories = _nearest(parts, kept, query, MEMORY_NEIGHBOURS, None)
    turns = _nearest(parts, Collection.turns(user_id), query, TURN_NEIGHBOURS, own_id)
    near = tuple(parts.store.at(kept, [seq for seq, _ in memories])) if memories else ()
    so_near = {seq for seq, similarity in memories if similarity >= ALREADY_KEPT}
    same = tuple(record.text for record in near if record.seq in so_near)
    return grade(text, [value for _, value in memories], [value for _, value in turns]), _Near(near, same)


def _nearest(
    parts: Parts, collection: Collection, query: Query, count: int, own_id: str | None
) -> list[tuple[int, float]]:
    """The places of the nearest members, and how near they are in meaning; by words where meaning is not known.

    Counts neither the text itself nor what came after it: how much is indexed by now must not decide.
    """
    own = parts.store.seqs(collection, [own_id]) if own_id is not None else ()
    with parts.indexes.current(collection) as index:
        found = search(index, query, collection.scope, 0.0, count, before=next(iter(own), None))
    return [(one.seq, one.similarity if one.dense is None else one.dense) for one in found]


def _memory(parts: Parts, task: QueuedTask, own: Place, user_id: str, graded: GateParts) -> NewRecord:
    """Grades the memory anew: the marks of the turn are about the turn."""
    source = {"collection": str(own.collection), "id": own.id}
    decomposition = {f"gating_{name}": value for name, value in asdict(graded).items() if name != "gate"}
    draft = replace(
        task.draft,
        tokens=parts.counter.estimate(task.draft.text),
        provenance=Provenance.MEMORY,
        trust=least((TRUST_OF_PROVENANCE[Provenance.MEMORY], task.draft.trust)),
        stability=max(STABILITY_OF_PROVENANCE[task.draft.provenance], graded.gate),
        metadata={**task.draft.metadata, "source": source, "gating_score": graded.gate, **decomposition},
        marks={},
    )
    draft = intake.grade_draft(draft, parts.clock.now_ms())
    place = Place(Collection.memories(user_id), memory_id(own.collection, own.id))
    vector = task.vector if parts.meaning.usable else None
    tasks = (Task.EMBED, Task.LINK) if vector is None and parts.meaning.wanted else (Task.LINK,)
    return NewRecord(draft, place, tasks, vector)

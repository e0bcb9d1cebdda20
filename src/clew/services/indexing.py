"""The worker behind acknowledged writes: embeds what waits, then lets the gate decide, in order.

The queue lives in the store, so a crash loses no work. One process works on a store at a time, held
by a file lock that the system releases when the process dies; others only add to the queue.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sys
import threading
import time
from pathlib import Path

from clew.domain.graph import SHARED, Extract
from clew.domain.model import Draft
from clew.domain.own_text import without_own
from clew.domain.terms import passage_text
from clew.errors import ClewError, EmbedderFailed
from clew.services import harvest, linking
from clew.services.courtesy import Courtesy
from clew.services.gatekeeping import promoted
from clew.services.graph_aliases import forget_unnamed
from clew.services.intake import speaker_in
from clew.services.parts import Parts
from clew.services.plans import close_by_turn
from clew.services.trust import follow_sources
from clew.storage.protocol import QueuedTask, Task

IDLE_SECONDS = 0.5
"""How often the queue is looked at for work that other processes left."""

QUIET_SECONDS = 0.01
"""Work begins when no caller was served for this long..."""

EMBED_WAIT_SECONDS = 0.1
GATE_WAIT_SECONDS = 1.0
GATE_STEP_SECONDS = 0.025
"""...or when it has waited long enough. Models work beside the interpreter and may begin soon; the gate needs the
interpreter itself, so under constant load it has it for a fortieth of the time."""

STEP_PATIENCE_S = 4.0
END_PATIENCE_S = 2.0
"""How long closing waits for a step under way, and how long after its model was interrupted. With what the models may
take, that is less than a daemon gives its memory to close."""

NICENESS = 10
MAX_PAUSE_SECONDS = 5.0
_ATTEMPTS_ALONE = 3

_log = logging.getLogger("clew.indexing")


class Indexer:
    def __init__(self, parts: Parts, courtesy: Courtesy, lock_file: Path | None) -> None:
        self._parts = parts
        self._courtesy = courtesy
        self._lock = _ProcessLock(lock_file)
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._progress = threading.Event()
        self._stopping = threading.Event()
        self._caught_up = threading.Event()
        self._pause_seconds = 0.0
        self._thread = threading.Thread(target=self._run, name="clew-indexer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is work; a pause after a failure is not cut short."""
        self._wake.set()

    def drain(self, timeout_seconds: float) -> int:
        """Wait until nothing waits that can be done now; how many tasks are left."""
        deadline = time.monotonic() + timeout_seconds
        if self._parts.meaning.await_settling(timeout_seconds):  # until then, nobody knows what an embedder has to do
            self._caught_up.wait(timeout_seconds)
        while True:
            self._progress.clear()
            left = self._workable()
            remaining = deadline - time.monotonic()
            if left == 0 or remaining <= 0:
                return self._pending()
            self._hurry.set()
            self._wake.set()
            self._progress.wait(min(remaining, 0.05))

    def close(self) -> None:
        """Stops after the step under way; whoever closes the models then lets one end that takes too long."""
        self._stopping.set()
        self._hurry.set()
        self._wake.set()
        self._thread.join(STEP_PATIENCE_S)

    def join(self) -> None:
        """A step that hangs is left behind, its work still queued."""
        self._thread.join(END_PATIENCE_S)
        self._lock.release()

    def _workable(self) -> int:
        """Tasks it makes sense to wait for; without an embedder that fits, what needs none: the graph, and the gate of
        a store without one."""
        store = self._parts.store
        if self._parts.meaning.hopeful:
            return self._pending()
        return store.pending(Task.LINK) + (store.pending(Task.GATE) if store.model() is None else 0)

    def _pending(self) -> int:
        return sum(self._parts.store.pending(task) for task in Task)

    # --- the worker thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        _be_nice()
        while not self._stopping.is_set():
            self._wake.clear()
            worked = self._attempt()
            self._progress.set()
            if self._pause_seconds:
                self._stopping.wait(self._pause_seconds)
            elif not worked:
                self._wake.wait(IDLE_SECONDS)
            self._hurry.clear()

    def _attempt(self) -> bool:
        """One step; a failure is kept in the status and tried again after a growing pause."""
        try:
            self._parts.meaning.settle()  # every process must know which vectors it may compare
            self._catch_up()
            worked = self._holds_the_work() and (
                self._embed_some() | self._gate_some() | self._take_in_notes() | self._harvest_some()
            )
            worked |= self._link_some()
        except ClewError as error:
            self._pause(str(error))
            return False
        except Exception:  # noqa: BLE001 — the edge of this thread: queued work must outlive any bug
            _log.exception("indexing failed")
            self._pause("unexpected failure")
            return False
        self._pause_seconds = 0.0
        return worked

    def _catch_up(self) -> None:
        """Once: queue what an earlier process left without a vector and without a place in the queue."""
        if not self._caught_up.is_set():
            if self._parts.meaning.usable:
                self._parts.store.queue_missing_vectors()
            self._caught_up.set()
            self._give_way(GATE_WAIT_SECONDS)
            if not self._stopping.is_set():  # a tokenizer takes half a second to load; no turn should wait for it
                self._parts.counter.estimate("first")

    def _holds_the_work(self) -> bool:
        """A process that cannot embed leaves the work to one that can, unless the store has no vectors at all."""
        if self._is_able():
            return self._lock.acquire()
        self._lock.release()
        return False

    def _is_able(self) -> bool:
        return self._parts.meaning.usable or self._parts.store.model() is None

    def _pause(self, reason: str) -> None:
        if self._stopping.is_set():
            return  # a step that was ended from outside is no failure
        self._pause_seconds = min(max(self._pause_seconds * 2, 0.25), MAX_PAUSE_SECONDS)
        _log.warning("indexing pauses for %.2f s: %s", self._pause_seconds, reason)

    def _embed_some(self) -> bool:
        meaning, store = self._parts.meaning, self._parts.store
        tasks = store.queued(Task.EMBED, self._parts.config.embed_batch) if meaning.usable else []
        if not tasks:
            return False
        self._give_way(EMBED_WAIT_SECONDS)
        vectors = self._vectors([_passage(task.draft) for task in tasks])
        store.finish(
            [task.seq for task in tasks],
            {task.record_key: vector for task, vector in zip(tasks, vectors, strict=True)},
            embedder=meaning.identity,
        )
        return True

    def _gate_some(self) -> bool:
        store = self._parts.store
        ready = [task for task in store.queued(Task.GATE, self._parts.config.embed_batch) if self._is_ready(task)]
        if not ready:
            return False
        self._give_way(GATE_WAIT_SECONDS)
        done: list[int] = []
        until = time.monotonic() + GATE_STEP_SECONDS
        for task in ready:
            memory = promoted(self._parts, task)
            close_by_turn(self._parts, task)
            done.append(task.seq)
            if memory is not None:  # written at once: the next turn is compared with it
                store.finish(done, {}, {task.seq: memory}, self._parts.meaning.identity if memory.vector else None)
                follow_sources(self._parts, [memory.place])
                done = []
            if time.monotonic() > until and not self._hurry.is_set():
                break
        if done:
            store.finish(done, {})
        return True

    def _link_some(self) -> bool:
        """The graph needs no embedder, so anyone may do this; but the lock stays free for a process that has one."""
        if not self._parts.store.queued(Task.LINK, 1) or not self._lock.acquire():
            return False
        try:
            return self._link_batch()
        finally:
            if not self._is_able():
                self._lock.release()

    def _link_batch(self) -> bool:
        store = self._parts.store
        tasks = store.queued(Task.LINK, linking.BATCH)
        self._give_way(GATE_WAIT_SECONDS)
        until = time.monotonic() + GATE_STEP_SECONDS
        done: list[QueuedTask] = []
        said = {}
        for task in tasks:
            said[task.record_key] = self._said_by(task)
            done.append(task)
            if time.monotonic() > until and not self._hurry.is_set():
                break
        store.link([task.seq for task in done], said)
        if len(done) == len(tasks) and not store.queued(Task.LINK, 1):
            forget_unnamed(self._parts)  # a purge leaves this to be done while records wait
        return True

    @staticmethod
    def _said_by(task: QueuedTask) -> tuple[str, Extract]:
        """What no rule can read says nothing; those behind it must not wait for it."""
        try:
            return linking.said_by(task.draft, task.places)
        except Exception:  # noqa: BLE001 — whatever a text does to a rule, the queue goes on
            _log.exception("record %d was not read for the graph", task.record_key)
            return SHARED, Extract()

    def _take_in_notes(self) -> bool:
        """A note may be read while nobody waits; what it says then waits for its vectors like anything else."""
        if not self._parts.config.authored_notes:
            return False
        self._give_way(GATE_WAIT_SECONDS)
        return self._parts.library.take_in_notes(self._parts) > 0

    def _harvest_some(self) -> bool:
        """What was captured comes into the ledger by itself; then it waits for its vectors like anything else."""
        self._give_way(GATE_WAIT_SECONDS)
        return harvest.some(self._parts)

    def _give_way(self, at_most_seconds: float) -> None:
        self._courtesy.give_way(quiet_seconds=QUIET_SECONDS, at_most_seconds=at_most_seconds, hurry=self._hurry)

    def _is_ready(self, task: QueuedTask) -> bool:
        """The gate compares meanings, so it waits for the vector where one is to come."""
        return task.vector is not None or not self._parts.meaning.usable

    def _vectors(self, passages: list[str]) -> list[bytes]:
        """One vector a passage. A text that the embedder alone cannot take must not block those behind it."""
        try:
            return self._parts.meaning.of_passages(passages)
        except EmbedderFailed:
            if len(passages) == 1 and not self._works():
                raise
        if not self._works():
            raise EmbedderFailed("the embedding model does not answer")
        return [self._vector_alone(passage) for passage in passages]

    def _vector_alone(self, passage: str) -> bytes:
        for _ in range(_ATTEMPTS_ALONE):
            try:
                return self._parts.meaning.of_passages([passage])[0]
            except EmbedderFailed:
                continue
        return bytes(len(self._parts.meaning.of_passages(["probe"])[0]))  # near to nothing, found by words

    def _works(self) -> bool:
        try:
            self._parts.meaning.of_passages(["probe"])
        except EmbedderFailed:
            return False
        return True


def _be_nice() -> None:
    """Give this thread less of the processor than those that serve callers, where the system can tell threads apart."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _passage(draft: Draft) -> str:
    return passage_text(without_own(draft.text), speaker_in(dict(draft.metadata)))


class _ProcessLock:
    """An advisory lock on a file; held by one process at a time, let go when it dies."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        if self._path is None or self._descriptor is not None:
            return True
        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

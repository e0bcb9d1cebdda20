"""The work behind acknowledged writes: embeds waiting texts, then lets each feature's worker do its share, in order.

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from clew.core.model import Draft
from clew.errors import ClewError, EmbedderFailed
from clew.kernel.intake import speaker_in
from clew.kernel.parts import Parts
from clew.storage.protocol import Task
from clew.text.own_text import without_own
from clew.text.terms import passage_text

IDLE_SECONDS = 0.5
"""How often the queue is looked at for work that other processes left."""

QUIET_SECONDS = 0.01
"""Work begins when no caller was served for this long..."""

EMBED_WAIT_SECONDS = 0.1
STEP_WAIT_SECONDS = 1.0
STEP_SECONDS = 0.025
"""...or when it has waited long enough. Models work beside the interpreter and may begin soon; workers need the
interpreter itself, so under constant load they have it for a fortieth of the time."""

STEP_PATIENCE_S = 4.0
END_PATIENCE_S = 2.0
"""How long closing waits for a step under way, and how long after its model was interrupted. With what the models may
take, that is less than a daemon gives its memory to close."""

NICENESS = 10
MAX_PAUSE_SECONDS = 5.0
_ATTEMPTS_ALONE = 3

_log = logging.getLogger("clew.indexing")


class Pace(Protocol):
    """How long a worker may hold the interpreter."""

    def begin_step(self) -> float: ...

    def is_over(self, until: float) -> bool: ...


@dataclass(frozen=True, slots=True)
class Worker:
    """A feature's share of the work behind writes. The queue knows workers, not features."""

    work: Callable[[Parts, Pace], bool]
    """Does a bounded step of the waiting work; whether it did anything."""
    task: Task | None = None
    """The tasks that it takes off the store's queue."""
    needs_meaning: bool = True
    """Whether only the process that embeds may do it."""
    is_due: Callable[[Parts], bool] | None = None
    """Whether there is work, for one that takes no tasks and needs no meaning."""


class Indexer:
    def __init__(self, parts: Parts, workers: Sequence[Worker], courtesy: Courtesy, lock_file: Path | None) -> None:
        self._parts = parts
        self._workers = workers
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
        """Stops after the step under way; closing the models then ends a step that takes too long."""
        self._stopping.set()
        self._hurry.set()
        self._wake.set()
        self._thread.join(STEP_PATIENCE_S)

    def join(self) -> None:
        """A step that hangs is left behind, its work still queued."""
        self._thread.join(END_PATIENCE_S)
        self._lock.release()

    def _workable(self) -> int:
        """Tasks it makes sense to wait for: without an embedder that fits, those that need none."""
        store = self._parts.store
        if self._parts.meaning.hopeful:
            return self._pending()
        has_no_vectors = store.model() is None
        doable = [worker.task for worker in self._workers if has_no_vectors or not worker.needs_meaning]
        return sum(store.pending(task) for task in doable if task is not None)

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
            worked = self._holds_the_work() and self._work_with_meaning()
            worked |= self._work_without_meaning()
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
        """Once: queue texts that an earlier process left without a vector and without a place in the queue."""
        if not self._caught_up.is_set():
            if self._parts.store.model() is not None:
                self._parts.store.queue_missing_vectors()
            self._caught_up.set()
            self._give_way(STEP_WAIT_SECONDS)
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

    def _work_with_meaning(self) -> bool:
        worked = self._embed_some()
        for worker in self._workers:
            worked |= worker.needs_meaning and worker.work(self._parts, self)
        return worked

    def _work_without_meaning(self) -> bool:
        """Any process may do this, but the lock stays free for one that has an embedder."""
        waiting = [worker for worker in self._workers if not worker.needs_meaning and self._has_work(worker)]
        if not waiting or not self._lock.acquire():
            return False
        try:
            return sum(worker.work(self._parts, self) for worker in waiting) > 0
        finally:
            if not self._is_able():
                self._lock.release()

    def _has_work(self, worker: Worker) -> bool:
        if worker.is_due is not None:
            return worker.is_due(self._parts)
        return worker.task is not None and bool(self._parts.store.queued(worker.task, 1))

    def _embed_some(self) -> bool:
        meaning, store = self._parts.meaning, self._parts.store
        tasks = store.queued(Task.EMBED, self._parts.tuning.embed_batch) if meaning.usable else []
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

    def begin_step(self) -> float:
        """Lets callers go first; when a step that began now should end."""
        self._give_way(STEP_WAIT_SECONDS)
        return time.monotonic() + STEP_SECONDS

    def is_over(self, until: float) -> bool:
        """Whether a step should end here: its time is up, and nobody waits for the queue."""
        return time.monotonic() > until and not self._hurry.is_set()

    def _give_way(self, at_most_seconds: float) -> None:
        self._courtesy.give_way(quiet_seconds=QUIET_SECONDS, at_most_seconds=at_most_seconds, hurry=self._hurry)

    def _vectors(self, passages: list[str]) -> list[bytes]:
        """One vector a passage. A text that the embedder cannot take must not block those behind it."""
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


class Courtesy:
    """Knows when callers are served.

    Python threads share one interpreter, and a caller gives it up at every statement it sends to the
    store. Background work that runs at the same time takes its turn each time, so a call of one
    millisecond would take ten.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._last_end = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def call(self) -> Iterator[None]:
        """For as long as a caller waits."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._last_end = time.monotonic()

    def give_way(self, *, quiet_seconds: float, at_most_seconds: float, hurry: threading.Event) -> None:
        """Wait until nobody has been served for a moment; when told to hurry, or after so long, go on anyway."""
        deadline = time.monotonic() + at_most_seconds
        while not self._is_quiet(quiet_seconds) and time.monotonic() < deadline:
            if hurry.wait(quiet_seconds):
                return

    def _is_quiet(self, seconds: float) -> bool:
        with self._lock:
            return self._calls == 0 and time.monotonic() - self._last_end >= seconds

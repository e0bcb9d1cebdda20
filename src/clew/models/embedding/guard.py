"""Keeps a slow, failing or hung embedder from harming those who call it."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from clew.core.calibration import Calibration
from clew.core.ports import Embedder, EmbedderIdentity, Interruptible, Vectors
from clew.errors import ClewError, EmbedderFailed

T = TypeVar("T")

FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 60.0
PASSAGE_PATIENCE = 10
"""How many times as long as for a query a caller waits for passages, which are longer and come several at once."""

CLOSE_PATIENCE_S = 1.0
"""How long closing waits for a call that was interrupted. One that does not end then hangs for good."""

CACHED_QUERIES = 512
CACHED_QUERY_LIMIT_CHARS = 2_000


class GuardedEmbedder:
    """An embedder whose query calls always return in time.

    Queries run on one thread of their own. A caller waits for its vector until the deadline and then
    goes on without. After a failure, calls fail at once for a while that doubles up to a minute; then
    one call is let through to try, and its success makes all well again. A call that never returns
    costs that one thread: no other thread is made for it, and nothing queues up behind it.

    Passages run on the thread of their caller, which has no deadline and is not turned away; those that
    somebody waits for run on a thread of their own, and have one.
    """

    def __init__(self, embedder: Embedder, timeout_ms: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._timeout_ms = timeout_ms
        self._breaker = _Breaker(monotonic)
        self._cache = _QueryCache()
        self._users = _Users(embedder.close)
        self._worker = _Worker(self._embed_query_now, "clew-embed-query")
        self._passage_worker = _Worker(self.embed_passages, "clew-embed-passages")
        self._passage_trouble: str | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        return self._embedder.identity

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def embed_query(self, text: str) -> Vectors:
        cached = self._cache.get(text)
        if cached is not None:
            return cached
        ticket = self._breaker.admit()
        try:
            vector = self._worker.run(text, self._timeout_ms)
        except _Busy:
            raise
        except EmbedderFailed as error:
            self._breaker.open(ticket, str(error))
            raise
        self._breaker.close()
        vector.flags.writeable = False
        self._cache.put(text, vector)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        with self._users:
            try:
                vectors = self._embedder.embed_passages(texts)
            except EmbedderFailed as error:
                self._passage_trouble = str(error)
                raise
        self._passage_trouble = None
        return vectors

    def embed_passages_in_time(self, texts: Sequence[str]) -> Vectors:
        """For a caller that waits: raises EmbedderFailed when it takes many times as long as a query may."""
        return self._passage_worker.run(texts, PASSAGE_PATIENCE * self._timeout_ms)

    def trouble(self) -> str | None:
        """Why a query would fail right now; None when it is worth trying."""
        return self._breaker.trouble()

    def state(self) -> str:
        """`ok`, or the reason of the last failure that no success has followed."""
        return self._breaker.reason or self._passage_trouble or "ok"

    def close(self) -> None:
        """Stop taking work, and end what is under way. A call that cannot be ended is left behind."""
        self._worker.stop()
        self._passage_worker.stop()
        self._users.close()
        if isinstance(self._embedder, Interruptible):
            self._embedder.interrupt()
        self._worker.join()
        self._passage_worker.join()

    def _embed_query_now(self, text: str) -> Vectors:
        with self._users:
            return self._embedder.embed_query(text)


class _Busy(EmbedderFailed):
    """The model works, but for others: no sign of a fault."""


class _Breaker:
    """Remembers a failure and says when the next try is due."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.reason: str | None = None
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._backoff_s = 0.0
        self._retry_at = 0.0

    def admit(self) -> int:
        """A ticket for one call, or EmbedderFailed. Of those that wait for the next try, one gets through."""
        with self._lock:
            refusal = self._refusal()
            if refusal is not None:
                raise EmbedderFailed(refusal)
            if self.reason is not None:
                self._retry_at = self._monotonic() + self._backoff_s
            return self._failures

    def trouble(self) -> str | None:
        with self._lock:
            return self._refusal()

    def open(self, ticket: int, reason: str) -> None:
        """Calls that failed together carry the same ticket and count once, so that the wait doubles once."""
        with self._lock:
            self.reason = reason
            if ticket != self._failures:
                return
            self._failures += 1
            self._backoff_s = min(max(self._backoff_s * 2, FIRST_BACKOFF_S), LONGEST_BACKOFF_S)
            self._retry_at = self._monotonic() + self._backoff_s

    def close(self) -> None:
        with self._lock:
            self.reason = None
            self._backoff_s = 0.0

    def _refusal(self) -> str | None:
        left_s = self._retry_at - self._monotonic()
        if self.reason is None or left_s <= 0:
            return None
        return f"{self.reason}; next try in {math.ceil(left_s)} s"


class _QueryCache:
    """The vectors of the last queries."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Vectors | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def put(self, text: str, vector: Vectors) -> None:
        if len(text) > CACHED_QUERY_LIMIT_CHARS:
            return
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > CACHED_QUERIES:
                self._vectors.popitem(last=False)


class _Users:
    """Counts the calls under way, so that the last one out closes the embedder after the owner did."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self._lock = threading.Lock()
        self._count = 0
        self._closed = False

    def __enter__(self) -> None:
        with self._lock:
            if self._closed:
                raise EmbedderFailed("the embedding model is closed")
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1
            last = self._closed and self._count == 0
        if last:
            self._release()

    def close(self) -> None:
        with self._lock:
            last = not self._closed and self._count == 0
            self._closed = True
        if last:
            self._release()


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    what: T
    done: threading.Event = field(default_factory=threading.Event)
    vector: Vectors | None = None
    reason: str = ""
    abandoned: bool = False
    """Its caller has gone; while it runs on, the worker is stuck."""


class _Worker(Generic[T]):
    """One thread that embeds what it is given in turn, made at the first job."""

    def __init__(self, embed: Callable[[T], Vectors], name: str) -> None:
        self._embed = embed
        self._name = name
        self._changed = threading.Condition()
        self._waiting: deque[_Job[T]] = deque()
        self._running: _Job[T] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    def run(self, what: T, timeout_ms: int) -> Vectors:
        job = self._submit(what)
        if not job.done.wait(timeout_ms / 1000):
            self._withdraw(job, timeout_ms)
        if job.vector is None:
            raise EmbedderFailed(job.reason)
        return job.vector

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            for job in self._waiting:
                job.reason = "the embedding model is closed"
                job.done.set()
            self._waiting.clear()
            self._changed.notify()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(CLOSE_PATIENCE_S)

    def _submit(self, what: T) -> _Job[T]:
        with self._changed:
            if self._stopped:
                raise EmbedderFailed("the embedding model is closed")
            if self._running is not None and self._running.abandoned:
                raise EmbedderFailed("the embedding model has not come back from an earlier call")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            job = _Job(what)
            self._waiting.append(job)
            self._changed.notify()
            return job

    def _withdraw(self, job: _Job[T], timeout_ms: int) -> None:
        """Give up on a job, unless it was finished in this very moment."""
        with self._changed:
            if job.done.is_set():
                return
            if job in self._waiting:
                self._waiting.remove(job)
                raise _Busy(f"the embedding model was too busy to answer within {timeout_ms} ms")
            job.abandoned = True
            raise EmbedderFailed(f"the embedding model did not answer within {timeout_ms} ms")

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                vector, reason = self._embed(job.what), ""
            except ClewError as error:
                vector, reason = None, str(error)
            except Exception as error:  # noqa: BLE001 - the thread must outlive whatever a model raises
                vector, reason = None, f"the embedding model failed: {type(error).__name__}"
            with self._changed:
                job.vector, job.reason = vector, reason
                self._running = None
                job.done.set()

    def _next(self) -> _Job[T] | None:
        with self._changed:
            while not self._waiting and not self._stopped:
                self._changed.wait()
            if self._stopped:
                return None
            self._running = self._waiting.popleft()
            return self._running

"""Keeps a slow, failing or hung model from harming those who call it."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from clew.core.calibration import Calibration
from clew.core.ports import Abstract, Embedder, EmbedderIdentity, Interruptible, Vectors
from clew.errors import ClewError, EmbedderFailed, SummarizerFailed, TooLarge
from clew.text.letters import replace_surrogates

T = TypeVar("T")
R = TypeVar("R")

FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 60.0
PASSAGE_PATIENCE = 10
"""A caller waits this many times longer for passages than for a query: they are longer and come several at once."""

CLOSE_PATIENCE_S = 1.0
"""How long closing waits for a call that was interrupted. One that does not end then hangs for good."""

CACHED_QUERIES = 512
CACHED_QUERY_LIMIT_CHARS = 2_000


# --- any model -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """The name of a model in messages, and the error that its callers expect."""

    title: str
    failure: type[ClewError]


@dataclass(slots=True, eq=False)
class _Job(Generic[T, R]):
    what: T
    ticket: int
    """How many failures there had been when the job was admitted."""
    done: threading.Event = field(default_factory=threading.Event)
    answer: R | None = None
    reason: str = ""
    abandoned: bool = False
    """Its caller has gone. While the job still runs, the model is stuck."""


class Guard(Generic[T, R]):
    """Runs the calls to a model in turn, on one thread of its own, and answers each caller in time.

    A caller waits until its deadline and then goes on without an answer. After a failure, calls fail at once for a
    time that doubles up to a minute; then one call tries the model, and its success ends the back-off. A call that
    never returns costs that one thread: the guard starts no other, and queues nothing behind it.
    """

    def __init__(
        self,
        call: Callable[[T], R],
        kind: _Kind,
        thread_name: str,
        *,
        rests: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rests` says whether calls fail at once for a while after a failure."""
        self.reason: str | None = None
        """Why the last call failed; None after a success."""
        self._call = call
        self._kind = kind
        self._thread_name = thread_name
        self._rests = rests
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._waiting: deque[_Job[T, R]] = deque()
        self._running: _Job[T, R] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._failures = 0
        self._backoff_s = 0.0
        self._retry_at = 0.0

    def run(self, what: T, timeout_ms: int) -> R:
        """The model's answer. Raises the failure of its kind for any error of the model."""
        job = self._admit(what)
        if not job.done.wait(timeout_ms / 1000):
            self._withdraw(job, timeout_ms)
        if job.answer is None:
            raise self._kind.failure(job.reason)
        return job.answer

    def trouble(self) -> str | None:
        """Why a call would fail right now; None when it is worth trying."""
        with self._changed:
            return self._refusal()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            for job in self._waiting:
                job.reason = f"{self._kind.title} is closed"
                job.done.set()
            self._waiting.clear()
            self._changed.notify()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(CLOSE_PATIENCE_S)

    def _refusal(self) -> str | None:
        if self._stopped:
            return f"{self._kind.title} is closed"
        if self._running is not None and self._running.abandoned:
            return f"{self._kind.title} has not come back from an earlier call"
        left_s = self._retry_at - self._monotonic()
        return None if self.reason is None or left_s <= 0 else f"{self.reason}; next try in {math.ceil(left_s)} s"

    def _admit(self, what: T) -> _Job[T, R]:
        """Queues a call. After a back-off, one call gets through; the others wait for its outcome."""
        with self._changed:
            refusal = self._refusal()
            if refusal is None and self._thread is None:
                refusal = self._start()
            if refusal is not None:
                raise self._kind.failure(refusal)
            if self.reason is not None:
                self._retry_at = self._monotonic() + self._backoff_s
            job: _Job[T, R] = _Job(what, self._failures)
            self._waiting.append(job)
            self._changed.notify()
            return job

    def _start(self) -> str | None:
        thread = threading.Thread(target=self._work, name=self._thread_name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            return f"{self._kind.title} got no thread: {error}"
        self._thread = thread
        return None

    def _withdraw(self, job: _Job[T, R], timeout_ms: int) -> None:
        """Gives up on a job, unless it has just finished."""
        with self._changed:
            if job.done.is_set():
                return
            if job in self._waiting:  # the model works for other callers: no sign of a fault
                self._waiting.remove(job)
                job.reason = f"{self._kind.title} was too busy to answer within {timeout_ms} ms"
            else:
                job.abandoned = True
                job.reason = f"{self._kind.title} did not answer within {timeout_ms} ms"
                self._rest(job)
            raise self._kind.failure(job.reason)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            answer, reason, is_fault = self._try(job.what)
            with self._changed:
                self._running = None
                if answer is not None:
                    self.reason, self._backoff_s = None, 0.0
                if job.abandoned:
                    continue
                job.answer, job.reason = answer, reason
                if is_fault:
                    self._rest(job)
                job.done.set()

    def _try(self, what: T) -> tuple[R | None, str, bool]:
        try:
            return self._call(what), "", False
        except TooLarge as error:  # a text that the model cannot take is no fault of the model
            return None, str(error), False
        except ClewError as error:
            return None, str(error), True
        except Exception as error:  # noqa: BLE001 - the thread must outlive whatever a model raises
            return None, f"{self._kind.title} failed: {type(error).__name__}", True

    def _next(self) -> _Job[T, R] | None:
        """The next job. Jobs that waited behind a failure fail with it."""
        with self._changed:
            while not self._stopped:
                while self._waiting:
                    job = self._waiting.popleft()
                    if not self._rests or self.reason is None or job.ticket == self._failures:
                        self._running = job
                        return job
                    job.reason = self.reason
                    job.done.set()
                self._changed.wait()
            return None

    def _rest(self, job: _Job[T, R]) -> None:
        """Starts a back-off. Calls that failed together share a ticket and count once, so the wait doubles once."""
        self.reason = job.reason
        if self._rests and job.ticket == self._failures:
            self._failures += 1
            self._backoff_s = min(max(self._backoff_s * 2, FIRST_BACKOFF_S), LONGEST_BACKOFF_S)
            self._retry_at = self._monotonic() + self._backoff_s


class _Closable(Protocol):
    def close(self) -> None: ...


class _Calls:
    """Counts the running calls to a model, so that the last one closes a model whose owner has gone."""

    def __init__(self, model: _Closable, kind: _Kind) -> None:
        self._model = model
        self._kind = kind
        self._lock = threading.Lock()
        self._count = 0
        self._closed = False

    def __enter__(self) -> None:
        with self._lock:
            if self._closed:
                raise self._kind.failure(f"{self._kind.title} is closed")
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1
            last = self._closed and self._count == 0
        if last:
            self._model.close()

    def close(self, *guards: Guard[Any, Any]) -> None:
        """Takes no more calls and ends the running ones. A call that cannot be ended is left behind."""
        for guard in guards:
            guard.stop()
        with self._lock:
            is_idle, was_closed = self._count == 0, self._closed
            self._closed = True
        if is_idle and not was_closed:
            self._model.close()
        if not is_idle and isinstance(self._model, Interruptible):
            self._model.interrupt()
        for guard in guards:
            guard.join()


# --- an embedder ---------------------------------------------------------------------------------------

_EMBEDDER = _Kind("the embedding model", EmbedderFailed)


class GuardedEmbedder:
    """An embedder whose query calls always return in time.

    Passages run on the thread of their caller, without a deadline or a back-off. Those that a caller waits for run
    on a thread of their own, with a deadline.
    """

    def __init__(self, embedder: Embedder, timeout_ms: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._timeout_ms = timeout_ms
        self._cache = _QueryCache()
        self._calls = _Calls(embedder, _EMBEDDER)
        self._queries = Guard(self._embed_query_now, _EMBEDDER, "clew-embed-query", monotonic=monotonic)
        self._passages = Guard(self.embed_passages, _EMBEDDER, "clew-embed-passages", rests=False)
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
        vector = self._queries.run(text, self._timeout_ms)
        vector.flags.writeable = False
        self._cache.put(text, vector)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        with self._calls:
            try:
                vectors = self._embedder.embed_passages(texts)
            except EmbedderFailed as error:
                self._passage_trouble = str(error)
                raise
        self._passage_trouble = None
        return vectors

    def embed_passages_in_time(self, texts: Sequence[str]) -> Vectors:
        """For a caller that waits. Raises EmbedderFailed after `PASSAGE_PATIENCE` times the limit of a query."""
        return self._passages.run(texts, PASSAGE_PATIENCE * self._timeout_ms)

    def trouble(self) -> str | None:
        """Why a query would fail right now; None when it is worth trying."""
        return self._queries.trouble()

    def state(self) -> str:
        """`ok`, or the reason of the last failure that no success has followed."""
        return self._queries.reason or self._passage_trouble or "ok"

    def close(self) -> None:
        self._calls.close(self._queries, self._passages)

    def _embed_query_now(self, text: str) -> Vectors:
        with self._calls:
            return self._embedder.embed_query(text)


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


# --- a summarizer --------------------------------------------------------------------------------------

_SUMMARIZER = _Kind("the summarizing model", SummarizerFailed)


class SummarizingModel(Protocol):
    """A model without a guard: it may hang, and may raise anything. One thread at a time calls it."""

    @property
    def name(self) -> str: ...

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        """Raises TooLarge for a transcript it cannot read as a whole, which is no fault of the model."""

    def close(self) -> None: ...


class GuardedSummarizer:
    """A summarizer that answers or fails in time, always with SummarizerFailed."""

    def __init__(
        self, model: SummarizingModel, timeout_ms: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._timeout_ms = timeout_ms
        self._calls = _Calls(model, _SUMMARIZER)
        self._guard = Guard(self._summarise_now, _SUMMARIZER, "clew-summarise", monotonic=monotonic)

    @property
    def name(self) -> str:
        return self._model.name

    def ready(self) -> bool:
        return self.trouble() is None

    def trouble(self) -> str | None:
        """Why a call would fail right now; None when it is worth trying."""
        return self._guard.trouble()

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        if max_tokens < 1:
            raise SummarizerFailed("there is no room for a summary")
        return self._guard.run(
            (replace_surrogates(transcript), replace_surrogates(earlier), max_tokens), self._timeout_ms
        )

    def close(self) -> None:
        self._calls.close(self._guard)

    def _summarise_now(self, request: tuple[str, str, int]) -> Abstract:
        transcript, earlier, max_tokens = request
        with self._calls:
            return _check_abstract(self._model.summarise(transcript, earlier=earlier, max_tokens=max_tokens))


def _check_abstract(abstract: Abstract) -> Abstract:
    """Brings a model's text into a form that can be stored."""
    text = replace_surrogates(abstract.text).strip()
    if not text:
        raise SummarizerFailed("the summarizing model wrote nothing")
    sure = abstract.confidence
    if sure is not None:
        sure = min(max(sure, 0.0), 1.0) if math.isfinite(sure) else None
    return Abstract(text, sure)

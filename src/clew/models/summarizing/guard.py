"""Keeps a slow, failing or hung summarizing model from harming those who call it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from clew.core.ports import Abstract, Interruptible
from clew.errors import ClewError, SummarizerFailed, TooLarge
from clew.models.embedding.guard import CLOSE_PATIENCE_S, FIRST_BACKOFF_S, LONGEST_BACKOFF_S


class Model(Protocol):
    """A model as it comes: it may hang, and may raise anything. Called by one thread at a time."""

    @property
    def name(self) -> str: ...

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        """Raises TooLarge for a transcript it cannot read as a whole, which is no fault of the model."""

    def close(self) -> None: ...


class GuardedSummarizer:
    """A summarizer that answers or fails in time, always with SummarizerFailed.

    One call is under way at a time, on a thread of its own; other callers wait for their turn, within
    their own deadline. After a failure calls fail at once for a while, which doubles with every failure
    up to a minute. A call that never returns costs one thread: until it is back, no other is tried.
    """

    def __init__(self, model: Model, timeout_ms: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._timeout_ms = timeout_ms
        self._monotonic = monotonic
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._running: _Call | None = None
        self._closed = False
        self._reason = ""
        self._backoff_s = 0.0
        self._retry_at = 0.0

    @property
    def name(self) -> str:
        return self._model.name

    def ready(self) -> bool:
        return self.trouble() is None

    def trouble(self) -> str | None:
        """Why a call would fail right now; None when it is worth trying."""
        with self._lock:
            return self._refusal()

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        if max_tokens < 1:
            raise SummarizerFailed("there is no room for a summary")
        trouble = self.trouble()
        if trouble is not None:
            raise SummarizerFailed(trouble)
        deadline = self._monotonic() + self._timeout_ms / 1000
        call = _Call(_sound(transcript), _sound(earlier), max_tokens)
        if not self._turn.acquire(timeout=self._timeout_ms / 1000):
            raise SummarizerFailed(f"the summarizing model was too busy to answer within {self._timeout_ms} ms")
        self._start(call)
        if not call.done.wait(max(deadline - self._monotonic(), 0.0)):
            self._abandon(call)
        if call.abstract is None:
            raise SummarizerFailed(call.reason)
        return call.abstract

    def close(self) -> None:
        """Stop taking work, and end what is under way. A call that cannot be ended is left behind."""
        with self._lock:
            running = self._running
            idle = not self._closed and running is None
            self._closed = True
        if idle:
            self._model.close()
        if running is not None:
            if isinstance(self._model, Interruptible):
                self._model.interrupt()
            running.ended.wait(CLOSE_PATIENCE_S)

    def _refusal(self) -> str | None:
        if self._closed:
            return "the summarizing model is closed"
        if self._running is not None and self._running.abandoned:
            return "the summarizing model has not come back from an earlier call"
        left_s = self._retry_at - self._monotonic()
        return f"{self._reason}; next try in {math.ceil(left_s)} s" if self._reason and left_s > 0 else None

    def _start(self, call: _Call) -> None:
        """Begin, as the one whose turn it is; whoever had it before may have failed."""
        with self._lock:
            trouble = self._refusal()
            if trouble is None:
                self._running = call
        if trouble is not None:
            self._turn.release()
            raise SummarizerFailed(trouble)
        try:
            threading.Thread(target=self._run, args=(call,), name="clew-summarise", daemon=True).start()
        except RuntimeError as error:
            call.reason = f"the summarizing model got no thread: {error}"
            self._finish(call)

    def _run(self, call: _Call) -> None:
        try:
            call.abstract = _checked(
                self._model.summarise(call.transcript, earlier=call.earlier, max_tokens=call.max_tokens)
            )
        except ClewError as error:
            call.reason, call.model_failed = str(error), not isinstance(error, TooLarge)
        except Exception as error:  # noqa: BLE001 - a thread's edge: the caller must learn of whatever a model raises
            call.reason, call.model_failed = f"the summarizing model failed: {type(error).__name__}", True
        self._finish(call)

    def _finish(self, call: _Call) -> None:
        with self._lock:
            self._running = None
            if call.model_failed and not call.abandoned:
                self._rest(call.reason)
            elif call.abstract is not None:
                self._reason, self._backoff_s = "", 0.0
            call.done.set()
            closed = self._closed
        self._turn.release()
        if closed:
            self._model.close()
        call.ended.set()

    def _abandon(self, call: _Call) -> None:
        """Give up on a call, unless it ended in this very moment."""
        with self._lock:
            if call.done.is_set():
                return
            call.abandoned = True
            reason = f"the summarizing model did not answer within {self._timeout_ms} ms"
            self._rest(reason)
        raise SummarizerFailed(reason)

    def _rest(self, reason: str) -> None:
        self._reason = reason
        self._backoff_s = min(max(self._backoff_s * 2, FIRST_BACKOFF_S), LONGEST_BACKOFF_S)
        self._retry_at = self._monotonic() + self._backoff_s


@dataclass(slots=True, eq=False)
class _Call:
    transcript: str
    earlier: str
    max_tokens: int
    done: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    """Its thread has nothing left to do with the model."""
    abstract: Abstract | None = None
    reason: str = ""
    model_failed: bool = False
    abandoned: bool = False
    """Its caller has gone; while it runs on, the model is stuck."""


def _checked(abstract: Abstract) -> Abstract:
    """What a model wrote, as far as it can be taken."""
    text = _sound(abstract.text).strip()
    if not text:
        raise SummarizerFailed("the summarizing model wrote nothing")
    sure = abstract.confidence
    if sure is not None:
        sure = min(max(sure, 0.0), 1.0) if math.isfinite(sure) else None
    return Abstract(text, sure)


def _sound(text: str) -> str:
    """Lone surrogates, which no tokenizer and no JSON takes, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")

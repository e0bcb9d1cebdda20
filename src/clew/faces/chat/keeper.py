"""Turns on their way into memory, and the thread that uses memory: a call that hangs is abandoned there."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import msgspec

from clew.api import MemoryApi, Message
from clew.errors import ClewError, Conflict, DeadlineExceeded, InvalidInput, TooLarge

MAX_WAITING = 1000
"""The most turns that wait for memory; the oldest are given up first."""
BATCH_BYTES = 400_000
REFUSALS = (Conflict, InvalidInput, TooLarge)
"""Errors for a turn that memory will never take."""

T = TypeVar("T")


class Keeper:
    """Uses a memory, or opens one with the given function as soon as that succeeds, and closes it at the end."""

    def __init__(
        self,
        memory: MemoryApi | Callable[[], MemoryApi],
        *,
        session_id: str,
        user_id: str | None,
        deadline_ms: int,
    ) -> None:
        self._memory = memory if isinstance(memory, MemoryApi) else None
        self._open = None if isinstance(memory, MemoryApi) else memory
        self._session_id = session_id
        self._user_id = user_id
        self._deadline_s = deadline_ms / 1000
        self._waiting: deque[Message] = deque()
        self._troubles: list[str] = []
        self._thread: threading.Thread | None = None
        self._beside: threading.Thread | None = None

    def add(self, turn: Message) -> None:
        self._waiting.append(turn)
        if len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self._troubles.append(f"{MAX_WAITING:,} turns wait to be kept; the oldest was given up")

    @property
    def waiting(self) -> tuple[Message, ...]:
        return tuple(self._waiting)

    def troubles(self) -> tuple[str, ...]:
        """Why turns will not be kept, and what failed beside the conversation; each reason once."""
        reasons, self._troubles = tuple(dict.fromkeys(self._troubles)), []
        return reasons

    def run(self, work: Callable[[MemoryApi], T]) -> T:
        """The result of the work. Raises a ClewError: memory's own, or DeadlineExceeded while the work goes on."""
        if _is_alive(self._thread):
            raise DeadlineExceeded("memory is still busy with an earlier turn")
        outcome: list[T] = []
        errors: list[ClewError] = []
        self._thread = threading.Thread(target=self._attempt, args=(work, outcome, errors), daemon=True)
        self._thread.start()
        self._thread.join(self._deadline_s)
        if errors:
            raise errors[0]
        if not outcome:
            raise DeadlineExceeded(f"memory did not answer within {self._deadline_s:g} s")
        return outcome[0]

    def start(self, work: Callable[[MemoryApi], object]) -> None:
        """Does the work beside the conversation, unless earlier work there still runs."""
        if not _is_alive(self._beside):
            self._beside = threading.Thread(target=self._do_beside, args=(work,), daemon=True)
            self._beside.start()

    def flush(self, memory: MemoryApi) -> None:
        """Keeps the waiting turns, in order. A turn waits until memory keeps it, or refuses it for good."""
        while batch := self._next_batch():
            try:
                memory.ingest_batch(self._session_id, batch, user_id=self._user_id)
            except REFUSALS as error:
                if len(batch) > 1:
                    batch = batch[:1]
                    self._keep_alone(memory, batch[0])
                else:
                    self._give_up(error)
            for turn in batch:
                if self._waiting and self._waiting[0].id == turn.id:
                    self._waiting.popleft()

    def wait(self) -> None:
        """Waits for running work, as long as for any other."""
        for thread in (self._thread, self._beside):
            if thread is not None:
                thread.join(self._deadline_s)

    def close(self) -> None:
        """Closes a memory that was opened here and is no longer in use."""
        busy = _is_alive(self._thread) or _is_alive(self._beside)
        if self._open is not None and self._memory is not None and not busy:
            self._memory.close()
            self._memory = None

    def _attempt(self, work: Callable[[MemoryApi], T], outcome: list[T], errors: list[ClewError]) -> None:
        try:
            if self._memory is None and self._open is not None:
                self._memory = self._open()
            assert self._memory is not None  # given, or opened just now
            outcome.append(work(self._memory))
        except ClewError as error:
            errors.append(error)
        except Exception as error:  # noqa: BLE001 — whatever fails in memory, the conversation goes on
            errors.append(ClewError(f"memory failed: {type(error).__name__}: {error}"))

    def _do_beside(self, work: Callable[[MemoryApi], object]) -> None:
        errors: list[ClewError] = []
        self._attempt(work, [], errors)
        self._troubles.extend(error.message for error in errors)

    def _next_batch(self) -> list[Message]:
        batch: list[Message] = []
        size = 0
        for turn in self.waiting:
            size += len(msgspec.json.encode(turn))
            if batch and size > BATCH_BYTES:
                break
            batch.append(turn)
        return batch

    def _keep_alone(self, memory: MemoryApi, turn: Message) -> None:
        """Keeps one turn. Memory refuses a batch as a whole, and the turn at fault must not hold up the others."""
        try:
            memory.ingest_batch(self._session_id, [turn], user_id=self._user_id)
        except REFUSALS as error:
            self._give_up(error)

    def _give_up(self, error: ClewError) -> None:
        self._troubles.append(f"a turn was refused and is not kept: {error.message}")


def _is_alive(thread: threading.Thread | None) -> bool:
    return thread is not None and thread.is_alive()

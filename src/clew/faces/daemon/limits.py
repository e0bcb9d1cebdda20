"""The bounds of the daemon: the length of a line, the number of running requests, the time for the work.

Every queue in the daemon is bounded. A full one stops reading from the client that filled it, or gives
that client an error. No client takes room from another, unless it keeps the daemon waiting (`clew.faces.daemon.room`).
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from clew.config import MIB, Config
from clew.errors import DeadlineExceeded
from clew.faces.daemon.room import Room

CHUNK_BYTES = 64 * 1024
"""The most that one read takes from a socket, and that asyncio reads ahead."""
WORKERS = 16
"""Threads that carry out requests. There are more than cores, because some requests only wait (`flush`)."""
WORKERS_PER_CLIENT = 4
"""So that no client holds all of them, however many requests it sends."""
INFLIGHT_FRAMES = 4
"""The most bytes in running requests of a client, in longest frames."""
UNFINISHED_FRAMES = 4
UNDER_WAY_FRAMES = 8
"""The least room for all clients, in longest frames, where those are longer than usual."""
HEAD_BYTES = 512
"""How much of an overlong line is kept, to find its id."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    frame_bytes: int
    connections: int
    deadline_s: float
    """For the work of one request, and again for the client to take its answer."""
    inflight: int = 32
    """Requests of one client under way at once: enough to keep its workers busy, whatever the round trip."""
    drain_s: float = 10.0
    """For running requests when the daemon is told to stop."""
    sign_in_s: float = 5.0
    sign_in_attempts: int = 3
    sign_in_bytes: int = 4096
    """The longest line of a client that has not shown its token."""
    strangers: int = 64
    """Clients at once that have not shown their token. They take no place of one that has."""
    unfinished_bytes: int = 32 * MIB
    """Of lines that have begun and not ended, over all clients."""
    under_way_bytes: int = 128 * MIB
    """Of requests under way and answers that their clients have not taken, over all clients."""

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(
            frame_bytes=config.frame_limit_bytes,
            connections=config.max_connections,
            deadline_s=config.deadline_ms / 1000,
            unfinished_bytes=max(32 * MIB, UNFINISHED_FRAMES * config.frame_limit_bytes),
            under_way_bytes=max(128 * MIB, UNDER_WAY_FRAMES * config.frame_limit_bytes),
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """Replaces a line that Clew skips and does not keep."""

    head: bytes
    made_room: bool = False
    """Whether the line had to make room for those of other clients; else it was too long."""


class Lines:
    """Cuts a byte stream into lines, and holds at most one line of `limit_bytes`.

    The room is shared with all other streams: a line that does not end for long is given up where others need it.
    """

    def __init__(self, limit_bytes: int, room: Room) -> None:
        self.limit_bytes = limit_bytes
        self._room = room
        self._held = bytearray()
        self._skipping = False
        self._given_up: Skipped | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes | Skipped]:
        """The lines that this chunk ends. It is lazy, so that a changed limit holds from the next line on."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            yield from self._add(piece)
            if self._given_up is not None:
                yield self._given_up
            elif not self._skipping:
                line = bytes(self._held)
                self._let_go()
                yield line
            self._skipping, self._given_up = False, None
            self._let_go()
        yield from self._add(rest)
        if self._held:
            self._room.begin_wait(self)

    def make_room(self) -> None:
        """Gives the line up. The client hears of it at the end of that line."""
        self._given_up = Skipped(bytes(self._held[:HEAD_BYTES]), made_room=True)
        self._held.clear()

    def close(self) -> None:
        self._let_go()

    def _add(self, piece: bytes) -> Iterator[Skipped]:
        if self._skipping or self._given_up is not None:
            return
        if len(self._held) + len(piece) > self.limit_bytes:
            head = bytes(self._held[:HEAD_BYTES]) + piece[:HEAD_BYTES]
            self._skipping = True
            self._let_go()
            yield Skipped(head[:HEAD_BYTES])
        elif piece:
            self._held += piece
            self._room.hold(self, len(piece))

    def _let_go(self) -> None:
        self._held.clear()
        self._room.forget(self)


class Window:
    """Bounds the running requests of one client. One task enters; any may leave."""

    def __init__(self, requests: int, size_bytes: int) -> None:
        self._requests_left = requests
        self._bytes_left = size_bytes
        self._freed = asyncio.Event()

    async def enter(self, size_bytes: int) -> None:
        """Waits until there is room. It counts bytes afterwards, so one frame always fits."""
        while self._requests_left <= 0 or self._bytes_left <= 0:
            self._freed.clear()
            await self._freed.wait()
        self._requests_left -= 1
        self._bytes_left -= size_bytes

    def leave(self, size_bytes: int) -> None:
        self._requests_left += 1
        self._bytes_left += size_bytes
        self._freed.set()


class Workers:
    """A fixed number of threads and one first-come queue.

    The threads are daemonic, unlike those of `ThreadPoolExecutor`: a request that hangs for good must
    not keep the process from ending.
    """

    def __init__(self, count: int = WORKERS) -> None:
        self._jobs: queue.SimpleQueue[_Job[bytes] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, name=f"clew-worker-{number}", daemon=True) for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Callable[[], bytes]) -> Future[bytes]:
        job = _Job(work, Future())
        self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Ends the threads after their current job; does not wait for a job that hangs."""
        for _ in self._threads:
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            del job  # or an idle thread would keep the last request and its answer alive


@dataclass(frozen=True, slots=True)
class _Job(Generic[T]):
    work: Callable[[], T]
    future: Future[T]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 — handed to whoever waits for the future
            self.future.set_exception(error)


class Lane:
    """One client's share of the workers.

    Each client has at most `WORKERS_PER_CLIENT` jobs in the workers' queue, which makes that queue
    fair: a new job waits behind a few jobs of each other client and never behind all jobs of one.
    """

    def __init__(self, workers: Workers, width: int = WORKERS_PER_CLIENT) -> None:
        self._workers = workers
        self._turns = asyncio.Semaphore(width)
        self._loop = asyncio.get_running_loop()

    @asynccontextmanager
    async def run(self, work: Callable[[], bytes], deadline_s: float) -> AsyncIterator[bytes]:
        """The outcome of `work`. Raises DeadlineExceeded where it comes too late.

        The place becomes free when the block has ended and the work has ended, whichever is later. So
        neither hung work nor unread answers can pile up.
        """
        deadline = self._loop.time() + deadline_s
        await self._take_turn(deadline, deadline_s)
        future = self._workers.submit(work)
        try:
            yield await self._outcome(future, deadline, deadline_s)
        finally:
            future.add_done_callback(self._give_back)

    async def wait_for_turn(self, deadline_s: float) -> None:
        """Returns when earlier work is done; later work need not wait."""
        await self._take_turn(self._loop.time() + deadline_s, deadline_s)
        self._turns.release()

    async def _take_turn(self, deadline: float, deadline_s: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await self._turns.acquire()
        except TimeoutError as error:
            raise _not_begun(deadline_s) from error

    async def _outcome(self, future: Future[bytes], deadline: float, deadline_s: float) -> bytes:
        try:
            async with asyncio.timeout_at(deadline):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            if future.cancel():
                raise _not_begun(deadline_s) from error
            message = f"no answer within {deadline_s:g} s; the work goes on and may still take effect"
            raise DeadlineExceeded(message) from error

    def _give_back(self, _: Future[bytes]) -> None:
        # Work that outlives the daemon's loop has no place left to give back.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._turns.release)


def _not_begun(deadline_s: float) -> DeadlineExceeded:
    return DeadlineExceeded(f"the daemon was busy for {deadline_s:g} s; the request was not begun")

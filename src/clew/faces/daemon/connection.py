"""One client: reads its lines, starts the work beside the reading, writes the answers.

Three things stop the reading, and with it the client: too many running requests (`Window`), answers
that it does not take (writing waits for the socket), and the end of the daemon. Each stops that client alone.

A client that has hung up gets no work done any more but for its writes: those that arrived whole are carried out, in
their order, since a client need not wait for an answer. All else is for the answer alone, which nobody would read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from clew.api import MemoryApi
from clew.errors import Busy, ClewError, DeadlineExceeded, TooLarge, Unauthorized
from clew.faces.daemon.auth import has_hung_up, same_token
from clew.faces.daemon.limits import CHUNK_BYTES, INFLIGHT_FRAMES, Lane, Limits, Lines, Skipped, Window, Workers
from clew.faces.daemon.methods import METHODS, answer
from clew.faces.daemon.room import Room
from clew.faces.daemon.wire import BadFrame, Call, Method, error_line, id_of_head, read_call, result_line

log = logging.getLogger(__name__)

SIGN_IN = "authenticate"
NO_ROOM = "the daemon holds as much for its clients as it can"
FAREWELL_S = 1.0
"""How long a client that is turned away may take to read why."""


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that all connections share."""

    memory: MemoryApi
    token: str | None
    """The token that a client must show first; None where the kernel has identified it."""
    limits: Limits
    workers: Workers
    unfinished: Room
    """For lines that have begun and not ended."""
    under_way: Room
    """For requests, and for answers that their clients have not taken."""


class Connection:
    def __init__(
        self,
        service: Service,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        welcome: Callable[[Connection], None],
    ) -> None:
        """`welcome` gives the client a place when it has shown its token. It raises Busy where there is none."""
        self._service = service
        self._welcome = welcome
        self._limits = service.limits
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()
        self._lane = Lane(service.workers)
        self._writes = Lane(service.workers, width=1)
        self._window = Window(self._limits.inflight, INFLIGHT_FRAMES * self._limits.frame_bytes)
        self._under_way: set[asyncio.Task[None]] = set()
        self._signed_in = service.token is None
        self._failures = 0
        line_bytes = self._limits.frame_bytes if self._signed_in else self._limits.sign_in_bytes
        self._lines = Lines(line_bytes, service.unfinished)
        self._reading = asyncio.ensure_future(self._read())

    async def serve(self) -> None:
        """Serves until the client sends no more and has every answer."""
        if not self._signed_in:
            asyncio.get_running_loop().call_later(self._limits.sign_in_s, self._expect_signed_in)
        try:
            [outcome] = await asyncio.gather(self._reading, return_exceptions=True)
            if isinstance(outcome, Exception):
                log.error("reading from a client failed", exc_info=outcome)
            self._lines.close()
            if self._under_way:
                await asyncio.wait(self._under_way)
            await self._close()
        except asyncio.CancelledError:
            self._abandon()
            raise
        finally:
            self._lines.close()
            self._service.under_way.forget(self)

    def stop_reading(self) -> None:
        """Takes no further request; running ones still end and get their answers."""
        self._reading.cancel()

    def dismiss(self, reason: ClewError) -> None:
        """Tells the client why, and serves it no longer."""
        self._writer.write(error_line(None, reason))
        self.stop_reading()

    def make_room(self) -> None:
        """Lets a client go that has not taken its answers for longer than others."""
        log.warning("a client that does not take its answers was let go: others need the room")
        self._abandon()

    async def _read(self) -> None:
        try:
            while chunk := await self._reader.read(CHUNK_BYTES):
                for line in self._lines.feed(chunk):
                    await self._take(line)
                    if self._failures >= self._limits.sign_in_attempts:
                        return
        except ConnectionError as error:
            log.debug("a client went away: %s", error)

    async def _take(self, line: bytes | Skipped) -> None:
        if isinstance(line, Skipped):
            await self._refuse(BadFrame(self._why_skipped(line), id_of_head(line.head)))
            return
        if not line.strip():
            return
        try:
            call = read_call(line)
        except BadFrame as bad:
            await self._refuse(bad)
            return
        if call.method == SIGN_IN:
            await self._sign_in(call)
        elif not self._signed_in:
            message = f"the first request on this port is {SIGN_IN}, with the token of the daemon"
            await self._refuse(BadFrame(Unauthorized(message), call.id), wants_answer=call.wants_answer)
        else:
            await self._window.enter(len(line))
            if self._service.under_way.has_room(len(line)):
                self._start(call, len(line))
            else:
                self._window.leave(len(line))
                await self._reply(call, error_line(call.id, Busy(f"{NO_ROOM}; the request was not begun")))

    def _why_skipped(self, line: Skipped) -> ClewError:
        if line.made_room:
            return Busy(f"{NO_ROOM}; the frame took long to arrive, and it was skipped")
        return TooLarge(f"the frame is longer than {self._lines.limit_bytes} bytes; it was skipped")

    async def _refuse(self, bad: BadFrame, *, wants_answer: bool = True) -> None:
        if not self._signed_in:
            self._failures += 1
        if wants_answer:
            await self._send(error_line(bad.request_id, bad.error))

    async def _sign_in(self, call: Call) -> None:
        token = self._service.token
        if token is not None and not same_token(call.params.get("token"), token):
            error = Unauthorized("the token is not the one of this daemon")
            await self._refuse(BadFrame(error, call.id), wants_answer=call.wants_answer)
            return
        if not self._signed_in:
            try:
                self._welcome(self)
            except Busy as busy:
                await self._reply(call, error_line(call.id, busy))
                self._failures = self._limits.sign_in_attempts
                return
        self._signed_in = True
        self._failures = 0
        self._lines.limit_bytes = self._limits.frame_bytes
        await self._reply(call, result_line(call.id, {"ok": True}))

    def _expect_signed_in(self) -> None:
        if not self._signed_in:
            self.stop_reading()

    def _start(self, call: Call, size_bytes: int) -> None:
        self._service.under_way.hold(self, size_bytes)
        task = asyncio.ensure_future(self._carry_out(call))
        self._under_way.add(task)

        def over(_: asyncio.Task[None]) -> None:
            self._under_way.discard(task)
            self._service.under_way.release(self, size_bytes)
            self._window.leave(size_bytes)

        task.add_done_callback(over)

    async def _carry_out(self, call: Call) -> None:
        method = METHODS.get(call.method)
        deadline_s = self._limits.deadline_s * (method.deadline_factor if method is not None else 1)
        lane = self._lane
        try:
            if method is not None and method.lets_writes_pass:
                await self._writes.wait_for_turn(deadline_s)
            elif method is not None and method.writes:
                lane = self._writes
            async with lane.run(lambda: self._answer(call, method), deadline_s) as line:
                await self._reply(call, line)
        except DeadlineExceeded as error:
            log.warning("%s: %s", call.method, error)
            await self._reply(call, error_line(call.id, error))

    def _answer(self, call: Call, method: Method | None) -> bytes:
        """Does the work, unless it is for an answer that nobody waits for any more. Runs in a thread of the workers."""
        if _is_for_its_answer(call, method) and self._is_gone():
            return b""
        return answer(self._service.memory, call)

    def _is_gone(self) -> bool:
        return self._writer.is_closing() or has_hung_up(self._writer.get_extra_info("socket"))

    async def _reply(self, call: Call, line: bytes) -> None:
        if call.wants_answer:
            await self._send(line)

    async def _send(self, line: bytes) -> None:
        """Sends one answer at a time; the client takes it before the next one follows."""
        room = self._service.under_way
        room.hold(self, len(line))
        try:
            async with self._writing:
                await self._send_alone(line)
        finally:
            room.release(self, len(line))

    async def _send_alone(self, line: bytes) -> None:
        if self._writer.is_closing():
            return
        room = self._service.under_way
        room.begin_wait(self)
        try:
            async with asyncio.timeout(self._limits.deadline_s):
                self._writer.write(line)
                await self._writer.drain()
        except (ConnectionError, TimeoutError) as error:
            log.debug("a client does not take its answers: %s", error)
            self._abandon()
        finally:
            room.end_wait(self)

    async def _close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(self._limits.deadline_s):
                await self._writer.wait_closed()
        except (ConnectionError, TimeoutError):
            self._abandon()

    def _abandon(self) -> None:
        self._writer.transport.abort()


def _is_for_its_answer(call: Call, method: Method | None) -> bool:
    """Whether a request changes nothing, or only what is derived and what its sender wants to hear about."""
    return method is None or not (method.writes or (method.lets_writes_pass and not call.wants_answer))


async def turn_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reason: ClewError) -> None:
    """Sends the reason and closes.

    It reads what the client has sent meanwhile: a socket that closes on unread bytes takes the last answer with it.
    """
    try:
        async with asyncio.timeout(FAREWELL_S):
            writer.write(error_line(None, reason))
            writer.write_eof()
            while await reader.read(CHUNK_BYTES):
                pass
    except (OSError, TimeoutError) as error:
        log.debug("a client that was turned away does not leave: %s", error)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

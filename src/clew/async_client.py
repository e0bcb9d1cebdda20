"""Talk to a running daemon from asyncio. Apart from `Client`, because asyncio is slow to import."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from typing import Self, TypeVar

import msgspec

from clew.api.methods import AsyncMethods
from clew.config import Config
from clew.core.operation import Request
from clew.errors import ClewError, DaemonUnreachable, from_code
from clew.wire.endpoint import Endpoint, UnixEndpoint, find_token, parse_endpoint
from clew.wire.exchange import Reply, decode_reply, decode_result, lost, request_line, too_late, unreachable
from clew.wire.serving import serving_endpoint

LONGEST_ANSWER_BYTES = 1 << 30

R = TypeVar("R")


class AsyncClient(AsyncMethods):
    """A daemon for asyncio: every operation is a method to await.

    Any number of them may be under way on one connection, each free to be cancelled.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, endpoint: Endpoint, timeout_s: float
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._lost: ClewError | None = None
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def connect(
        cls, endpoint: str | None = None, *, config: Config | None = None, token: str | None = None
    ) -> Self:
        """Raises DaemonUnreachable where no daemon answers, Unauthorized where the token is wrong."""
        config = config or Config.load()
        address = parse_endpoint(endpoint or serving_endpoint(config))
        try:
            if isinstance(address, UnixEndpoint):
                streams = await asyncio.open_unix_connection(address.path, limit=LONGEST_ANSWER_BYTES)
            else:
                streams = await asyncio.open_connection(address.host, address.port, limit=LONGEST_ANSWER_BYTES)
        except OSError as error:
            raise unreachable(address) from error
        client = cls(*streams, address, config.deadline_ms / 1000 + 5)
        token = token or find_token(address, config)
        if token is not None:
            try:
                await client._ask("authenticate", {"token": token}, client._timeout_s)
            except ClewError:
                await client.close()
                raise
        return client

    async def call(self, request: Request[R]) -> R:
        """Raises a ClewError: the daemon's own, DaemonUnreachable, or DeadlineExceeded."""
        timeout_s = self._timeout_s * request.deadline_factor
        return decode_result(await self._ask(request.method, request, timeout_s), request)

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._fail_all(DaemonUnreachable("this client was closed"))
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, method: str, params: object, timeout_s: float) -> msgspec.Raw:
        if self._lost is not None:
            raise _copy(self._lost)
        number = next(self._ids)
        answer: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            async with asyncio.timeout(timeout_s):
                self._writer.write(request_line(number, method, params))
                with suppress(ConnectionError):  # the reading end notices, too, and may know why
                    await self._writer.drain()
                return await answer
        except TimeoutError as error:
            raise too_late(timeout_s) from error
        finally:
            del self._waiting[number]

    async def _read(self) -> None:
        reason: ClewError = lost(self._endpoint)
        try:
            while line := await self._reader.readline():
                reply = decode_reply(line)
                if isinstance(reply.id, int):
                    self._settle(reply.id, reply)
                elif reply.error is not None:
                    # Said before the daemon hangs up; the end of the stream follows.
                    reason = reply.error.as_exception()
        except (OSError, ValueError, ClewError):
            pass  # whatever ended the stream, those who wait learn that it ended
        self._fail_all(reason)

    def _settle(self, number: int, reply: Reply) -> None:
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return
        if reply.error is not None:
            answer.set_exception(reply.error.as_exception())
        else:
            answer.set_result(reply.result)

    def _fail_all(self, reason: ClewError) -> None:
        self._lost = reason
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(_copy(reason))


def _copy(error: ClewError) -> ClewError:
    """The same error for another waiter: one exception object must not be raised in two places."""
    return from_code(error.code, str(error))

"""Accepts clients, and at the end sends them their last answers."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from clew.api import MemoryApi
from clew.errors import Busy, ClewError
from clew.faces.daemon.auth import check_peer
from clew.faces.daemon.connection import Connection, Service, turn_away
from clew.faces.daemon.limits import CHUNK_BYTES, Limits, Workers
from clew.faces.daemon.lock import BACKLOG
from clew.faces.daemon.room import Room
from clew.faces.daemon.wire import error_line

LEAVING = 32
"""Clients turned away that may take a moment to read why; more are told and turned away at once."""

log = logging.getLogger(__name__)


class Server:
    """Serves one memory on one listening socket."""

    def __init__(self, memory: MemoryApi, limits: Limits, *, token: str | None = None) -> None:
        self._limits = limits
        rooms = Room(limits.unfinished_bytes), Room(limits.under_way_bytes)
        self._service = Service(memory, token, limits, Workers(), *rooms)
        self._serving: dict[Connection, asyncio.Task[None]] = {}
        self._clients: set[Connection] = set()
        """Those that the kernel or a token has identified."""
        self._strangers: dict[Connection, None] = {}
        """The others, the oldest first."""
        self._leaving: set[asyncio.Task[None]] = set()
        self._stopping = False

    @property
    def unfinished_bytes(self) -> int:
        """What is held of lines that have not ended."""
        return self._service.unfinished.held_bytes

    @property
    def under_way_bytes(self) -> int:
        """What is held of requests under way, and of answers that wait for their clients."""
        return self._service.under_way.held_bytes

    async def run(self, listener: socket.socket, stop: asyncio.Event, ready: Callable[[], None]) -> bool:
        """Serves until `stop` is set. True where every running request ended and got its answer."""
        start = asyncio.start_unix_server if listener.family == socket.AF_UNIX else asyncio.start_server
        server = await start(self._accept, sock=listener, limit=CHUNK_BYTES, backlog=BACKLOG)
        try:
            ready()
            await stop.wait()
        finally:
            server.close()
        drained = await self._drain()
        self._service.workers.close()
        return drained

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_known = self._service.token is None
        try:
            check_peer(writer.get_extra_info("socket"))
            if self._stopping:
                raise Busy("the daemon is shutting down")
            if is_known:
                self._check_places()
        except ClewError as refusal:
            log.warning("a client was turned away: %s", refusal)
            self._turn_away(reader, writer, refusal)
            return
        connection = Connection(self._service, reader, writer, self._welcome)
        if is_known:
            self._clients.add(connection)
        else:
            self._let_in_stranger(connection)
        serving = asyncio.ensure_future(connection.serve())
        self._serving[connection] = serving
        serving.add_done_callback(lambda _: self._leave(connection))

    def _turn_away(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reason: ClewError) -> None:
        if len(self._leaving) >= LEAVING:
            writer.write(error_line(None, reason))
            writer.close()
            return
        leaving = asyncio.ensure_future(turn_away(reader, writer, reason))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    def _let_in_stranger(self, connection: Connection) -> None:
        """Any user of the machine can connect and say nothing, so the oldest stranger makes room for the next."""
        self._strangers[connection] = None
        if len(self._strangers) > self._limits.strangers:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.dismiss(Busy("others want to sign in, and this client has not done so; try again"))

    def _welcome(self, connection: Connection) -> None:
        """Makes a stranger a client. Raises Busy where there are enough of them."""
        self._check_places()
        self._strangers.pop(connection, None)
        self._clients.add(connection)

    def _check_places(self) -> None:
        if len(self._clients) >= self._limits.connections:
            raise Busy(f"the daemon has its {self._limits.connections} clients; try again later")

    def _leave(self, connection: Connection) -> None:
        del self._serving[connection]
        self._clients.discard(connection)
        self._strangers.pop(connection, None)

    async def _drain(self) -> bool:
        self._stopping = True
        for leaving in self._leaving:
            leaving.cancel()
        for connection in self._serving:
            connection.stop_reading()
        waiting = set(self._serving.values())
        if waiting:
            _, waiting = await asyncio.wait(waiting, timeout=self._limits.drain_s)
        for serving in waiting:
            serving.cancel()
        await asyncio.gather(*waiting, *self._leaving, return_exceptions=True)
        return not waiting

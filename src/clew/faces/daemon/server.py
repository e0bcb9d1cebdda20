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

log = logging.getLogger(__name__)


class Server:
    """Serves one memory on one listening socket."""

    def __init__(self, memory: MemoryApi, limits: Limits, *, token: str | None = None) -> None:
        self._limits = limits
        self._service = Service(memory, token, limits, Workers())
        self._clients: dict[Connection, asyncio.Task[None]] = {}
        self._stopping = False

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
        try:
            self._admit(writer)
        except ClewError as refusal:
            log.warning("a client was turned away: %s", refusal)
            turn_away(writer, refusal)
            return
        connection = Connection(self._service, reader, writer)
        serving = asyncio.ensure_future(connection.serve())
        self._clients[connection] = serving
        serving.add_done_callback(lambda _: self._clients.pop(connection))

    def _admit(self, writer: asyncio.StreamWriter) -> None:
        check_peer(writer.get_extra_info("socket"))
        if self._stopping:
            raise Busy("the daemon is shutting down")
        if len(self._clients) >= self._limits.connections:
            raise Busy(f"the daemon has its {self._limits.connections} clients; try again later")

    async def _drain(self) -> bool:
        self._stopping = True
        for connection in self._clients:
            connection.stop_reading()
        waiting = set(self._clients.values())
        if waiting:
            _, waiting = await asyncio.wait(waiting, timeout=self._limits.drain_s)
        for serving in waiting:
            serving.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return not waiting

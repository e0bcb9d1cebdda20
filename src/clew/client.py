"""Talk to a running daemon from any number of threads.

`Client` is a `MemoryApi`, so whatever works on a `Memory` in this process works on a daemon's, too.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from clew.api import MemoryApi, Request
from clew.config import Config
from clew.errors import ClewError, DaemonUnreachable, DeadlineExceeded
from clew.wire.endpoint import Endpoint, UnixEndpoint, find_token, parse_endpoint
from clew.wire.exchange import decode_reply, decode_result, lost, request_line, too_late, unreachable
from clew.wire.serving import serving_endpoint

TIMEOUT_MS = 35_000
"""A little more than the daemon's own deadline, so that its word comes first."""
CONNECTIONS = 8

R = TypeVar("R")


def connect(endpoint: str | None = None, config: Config | None = None) -> Client:
    """A client of the daemon at an endpoint, or of the one that serves the configured data folder."""
    config = config or Config.load()
    address = parse_endpoint(endpoint or serving_endpoint(config))
    client = Client(address, token=find_token(address, config), timeout_ms=config.deadline_ms + 5000)
    client.check()
    return client


class Client(MemoryApi):
    """The operations of Clew on a daemon. Several threads may call at once.

    A call has a connection to itself while it waits; connections are kept for the next calls. So one
    thread's slow call never delays another's answer, and an answer that comes after its call
    has given up is dropped with its connection.
    """

    def __init__(self, endpoint: Endpoint, *, token: str | None = None, timeout_ms: int = TIMEOUT_MS) -> None:
        self._endpoint = endpoint
        self._token = token
        self._timeout_s = timeout_ms / 1000
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._closed = False

    def check(self) -> None:
        """Raises DaemonUnreachable where no daemon answers."""
        self._keep(self._take(time.monotonic() + self._timeout_s))

    def call(self, request: Request[R]) -> R:
        """Raises a ClewError: the daemon's own, DaemonUnreachable, or DeadlineExceeded.

        A connection that was closed since its last call is replaced. Once the request is on its way it
        is never sent again: it might be carried out twice.
        """
        deadline = time.monotonic() + self._timeout_s * request.deadline_factor
        if not self._places.acquire(timeout=self._timeout_s):
            raise DeadlineExceeded(f"all {CONNECTIONS} connections of this client were busy")
        try:
            connection = self._take(deadline)
            try:
                result = connection.ask(request.method, request, deadline)
            finally:
                self._keep(connection)
        finally:
            self._places.release()
        return decode_result(result, request)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self, deadline: float) -> _Connection:
        with self._lock:
            if self._closed:
                raise DaemonUnreachable("this client was closed")
            while self._idle:
                connection = self._idle.pop()
                if connection.is_open():
                    return connection
                connection.close()
        return self._open(deadline)

    def _open(self, deadline: float) -> _Connection:
        connection = _Connection(_connect_socket(self._endpoint, deadline), self._endpoint)
        if self._token is not None:
            try:
                connection.ask("authenticate", {"token": self._token}, deadline)
            except ClewError:
                connection.close()
                raise
        return connection

    def _keep(self, connection: _Connection) -> None:
        with self._lock:
            if connection.ready and not self._closed:
                self._idle.append(connection)
                return
        connection.close()


class _Connection:
    """One exchange at a time over a blocking socket."""

    def __init__(self, sock: socket.socket, endpoint: Endpoint) -> None:
        self._sock = sock
        self._endpoint = endpoint
        self.ready = True
        """False from the moment a request is sent until its answer is complete."""

    def ask(self, method: str, params: object, deadline: float) -> msgspec.Raw:
        self.ready = False
        started = time.monotonic()
        try:
            # A daemon that turns a client away says why before it hangs up, so read even then.
            with suppress(ConnectionError):
                self._sock.settimeout(_left_s(deadline))
                self._sock.sendall(request_line(1, method, params))
            reply = decode_reply(self._read_line(deadline))
        except TimeoutError as error:
            raise too_late(time.monotonic() - started) from error
        except OSError as error:
            raise lost(self._endpoint) from error
        self.ready = True
        if reply.error is not None:
            raise reply.error.as_exception()
        return reply.result

    def is_open(self) -> bool:
        """Whether the daemon still holds its end; it has nothing to say between two calls."""
        self._sock.settimeout(0)
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        self._sock.close()

    def _read_line(self, deadline: float) -> bytes:
        chunks: list[bytes] = []
        while not chunks or not chunks[-1].endswith(b"\n"):
            self._sock.settimeout(_left_s(deadline))
            chunk = self._sock.recv(1 << 16)
            if not chunk:
                raise ConnectionResetError("the stream ended within a line")
            chunks.append(chunk)
        return b"".join(chunks)


def _connect_socket(endpoint: Endpoint, deadline: float) -> socket.socket:
    if isinstance(endpoint, UnixEndpoint):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        address: Any = endpoint.path
    else:
        sock = socket.socket(socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET)
        address = (endpoint.host, endpoint.port)
    try:
        sock.settimeout(_left_s(deadline))
        sock.connect(address)
    except OSError as error:
        sock.close()
        raise unreachable(endpoint) from error
    return sock


def _left_s(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left

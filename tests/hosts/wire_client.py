"""A client of the daemon's protocol, of the kind that other programs already have.

It knows the protocol's description and nothing of Clew: newline-ended JSON over a socket, any number of
requests under way, answers in any order.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count
from typing import Any, Self

from tests.testing.speed import patience

TIMEOUT_S = patience(60.0)


class Refused(Exception):
    """The daemon answered with an error; the text is its reason."""


class WireClient:
    """One connection. `send` starts a request, `call` also waits for its result."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._waiting: dict[int | str, Future[Any]] = {}
        self._numbers = count(1)
        self.arrived: list[int | str] = []
        """Ids of the answers in the order they came."""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @classmethod
    def connect(cls, endpoint: str) -> Self:
        """Connects to the endpoint that the daemon printed: `unix:/path/to.sock` or `tcp:127.0.0.1:PORT`."""
        kind, _, place = endpoint.partition(":")
        if kind == "unix":
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(place)
        else:
            host, _, port = place.rpartition(":")
            sock = socket.create_connection((host, int(port)))
        return cls(sock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.shutdown(socket.SHUT_RDWR)
        self._reader.join(TIMEOUT_S)
        self._sock.close()

    def call(self, method: str, **params: Any) -> Any:
        return self.send(method, params).result(TIMEOUT_S)

    def send(self, method: str, params: dict[str, Any], request_id: int | str | None = None) -> Future[Any]:
        """A future of the result. It raises the same errors as `call`."""
        own_id = next(self._numbers) if request_id is None else request_id
        outcome: Future[Any] = Future()
        self._waiting[own_id] = outcome
        frame = {"jsonrpc": "2.0", "id": own_id, "method": method, "params": params}
        self.send_raw(json.dumps(frame, ensure_ascii=False).encode() + b"\n")
        return outcome

    def send_raw(self, data: bytes) -> None:
        self._sock.sendall(data)

    def _read(self) -> None:
        for line in self._lines():
            try:
                frame = json.loads(line)
                outcome = self._waiting.pop(frame["id"])
            except (ValueError, TypeError, KeyError):
                continue
            self.arrived.append(frame["id"])
            if "error" in frame:
                outcome.set_exception(Refused(frame["error"]["message"]))
            else:
                outcome.set_result(frame["result"])
        for outcome in self._waiting.values():
            outcome.set_exception(ConnectionError("the daemon hung up"))

    def _lines(self) -> Iterator[bytes]:
        left = b""
        while chunk := self._sock.recv(1 << 16):
            *lines, left = (left + chunk).split(b"\n")
            yield from lines

"""A wire tap between a client and a daemon: records requests, and can drop an answer on its way back."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from typing import Any, Self


class Relay:
    """Listens where a client looks for the daemon and passes every line on."""

    def __init__(self, path: Path, target: Path) -> None:
        self._target = str(target)
        self._lock = threading.Lock()
        self._to_lose: set[str] = set()
        self._open: set[socket.socket] = set()
        self._requests: list[dict[str, Any]] = []
        self._server = ThreadingUnixStreamServer(str(path), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self.hang_up()
        self._server.server_close()

    def hang_up(self) -> None:
        """Break every connection there is now."""
        with self._lock:
            left = list(self._open)
        for sock in left:
            _hang_up(sock)

    def lose_answer(self, method: str) -> None:
        """The daemon carries out the next request of this method, and the client gets no answer."""
        with self._lock:
            self._to_lose.add(method)

    def requests(self, method: str | None = None) -> list[dict[str, Any]]:
        """The requests so far, of one method or of all."""
        with self._lock:
            return [request for request in self._requests if method in (None, request.get("method"))]

    def _handler(self) -> type[StreamRequestHandler]:
        relay = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                with socket.socket(socket.AF_UNIX) as daemon:
                    daemon.connect(relay._target)
                    relay._join(self.connection, daemon)

        return Handler

    def _join(self, client: socket.socket, daemon: socket.socket) -> None:
        """Carries lines both ways until one side hangs up, then hangs up on the other."""
        lost: set[Any] = set()
        with self._lock:
            self._open |= {client, daemon}
        back = threading.Thread(target=self._carry_back, args=(daemon, client, lost))
        back.start()
        with suppress(OSError):
            for line in _lines(client):
                self._note(json.loads(line), lost)
                daemon.sendall(line)
        _hang_up(daemon)
        back.join()
        with self._lock:
            self._open -= {client, daemon}

    def _note(self, request: dict[str, Any], lost: set[Any]) -> None:
        with self._lock:
            self._requests.append(request)
            if request.get("method") in self._to_lose:
                self._to_lose.remove(request["method"])
                lost.add(request["id"])

    @staticmethod
    def _carry_back(daemon: socket.socket, client: socket.socket, lost: set[Any]) -> None:
        with suppress(OSError):
            for line in _lines(daemon):
                if json.loads(line).get("id") in lost:
                    break
                client.sendall(line)
        _hang_up(client)


def _lines(sock: socket.socket) -> Iterator[bytes]:
    with sock.makefile("rb") as stream:
        yield from stream


def _hang_up(sock: socket.socket) -> None:
    with suppress(OSError):  # the other side was faster
        sock.shutdown(socket.SHUT_RDWR)

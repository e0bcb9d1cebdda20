"""Talks to the daemon of Clew over its socket, with the standard library alone, and queues requests for it."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KEEP_S = 10.0
"""How long one delivery may take."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
WAITING_REQUESTS = 500
REFUSED = frozenset({-32602, -32011, -32012, -32015})
"""Error codes for a request that the daemon will never take."""
UNREACHABLE = 0

Request = tuple[str, dict[str, Any]]
"""A method and its parameters."""

log = logging.getLogger("clew.hermes")


class Trouble(Exception):
    """Why the daemon gave no result; `code` is the daemon's, or UNREACHABLE."""

    def __init__(self, message: str, code: int = UNREACHABLE) -> None:
        super().__init__(message)
        self.code = code


class Daemon:
    """Opens a connection for each call: calls are rare, and a connection that hangs then hinders no other."""

    def __init__(self, endpoint: str, token_file: str | None = None) -> None:
        self._endpoint = endpoint
        self._token_file = token_file

    def call(self, method: str, params: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Raises Trouble."""
        deadline = time.monotonic() + timeout_s
        try:
            with self._connect(timeout_s) as connection:
                token = self._token()
                if token is not None:
                    _exchange(connection, "authenticate", {"token": token}, deadline)
                return _exchange(connection, method, params, deadline)
        except TimeoutError as error:
            raise Trouble(f"the daemon of Clew gave no answer within {timeout_s:g} s") from error
        except (OSError, ValueError, LookupError) as error:
            raise Trouble(f"no daemon of Clew answers at {self._endpoint}; start it with `clew up`") from error

    def _connect(self, timeout_s: float) -> socket.socket:
        kind, _, place = self._endpoint.partition(":")
        if kind == "tcp":
            host, _, port = place.rpartition(":")
            return socket.create_connection((host.strip("[]"), int(port)), timeout_s)
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(timeout_s)
            connection.connect(place)
        except OSError:
            connection.close()
            raise
        return connection

    def _token(self) -> str | None:
        if not self._endpoint.startswith("tcp:"):
            return None
        return os.environ.get("CLEW_TOKEN") or Path(self._token_file or "").read_text("utf-8").strip()


def _exchange(connection: socket.socket, method: str, params: Mapping[str, Any], deadline: float) -> dict[str, Any]:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    connection.settimeout(max(deadline - time.monotonic(), 0.001))
    connection.sendall(json.dumps(request).encode("ascii") + b"\n")
    received = bytearray()
    while not received.endswith(b"\n"):
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        chunk = connection.recv(1 << 16)
        if not chunk:
            raise ConnectionResetError("the daemon hung up")
        received += chunk
    answer = json.loads(received)
    if answer.get("error"):
        raise Trouble(answer["error"]["message"], answer["error"]["code"])
    result = answer["result"]
    return result if isinstance(result, dict) else {}


class Outbox:
    """A queue of requests, which one thread delivers in order.

    A request stays until the daemon takes or refuses it. The daemon refuses a batch as a whole; the outbox then sends
    each of its turns alone, so that only the turn at fault is lost.
    """

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._requests: deque[Request] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._fails = False

    def put(self, method: str, params: dict[str, Any]) -> None:
        with self._changed:
            self._requests.append((method, params))
            while len(self._requests) > WAITING_REQUESTS:
                self._requests.popleft()
                log.warning("%s requests wait for Clew; the oldest was given up", WAITING_REQUESTS)
            if self._thread is None:
                self._thread = threading.Thread(target=self._carry, name="clew-outbox", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, timeout_s: float) -> bool:
        """Waits while deliveries succeed, and tells whether all are done. A daemon that is gone stays so."""
        with self._changed:
            self._changed.wait_for(lambda: not self._requests or self._fails, timeout_s)
            return not self._requests

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _carry(self) -> None:
        pause_s = FIRST_PAUSE_S
        while (request := self._next()) is not None:
            if self._deliver(request):
                pause_s = FIRST_PAUSE_S
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _next(self) -> Request | None:
        """The oldest request. None where there is none: then this thread ends, and the next request starts another."""
        with self._changed:
            if self._requests and not self._stopped:
                return self._requests[0]
            self._thread = None
            return None

    def _deliver(self, request: Request) -> bool:
        """Sends a request. True where the daemon took it, or refused it for good."""
        alone: list[Request] = []
        try:
            self._daemon.call(*request, KEEP_S)
        except Trouble as trouble:
            if trouble.code not in REFUSED:
                log.warning("turns wait for Clew: %s", trouble)
                self._note(fails=True)
                return False
            alone = _split_batch(request)
            if not alone:
                log.warning("Clew refused a turn, which is not kept: %s", trouble)
        with self._changed:
            if self._requests and self._requests[0] is request:
                self._requests.popleft()
                self._requests.extendleft(reversed(alone))
        self._note(fails=False)
        return True

    def _note(self, *, fails: bool) -> None:
        with self._changed:
            self._fails = fails
            self._changed.notify_all()


def _split_batch(request: Request) -> list[Request]:
    """A request for every turn of a batch; none where it holds one turn at most."""
    method, params = request
    messages = params.get("messages", ())
    return [(method, params | {"messages": [message]}) for message in messages] if len(messages) > 1 else []

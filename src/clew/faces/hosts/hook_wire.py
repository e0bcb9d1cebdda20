"""A short line to the daemon for a process that lives for one exchange: few imports, one deadline for all of it.

The daemon is looked for at the endpoint that is named, and nowhere else; without one, where it listens by default, or
where its lock file says. A store with an endpoint of its own, or one that asks for a token, is looked up by the
ordinary code, which takes longer to load.
"""

from __future__ import annotations

import json
import os
import socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

_CHUNK_BYTES = 1 << 16
_FILE_BYTES = 1 << 20


class Daemon:
    """One connection. What the daemon refuses, or does not answer in time, is answered with nothing."""

    def __init__(self, data_dir: str, deadline: float, endpoint: str | None = None) -> None:
        self._deadline = deadline
        self._number = 0
        self._received = b""
        self.refusal: object = None
        """The code of the error with which the newest call was answered, if it was."""
        path = _socket_of(data_dir) if endpoint is None else _socket_at(endpoint)
        if path is None:
            self._sock, token = _by_configuration(data_dir, endpoint, self._left_s())
        else:
            self._sock, token = _unix(path, self._left_s()), None
        if token is not None:
            self.ask("authenticate", {"token": token})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def part_of_time(self, share: float) -> float:
        """When this share of the time that is left will have passed."""
        return time.monotonic() + self._left_s() * share

    def ask(self, method: str, params: dict[str, Any], until: float | None = None) -> dict[str, Any]:
        """The result of one call, waited for until then. What was asked is done even where nobody waits any more."""
        self._number += 1
        self.refusal = None
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        line = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        self._sock.settimeout(self._left_s())
        self._sock.sendall(line)
        try:
            return self._answer(self._deadline if until is None else until)
        except TimeoutError:
            return {}

    def _answer(self, until: float) -> dict[str, Any]:
        """Of the newest call. Answers that come late for earlier ones are passed over."""
        while True:
            reply = json.loads(self._line(until))
            if isinstance(reply, dict) and reply.get("id") == self._number:
                result, error = reply.get("result"), reply.get("error")
                self.refusal = error.get("code") if isinstance(error, dict) else None
                return result if isinstance(result, dict) else {}

    def _line(self, until: float) -> bytes:
        while b"\n" not in self._received:
            left_s = until - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._sock.settimeout(left_s)
            chunk = self._sock.recv(_CHUNK_BYTES)
            if not chunk:
                raise ConnectionResetError("the daemon hung up")
            self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _left_s(self) -> float:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s


def default_data_dir() -> str:
    """The data folder as every other command finds it."""
    home = os.environ.get("CLEW_HOME")
    if home:
        return os.path.expanduser(home)
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "clew")


def _socket_of(data_dir: str) -> str | None:
    """The daemon's Unix socket; None where only the configuration can say where it listens."""
    if os.environ.get("CLEW_LISTEN") or b"listen" in _content_of(os.path.join(data_dir, "clew.toml")):
        return None
    announced = _content_of(os.path.join(data_dir, "daemon.lock")).decode("utf-8", "replace").split("\n")
    endpoint = announced[1] if len(announced) > 1 else ""
    if not endpoint:
        return os.path.join(data_dir, "clew.sock")
    return _socket_at(endpoint)


def _socket_at(endpoint: str) -> str | None:
    return os.path.expanduser(endpoint.removeprefix("unix:")) if endpoint.startswith("unix:") else None


def _content_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_FILE_BYTES)
    except OSError:
        return b""


def _unix(path: str, timeout_s: float) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(timeout_s)
    sock.connect(path)
    return sock


def _by_configuration(data_dir: str, given: str | None, timeout_s: float) -> tuple[socket.socket, str | None]:
    """A connection to the given endpoint, or to where the settings or a lock that is truly held say; and its token."""
    from clew.config import Config
    from clew.wire.endpoint import UnixEndpoint, find_token, parse_endpoint
    from clew.wire.serving import serving_endpoint

    config = Config.load(data_dir=data_dir)
    endpoint = parse_endpoint(serving_endpoint(config) if given is None else given)
    if isinstance(endpoint, UnixEndpoint):
        return _unix(endpoint.path, timeout_s), None
    return socket.create_connection((endpoint.host, endpoint.port), timeout_s), find_token(endpoint, config)

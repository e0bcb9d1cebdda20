"""A connection to the daemon for a process that lives for one exchange: few imports, one deadline for everything.

The endpoint comes from the command. Without one, it comes from the daemon's lock file, or is the default. Where the
settings name an endpoint, or the daemon asks for a token, the ordinary code finds them, which takes longer to load.
"""

from __future__ import annotations

import json
import os
import socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONFLICT = -32011
FOR_GOOD = frozenset({CONFLICT, -32602, -32015, -32600, -32700})
"""Refusals that no repetition changes: other content under the same id, not valid, too large, no request."""

_CHUNK_BYTES = 1 << 16
_FILE_BYTES = 1 << 20


class Daemon:
    """One connection. A call that the daemon refuses, or does not answer in time, gives an empty result."""

    def __init__(self, data_dir: str, deadline: float, endpoint: str | None = None) -> None:
        self._deadline = deadline
        self._number = 0
        self._received = b""
        self.refusal: object = None
        """The error code of the newest call, if the daemon refused it."""
        self.has_answered = False
        """Whether the newest call has its answer, be it a refusal."""
        path = _find_socket(data_dir) if endpoint is None else _socket_path(endpoint)
        if path is None:
            self._sock, token = _connect_configured(data_dir, endpoint, self._left_s())
        else:
            self._sock, token = _connect_unix(path, self._left_s()), None
        if token is not None:
            self.ask("authenticate", {"token": token})

    def close(self) -> None:
        self._sock.close()

    def part_of_time(self, share: float) -> float:
        """The moment at which this share of the remaining time is over."""
        return time.monotonic() + self._left_s() * share

    def ask(self, method: str, params: dict[str, Any], until: float | None = None) -> dict[str, Any]:
        """The result of one call; empty at that moment. The daemon does the work even where nobody waits any more."""
        self._number += 1
        self.refusal, self.has_answered = None, False
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        line = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        self._sock.settimeout(self._left_s())
        self._sock.sendall(line)
        try:
            return self._answer(self._deadline if until is None else until)
        except TimeoutError:
            return {}

    def _answer(self, until: float) -> dict[str, Any]:
        """The answer to the newest call. Passes over late answers to earlier ones."""
        while True:
            reply = json.loads(self._line(until))
            if isinstance(reply, dict) and reply.get("id") == self._number:
                self.has_answered = True
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
    """The data folder, found as every other command finds it."""
    home = os.environ.get("CLEW_HOME")
    if home:
        return os.path.expanduser(home)
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "clew")


def is_own_endpoint(data_dir: str, endpoint: str) -> bool:
    """Whether the daemon of the data folder listens there, or would."""
    path = _socket_path(endpoint)
    is_usual = path is not None and path == os.path.join(data_dir, "clew.sock")
    return is_usual or (endpoint != "" and endpoint == _announced(data_dir))


def _announced(data_dir: str) -> str:
    """The endpoint in the daemon's lock file; empty where there is none."""
    lines = _read_file(os.path.join(data_dir, "daemon.lock")).decode("utf-8", "replace").split("\n")
    return lines[1] if len(lines) > 1 else ""


def _find_socket(data_dir: str) -> str | None:
    """The daemon's Unix socket; None where only the configuration can say where it listens."""
    if os.environ.get("CLEW_LISTEN") or b"listen" in _read_file(os.path.join(data_dir, "clew.toml")):
        return None
    endpoint = _announced(data_dir)
    if not endpoint:
        return os.path.join(data_dir, "clew.sock")
    return _socket_path(endpoint)


def _socket_path(endpoint: str) -> str | None:
    return os.path.expanduser(endpoint.removeprefix("unix:")) if endpoint.startswith("unix:") else None


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_FILE_BYTES)
    except OSError:
        return b""


def _connect_unix(path: str, timeout_s: float) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(timeout_s)
    sock.connect(path)
    return sock


def _connect_configured(data_dir: str, given: str | None, timeout_s: float) -> tuple[socket.socket, str | None]:
    """A connection, and its token: to the given endpoint, else to that of the settings or of a lock that is held."""
    from clew.config import Config
    from clew.wire.endpoint import UnixEndpoint, find_token, parse_endpoint
    from clew.wire.serving import serving_endpoint

    config = Config.load(data_dir=data_dir)
    endpoint = parse_endpoint(serving_endpoint(config) if given is None else given)
    if isinstance(endpoint, UnixEndpoint):
        return _connect_unix(endpoint.path, timeout_s), None
    return socket.create_connection((endpoint.host, endpoint.port), timeout_s), find_token(endpoint, config)

"""Where a daemon listens, as both sides write it: `unix:PATH` or `tcp:HOST:PORT`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clew.config import Config
from clew.errors import InvalidInput

TOKEN_VARIABLE = "CLEW_TOKEN"
LOOPBACK: Mapping[str, str] = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}
MAX_SOCKET_PATH_BYTES = 103 if sys.platform == "darwin" else 107


@dataclass(frozen=True, slots=True)
class UnixEndpoint:
    path: str

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True, slots=True)
class TcpEndpoint:
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tcp:{host}:{self.port}"


Endpoint = UnixEndpoint | TcpEndpoint


def parse_endpoint(text: str) -> Endpoint:
    """`unix:PATH` or `tcp:HOST:PORT`, where the host is this machine. Raises InvalidInput."""
    kind, _, rest = text.partition(":")
    if kind == "unix" and rest:
        return _unix_endpoint(rest)
    if kind == "tcp" and rest:
        return _tcp_endpoint(rest)
    raise InvalidInput(f"{text!r} is not an endpoint; write unix:PATH or tcp:127.0.0.1:PORT")


def find_token(endpoint: Endpoint, config: Config) -> str | None:
    """The token a daemon on TCP asks for: from the environment, or from its data folder."""
    if isinstance(endpoint, UnixEndpoint):
        return None
    given = os.environ.get(TOKEN_VARIABLE)
    if given:
        return given
    try:
        return config.token_file.read_text("utf-8").strip()
    except OSError:
        return None


def _unix_endpoint(path: str) -> UnixEndpoint:
    absolute = os.path.abspath(Path(path).expanduser())
    length = len(os.fsencode(absolute))
    if length > MAX_SOCKET_PATH_BYTES:
        raise InvalidInput(
            f"the socket path has {length} bytes and this system allows {MAX_SOCKET_PATH_BYTES}: {absolute}"
        )
    return UnixEndpoint(absolute)


def _tcp_endpoint(address: str) -> TcpEndpoint:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if host not in LOOPBACK:
        raise InvalidInput(f"tcp is for this machine alone: use 127.0.0.1, ::1 or localhost, not {host!r}")
    if not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise InvalidInput(f"{port!r} is not a port")
    return TcpEndpoint(LOOPBACK[host], int(port))

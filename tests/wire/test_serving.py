"""The lock proves which process serves a data folder; a number in a file never does."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clew.config import Config
from clew.errors import StoreInUse
from clew.faces.cli.console.invocation import connect_if_served
from clew.faces.cli.main import main
from clew.faces.daemon.lock import data_lock
from clew.wire import serving
from clew.wire.endpoint import UnixEndpoint
from clew.wire.serving import LOCK_FILE, serving_endpoint, serving_process

pytestmark = pytest.mark.requirement("CLI-1", "OPS-1")

HOLD = """
import sys
from pathlib import Path
from clew.faces.daemon.lock import data_lock
with data_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    tmp_path.chmod(0o700)
    return Config.load(data_dir=tmp_path, environment={})


@contextmanager
def holder(config: Config) -> Iterator[int]:
    """Another process that holds the folder, as a daemon does."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(config.data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.communicate()


def test_a_daemon_is_found_where_it_said_it_listens(config: Config) -> None:
    assert serving_endpoint(config) == config.endpoint
    with data_lock(config.data_dir) as announce:
        assert serving_endpoint(config) == config.endpoint
        announce(UnixEndpoint("/elsewhere/x.sock"))
        assert serving_endpoint(config) == "unix:/elsewhere/x.sock"
        assert serving_process(config) == os.getpid()
    assert serving_endpoint(config) == config.endpoint


@pytest.mark.parametrize("kernel_table", [serving._KERNEL_LOCKS, Path("/nowhere")])
def test_the_holder_is_found_while_it_holds_and_not_after(
    config: Config, kernel_table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_KERNEL_LOCKS", kernel_table)
    assert serving_process(config) is None
    with holder(config) as pid:
        assert serving_process(config) == pid
    assert serving_process(config) is None


@pytest.mark.parametrize("content", [b"", b"1\n", b"nonsense", b"99999999999\n"])
def test_a_number_in_an_unlocked_file_names_no_daemon(config: Config, content: bytes) -> None:
    (config.data_dir / LOCK_FILE).write_bytes(content)
    assert serving_process(config) is None


@pytest.mark.skipif(not serving._KERNEL_LOCKS.exists(), reason="only Linux tells who holds a lock")
def test_a_lock_of_another_process_does_not_prove_the_written_number(config: Config) -> None:
    path = config.data_dir / LOCK_FILE
    path.write_text(f"{os.getppid()}\n")
    with path.open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert serving_process(config) is None


def test_a_lookup_does_not_get_in_a_daemons_way(config: Config) -> None:
    (config.data_dir / LOCK_FILE).write_bytes(b"")
    serving_process(config)
    with data_lock(config.data_dir):
        assert serving_process(config) == os.getpid()


def test_a_folder_without_a_daemon_has_none_to_connect_to(config: Config) -> None:
    assert connect_if_served(config) is None


def test_a_socket_left_behind_by_a_killed_daemon_counts_as_no_daemon(config: Config) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(config.data_dir / "clew.sock"))
    assert connect_if_served(config) is None


def test_up_does_not_start_a_second_daemon_beside_one_that_listens_elsewhere(
    config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    with holder(config) as pid:
        assert main(["up", "--data", str(config.data_dir)]) == StoreInUse.exit_status
    assert f"process {pid}" in capsys.readouterr().err


def test_down_without_a_daemon_says_so_and_is_no_error(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["down", "--data", str(config.data_dir)]) == 0
    assert capsys.readouterr().out == "no daemon is running\n"


def test_down_ends_the_process_that_holds_the_folder(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    with holder(config) as pid:
        assert main(["down", "--data", str(config.data_dir)]) == 0
        assert serving_process(config) is None
    assert capsys.readouterr().out == f"stopped process {pid}\n"

"""`clew up` and `clew down`, and verbs that use a running daemon."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.testing.daemons import short_folder
from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("CLI-1", "OPS-1")

CLEW = (sys.executable, "-m", "clew.faces.cli.main")


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder
        run(folder, "down")


def run(data_dir: Path, *arguments: str, status: int = 0) -> str:
    environment = {**os.environ, "CLEW_EMBEDDER": "none"}
    command = [*CLEW, *arguments, "--data", str(data_dir)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=patience(240))
    assert done.returncode == status, done.stderr
    return done.stdout or done.stderr


def run_json(data_dir: Path, *arguments: str, status: int = 0) -> Any:
    return json.loads(run(data_dir, *arguments, "--json", status=status))


def test_up_starts_a_daemon_that_verbs_use_until_down_stops_it(data_dir: Path) -> None:
    endpoint = f"unix:{data_dir / 'clew.sock'}"
    assert run(data_dir, "up") == f"{endpoint}\n"
    assert run_json(data_dir, "status")["endpoint"] == endpoint
    run(data_dir, "ingest", "--session", "s1", "--user", "ada", "We ship on Thursdays.")
    assert run_json(data_dir, "down")["stopped"]
    assert run_json(data_dir, "status")["endpoint"] is None
    hits = run_json(data_dir, "search", "ship", "--user", "ada")["hits"]
    assert hits[0]["record"]["text"] == "We ship on Thursdays.", "what the daemon stored is there without it"


def test_up_twice_starts_one_daemon(data_dir: Path) -> None:
    first = run_json(data_dir, "up")
    second = run_json(data_dir, "up")
    assert first["started"] is True
    assert second == first | {"started": False}


def test_up_keeps_its_log_private(data_dir: Path) -> None:
    run(data_dir, "up")
    assert stat.S_IMODE((data_dir / "daemon.log").stat().st_mode) == 0o600


def test_up_gives_the_reason_for_a_failed_start(data_dir: Path) -> None:
    (data_dir / "clew.db").write_bytes(b"this is no database" * 1000)
    assert "the daemon did not start: " in run(data_dir, "up", status=8)
    assert run(data_dir, "down") == "no daemon is running\n"


def test_up_says_that_another_program_serves_the_port(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        endpoint = f"tcp:127.0.0.1:{other.getsockname()[1]}"
        refusal = f"cannot listen on {endpoint}: Address already in use\n"
        assert run(data_dir, "up", "--listen", endpoint, status=8) == f"error: the daemon did not start: {refusal}"
        assert run(data_dir, "up", "--foreground", "--listen", endpoint, status=2).endswith(f"\nerror: {refusal}")
        started = run_json(data_dir, "up")
        taken = run(data_dir, "up", "--listen", endpoint, status=7)
        assert f"(process {started['pid']}) already serves {data_dir} and does not answer at {endpoint}" in taken


def test_up_says_that_another_program_serves_the_socket(data_dir: Path) -> None:
    path = data_dir / "other.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        refusal = f"a process already listens on unix:{path}\n"
        listen = f"unix:{path}"
        assert run(data_dir, "up", "--listen", listen, status=8) == f"error: the daemon did not start: {refusal}"
        assert run(data_dir, "up", "--foreground", "--listen", listen, status=7).endswith(f"\nerror: {refusal}")


def test_in_the_foreground_one_line_holds_only_the_endpoint(data_dir: Path) -> None:
    endpoint = f"unix:{data_dir / 'other.sock'}"
    command = [*CLEW, "up", "--foreground", "--data", str(data_dir), "--listen", endpoint]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == f"{endpoint}\n"
        assert run_json(data_dir, "--endpoint", endpoint, "status")["endpoint"] == endpoint
        assert run_json(data_dir, "status")["endpoint"] == endpoint, "the lock says where it listens"
        daemon.send_signal(signal.SIGTERM)
        assert daemon.stdout.read() == ""
        assert daemon.wait(60) == 0


def test_an_endpoint_without_a_daemon_is_status_8(data_dir: Path) -> None:
    assert run_json(data_dir, "status", "--endpoint", "unix:/nowhere/x.sock", status=8)["error"]["code"] == -32040


def test_a_killed_daemon_does_not_block_the_next_one(data_dir: Path) -> None:
    pid = run_json(data_dir, "up")["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    assert run_json(data_dir, "status")["endpoint"] is None
    assert run_json(data_dir, "up")["started"]


def wait_until_gone(pid: int) -> None:
    """The killed process is not a child of the test, so a process descriptor shows its end."""
    import select

    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([handle], [], [], 60)
    os.close(handle)


def test_client_verbs_do_not_load_the_engine(data_dir: Path) -> None:
    run(data_dir, "up")
    program = (
        "import sys; from clew.faces.cli.main import main; main(sys.argv[1:]);"
        "print(*({'numpy', 'apsw', 'onnxruntime', 'rich', 'clew.engine'} & set(sys.modules)))"
    )
    for verb in (("status",), ("search", "x", "--user", "ada"), ("collections",), ("flush",)):
        done = subprocess.run(
            [sys.executable, "-c", program, *verb, "--data", str(data_dir)], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "", verb

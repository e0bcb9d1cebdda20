"""Every command ends with its own status, even while a model works on the queue, hangs, or is interrupted."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.api import Message
from clew.config import Config
from clew.engine import Memory
from clew.models.packs.pack import DEFAULT_PACK, list_packs, packs_dir
from tests.testing.daemons import WAIT_S, short_folder
from tests.testing.data import nothing_may_be_skipped

pytestmark = [pytest.mark.long, pytest.mark.requirement("CLI-1", "INGEST-5")]

SRC = Path(__file__).parents[3] / "src"
WAITING = 512
TURN = (
    "Turn {}: the deployment goes through staging, then to the region of the week, and nobody touches the ledger. " * 3
)

NEVER_CLOSED = """
import os
from clew import Memory
memory = Memory.open(data_dir=os.environ["CLEW_HOME"])
assert not memory.flush(timeout_ms=2000).ok
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A store with a queue too long to finish before the process ends."""
    if DEFAULT_PACK not in [pack.name for pack in list_packs(packs_dir())]:
        if nothing_may_be_skipped():
            pytest.fail("the default model is not installed, and nothing may be skipped here")
        pytest.skip("needs the default model: `clew model install`")
    with short_folder() as folder:
        config = Config.load(environment={}, data_dir=folder, embedder="none", synchronous="normal")
        with Memory(config) as memory:
            turns = [Message(role="user", text=f"{number}. {TURN}") for number in range(WAITING)]
            memory.ingest_batch("monday", turns, user_id="ana")
            memory.flush()
        yield folder


def start_process(home: Path, *arguments: str, **settings: str) -> subprocess.Popen[str]:
    """A process with many records to embed, so that it spends nearly all its time in the model."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CLEW_")} | settings
    environment |= {"PYTHONPATH": str(SRC), "CLEW_HOME": str(home), "CLEW_PACKS": str(packs_dir())}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *arguments], stdout=pipe, stderr=pipe, text=True, env=environment)


def await_end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=WAIT_S)
    return process.returncode, errors


@pytest.mark.parametrize(
    "command",
    [
        ("collections",),
        ("ingest", "--session", "tuesday", "--user", "ana", "Ship it."),
        ("search", "staging", "--user", "ana"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_ends_with_its_status_while_the_model_works(home: Path, command: tuple[str, ...]) -> None:
    assert await_end(start_process(home, "-m", "clew", *command)) == (0, "")


def test_a_command_interrupted_while_the_model_works_says_so(home: Path) -> None:
    process = start_process(home, "-m", "clew", "flush")
    await_work(home, process)
    process.send_signal(signal.SIGINT)
    assert await_end(process) == (130, "error: interrupted\n")


def test_a_program_that_never_closes_its_memory_still_ends_with_its_status(home: Path) -> None:
    assert await_end(start_process(home, "-c", NEVER_CLOSED)) == (0, "")


def test_a_server_that_never_answers_does_not_keep_a_command_from_ending(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        settings = {"CLEW_EMBEDDER": "openai", "CLEW_EMBEDDER_URL": url, "CLEW_EMBEDDER_MODEL": "m"}
        status, errors = await_end(start_process(home, "-m", "clew", "search", "staging", "--user", "ana", **settings))
    assert status == 0
    assert "by words alone" in errors


def await_work(home: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the process holds the lock for work on the queue."""
    deadline = time.monotonic() + WAIT_S
    with (home / "indexer.lock").open("a") as lock:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(lock, fcntl.LOCK_UN)
            time.sleep(0.005)
    raise AssertionError("nothing was worked on")

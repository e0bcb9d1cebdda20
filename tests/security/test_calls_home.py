"""Nothing calls home: the system calls of Clew and its libraries, seen from outside the process."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from clew.client import connect
from clew.models.packs.pack import DEFAULT_PACK, list_packs, packs_dir
from tests.testing.daemons import WAIT_S, short_folder
from tests.testing.data import nothing_may_be_skipped
from tests.testing.mcp_serving import called
from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("PRIV-1")

SRC = Path(__file__).parents[2] / "src"

AS_A_LIBRARY = """
import sys, time
from clew import Memory
with Memory.open(data_dir=sys.argv[1]) as memory:
    for number in range(30):
        memory.ingest("monday", "user", f"Deploy {number} goes through staging first, always.", user_id="ana")
    memory.flush()
    assert memory.status().degraded == ()
    assert memory.search("how do we ship?", user_id="ana").hits
    memory.compact("monday", force=True)
    memory.pack("how do we ship?", user_id="ana")
    memory.assemble("tuesday", query="ship it", user_id="ana", budget_tokens=2000)
    time.sleep(15)  # an uploader of the runtime looks for its server ten seconds after its start
"""

ASKED = re.compile(r"^\d+ +(?P<call>\w+)\((?P<arguments>.*)$", re.MULTILINE)
NAMED = re.compile(r'"((?:[^"\\]|\\.)*)"')
SEARCHES_FOR_NAMES = ("/etc/resolv.conf", "/etc/hosts", "/etc/gai.conf")
NO_FILES = ("/dev/", "/proc/")


@dataclass(frozen=True)
class Watched:
    """An empty home, and programs that run in it with all their system calls recorded."""

    folder: Path

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """As on a user's machine: nothing tells a library that it is being tested."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SRC),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self._made("home")),
            "TMPDIR": str(self._made("tmp")),
            "CLEW_HOME": str(self.data_dir),
            "CLEW_PACKS": str(packs_dir()),
        }

    def command(self, *arguments: str) -> list[str]:
        calls = "trace=network,open,openat,openat2,creat,mkdir,mkdirat"
        return [*_strace(), "-f", "-qq", "-s", "400", "-e", calls, "-o", str(self._log), sys.executable, *arguments]

    def run(self, *arguments: str) -> None:
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, timeout=patience(300), check=False,
            env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def seen(self) -> list[str]:
        """The calls that reach beyond this machine or write beyond the data folder."""
        calls = [found.group() for found in ASKED.finditer(self._log.read_text("utf-8", "replace"))]
        assert any(str(self.data_dir) in call for call in calls), "the store was not seen either"
        return [call for call in calls if _reaches_out(call) or self._writes_elsewhere(call)]

    def files(self) -> list[Path]:
        return [path for name in ("home", "tmp") for path in self._made(name).rglob("*")]

    def _writes_elsewhere(self, call: str) -> bool:
        if not re.search(r"O_CREAT|O_WRONLY|O_RDWR|\bcreat\(|\bmkdir", call) or "EEXIST" in call:
            return False
        return not any(name.startswith((str(self.data_dir), *NO_FILES)) for name in NAMED.findall(call)[:1])

    @property
    def _log(self) -> Path:
        return self.folder / "calls"

    def _made(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path


def _reaches_out(call: str) -> bool:
    return "AF_INET" in call or any(f'"{name}"' in call for name in SEARCHES_FOR_NAMES)


def _strace() -> list[str]:
    if (found := shutil.which("strace")) is not None:
        return [found]
    if nothing_may_be_skipped():
        pytest.fail("strace is not installed, and nothing may be skipped here")
    pytest.skip("needs strace")


@pytest.fixture
def watched() -> Iterator[Watched]:
    if DEFAULT_PACK not in [pack.name for pack in list_packs(packs_dir())]:
        if nothing_may_be_skipped():
            pytest.fail("the default model is not installed, and nothing may be skipped here")
        pytest.skip("needs the default model: `clew model install`")
    with short_folder() as folder:
        yield Watched(folder)


@pytest.mark.long
def test_a_program_that_uses_the_library_writes_and_connects_nowhere_else(watched: Watched) -> None:
    watched.run("-c", AS_A_LIBRARY, str(watched.data_dir))
    assert (watched.seen(), watched.files()) == ([], [])


def test_a_daemon_writes_and_connects_nowhere_else(watched: Watched) -> None:
    command = watched.command("-m", "clew", "up", "--foreground")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=watched.environment) as process:
        assert process.stdout is not None
        endpoint = process.stdout.readline().strip()
        assert endpoint, process.communicate()
        with connect(endpoint) as client:
            client.ingest("monday", "user", "Deploys go through staging first, always.", user_id="ana")
            assert client.flush().ok
            assert client.search("how do we ship?", user_id="ana").hits
        subprocess.run([sys.executable, "-m", "clew", "down"], env=watched.environment, check=True, capture_output=True)
        _, errors = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, errors
    assert (watched.seen(), watched.files()) == ([], [])


def test_a_tool_server_writes_and_connects_nowhere_else(watched: Watched) -> None:
    program, *arguments = watched.command("-m", "clew", "mcp", "--user", "ana")
    parameters = StdioServerParameters(command=program, args=arguments, env=watched.environment)

    async def use() -> None:
        async with Client(stdio_client(parameters), read_timeout_seconds=WAIT_S) as client:
            await called(client, "remember", text="Deploys go through staging first, always.")
            assert "staging" in str(await called(client, "search", query="which deploys go through staging?"))

    asyncio.run(use())
    assert (watched.seen(), watched.files()) == ([], [])


def test_the_runtime_is_imported_in_one_place() -> None:
    found = [
        path.name
        for path in sorted(SRC.rglob("*.py"))
        if re.search(r"import onnxruntime|from onnxruntime", path.read_text("utf-8"))
    ]
    assert found == ["runtime.py"]

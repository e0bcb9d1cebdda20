"""The process is killed at every single write step of a compaction: the old state or the new one, never between.

A child process compacts a copy of one prepared session and kills itself before its first write step, the
next child before the second one, and so on, until a child gets through. A step is a statement in one test,
and in the other a write to the disk, of which half the bytes still arrive.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew.api import Compact, MemoryApi, Message
from clew.engine import Memory
from tests.conftest import OpenMemory
from tests.testing.daemons import ROOT, WAIT_S

SESSION = "s"
RULE = "You must never deploy on a Friday, whatever the ticket says."
REQUEST = Compact(session_id=SESSION, force=True, cluster_turns=3)
SETTINGS = {"synchronous": "full", "compact_siblings": 2, "tokenizer": "estimate"}

PROGRAM = """
import os, shutil, signal, sys
import apsw
from clew.engine import Memory
from tests.fault.test_kill_compaction import REQUEST, SETTINGS

kind, prepared, copies = sys.argv[1:]
usual = apsw.vfs_names()[0]
left = None

def step(last_words=lambda: None):
    global left
    if left is not None:
        left -= 1
        if left == 0:
            last_words()
            os.kill(os.getpid(), signal.SIGKILL)

def trace(connection, statement):
    writing = connection.txn_state() == apsw.SQLITE_TXN_WRITE
    if statement == "BEGIN IMMEDIATE" or (writing and "SELECT" not in statement):
        step()
    return True

class File(apsw.VFSFile):
    def xWrite(self, data, offset):
        step(lambda: super(File, self).xWrite(data[: len(data) // 2], offset))
        super().xWrite(data, offset)
    def xSync(self, flags):
        step()
        super().xSync(flags)
    def xTruncate(self, size):
        step()
        super().xTruncate(size)

class Disk(apsw.VFS):
    def __init__(self):
        super().__init__("breaking", usual, makedefault=True)
    def xOpen(self, name, flags):
        return File(usual, name, flags)

def follow(connection):
    connection.exec_trace = lambda cursor, statement, bindings: trace(connection, statement)

if kind == "statement":
    apsw.connection_hooks.append(follow)
else:
    disk = Disk()

def compact_until(number):
    global left
    folder = os.path.join(copies, str(number))
    shutil.copytree(prepared, folder)
    memory = Memory.open(data_dir=folder, embedder="none", **SETTINGS)
    left = number
    assert memory.call(REQUEST).did_compact
    left = None
    memory.close()

number, status = 0, -signal.SIGKILL
while status == -signal.SIGKILL:
    number += 1
    child = os.fork()
    if child == 0:
        try:
            compact_until(number)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status)
"""


@dataclass(frozen=True)
class State:
    raw: tuple[str, ...]
    view: frozenset[str]
    summaries: frozenset[str]
    guidance: tuple[str, ...]


def state(api: MemoryApi) -> State:
    shown = api.show_session(SESSION)
    return State(
        raw=tuple(record.text for record in api.list(f"session_raw:{SESSION}").records),
        view=frozenset(node.id for node in shown.view),
        summaries=frozenset(node.id for node in shown.summaries),
        guidance=tuple(item.record.text for item in api.guidance(user_id="ana").items),
    )


def prepare(memory: Memory) -> State:
    told = "The deployment of service {0} took {0} minutes and ended with ERR_{0:03d}, see /var/log/{0}.log."
    messages = [Message(role="user", text=RULE, id="rule")]
    messages += [Message(role="assistant", text=told.format(number), id=f"t{number}") for number in range(10)]
    memory.ingest_batch(SESSION, messages, user_id="ana")
    assert memory.flush().ok
    before = state(memory)
    memory.close()
    return before


@pytest.mark.requirement("COMP-2", "STORE-4", "SAFE-1")
@pytest.mark.parametrize("kind", ["statement", "disk"])
def test_a_compaction_that_is_killed_at_any_step_is_done_or_not_begun(
    kind: str, tmp_path: Path, open_memory: OpenMemory
) -> None:
    old = prepare(open_memory(data_dir=tmp_path / "prepared", **SETTINGS))
    copies = tmp_path / "copies"
    copies.mkdir()
    arguments = [sys.executable, "-c", PROGRAM, kind, str(tmp_path / "prepared"), str(copies)]
    done = subprocess.run(
        arguments, cwd=ROOT, env={"PYTHONPATH": f"{ROOT}/src:{ROOT}"}, capture_output=True, timeout=WAIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    steps = sorted(int(path.name) for path in copies.iterdir())
    assert len(steps) > 15
    found = []
    for number in steps:
        with open_memory(data_dir=copies / str(number), **SETTINGS) as memory:
            found.append(state(memory))
            report = memory.verify()
            assert report.ok, (number, report)
    new = found[-1]
    assert old != new
    assert old.raw == new.raw
    assert (old.guidance, new.guidance) == ((RULE,), (RULE,))
    assert set(found) == {old, new}
    assert found == sorted(found, key=lambda each: each == new), "a later step is never less complete"
    with open_memory(data_dir=copies / "1", **SETTINGS) as memory:
        assert memory.call(REQUEST).did_compact
        assert state(memory) == new

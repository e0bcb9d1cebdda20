"""The process is killed at every single write step of a capture, a harvest and a purge of the log.

A child process works on a copy of one prepared folder and kills itself before its first write step, the next
child before the second one, and so on, until a child gets through. Of a write, half the bytes still arrive.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from clew.api import Harvest
from clew.errors import StoreError
from clew.features.ledger import log as capture_log
from clew.features.ledger.harvest import harvest
from clew.kernel.parts import Parts
from clew.storage.sqlite import SqliteStore
from tests.features.ledger.test_capture_log import event, everything, folder, harvest_all, keep, make_parts
from tests.testing.daemons import ROOT, WAIT_S

SETTINGS: dict[str, Any] = {"capture_file_bytes": 4096, "capture_inline_bytes": 256}
PREPARED = 12
"""Events in the log before a child begins."""

ADDED = 9
"""Events that a child captures; several files are closed meanwhile."""


def open_parts(data_dir: Path) -> Parts:
    return make_parts(data_dir, SqliteStore(data_dir / "clew.db"), **SETTINGS)


def numbered(number: int) -> Any:
    payload = f"payload {number} " * 40 if number % 2 else None
    return event(f"event {number} " + "x" * 400, id=str(number), user_id="uv"[number % 2], payload=payload)


def prepare(data_dir: Path) -> None:
    data_dir.mkdir()
    parts = open_parts(data_dir)
    for number in range(PREPARED):
        keep(parts, numbered(number))
        if number % 4 == 3:
            with _newest(parts).open("ab") as stream:
                stream.write(b"a bad line\n")
    parts.store.close()


def _newest(parts: Parts) -> Path:
    return max(folder(parts).glob("log-*.jsonl"))


# --- what a child does -------------------------------------------------------------------------------------


def capture_more(parts: Parts, acknowledge: Callable[[int], None]) -> None:
    for number in range(PREPARED, PREPARED + ADDED):
        keep(parts, numbered(number))
        acknowledge(number)


def harvest_in_steps(parts: Parts, _: Callable[[int], None]) -> None:
    while not harvest(parts, Harvest(max_lines=5)).done:
        pass


def forget_a_user(parts: Parts, _: Callable[[int], None]) -> None:
    capture_log.forget(parts, lambda held: held.get("userId") == "u")


WORK = {"capture": capture_more, "harvest": harvest_in_steps, "forget": forget_a_user}


class Countdown:
    """Kills the process at its n-th write step."""

    def __init__(self, number: int) -> None:
        self.left: int | None = None
        self._number = number

    def begin(self) -> None:
        self.left = self._number

    def step(self, last_words: Callable[[], object] = lambda: None) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                last_words()
                os.kill(os.getpid(), signal.SIGKILL)

    def watch_files(self) -> None:
        for name in ("fsync", "replace", "ftruncate", "unlink"):
            setattr(os, name, self._watched(getattr(os, name)))
        for name in ("write", "pwrite"):
            setattr(os, name, self._halved(getattr(os, name)))

    def _halved(self, write: Callable[..., int]) -> Callable[..., int]:
        def watched(descriptor: int, data: bytes, *at: int) -> int:
            self.step(lambda: write(descriptor, data[: len(data) // 2], *at))
            return write(descriptor, data, *at)

        return watched

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            self.step()
            return call(*arguments)

        return watched

    def watch_statements(self) -> None:
        apsw.connection_hooks.append(self._follow)

    def _follow(self, connection: apsw.Connection) -> None:
        def trace(_: apsw.Cursor, statement: str, __: Any) -> bool:
            if connection.txn_state() == apsw.SQLITE_TXN_WRITE and "SELECT" not in statement:
                self.step()
            return True

        connection.exec_trace = trace


def work_until_killed(kind: str, prepared: str, copies: str) -> int:
    """The number of children that were killed; they leave their folders as numbered copies."""
    number, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        number += 1
        child = os.fork()
        if child == 0:
            os._exit(_child(kind, prepared, f"{copies}/{number}", number))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status


def _child(kind: str, prepared: str, copy: str, number: int) -> int:
    try:
        shutil.copytree(prepared, copy)
        countdown = Countdown(number)
        countdown.watch_files()
        countdown.watch_statements()
        parts = open_parts(Path(copy))
        acknowledged = open(f"{copy}.acknowledged", "w", buffering=1, encoding="ascii")  # noqa: SIM115 — dies open
        countdown.begin()
        WORK[kind](parts, lambda done: print(done, file=acknowledged))
        countdown.left = None
        acknowledged.close()
        parts.store.close()
    except BaseException as error:  # noqa: BLE001 — the edge of the child: its parent has to see what went wrong
        sys.stderr.write(repr(error))
        return 1
    return 0


def killed_copies(kind: str, tmp_path: Path) -> list[Path]:
    prepare(tmp_path / "prepared")
    copies = tmp_path / "copies"
    copies.mkdir()
    program = f"import sys; from {__name__} import work_until_killed; sys.exit(work_until_killed(*sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, kind, str(tmp_path / "prepared"), str(copies)],
        cwd=ROOT, env={"PYTHONPATH": f"{ROOT}/src:{ROOT}"}, capture_output=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return sorted((path for path in copies.iterdir() if path.is_dir()), key=lambda path: int(path.name))


def set_aside(parts: Parts) -> list[tuple[str, int]]:
    path = folder(parts) / "set-aside.jsonl"
    held = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()] if path.exists() else []
    return [(line["file"], line["line"]) for line in held]


@pytest.mark.requirement("CAPTURE-1", "CAPTURE-2", "SAFE-1")
def test_every_acknowledged_event_survives_a_kill_at_any_step_of_capture_and_rotation(tmp_path: Path) -> None:
    copies = killed_copies("capture", tmp_path)
    assert len(copies) > 3 * ADDED
    for copy in copies:
        parts = open_parts(copy)
        acknowledged = {int(line) for line in Path(f"{copy}.acknowledged").read_text().split()}
        keep(parts, event("after the crash", id="after"))
        harvest_all(parts)
        stored = [record.id for record in parts.store.page("ledger:session:s", 0, 1000)]
        assert len(stored) == len(set(stored))
        assert {str(number) for number in {*range(PREPARED), *acknowledged}} | {"after"} <= set(stored)
        assert set(stored) - {"after"} <= {str(number) for number in range(PREPARED + ADDED)}
        described = [(item.name, item.bytes) for item in capture_log.closed_files(parts)]
        closed = sorted(folder(parts).glob("log-*.jsonl"))[:-1]
        assert described == [(path.name, path.stat().st_size) for path in closed]
        parts.store.close()


@pytest.mark.requirement("CAPTURE-2", "SAFE-1", "STORE-4")
def test_a_harvest_that_is_killed_at_any_step_goes_on_without_loss_or_repetition(tmp_path: Path) -> None:
    copies = killed_copies("harvest", tmp_path)
    assert len(copies) > 30
    for copy in copies:
        parts = open_parts(copy)
        harvest_all(parts)
        stored = [record.id for record in parts.store.page("ledger:session:s", 0, 1000)]
        assert stored == [str(number) for number in range(PREPARED)]
        assert [record.version for record in parts.store.page("ledger:user:u", 0, 1000)] == [1] * (PREPARED // 2)
        aside = set_aside(parts)
        assert len(aside) == len(set(aside)) == 3
        assert harvest(parts, Harvest()).lines == 0
        parts.store.close()


@pytest.mark.requirement("STORE-6", "SAFE-1")
def test_a_purge_of_the_log_that_is_killed_at_any_step_loses_nothing_else_and_can_be_finished(tmp_path: Path) -> None:
    copies = killed_copies("forget", tmp_path)
    assert len(copies) > 8
    for copy in copies:
        parts = open_parts(copy)
        logs = b"".join(path.read_bytes() for path in folder(parts).glob("log-*.jsonl"))
        assert logs.count(b'"userId":"v"') == PREPARED // 2
        forget_a_user(parts, lambda _: None)
        assert not any(f'"id":"{number}"'.encode() in everything(parts) for number in range(0, PREPARED, 2))
        harvest_all(parts)
        stored = [record.id for record in parts.store.page("ledger:session:s", 0, 1000)]
        assert stored == [str(number) for number in range(1, PREPARED, 2)]
        assert len(list((copy / "artifacts").rglob("*.json"))) == PREPARED // 2
        parts.store.close()


@pytest.mark.requirement("CAPTURE-1", "CAPTURE-2", "SAFE-1")
def test_a_disk_that_fails_is_an_error_in_a_sentence_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / "data"
    prepare(data_dir)
    parts = open_parts(data_dir)
    before = [path.read_bytes() for path in sorted(folder(parts).glob("log-*"))]

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        for work in (
            lambda: keep(parts, numbered(99)),
            lambda: harvest(parts, Harvest()),
            lambda: capture_log.forget(parts, lambda held: held.get("userId") == "u"),
        ):
            with pytest.raises(StoreError, match="No space left on device"):
                work()
    assert [path.read_bytes() for path in sorted(folder(parts).glob("log-*.jsonl"))] == before
    assert parts.store.size("ledger:session:s") == 0
    harvest_all(parts)
    assert parts.store.size("ledger:session:s") == PREPARED
    assert len(set_aside(parts)) == 3
    parts.store.close()

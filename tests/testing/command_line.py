"""Command lines for tests: each a run of its own on one data folder, in this process or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from clew.faces.cli.main import main
from tests.testing.daemons import FORKS

ESCAPE = "\x1b]0;owned\x07"
"""An escape sequence that would rename a terminal's window."""


@dataclass(frozen=True)
class Clew:
    """Runs command lines on one data folder."""

    data_dir: Path
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str, status: int = 0) -> str:
        self.capsys.readouterr()
        found = main([*arguments, "--data", str(self.data_dir)])
        out, err = self.capsys.readouterr()
        assert found == status, (out, err)
        return out + err

    def json(self, *arguments: str, status: int = 0) -> Any:
        self.capsys.readouterr()
        found = main(["--json", *arguments, "--data", str(self.data_dir)])
        out, err = self.capsys.readouterr()
        assert (found, err) == (status, ""), out
        assert out.count("\n") == 1, "one object on one line"
        return json.loads(out)


def write_lines(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def on_a_terminal(data_dir: Path, *arguments: str, no_color: bool = False, columns: int = 100) -> str:
    """The output that a terminal receives."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    environment.pop("NO_COLOR", None)
    if no_color:
        environment["NO_COLOR"] = "1"
    command = [*arguments, "--data", str(data_dir)]
    with Connection(theirs) as terminal:
        process = FORKS.Process(target=_run_on, args=(terminal, environment, command))
        process.start()
    received = bytearray()
    try:
        while chunk := os.read(ours, 65_536):
            received += chunk
    except OSError:
        pass  # Linux reports the closed other end as an error
    os.close(ours)
    process.join()
    assert process.exitcode == 0
    return received.decode("utf-8")


def _run_on(terminal: Connection, environment: dict[str, str], arguments: list[str]) -> None:
    """A whole process whose input and outputs are a terminal."""
    for descriptor in range(3):
        os.dup2(terminal.fileno(), descriptor)
    terminal.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - closed with the process
    os.environ.clear()
    os.environ.update(environment)
    sys.exit(main(arguments))

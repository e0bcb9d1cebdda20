"""Every error gives one line, one object and one exit status, and never a traceback."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from clew import errors
from clew.errors import ClewError
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.main import main

pytestmark = pytest.mark.requirement("CLI-1")


ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ClewError)]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[BaseException]:
    """Make every verb that opens a store raise the given error."""
    raised: list[BaseException] = []

    def fail(_: Invocation) -> None:
        raise raised[0]

    monkeypatch.setattr(Invocation, "open", fail)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    return raised


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_each_error_has_its_line_and_its_status(
    kind: type[ClewError], failing: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    failing.append(kind("it went\nwrong \x1b[31m"))
    assert main(["status"]) == kind.exit_status
    assert capsys.readouterr() == ("", "error: it went wrong \\x1b[31m\n")


@pytest.mark.parametrize("arguments", [["--json", "status"], ["status", "--json"]])
def test_with_json_an_error_is_one_object_on_standard_output(
    arguments: list[str], failing: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    failing.append(errors.NotFound("no such thing"))
    assert main(arguments) == errors.NotFound.exit_status
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": {"code": errors.NotFound.code, "message": "no such thing"}}
    assert err == ""


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/data"), 1, "error: /data: Permission denied\n"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "error: No space left on device\n"),
        (click.FileError("a.txt", "gone"), 1, "error: Could not open file 'a.txt': gone\n"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (click.Abort(), 130, "error: interrupted\n"),
    ],
)
def test_system_errors_are_reported_in_one_line(
    error: BaseException, status: int, line: str, failing: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    failing.append(error)
    assert main(["status"]) == status
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["search"], "QUERY"),
        (["search", "x"], "--user"),
        (["search", "x", "--user", "u", "-k", "0"], "-k"),
        (["search", "x", "--wrong"], "--wrong"),
        (["gate"], "command"),
        (["ingest", "text"], "--session"),
        (["ingest", "--session", "s", "--file", "missing.jsonl"], "missing.jsonl"),
        (["delete", "global"], "--all"),
        (["delete", "global", "--all", "--json"], "--yes"),
        (["list", "notes", "--where", "nonsense"], "KEY=VALUE"),
        (["put", "notes", "a", "text", "--metadata", "[]"], "object"),
        (["export", "--json"], "FILE"),
        (["up", "--foreground", "--json"], "--json"),
        (["down", "--endpoint", "unix:/x"], "--data"),
        (["status", "\udcff"], "UTF-8"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_names_the_mistake(
    arguments: list[str], word: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    said = json.loads(out)["error"]["message"] if "--json" in arguments else err
    assert word in said
    assert said.strip().count("\n") == 0
    assert list(tmp_path.iterdir()) == [], "nothing was opened"


def test_the_text_json_does_not_turn_on_json_output(
    failing: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    failing.append(errors.NotFound("no"))
    assert main(["gate", "explain", "--", "--json"]) == 3
    assert capsys.readouterr().err == "error: no\n"


def test_a_wrong_setting_is_a_mistake_of_the_user(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLEW_GATE_THRESHOLD", "7")
    assert main(["config", "--data", str(tmp_path)]) == 2
    assert "gate_threshold" in capsys.readouterr().err


def test_a_closed_output_pipe_is_not_an_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "clew.faces.cli.main", "config"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_standard_input_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew.faces.cli.main", "gate", "explain", "--data", str(tmp_path)],
        input=b"\xff", capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: standard input is not valid UTF-8")

"""`clew hooks` and `clew mcp install` on the command line: they show, make and undo a change."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from clew import __version__
from clew.errors import InvalidInput
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.hosts import hooks, mcp
from clew.faces.cli.hosts import settings as host_settings
from clew.faces.hosts.dialects import EVENTS
from tests.testing.daemons import ROOT, running, short_folder

pytestmark = pytest.mark.requirement("CLI-1", "HOST-2", "MCP-1")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "CLEW_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def run(command: click.Command, *arguments: str, as_json: bool = True) -> None:
    command.main([*arguments], obj=Invocation(json=as_json), standalone_mode=False)


def answer(capsys: Capture, command: click.Command, *arguments: str) -> Any:
    run(command, *arguments)
    return json.loads(capsys.readouterr().out)


def test_a_dry_run_shows_the_change_without_making_it(home: Path, capsys: Capture) -> None:
    run(hooks.hooks_command, "install", "claude-code", "--dry-run", as_json=False)
    out, err = capsys.readouterr()
    assert '+    "UserPromptSubmit": [' in out
    assert "nothing was changed" in err
    assert list(home.iterdir()) == []
    assert answer(capsys, hooks.hooks_command, "install", "claude-code", "--dry-run")["changed"] is False


@pytest.mark.parametrize("host", EVENTS)
def test_hooks_are_installed_shown_and_removed(host: str, home: Path, capsys: Capture) -> None:
    path = Path(answer(capsys, hooks.hooks_command, "status", host)["path"])
    path.parent.mkdir()
    path.write_text('{\n  "theme": "dark"\n}\n')
    before = path.read_bytes()
    done = answer(capsys, hooks.hooks_command, "install", host, "--user", "ada")
    assert done["changed"]
    assert Path(done["backup"]).read_bytes() == before
    status = answer(capsys, hooks.hooks_command, "status", host)
    assert status["installed"]
    assert all(line.endswith(" --user ada") for line in status["commands"].values())
    assert answer(capsys, hooks.hooks_command, "install", host, "--user", "ada")["diff"] == ""
    assert answer(capsys, hooks.hooks_command, "uninstall", host)["changed"]
    assert path.read_bytes() == before
    assert answer(capsys, hooks.hooks_command, "status", host)["missing"] == list(EVENTS[host])


def test_the_plain_output_names_the_backup_and_the_next_step(home: Path, capsys: Capture) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text("{}")
    run(hooks.hooks_command, "install", "codex", as_json=False)
    err = capsys.readouterr().err
    assert "clew-backup" in err
    assert "/hooks" in err
    run(hooks.hooks_command, "install", "codex", as_json=False)
    assert "as it should be" in capsys.readouterr().out
    run(hooks.hooks_command, "status", "codex", as_json=False)
    assert "hook codex UserPromptSubmit" in capsys.readouterr().out
    run(hooks.hooks_command, "status", "gemini", as_json=False)
    assert "clew hooks install gemini" in capsys.readouterr().err


def test_a_given_project_and_data_folder_enter_the_settings(home: Path, capsys: Capture) -> None:
    project, data = home / "my project", home / "my data"
    project.mkdir()
    done = answer(capsys, hooks.hooks_command, "install", "gemini", "--project", str(project), "--data", str(data))
    assert done["path"] == str(project / ".gemini" / "settings.json")
    assert done["backup"] is None
    (command, *_) = answer(capsys, hooks.hooks_command, "status", "gemini", "--project", str(project))[
        "commands"
    ].values()
    assert shlex.split(command)[-2:] == ["--data", str(data)]


@pytest.mark.parametrize(
    ("given", "written"),
    [("unix:run/clew.sock", f"unix:{os.getcwd()}/run/clew.sock"), ("tcp:localhost:7447", "tcp:127.0.0.1:7447")],
)
def test_an_endpoint_is_written_in_absolute_form(given: str, written: str, home: Path, capsys: Capture) -> None:
    answer(capsys, hooks.hooks_command, "install", "codex", "--endpoint", given)
    for command in answer(capsys, hooks.hooks_command, "status", "codex")["commands"].values():
        assert shlex.split(command)[-2:] == ["--endpoint", written]
    answer(capsys, mcp.install, "cursor", "--endpoint", given)
    (server,) = json.loads((home / ".cursor" / "mcp.json").read_text("utf-8"))["mcpServers"].values()
    assert server["args"][-3:] == ["mcp", "--endpoint", written]


def test_an_invalid_endpoint_is_refused_before_any_write(home: Path) -> None:
    for command in (hooks.hooks_command.commands["install"], mcp.install):
        with pytest.raises(InvalidInput, match="not an endpoint"):
            run(command, "codex", "--endpoint", "somewhere")
    assert list(home.iterdir()) == []


def test_the_status_says_whether_a_daemon_answers(home: Path, capsys: Capture) -> None:
    assert answer(capsys, hooks.hooks_command, "install", "codex")["daemon"] == host_settings.NO_DAEMON
    for verb in ("install", "status"):
        run(hooks.hooks_command, verb, "codex", as_json=False)
        assert "no daemon answers; start it with `clew up`" in capsys.readouterr().err
    with short_folder() as folder, running(folder) as daemon:
        for place in (("--data", str(folder)), ("--endpoint", daemon.endpoint)):
            assert answer(capsys, hooks.hooks_command, "install", "codex", *place)["daemon"] is None
            assert answer(capsys, hooks.hooks_command, "status", "codex")["daemon"] is None
    gone = answer(capsys, hooks.hooks_command, "status", "codex")["daemon"]
    assert gone == f"no daemon answers at {daemon.endpoint}; start one with `clew up`"


def test_a_broken_file_is_not_changed(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text("{")
    with pytest.raises(InvalidInput, match="not plain JSON") as trouble:
        run(hooks.hooks_command, "status", "codex")
    assert "left alone" not in trouble.value.message


@pytest.mark.parametrize("command", [hooks.hooks_command.commands["uninstall"], mcp.uninstall])
def test_uninstalling_without_an_installation_says_so(command: click.Command, home: Path, capsys: Capture) -> None:
    run(command, "gemini", as_json=False)
    assert "it holds nothing of Clew" in capsys.readouterr().out
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "name"),
    [("claude-code", ".mcp.json"), ("codex", ".codex/config.toml"), ("cursor", ".cursor/mcp.json")],
)
def test_a_server_is_installed_and_removed(host: str, name: str, home: Path, capsys: Capture) -> None:
    done = answer(capsys, mcp.install, host, "--user", "ada", "--project", str(home))
    assert done["path"] == str(home / name)
    assert '"mcp", "--user", "ada"' in " ".join((home / name).read_text("utf-8").split())
    assert answer(capsys, mcp.uninstall, host, "--project", str(home))["changed"]
    assert not (home / name).exists()


def test_the_command_has_its_full_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "clew"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [os.path.relpath(program)])
    assert host_settings.program() == (str(program),)
    monkeypatch.setattr(sys, "argv", ["-c"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "other" / "python"))
    monkeypatch.setenv("PATH", str(program.parent))
    assert host_settings.program() == (str(program),)
    monkeypatch.setenv("PATH", "")
    assert host_settings.program() == (sys.executable, "-m", "clew")
    monkeypatch.setattr(sys, "executable", "/odd/\udcff/python")
    with pytest.raises(InvalidInput):
        host_settings.program()


@pytest.mark.parametrize(
    ("arguments", "expected"), [(("--version",), f"clew {__version__}\n"), (("hook", "--help"), "as JSON on standard")]
)
def test_every_command_but_an_event_goes_through_the_ordinary_program(
    arguments: tuple[str, ...], expected: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "clew", *arguments], capture_output=True, text=True, env=environment, check=True
    )
    assert expected in done.stdout


def test_the_ordinary_program_handles_an_event_too(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr("clew.faces.hosts.hook.run", lambda arguments: given.append(arguments) or 0)
    run(hooks.hook_command, "codex", "Stop", "--user", "ada", "--data", str(home), "--endpoint", "unix:/x")
    assert given == [["codex", "Stop", "--user", "ada", "--data", str(home), "--endpoint", "unix:/x"]]
    assert capfd.readouterr() == ("", "")

"""The OpenClaw plugin: its own tests under Node on a real daemon, and the commands that install it in a host."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.faces.hosts.install.openclaw import OpenClaw, plugin_folder
from tests.testing.command_line import Clew
from tests.testing.daemons import ROOT, running, short_folder
from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("HOST-1")

FAKE_OPENCLAW = '''#!{python}
"""Does to a settings file what OpenClaw's own commands do."""
import json, pathlib, sys

path = pathlib.Path("{settings}")
settings = json.loads(path.read_text())
plugins = settings.setdefault("plugins", {{}})
entries, slots = plugins.setdefault("entries", {{}}), plugins.setdefault("slots", {{}})
match sys.argv[1:]:
    case ["plugins", "install", "--link", folder, "--force", "--accept-capabilities"]:
        manifest = json.loads((pathlib.Path(folder) / "openclaw.plugin.json").read_text())
        entries.setdefault(manifest["id"], {{"enabled": True}})
        slots |= {{"memory": manifest["id"], "contextEngine": manifest["id"]}}
    case ["plugins", "enable", name, "--accept-capabilities"]:
        entries[name]["enabled"] = True
    case ["plugins", "uninstall", name, "--force", "--keep-files"]:
        entries[name] = {{"enabled": False}}
        slots |= {{"memory": "memory-core", "contextEngine": "legacy"}}
    case ["config", "set", name, value, "--strict-json"]:
        _, _, plugin, _, key = name.split(".")
        entries[plugin].setdefault("config", {{}})[key] = json.loads(value)
    case ["config", "unset", "plugins.entries.clew"]:
        del entries["clew"]
    case ["config", "unset", name]:
        _, _, plugin, _, key = name.split(".")
        del entries[plugin]["config"][key]
    case ["--version"]:
        sys.exit(print("OpenClaw {version} (abc1234)"))
    case ["config", "get", name, "--json"]:
        sys.exit(print(json.dumps(settings[name])))
    case _:
        sys.exit(f"openclaw does not know {{sys.argv[1:]}}")
path.write_text(json.dumps(settings))
'''


@pytest.mark.requirement("LIFE-6")
@pytest.mark.skipif(shutil.which("node") is None, reason="the plugin's own tests run under Node")
def test_the_plugin_passes_its_own_tests_on_a_real_daemon() -> None:
    environment = {**os.environ, "CLEW_PYTHON": sys.executable}
    files = sorted(str(path) for path in (ROOT / "tests/faces/hosts/node").glob("*.test.mjs"))
    command = ["node", "--test", "--test-concurrency=1", "--test-reporter=spec", *files]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False, timeout=patience(300)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ℹ fail 0$", done.stdout, re.M)


def test_the_plugin_has_the_version_of_the_package_and_no_dependencies() -> None:
    package = json.loads((plugin_folder() / "package.json").read_text("utf-8"))
    manifest = json.loads((plugin_folder() / "openclaw.plugin.json").read_text("utf-8"))
    assert package["version"] == manifest["version"] == clew.__version__
    assert "dependencies" not in package
    sources = "".join(path.read_text("utf-8") for path in plugin_folder().glob("*.mjs"))
    imported = set(re.findall(r'(?:from|import\()\s*"([^"]+)"', sources))
    outside = {name for name in imported if not name.startswith(("node:", "./"))}
    assert outside == {"openclaw/plugin-sdk/core"}, "only the host itself, where it can be reached"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "openclaw.json"
    path.write_text(json.dumps({"gateway": {"port": 1}}), "utf-8")
    return path


@pytest.fixture
def program(tmp_path: Path, settings: Path) -> Path:
    path = tmp_path / "openclaw"
    return fake_host(path, settings, "2026.9.6")


def fake_host(path: Path, settings: Path, version: str) -> Path:
    path.write_text(FAKE_OPENCLAW.format(python=sys.executable, settings=settings, version=version), "utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Clew:
    return Clew(tmp_path / "data", capsys)


def plugins_of(settings: Path) -> Any:
    return json.loads(settings.read_text("utf-8"))["plugins"]


def test_install_links_the_plugin_on_the_daemon_of_the_data_folder(cli: Clew, program: Path, settings: Path) -> None:
    answer = cli.json("openclaw", "install", "--openclaw", str(program), "--user", "42")
    socket = f"unix:{cli.data_dir / 'clew.sock'}"
    assert answer["ready"]
    assert answer["slots"] == {"memory": "clew", "contextEngine": "clew"}
    assert plugins_of(settings)["entries"]["clew"] == {"enabled": True, "config": {"socket": socket, "user": "42"}}
    assert json.loads(settings.read_text("utf-8"))["gateway"] == {"port": 1}


def test_install_without_a_user_gives_each_agent_its_own_memory_again(cli: Clew, program: Path, settings: Path) -> None:
    cli("openclaw", "install", "--openclaw", str(program), "--user", "42")
    for _ in range(2):
        assert cli.json("openclaw", "install", "--openclaw", str(program))["user"] is None
        assert plugins_of(settings)["entries"]["clew"]["config"].keys() == {"socket"}


def test_a_dry_run_shows_the_commands_and_runs_none(cli: Clew, program: Path, settings: Path) -> None:
    before = settings.read_text("utf-8")
    shown = cli("openclaw", "install", "--openclaw", str(program), "--dry-run")
    assert f"plugins install --link {plugin_folder()} --force --accept-capabilities" in shown
    assert "plugins uninstall clew" in cli("openclaw", "uninstall", "--openclaw", str(program), "--dry-run")
    assert settings.read_text("utf-8") == before


def test_uninstall_restores_the_slots_and_a_later_install_takes_them_again(
    cli: Clew, program: Path, settings: Path
) -> None:
    cli("openclaw", "install", "--openclaw", str(program))
    gone = cli.json("openclaw", "uninstall", "--openclaw", str(program))
    assert not gone["ready"]
    assert plugins_of(settings)["slots"] == {"memory": "memory-core", "contextEngine": "legacy"}
    assert plugins_of(settings)["entries"] == {}
    assert (plugin_folder() / "index.mjs").exists()
    assert cli.json("openclaw", "install", "--openclaw", str(program))["ready"]


def test_status_says_whether_the_host_uses_clew_and_its_daemon_answers(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with short_folder() as folder:
        cli = Clew(folder, capsys)
        before = cli.json("openclaw", "status", "--openclaw", str(program))
        assert before["missing"] == [
            "plugins.slots.memory",
            "plugins.slots.contextEngine",
            "plugins.entries.clew.enabled",
        ]
        cli("openclaw", "install", "--openclaw", str(program))
        away = cli.json("openclaw", "status", "--openclaw", str(program))
        assert (away["ready"], away["daemon"]["reachable"]) == (True, False)
        assert "clew up" in cli("openclaw", "status", "--openclaw", str(program))
        with running(folder):
            there = cli.json("openclaw", "status", "--openclaw", str(program))["daemon"]
            assert (there["reachable"], there["version"]) == (True, clew.__version__)


def test_a_missing_or_failing_host_is_reported_in_one_sentence(cli: Clew, program: Path, tmp_path: Path) -> None:
    said = cli("openclaw", "install", "--openclaw", str(tmp_path / "none"), status=3)
    assert "there is no program openclaw at" in said
    program.write_text("#!/bin/sh\necho 'config is locked' >&2\nexit 9\n", "utf-8")
    said = cli("openclaw", "install", "--openclaw", str(program), status=1)
    assert "failed with status 9: config is locked" in said


def test_an_older_host_is_refused_in_one_sentence_without_any_change(cli: Clew, tmp_path: Path, settings: Path) -> None:
    before = settings.read_text("utf-8")
    older = fake_host(tmp_path / "older", settings, "2026.7.35")
    said = cli("openclaw", "install", "--openclaw", str(older), status=1)
    assert said.strip().splitlines() == [
        "error: OpenClaw 2026.7.35 is older than 2026.9.6, the version Clew is tested with; "
        "update OpenClaw, then install again"
    ]
    assert settings.read_text("utf-8") == before


def test_an_install_into_a_newer_host_gives_a_notice(cli: Clew, tmp_path: Path, settings: Path) -> None:
    newer = fake_host(tmp_path / "newer", settings, "2026.12.1")
    assert "tested with OpenClaw 2026.9.6, and not with OpenClaw 2026.12.1" in " ".join(
        cli("openclaw", "install", "--openclaw", str(newer)).split()
    )
    assert plugins_of(settings)["entries"]["clew"]["enabled"]


def test_settings_without_effect_are_an_error(cli: Clew, program: Path) -> None:
    program.write_text("#!/bin/sh\necho '{}'\n", "utf-8")
    said = cli("openclaw", "install", "--openclaw", str(program), status=1)
    assert "plugins.slots.memory, plugins.slots.contextEngine" in said


def test_the_program_is_found_on_the_path(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert OpenClaw.find().program == str(program)

"""`clew hermes`: its display, its changes, and its undo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew.errors import NotFound
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.hosts.hermes import command
from tests.testing.daemons import running, short_folder

pytestmark = pytest.mark.requirement("HOST-2")

CONFIG = "# mine\nmemory:\n  memory_enabled: true\n  provider: honcho\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], data_dir: Path, *arguments: str) -> Any:
    capsys.readouterr()
    command.main(
        [*arguments, "--json"], prog_name="clew hermes", obj=Invocation(data_dir=data_dir), standalone_mode=False
    )
    return json.loads(capsys.readouterr().out)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_shows_the_change_without_making_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(home)
    answer = run(capsys, home / "data", "install", "--home", str(home), "--dry-run")
    assert "+  provider: clew" in answer["diff"]
    assert (answer["dryRun"], answer["backup"], contents(home)) == (True, None, before)


def test_uninstalling_leaves_no_trace(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, home / "data", "install", "--home", str(home), "--user", "ada")
    assert Path(answer["backup"]).read_text() == CONFIG
    settings = json.loads((home / "plugins" / "clew" / "clew.json").read_text())
    assert settings == {"endpoint": f"unix:{home / 'data' / 'clew.sock'}", "user": "ada"}
    assert run(capsys, home / "data", "install", "--home", str(home), "--user", "ada")["changed"] is False
    run(capsys, home / "data", "uninstall", "--home", str(home))
    assert (home / "config.yaml").read_text() == CONFIG
    assert not (home / "plugins" / "clew").exists()


def test_files_of_others_in_the_folder_stay(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, home / "data", "install", "--home", str(home))
    (home / "plugins" / "clew" / "notes.txt").write_text("mine")
    run(capsys, home / "data", "uninstall", "--home", str(home))
    assert list((home / "plugins" / "clew").iterdir()) == [home / "plugins" / "clew" / "notes.txt"]


def test_the_status_names_missing_parts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with short_folder() as folder:
        status = run(capsys, folder, "status", "--home", str(home))
        assert (status["provider"], status["ready"]) == ("honcho", False)
        run(capsys, folder, "install", "--home", str(home))
        status = run(capsys, folder, "status", "--home", str(home))
        assert (status["provider"], status["ready"], status["upToDate"]) == ("clew", True, True)
        assert "no daemon" in status["daemon"]
        (home / "plugins" / "clew" / "wire.py").write_text("old")
        with running(folder):
            status = run(capsys, folder, "status", "--home", str(home))
        assert (status["upToDate"], status["daemon"]) == (False, None)


def test_the_plain_output_shows_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["install", "--dry-run"], ["install"], ["status"], ["uninstall"]):
        command.main(
            [*arguments, "--home", str(home)], obj=Invocation(data_dir=home / "data"), standalone_mode=False
        )  # fmt: skip
    shown = capsys.readouterr()
    assert "nothing was changed" in shown.err
    assert "provider: clew" in shown.out


def test_a_machine_without_hermes_gets_a_clear_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotFound):
        run(capsys, home, "install", "--home", str(home / "nowhere"))

"""The command tree and the reference pages: complete, up to date, with valid examples, quick to load."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from tools.reference import objects, pages, write
from tools.reference_texts import COMPAT_ANSWERS

from clew import api
from clew.api.meanings import meanings
from clew.config import Config
from clew.errors import ClewError
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.main import PROGRAM, SECTIONS, cli
from clew.faces.daemon import compat, compat_params
from clew.faces.daemon.methods import METHODS

pytestmark = pytest.mark.requirement("CLI-1")

FOLDER = Path(__file__).parents[3] / "docs" / "reference"
PAGES = pages()


def verbs(group: click.Group = cli, path: str = PROGRAM) -> Iterator[tuple[str, Verb]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, VerbGroup):
            yield from verbs(command, f"{path} {name}")
        else:
            assert isinstance(command, Verb), f"{path} {name} lacks the global options"
            yield f"{path} {name}", command


VERBS = dict(verbs())


@pytest.mark.parametrize("name", PAGES)
def test_every_reference_page_matches_the_code(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name], "stale: run `make docs`"


def test_the_folder_holds_only_the_reference_pages(tmp_path: Path) -> None:
    write(tmp_path / "reference")
    assert sorted(PAGES) == sorted(path.name for path in (tmp_path / "reference").iterdir())
    assert sorted(PAGES) == sorted(path.name for path in FOLDER.iterdir())


def test_every_setting_is_on_its_page_with_its_variable() -> None:
    for name in Config.__dataclass_fields__:
        variable = "CLEW_HOME" if name == "data_dir" else f"CLEW_{name.upper()}"
        assert f"\n| `{name}` | `{variable}` |" in PAGES["settings.md"]


@pytest.mark.requirement("RPC-1")
def test_every_method_of_the_daemon_is_on_the_wire_page() -> None:
    headings = [line.removeprefix("### ") for line in PAGES["wire.md"].splitlines() if line.startswith("### ")]
    assert sorted(name for name in headings if not name.endswith(" object")) == sorted(METHODS)
    assert len(set(headings)) == len(headings), "two headings of one name share a link"


@pytest.mark.requirement("RPC-1")
@pytest.mark.parametrize(
    "kind",
    [*api.REQUESTS.values(), *(kind for kind in objects() if not issubclass(kind, compat_params.Params))],
    ids=lambda kind: kind.__name__,
)
def test_every_field_of_a_request_and_its_answer_is_described(kind: type[msgspec.Struct]) -> None:
    said = meanings(kind)
    assert [item.name for item in msgspec.structs.fields(kind) if not said.get(item.name)] == []


@pytest.mark.requirement("RPC-1", "API-1")
def test_every_operation_and_every_error_is_described() -> None:
    for name in METHODS:
        assert re.search(rf"^### {name}\n\n[A-Z]", PAGES["wire.md"], re.MULTILINE), name
    for name in set(vars(api.MemoryApi)) & set(api.REQUESTS):
        assert re.search(rf"^### {name}\n\n```python\n(?:.+\n)+?```\n\n[A-Z]", PAGES["python.md"], re.MULTILINE), name
    for name, kind in vars(sys.modules[ClewError.__module__]).items():
        if isinstance(kind, type):
            assert f"| {kind.code} | {name} | " in PAGES["wire.md"]
            assert f" {name} " in PAGES["python.md"]


def test_no_page_describes_a_removed_item() -> None:
    assert set(COMPAT_ANSWERS) == set(compat.METHODS)


@pytest.mark.parametrize("path", VERBS)
def test_every_verb_has_a_one_line_description_and_an_example(path: str) -> None:
    command = VERBS[path]
    assert command.help
    assert len(command.help.splitlines()[0]) <= 100
    assert command.examples
    assert all(option.help for option in command.params if isinstance(option, click.Option))


@pytest.mark.parametrize("example", [example for verb in VERBS.values() for example in verb.examples])
def test_every_example_is_a_valid_command_line(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("backup.jsonl", "conversation.jsonl", "labels.jsonl", "session.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    words = shlex.split(example.replace("~", str(tmp_path)), comments=True)
    words = words[words.index(PROGRAM) + 1 :]
    for end in ("|", "<", ">", ">>"):
        words = words[: words.index(end)] if end in words else words
    parse(cli, words)


def parse(command: click.Command, words: list[str]) -> None:
    """Read a command line down to its last verb, without running it."""
    runs_itself = isinstance(command, click.Group) and command.invoke_without_command
    if not isinstance(command, click.Group) or (runs_itself and (not words or words[0].startswith("-"))):
        command.make_context(PROGRAM, words, obj=Invocation())
        return
    child = command.get_command(click.Context(command), words[0])
    assert child is not None
    parse(child, words[1:])


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], ("rich", "numpy", "apsw", "onnxruntime", "asyncio", "clew.engine", "clew.client")),
        (["--help"], ("rich", "numpy", "apsw", "onnxruntime", "asyncio", "clew.engine", "clew.client")),
        (["search", "--help"], ("rich", "numpy", "apsw", "onnxruntime", "clew.engine", "clew.faces.cli.ledger")),
    ],
)
def test_a_command_line_loads_only_what_it_needs(arguments: list[str], unwanted: tuple[str, ...]) -> None:
    program = (
        "import sys; from clew.faces.cli.main import main; main(sys.argv[2:]);"
        "print('LOADED', *(name for name in sys.argv[1].split(',') if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, ",".join(unwanted), *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].strip() == "LOADED"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_calls_clew(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew.faces.cli.main", "completion", shell], capture_output=True, text=True, check=True
    )
    assert "_CLEW_COMPLETE" in done.stdout


def test_completion_offers_verbs_and_options() -> None:
    from click.shell_completion import ShellComplete

    completer = ShellComplete(cli, {}, PROGRAM, "_CLEW_COMPLETE")
    offered = {item.value for item in completer.get_completions([], "")}
    assert offered == {verb for section in SECTIONS.values() for verb in section}
    assert "--skip-bad" in {item.value for item in completer.get_completions(["ingest"], "--")}

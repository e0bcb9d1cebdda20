"""The command tree itself: documented, with examples that parse, and light to load."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from clew.cli.command import Verb, VerbGroup
from clew.cli.invocation import Invocation
from clew.cli.main import PROGRAM, SECTIONS, cli
from clew.cli.reference import reference

pytestmark = pytest.mark.requirement("CLI-1")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


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


def test_the_reference_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text("utf-8") == reference(), "stale: run `python -m clew.cli.reference > docs/reference/cli.md`"


@pytest.mark.parametrize("path", VERBS)
def test_every_verb_says_what_it_does_in_a_line_and_shows_an_example(path: str) -> None:
    command = VERBS[path]
    assert command.help
    assert len(command.help.splitlines()[0]) <= 100
    assert command.examples
    assert all(option.help for option in command.params if isinstance(option, click.Option))


@pytest.mark.parametrize("example", [example for verb in VERBS.values() for example in verb.examples])
def test_every_example_is_a_command_line_that_is_accepted(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("backup.jsonl", "conversation.jsonl"):
        (tmp_path / name).touch()
    words = shlex.split(example, comments=True)
    words = words[words.index(PROGRAM) + 1 :]
    for end in ("|", ">", ">>"):
        words = words[: words.index(end)] if end in words else words
    parse(cli, words)


def parse(command: click.Command, words: list[str]) -> None:
    """Read a command line down to its last verb, without running it."""
    if not isinstance(command, click.Group):
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
        (["search", "--help"], ("rich", "numpy", "apsw", "onnxruntime", "clew.engine", "clew.cli.ingest")),
    ],
)
def test_a_command_line_loads_only_what_it_needs(arguments: list[str], unwanted: tuple[str, ...]) -> None:
    program = (
        "import sys; from clew.cli.main import main; main(sys.argv[2:]);"
        "print('LOADED', *(name for name in sys.argv[1].split(',') if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, ",".join(unwanted), *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].strip() == "LOADED"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_calls_back_into_clew(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew.cli.main", "completion", shell], capture_output=True, text=True, check=True
    )
    assert "_CLEW_COMPLETE" in done.stdout


def test_completion_offers_verbs_and_options() -> None:
    from click.shell_completion import ShellComplete

    completer = ShellComplete(cli, {}, PROGRAM, "_CLEW_COMPLETE")
    offered = {item.value for item in completer.get_completions([], "")}
    assert offered == {verb for section in SECTIONS.values() for verb in section}
    assert "--skip-bad" in {item.value for item in completer.get_completions(["ingest"], "--")}

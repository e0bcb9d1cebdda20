"""Each option of the command line is a field of a request; errors use the name of the option."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from tools.api_methods import method_source
from tools.reference import field_table

from clew.api import Pack
from clew.core.structs import make_known
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.fields import name_as_typed, takes
from clew.faces.cli.console.invocation import Invocation
from tests.testing.command_line import Clew

pytestmark = pytest.mark.requirement("CLI-1")


class PackOfColours(Pack, frozen=True, kw_only=True):
    """A request like `pack` with one more filter."""

    colours: tuple[str, ...] = ()
    """Only records of these colours."""


make_known([PackOfColours])


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    return Clew(tmp_path / "data", capsys)


def test_a_new_field_becomes_an_option_a_parameter_and_a_row_automatically() -> None:
    requests: list[PackOfColours] = []

    @click.command("pack", cls=Verb)
    @takes(PackOfColours, "query", refs=None)
    def command(_: Invocation, request: PackOfColours) -> None:
        requests.append(request)

    command.main(["tea", "--colour", "red", "--colour", "blue"], standalone_mode=False, obj=Invocation())
    assert requests == [PackOfColours(query="tea", colours=("red", "blue"))]
    option = next(item for item in command.params if item.name == "colours")
    assert isinstance(option, click.Option)
    assert (option.opts, option.help) == (["--colour"], "Only records of these colours; may be repeated.")
    assert "colours: Sequence[str] = ()" in method_source(PackOfColours)
    assert "colours=tuple(colours)" in method_source(PackOfColours)
    assert "| `colours` | array of string | `[]` | Only records of these colours. |" in field_table(PackOfColours)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pack", "tea", "--user", "u", "--budget", "0"], "--budget must be from 1 to "),
        (["pack", "tea", "--user", "u", "--limit", "0"], "--limit must be from 1 to "),
        (["facts", "lint", "--limit", "0"], "--limit must be from 1 to 10000, not 0"),
        (["facts", "pack", "tea", "--budget", "1"], "--budget must be from 64 to "),
        (["session", "expand", "s", "s_1", "--depth", "0"], "--depth must be from 1 to 64, not 0"),
        (["session", "grep", "s", ""], "PATTERN must have 1 to 1000 characters, not 0"),
        (["timeline", "user:u/a", "--before", "-1"], "--before must be from 0 to 1000, not -1"),
    ],
)
def test_an_error_names_the_option_as_the_user_typed_it(arguments: list[str], sentence: str, clew: Clew) -> None:
    said = clew(*arguments, status=2)
    assert said.startswith(f"error: {sentence}")
    assert said.count("\n") == 1


def test_only_names_of_fields_become_options() -> None:
    typed = {"userId": "--user", "mode": "--mode", "text": "TEXT"}
    assert name_as_typed("give a userId, in any mode", typed) == "give a --user, in any mode"
    assert name_as_typed("mode must be one of a, b", typed) == "--mode must be one of a, b"
    assert name_as_typed("'userId' is no reference", typed) == "'userId' is no reference"

"""`clew completion`: the script that teaches a shell the verbs and options."""

from __future__ import annotations

import click

from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation


@click.command(
    "completion",
    cls=Verb,
    examples=[
        "clew completion bash >> ~/.bashrc",
        "clew completion fish | source",
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_obj
def command(invocation: Invocation, shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from clew.faces.cli.main import COMPLETE_VARIABLE, PROGRAM, cli

    kind = get_completion_class(shell)
    assert kind is not None  # the argument takes only shells that click knows
    script = kind(cli, {}, PROGRAM, COMPLETE_VARIABLE).source()
    invocation.show({"shell": shell, "script": script}, lambda answer: click.echo(answer["script"]))

"""`clew flush`: waits until everything stored is searchable by meaning, too."""

from __future__ import annotations

import click

from clew.api import Flushed
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.pending import drain


@click.command("flush", cls=Verb, examples=["clew flush"])
@click.pass_obj
def command(invocation: Invocation) -> None:
    """Wait until everything stored is searchable by meaning, too."""
    with invocation.open() as memory:
        invocation.show(drain(invocation, memory), _print_flushed)


def _print_flushed(flushed: Flushed) -> None:
    click.echo(f"done; {flushed.pending:,} texts wait")

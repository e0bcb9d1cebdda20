"""`clew reembed`: new vectors for every text, from the embedder that is set now."""

from __future__ import annotations

import click

from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.pending import requeue


@click.command("reembed", cls=Verb, examples=["clew reembed"])
@click.pass_obj
def command(invocation: Invocation) -> None:
    """Embed every text that the model set now has not embedded. Stopped, it goes on where it was."""
    requeue(invocation, everything=False)

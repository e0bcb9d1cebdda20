"""`clew reindex`: everything that is searched by, recomputed from the rows."""

from __future__ import annotations

import click

from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.pending import requeue


@click.command("reindex", cls=Verb, examples=["clew reindex"])
@click.pass_obj
def command(invocation: Invocation) -> None:
    """Recompute search terms and vectors of every text. Stopped, it goes on where it was."""
    requeue(invocation, everything=True)

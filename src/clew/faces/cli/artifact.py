"""`clew artifact`: a payload that was too long for the ledger."""

from __future__ import annotations

import click

from clew.api import Artifact, ReadArtifact
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_text


@click.command("artifact", cls=Verb, examples=["clew artifact aa01ba5dabf874b18607e27464b5be8764e33e01"])
@click.argument("name")
@click.option(
    "--max-chars", type=click.IntRange(min=1), metavar="N", default=20_000, show_default=True, help="How much."
)
@click.pass_obj
def command(invocation: Invocation, name: str, max_chars: int) -> None:
    """Show a long payload of a captured event, or its beginning; records and packs name it."""
    with invocation.open() as memory:
        found = memory.call(ReadArtifact(name=name, max_chars=max_chars))
    invocation.show(found, _print_artifact)


def _print_artifact(found: Artifact) -> None:
    print_text(found.text)

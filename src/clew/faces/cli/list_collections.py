"""`clew collections`: the names that `list`, `get` and `search --collection` take."""

from __future__ import annotations

import click

from clew.api import CollectionList
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_note, print_table


@click.command("collections", cls=Verb, examples=["clew collections"])
@click.pass_obj
def command(invocation: Invocation) -> None:
    """Show every collection and how many records it holds."""
    with invocation.open() as memory:
        invocation.show(memory.collections(), _print_collections)


def _print_collections(found: CollectionList) -> None:
    if found.collections:
        print_table(("records", "collection"), [(item.count, item.name) for item in found.collections])
    else:
        print_note("the store is empty")

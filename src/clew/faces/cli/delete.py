"""`clew delete`: takes records out of a collection. Raw history is refused by the store."""

from __future__ import annotations

import sys

import click

from clew.api import Done
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation


@click.command("delete", cls=Verb, examples=["clew delete global style", "clew delete user:ada --all --yes"])
@click.argument("collection")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Every record of the collection.")
@click.option("--yes", is_flag=True, help="Do not ask before --all.")
@click.pass_obj
def command(invocation: Invocation, *, collection: str, ids: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Delete records by id, or all of a collection. Raw turns are never deleted this way."""
    if bool(ids) == everything:
        raise click.UsageError("Give the ids to delete, or --all.")
    if everything and not yes:
        if invocation.json or not sys.stdin.isatty():
            raise click.UsageError("--all needs --yes where nobody can be asked.")
        click.confirm(f"Delete every record of {collection}?", abort=True, err=True)
    with invocation.open() as memory:
        done = memory.clear(collection) if everything else memory.delete(collection, *ids)
    invocation.show(done, _print_count)


def _print_count(done: Done) -> None:
    click.echo(f"deleted {done.count:,}")

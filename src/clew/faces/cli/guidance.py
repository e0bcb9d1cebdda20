"""`clew guidance`: what users laid down in passing, kept word for word through every compaction."""

from __future__ import annotations

import click

from clew.api import Done, GuidanceList, ListGuidance
from clew.core.collections import Collection, CollectionKind
from clew.errors import NotFound
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import local_time, one_line, preview, print_note


@click.group(
    "guidance",
    cls=VerbGroup,
    examples=["clew guidance list --user ada", "clew guidance forget s1/t_5f0c --user ada"],
)
def command() -> None:
    """See the turns that are kept because they guide, and take one back."""


@command.command("list", examples=["clew guidance list --user ada", "clew guidance list --session s1"])
@takes(ListGuidance)
def list_guidance(invocation: Invocation, request: ListGuidance) -> None:
    """List the guidance of a user or a session, oldest first, with the words that make it such."""
    if request.user_id is None and request.session_id is None:
        raise click.UsageError("Say whose: --user or --session.")
    invocation.answer(request, print_guidance)


@command.command(
    "forget", examples=["clew guidance forget s1/t_5f0c --user ada", "clew guidance forget elevated:user:ada/s1/t_5f0c"]
)
@click.argument("reference", metavar="ID")
@click.option("--user", metavar="ID", help="Whose it is.")
@click.option("--session", metavar="ID", help="Whose it is, where the user is not known.")
@click.pass_obj
def forget(invocation: Invocation, reference: str, user: str | None, session: str | None) -> None:
    """Take one piece of guidance back; the turn itself stays in the raw history.

    ID is what `clew guidance list` shows, with --user or --session; or COLLECTION/ID, as contexts cite it.
    """
    collection, id_ = _place(reference, user, session)
    with invocation.open() as memory:
        done = memory.delete(collection, id_)
    if not done.count:
        raise NotFound(f"not in {collection}: {id_}")
    invocation.show(done, _print_forgotten)


def print_guidance(found: GuidanceList) -> None:
    """Each piece under a line with its id, its time and the words that make it guidance."""
    if not found.items:
        print_note("no guidance")
    for item in found.items:
        cues = f"says {', '.join(item.cues)}" if item.cues else "kept for what it means"
        click.echo(
            f"{click.style(one_line(item.record.id), fg='cyan')}  {local_time(item.record.ts)}, {one_line(cues)}"
        )
        click.echo(f"  {preview(item.record.text)}")
        if item.superseded_by:
            click.echo(f"  superseded by {one_line(item.superseded_by)}")


def _place(reference: str, user: str | None, session: str | None) -> tuple[str, str]:
    """The collection and the id in it."""
    if user is not None and session is not None:
        raise click.UsageError("Give --user or --session, not both.")
    if user is not None:
        return Collection.guidance(user), reference
    if session is not None:
        return Collection.guidance(None, session), reference
    collection, slash, id_ = reference.partition("/")
    if not (slash and id_ and Collection(collection).kind is CollectionKind.GUIDANCE):
        raise click.UsageError("Say whose it is: --user or --session, or give COLLECTION/ID.")
    return collection, id_


def _print_forgotten(_: Done) -> None:
    click.echo("forgotten; the turn itself stays in the raw history")

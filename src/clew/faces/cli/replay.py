"""`clew replay`: a session from its start."""

from __future__ import annotations

import click

from clew.api import TimelineView
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.recall import print_lines
from clew.faces.cli.terminal import print_note


@click.command("replay", cls=Verb, examples=["clew replay s1", "clew replay s1 --limit 50 --cursor 100"])
@click.argument("session_id", metavar="SESSION")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", default=200, show_default=True, help="Lines a page."
)
@click.option("--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Where the next page starts.")
@click.pass_obj
def command(invocation: Invocation, *, session_id: str, limit: int, cursor: int) -> None:
    """Show a session from its start: turns and captured events, in the order of their times."""
    with invocation.open() as memory:
        invocation.show(memory.replay(session_id, cursor=cursor, limit=limit), _print_page)


def _print_page(page: TimelineView) -> None:
    print_lines(page.lines)
    if page.cursor is not None:
        print_note(f"more follow: --cursor {page.cursor}")

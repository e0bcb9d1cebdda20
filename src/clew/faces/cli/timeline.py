"""`clew timeline`: what was around a record."""

from __future__ import annotations

import click

from clew.api import TimelineView
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.recall import print_lines


@click.command(
    "timeline",
    cls=Verb,
    examples=["clew timeline session_raw:s1/t7", "clew timeline ledger:user:ada/e_5f0c --after 20"],
)
@click.argument("ref")
@click.option(
    "--before", type=click.IntRange(0, 1000), metavar="N", default=5, show_default=True, help="Lines before it."
)
@click.option(
    "--after", type=click.IntRange(0, 1000), metavar="N", default=5, show_default=True, help="Lines after it."
)
@click.pass_obj
def command(invocation: Invocation, *, ref: str, before: int, after: int) -> None:
    """Show what was around the record at REF (COLLECTION/ID), oldest first.

    Of a turn or a captured event, that is its session; of anything else, its collection. `clew get` shows the record.
    """
    with invocation.open() as memory:
        invocation.show(memory.timeline(ref, before=before, after=after), _print_view)


def _print_view(view: TimelineView) -> None:
    print_lines(view.lines)

"""`clew journal`: what hosts said about the ends and resets of their sessions."""

from __future__ import annotations

import click

from clew.api import Journal, ReadJournal
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import compact_json, local_time, print_note, print_table


@click.command("journal", cls=Verb, examples=["clew journal --session s1"])
@click.option("--session", metavar="ID", help="Only notes about this session.")
@click.option(
    "--limit", type=click.IntRange(1, 500), metavar="N", default=50, show_default=True, help="How many to show."
)
@click.pass_obj
def command(invocation: Invocation, session: str | None, limit: int) -> None:
    """Show the hosts' notes about session ends and resets."""
    with invocation.open() as memory:
        invocation.show(memory.call(ReadJournal(session_id=session, limit=limit)), _print_journal)


def _print_journal(journal: Journal) -> None:
    if not journal.entries:
        print_note("the journal is empty")
        return
    print_table(
        ("when", "hook", "session", "details"),
        [
            (
                local_time(entry.ts),
                entry.hook,
                entry.session_id,
                compact_json(entry.details),
            )
            for entry in journal.entries
        ],
    )

"""`clew purge`: removes a user, a session, a record or an outside source for good."""

from __future__ import annotations

import sys

import click

from clew.api import ListPurges, PurgeList, PurgeReceipt
from clew.cli.command import Verb
from clew.cli.invocation import Invocation
from clew.cli.terminal import local_time, print_fields, print_note, print_table

_FIGURES = {
    "records": "records",
    "turns": "of them raw turns",
    "summaries": "of them summaries",
    "memories": "of them memories",
    "observations": "of them captured events",
    "facts": "of them entries of facts",
    "plans": "of them plans",
    "log_lines": "of them lines of observation logs",
    "vectors": "vectors",
    "artifacts": "artifacts",
    "capture_lines": "lines of the capture log",
    "traces": "traces",
    "hints": "journal entries",
    "readmitted": "nodes back in an active view",
}


@click.command(
    "purge",
    cls=Verb,
    examples=[
        "clew purge --user ada --dry-run",
        "clew purge --source https://example.com/page --yes",
        "clew purge --record user:ada/m_5f0c --yes",
        "clew purge --list",
    ],
)
@click.option("--user", metavar="ID", help="Everything of this user, and the sessions in which nobody else spoke.")
@click.option("--session", metavar="ID", help="Everything of this session.")
@click.option("--record", "ref", metavar="REF", help="One record, as COLLECTION/ID.")
@click.option("--source", metavar="URL", help="Everything that came from this address.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@click.option("--list", "show_ledger", is_flag=True, help="Show the purges so far: when and how much, not what.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    user: str | None,
    session: str | None,
    ref: str | None,
    source: str | None,
    dry_run: bool,
    show_ledger: bool,
    yes: bool,
) -> None:
    """Remove for good, with everything made from it: raw turns, summaries, memories, captures.

    Nothing of the text is left in any file of the data folder. Backups elsewhere keep theirs until they are
    restored; then the purge is carried out again.
    """
    targets = [target for target in (user, session, ref, source) if target is not None]
    if show_ledger:
        if targets or dry_run:
            raise click.UsageError("--list shows every purge; it takes no target.")
        with invocation.open() as memory:
            invocation.show(memory.call(ListPurges()), _print_ledger)
        return
    if len(targets) != 1:
        raise click.UsageError("Give one of --user, --session, --record and --source.")
    if not (yes or dry_run):
        if invocation.json or not sys.stdin.isatty():
            raise click.UsageError("A purge needs --yes where nobody can be asked.")
        click.confirm(f"Remove {targets[0]} and everything made from it, for good?", abort=True, err=True)
    with invocation.open() as memory:
        receipt = memory.purge(user_id=user, session_id=session, ref=ref, source=source, dry_run=dry_run)
    invocation.show(receipt, _print_receipt)


def _print_receipt(receipt: PurgeReceipt) -> None:
    if receipt.records == receipt.capture_lines == 0:
        print_note("nothing to purge")
        return
    click.echo("would remove:" if receipt.dry_run else f"removed (purge {receipt.id}):")
    figures = {label: getattr(receipt, name) for name, label in _FIGURES.items()}
    print_fields({label: figure for label, figure in figures.items() if figure})


def _print_ledger(found: PurgeList) -> None:
    if not found.purges:
        print_note("nothing was purged")
        return
    rows = [(entry.id, local_time(entry.ts), entry.kind, entry.counts.get("records", 0)) for entry in found.purges]
    print_table(("purge", "when", "of a", "records"), rows)

"""`clew purge`: removes a user, a session, a record or an outside source for good."""

from __future__ import annotations

import sys
from typing import Any

import click
import msgspec

from clew.api import ListCopies, ListPurges, PurgeList, PurgeReceipt
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import local_time, print_fields, print_note, print_table

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
_WIRE_NAMES = {field.name: field.encode_name for field in msgspec.structs.fields(PurgeReceipt)}


@click.command(
    "purge",
    cls=Verb,
    examples=[
        "clew purge --user ada --dry-run",
        "clew purge --source https://example.com/page --yes",
        "clew purge --record user:ada/m_5f0c --yes",
        "clew purge --copies --dry-run",
        "clew purge --list",
    ],
)
@click.option("--user", metavar="ID", help="Everything of this user, and the sessions in which nobody else spoke.")
@click.option("--session", metavar="ID", help="Everything of this session.")
@click.option("--record", "ref", metavar="REF", help="One record, as COLLECTION/ID.")
@click.option("--source", metavar="URL", help="Everything that came from this address.")
@click.option("--copies", is_flag=True, help="Every session that holds nothing but turns of others.")
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
    copies: bool,
    dry_run: bool,
    show_ledger: bool,
    yes: bool,
) -> None:
    """Remove for good, with everything made from it: raw turns, summaries, memories, captures.

    Nothing of the text is left in any file of the data folder. Backups elsewhere keep theirs until they are
    restored; then the purge is carried out again.
    """
    targets = [target for target in (user, session, ref, source) if target is not None]
    if copies:
        if targets or show_ledger:
            raise click.UsageError("--copies finds its sessions itself; it takes no target.")
        _purge_copies(invocation, dry_run=dry_run, yes=yes)
        return
    if show_ledger:
        if targets or dry_run:
            raise click.UsageError("--list shows every purge; it takes no target.")
        with invocation.open() as memory:
            invocation.show(memory.call(ListPurges()), _print_ledger)
        return
    if len(targets) != 1:
        raise click.UsageError("Give one of --user, --session, --record, --source and --copies.")
    if not (yes or dry_run):
        _confirm(invocation, targets[0])
    with invocation.open() as memory:
        receipt = memory.purge(user_id=user, session_id=session, ref=ref, source=source, dry_run=dry_run)
    invocation.show(receipt, _print_receipt)


def _confirm(invocation: Invocation, what: str) -> None:
    if invocation.json or not sys.stdin.isatty():
        raise click.UsageError("A purge needs --yes where nobody can be asked.")
    click.confirm(f"Remove {what} and everything made from it, for good?", abort=True, err=True)


def _purge_copies(invocation: Invocation, *, dry_run: bool, yes: bool) -> None:
    """Each copy is a purge of its own, so that one that is interrupted leaves the rest for the next run."""
    with invocation.open() as memory:
        with invocation.progress("Comparing", None):
            found = memory.call(ListCopies()).copies
        if found and not (yes or dry_run):
            _confirm(invocation, f"{len(found)} copied sessions")
        receipts = []
        with invocation.progress("Looking" if dry_run else "Purging", len(found)) as report:
            for copy in found:
                receipts.append(memory.purge(session_id=copy.session_id, dry_run=dry_run))
                report(len(receipts))
    figures = {name: sum(getattr(receipt, name) for receipt in receipts) for name in _FIGURES}
    outcome: dict[str, Any] = {"dryRun": dry_run, "copies": [msgspec.to_builtins(copy) for copy in found]}
    outcome["removed"] = {_WIRE_NAMES[name]: figure for name, figure in figures.items()}
    invocation.show(outcome, _print_copies)


def _print_copies(outcome: dict[str, Any]) -> None:
    if not outcome["copies"]:
        print_note("no session is a copy of another")
        return
    print_table(
        ("copy", "turns", "why"), [(copy["sessionId"], copy["turns"], copy["reason"]) for copy in outcome["copies"]]
    )
    click.echo("would remove:" if outcome["dryRun"] else "removed:")
    figures = {label: outcome["removed"][_WIRE_NAMES[name]] for name, label in _FIGURES.items()}
    print_fields({label: figure for label, figure in figures.items() if figure})


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

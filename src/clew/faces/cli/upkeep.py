"""Verbs that look after a store: purge, verify, backup, restore, export."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click
import msgspec

from clew.api import (
    Backup,
    Export,
    ListCopies,
    ListPurges,
    MemoryApi,
    Purge,
    PurgeList,
    PurgeReceipt,
    Verify,
    VerifyReport,
)
from clew.errors import InvalidInput
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.fields import option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.output import replaced_whole
from clew.faces.cli.console.terminal import (
    counted,
    local_time,
    print_degraded,
    print_fields,
    print_note,
    print_table,
    print_text,
    safe_json,
)

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
@takes(Purge, ref=option("--record"))
@click.option("--copies", is_flag=True, help="Every session that holds nothing but turns of others.")
@click.option("--list", "show_ledger", is_flag=True, help="Show the purges so far: when and how much, not what.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge_command(invocation: Invocation, request: Purge, *, copies: bool, show_ledger: bool, yes: bool) -> None:
    """Remove for good, with everything made from it: raw turns, summaries, memories, captures.

    Nothing of the text is left in any file of the data folder. Backups elsewhere keep theirs until they are
    restored; then the purge is carried out again.
    """
    dry_run = request.dry_run
    given = (request.user_id, request.session_id, request.ref, request.source)
    targets = [target for target in given if target is not None]
    if copies:
        if targets or show_ledger:
            raise click.UsageError("--copies finds its sessions itself; it takes no target.")
        _purge_copies(invocation, dry_run=dry_run, yes=yes)
        return
    if show_ledger:
        if targets or dry_run:
            raise click.UsageError("--list shows every purge; it takes no target.")
        invocation.answer(ListPurges(), _print_ledger)
        return
    if len(targets) != 1:
        raise click.UsageError("Give one of --user, --session, --record, --source and --copies.")
    if not (yes or dry_run):
        _confirm(invocation, targets[0])
    invocation.answer(request, _print_receipt)


def _confirm(invocation: Invocation, what: str) -> None:
    invocation.confirm(f"Remove {what} and everything made from it, for good?", "A purge")


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
        print_note("nothing to purge" if receipt.dry_run else "nothing to purge; what was deleted earlier is erased")
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


NOT_OK = 1


@click.command("verify", cls=Verb, examples=["clew verify", "clew verify --repair"])
@takes(Verify)
def verify_command(invocation: Invocation, request: Verify) -> None:
    """Check that the store keeps its promises; status 1 when it does not."""
    if not invocation.answer(request, print_report).ok:
        raise click.exceptions.Exit(NOT_OK)


def print_report(report: VerifyReport) -> None:
    print_table(("holds", "check", "proof"), [(check.ok, check.name, check.proof) for check in report.checks])
    for check in report.checks:
        for problem in check.problems:
            print_text(f"{check.name}: {problem}")
    for line in report.repaired:
        print_text(f"repair: {line}")
    click.echo("verified: all checks hold" if report.ok else "not ok")


@click.command("backup", cls=Verb, examples=["clew backup ~/clew-monday.db"])
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def backup_command(invocation: Invocation, file: Path) -> None:
    """Copy the store to a new FILE that you alone can read, while it is in use.

    `clew restore` puts it back; what was purged meanwhile stays purged.
    """
    path = file.expanduser().absolute()
    with invocation.open() as memory:
        memory.call(Backup(path=str(path)))
    invocation.show({"file": str(path), "bytes": path.stat().st_size}, lambda _: click.echo(f"copied to {path}"))


@click.command("restore", cls=Verb, examples=["clew down", "clew restore ~/clew-monday.db --yes"])
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask before the store is replaced.")
@click.pass_obj
def restore_command(invocation: Invocation, file: Path, yes: bool) -> None:
    """Replace the store by the backup in FILE. The daemon must be down.

    The store that was there stays beside it as clew.db.before-restore, until the next purge. Purges that the
    backup is too old to know of are carried out again on it, which removes that file as well.
    """
    config = invocation.config()
    if config.database.exists() and not yes:
        invocation.confirm(f"Replace {config.database}?", "Replacing a store")
    from clew.engine import Memory
    from clew.faces.daemon.lock import data_lock
    from clew.storage.sqlite.restore import restore

    with data_lock(config.data_dir):
        restore(config.database, file.expanduser())
        with Memory.open(config) as memory:
            records = memory.status().record_count
            purges = len(memory.call(ListPurges()).purges)
    answer = {"database": str(config.database), "records": records, "purges": purges}
    invocation.show(
        answer, lambda _: click.echo(f"restored {counted(records, 'record')}; {counted(purges, 'purge')} in its ledger")
    )


@click.command("export", cls=Verb, examples=["clew export backup.jsonl", "clew export - | gzip > backup.gz"])
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@click.pass_obj
def export_command(invocation: Invocation, file: str) -> None:
    """Write every record as JSONL, to a file that you alone can read or to standard output."""
    if file == "-":
        _export_to_stdout(invocation)
        return
    target = Path(file)
    if target.exists() and not target.is_file():
        raise InvalidInput(f"{file} is not a regular file; use - for standard output")
    with invocation.open() as memory, replaced_whole(target) as stream:
        total = memory.status().record_count
        with invocation.progress("Exporting", total) as report:
            count = _write_lines(memory, stream, report)
    invocation.show({"file": file, "lines": count}, _print_count)


def _export_to_stdout(invocation: Invocation) -> None:
    if invocation.json:
        raise click.UsageError("With --json, name a FILE: the lines themselves are not one JSON object.")
    stream = sys.stdout.buffer
    with invocation.open() as memory:
        _write_lines(memory, stream, _unseen, safe_json if sys.stdout.isatty() else None)
    stream.flush()


def _unseen(_: int) -> None:
    """No bar is drawn over lines that may go to the same terminal."""


def _write_lines(
    memory: MemoryApi, stream: IO[bytes], report: Callable[[int], None], shown: Callable[[str], str] | None = None
) -> int:
    count = 0
    cursor: int | None = 0
    while cursor is not None:
        page = memory.call(Export(cursor=cursor))
        stream.writelines(f"{line if shown is None else shown(line)}\n".encode() for line in page.lines)
        count += len(page.lines)
        cursor = page.cursor
        print_degraded(page.degraded)
        report(count)
    return count


def _print_count(answer: dict[str, Any]) -> None:
    click.echo(f"exported {answer['lines']:,} lines to {answer['file']}")

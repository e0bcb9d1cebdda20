"""Verbs of the lifecycle: ageing, duplicates, labels."""

from __future__ import annotations

import click

from clew.api import Age, AgeReceipt, Done, Duplicate, DuplicateList, FindDuplicates, Label, Merge, RecordView, Revive
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.fields import option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    Cell,
    compact_json,
    counted,
    local_time,
    one_line,
    print_fields,
    print_heading,
    print_note,
)


@click.group(
    "lifecycle",
    cls=VerbGroup,
    examples=["clew lifecycle run", "clew lifecycle run --apply", "clew lifecycle revive user:ada/m_5f0c"],
)
def lifecycle_command() -> None:
    """Age what is kept: grade it, archive what nobody uses, mark contradictions, bring back."""


@lifecycle_command.command("run", examples=["clew lifecycle run", "clew lifecycle run --apply"])
@click.option("--apply", is_flag=True, help="Do it; without this, only show what would be done.")
@click.pass_obj
def run(invocation: Invocation, apply: bool) -> None:
    """Grade what has no grade, archive what was not used for long, mark contradictions.

    A dry run unless --apply is given. Archived records are out of ordinary recall, and come back by use or `revive`.
    """
    invocation.answer(Age(dry_run=not apply), print_receipt, doing="Ageing")


@lifecycle_command.command("status", examples=["clew lifecycle status"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Show when records were aged last, and what that did."""
    invocation.answer(Age(last=True), _print_last)


@lifecycle_command.command(
    "revive", examples=["clew lifecycle revive user:ada/m_5f0c", "clew lifecycle revive archive:global/dates"]
)
@takes(Revive, "refs")
def revive(invocation: Invocation, request: Revive) -> None:
    """Bring records back from the archive, by the reference they had or the one they have there."""
    invocation.answer(request, lambda done: _print_revived(done, len(request.refs)))


def print_receipt(receipt: AgeReceipt) -> None:
    """The figures of a run, and the first references it was about."""
    looked_at = counted(receipt.looked_at, "record")
    print_heading(f"{'Dry run: ' if receipt.dry_run else ''}looked at {looked_at}")
    print_fields(_figures(receipt))
    _print_refs("leaves ordinary recall" if receipt.dry_run else "archived", receipt.archived_refs)
    _print_refs("contradicted", receipt.contradiction_refs)
    if receipt.dry_run:
        print_note("nothing was changed; --apply does it")


def _figures(receipt: AgeReceipt) -> dict[str, Cell]:
    graded = ", ".join(f"{count:,} {label}" for label, count in receipt.graded.items())
    archived = ", ".join(f"{count:,} of {name}" for name, count in receipt.archived.items())
    return {
        "graded": graded or "none; all have a grade",
        "archived": archived or "none",
        "contradictions": f"{counted(receipt.contradictions, 'new pair')}",
    }


def _print_refs(what: str, refs: tuple[str, ...]) -> None:
    for ref in refs:
        click.echo(f"  {what}: {one_line(ref)}")


def _print_last(last: AgeReceipt) -> None:
    if last.ts == 0:
        print_note("records were never aged here; `clew lifecycle run` shows what a run would do")
        return
    print_heading(f"Last run {local_time(last.ts)}: looked at {counted(last.looked_at, 'record')}")
    print_fields(_figures(last))


def _print_revived(done: Done, asked: int) -> None:
    click.echo(f"{counted(done.count, 'record')} brought back")
    if done.count < asked:
        print_note("the others are not in the archive, or their id has been taken again")


@click.group(
    "duplicates",
    cls=VerbGroup,
    examples=["clew duplicates list user:ada", "clew duplicates merge user:ada/m_5f0c user:ada/m_77d1"],
)
def duplicates_command() -> None:
    """Find records that say the same or contradict each other, and merge what you decide."""


@duplicates_command.command(
    "list", examples=["clew duplicates list user:ada", "clew duplicates list global --min-similarity 0.8"]
)
@takes(FindDuplicates, "collection")
def list_duplicates(invocation: Invocation, request: FindDuplicates) -> None:
    """Propose what could be merged in COLLECTION, most similar first; nothing is changed."""
    invocation.answer(request, print_duplicates, doing="Comparing")


@duplicates_command.command("merge", examples=["clew duplicates merge user:ada/m_5f0c user:ada/m_77d1"])
@takes(Merge, "keep", "drop")
def merge(invocation: Invocation, request: Merge) -> None:
    """Let KEEP replace the DROP records, which go to the archive and lead to it.

    KEEP is then trusted no more than the least trusted of them. `clew lifecycle revive` brings one back.
    """
    invocation.answer(request, lambda done: _print_merged(done, request.keep))


def print_duplicates(found: DuplicateList) -> None:
    """Each proposal with its evidence."""
    for proposal in found.proposals:
        _print_proposal(proposal)
    if not found.proposals:
        print_note("no duplicates")
    print_note(_what_was_compared(found))


def _print_proposal(proposal: Duplicate) -> None:
    what = "contradiction" if proposal.contradiction else "duplicate"
    click.echo(f"{proposal.similarity:.3f}  {what}")
    click.echo(f"  keep  {click.style(one_line(proposal.keep), fg='cyan')}")
    click.echo(f"  drop  {click.style(one_line(proposal.drop), fg='cyan')}")
    for sentence in proposal.evidence:
        click.echo(f"        {one_line(sentence)}")


def _what_was_compared(found: DuplicateList) -> str:
    compared = f"{counted(found.looked_at, 'record')} compared"
    if found.compared_with_all < found.looked_at:
        return f"{compared}; of them the newest {found.compared_with_all:,} with all others"
    return compared


def _print_merged(done: Done, keep: str) -> None:
    click.echo(f"{counted(done.count, 'record')} merged into {one_line(keep)} and kept in the archive")


@click.command(
    "label",
    cls=Verb,
    examples=[
        "clew label user:ada/m_5f0c --importance must_remember",
        "clew label user:ada/m_5f0c --retention P2 --kind task",
        "clew label user:ada/m_5f0c --superseded-by user:ada/m_77d1",
        "clew label user:ada/m_5f0c --superseded-by ''",
    ],
)
@takes(Label, "ref", importance=option(metavar="LABEL"), retention=option(metavar="CLASS"))
def label_command(invocation: Invocation, request: Label) -> None:
    """Say what a record is; an empty word takes an earlier one back. The text stays as it is."""
    invocation.answer(request, print_marks)


def print_marks(record: RecordView) -> None:
    """What is known of a record beside its text, and who says so."""
    print_heading(f"{record.collection}/{record.id}")
    print_fields({name: _describe_mark(mark) for name, mark in sorted(record.marks.items())})


def _describe_mark(mark: dict[str, object]) -> Cell:
    value = mark.get("value")
    if isinstance(value, dict):
        value = value.get("label") or value.get("trust") or compact_json(value)
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    return f"{value or 'no'} ({mark.get('by')})"

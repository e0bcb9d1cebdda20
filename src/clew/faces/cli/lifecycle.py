"""Verbs of the lifecycle: ageing, duplicates, labels."""

from __future__ import annotations

import click

from clew.api import Age, AgeReceipt, Done, Duplicate, DuplicateList, FindDuplicates, Label, Merge, RecordView, Revive
from clew.faces.cli.console.command import Verb, VerbGroup
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


@lifecycle_command.command("run", cls=Verb, examples=["clew lifecycle run", "clew lifecycle run --apply"])
@click.option("--apply", is_flag=True, help="Do it; without this, only show what would be done.")
@click.pass_obj
def run(invocation: Invocation, apply: bool) -> None:
    """Grade what has no grade, archive what was not used for long, mark contradictions.

    A dry run unless --apply is given. Archived records are out of ordinary recall, and come back by use or `revive`.
    """
    with invocation.open() as memory, invocation.progress("Ageing", None) as report:
        report(0)
        receipt = memory.call(Age(dry_run=not apply))
    invocation.show(receipt, print_receipt)


@lifecycle_command.command("status", cls=Verb, examples=["clew lifecycle status"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Show when records were aged last, and what that did."""
    with invocation.open() as memory:
        invocation.show(memory.call(Age(last=True)), _print_last)


@lifecycle_command.command(
    "revive", cls=Verb, examples=["clew lifecycle revive user:ada/m_5f0c", "clew lifecycle revive archive:global/dates"]
)
@click.argument("refs", metavar="REF...", nargs=-1, required=True)
@click.pass_obj
def revive(invocation: Invocation, refs: tuple[str, ...]) -> None:
    """Bring records back from the archive, by the reference they had or the one they have there."""
    with invocation.open() as memory:
        done = memory.call(Revive(refs=refs))
    invocation.show(done, lambda _: _print_revived(done, len(refs)))


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
    "list", cls=Verb, examples=["clew duplicates list user:ada", "clew duplicates list global --min-similarity 0.8"]
)
@click.argument("collection")
@click.option(
    "--min-similarity",
    type=click.FloatRange(0.5, 1.0),
    metavar="X",
    default=0.9,
    show_default=True,
    help="How similar two records must be to be shown.",
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", default=100, show_default=True, help="How many to show."
)
@click.pass_obj
def list_duplicates(invocation: Invocation, collection: str, min_similarity: float, limit: int) -> None:
    """Propose what could be merged in COLLECTION, most similar first; nothing is changed."""
    request = FindDuplicates(collection=collection, min_similarity=min_similarity, limit=limit)
    with invocation.open() as memory, invocation.progress("Comparing", None) as report:
        report(0)
        found = memory.call(request)
    invocation.show(found, print_duplicates)


@duplicates_command.command("merge", cls=Verb, examples=["clew duplicates merge user:ada/m_5f0c user:ada/m_77d1"])
@click.argument("keep")
@click.argument("drop", metavar="DROP...", nargs=-1, required=True)
@click.pass_obj
def merge(invocation: Invocation, keep: str, drop: tuple[str, ...]) -> None:
    """Let KEEP stand for the DROP records, which go to the archive and lead to it.

    KEEP is then trusted no more than the least trusted of them. `clew lifecycle revive` brings one back.
    """
    with invocation.open() as memory:
        done = memory.call(Merge(keep=keep, drop=drop))
    invocation.show(done, lambda _: _print_merged(done, keep))


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
@click.argument("ref")
@click.option("--kind", metavar="KIND", help="fact, preference, decision, task, plan, observation, event or note.")
@click.option("--importance", metavar="LABEL", help="must_remember, nice_to_have or ignore.")
@click.option("--retention", metavar="CLASS", help="P0 is never archived, P1 and P2 after a while without use.")
@click.option("--superseded-by", metavar="REF", help="The record that holds in its place.")
@click.pass_obj
def label_command(
    invocation: Invocation,
    ref: str,
    *,
    kind: str | None,
    importance: str | None,
    retention: str | None,
    superseded_by: str | None,
) -> None:
    """Say what a record is; an empty word takes an earlier one back. The text stays as it is."""
    request = Label(ref=ref, kind=kind, importance=importance, retention=retention, superseded_by=superseded_by)
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_marks)


def print_marks(record: RecordView) -> None:
    """What is known of a record beside its text, and who says so."""
    print_heading(f"{record.collection}/{record.id}")
    print_fields({name: _said(mark) for name, mark in sorted(record.marks.items())})


def _said(mark: dict[str, object]) -> Cell:
    value = mark.get("value")
    if isinstance(value, dict):
        value = value.get("label") or value.get("trust") or compact_json(value)
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    return f"{value or 'no'} ({mark.get('by')})"

"""`clew lifecycle`: grades, the archive, and what the daily run did."""

from __future__ import annotations

import click

from clew.api import Age, AgeReceipt, Done, Revive
from clew.faces.cli.command import Verb, VerbGroup
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import Cell, counted, local_time, one_line, print_fields, print_heading, print_note


@click.group(
    "lifecycle",
    cls=VerbGroup,
    examples=["clew lifecycle run", "clew lifecycle run --apply", "clew lifecycle revive user:ada/m_5f0c"],
)
def command() -> None:
    """Age what is kept: grade it, archive what nobody uses, mark contradictions, bring back."""


@command.command("run", cls=Verb, examples=["clew lifecycle run", "clew lifecycle run --apply"])
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


@command.command("status", cls=Verb, examples=["clew lifecycle status"])
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Show when records were aged last, and what that did."""
    with invocation.open() as memory:
        invocation.show(memory.call(Age(last=True)), _print_last)


@command.command(
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

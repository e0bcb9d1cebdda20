"""`clew duplicates`: records that say the same, with the evidence, and merging them."""

from __future__ import annotations

import click

from clew.api import Done, Duplicate, DuplicateList, FindDuplicates, Merge
from clew.faces.cli.command import Verb, VerbGroup
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import counted, one_line, print_note


@click.group(
    "duplicates",
    cls=VerbGroup,
    examples=["clew duplicates list user:ada", "clew duplicates merge user:ada/m_5f0c user:ada/m_77d1"],
)
def command() -> None:
    """Find records that say the same or contradict each other, and merge what you decide."""


@command.command(
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


@command.command("merge", cls=Verb, examples=["clew duplicates merge user:ada/m_5f0c user:ada/m_77d1"])
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

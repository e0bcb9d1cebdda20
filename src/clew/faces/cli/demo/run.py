"""`clew demo`: the whole loop on bundled conversations, in a folder of its own."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from clew.api import Hit
from clew.config import Config
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import print_degraded, print_heading, print_table, print_text
from clew.faces.cli.context import print_context
from clew.faces.cli.demo.tour import COMPACTED, FINAL_QUERY, SESSIONS, Compacted, Tour, take_tour
from clew.faces.cli.guidance import print_guidance
from clew.faces.cli.history import print_receipt
from clew.faces.cli.upkeep import print_report

FAILED = 1


@click.command("demo", cls=Verb, examples=["clew demo", "clew demo --keep"])
@click.option("--keep", is_flag=True, help="Leave the demo's data folder to look at.")
@click.pass_obj
def command(invocation: Invocation, keep: bool) -> None:
    """Show the whole loop on bundled conversations, in under a minute."""
    from clew.engine import Memory

    with (
        _folder(keep) as folder,
        Memory.open(_demo_config(invocation, folder)) as memory,
        invocation.progress("Storing", None) as report,
    ):
        tour = take_tour(memory, str(folder), time.time_ns() // 1_000_000, report)
    invocation.show(tour, lambda answer: _print_tour(answer, keep))
    if not _kept_its_promises(tour):
        raise click.exceptions.Exit(FAILED)


def _kept_its_promises(tour: Tour) -> bool:
    lossless = tour.compacted.turns_as_said == tour.compacted.receipt.turns_removed
    return lossless and not tour.trespass.hits_of_others and tour.verified.ok


def _demo_config(invocation: Invocation, folder: Path) -> Config:
    """The user's own settings on the demo's folder."""
    return replace(invocation.config(), data_dir=folder)


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="clew-demo-"))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _print_tour(tour: Tour, keep: bool) -> None:
    _step(1, "Store", f"{len(SESSIONS)} conversations of two users, from three weeks ago to yesterday.")
    click.echo(f"{tour.stored} turns stored; given a second time, {tour.stored_again} were stored.")
    click.echo(f"{tour.memories} of the users' turns were worth keeping as memories.")
    _step(2, "Search", "Each hit with the scores of both lanes; `-` is a lane that did not run.")
    for answer in tour.answers:
        click.echo()
        print_heading(f"{answer.question.user} asks: {answer.question.text}")
        click.echo(answer.question.why)
        _print_hits(answer.result.hits)
    print_degraded(sorted({reason for answer in tour.answers for reason in answer.result.degraded}))
    _step(3, "Isolation", tour.trespass.question.why)
    trespass = tour.trespass
    click.echo(f"{trespass.question.user} asks: {trespass.question.text}")
    click.echo(f"{trespass.hits} hits of their own turns, {trespass.hits_of_others} of anyone else's.")
    _print_compaction(tour.compacted)
    _step(5, "Assemble", f"The context for maren's next question: {FINAL_QUERY}")
    print_context(tour.context)
    _print_expansion(tour.compacted)
    _step(7, "Verify", "The store proves its own promises.")
    print_report(tour.verified)
    _print_next(tour, keep)


def _print_compaction(compacted: Compacted) -> None:
    _step(4, "Compact", f"A summary replaces, in view, the old turns of {COMPACTED}.")
    print_receipt(compacted.receipt)
    click.echo()
    print_heading("What it says")
    print_text(compacted.summary.text, indent="  ")
    click.echo()
    print_heading("What the user laid down, kept word for word")
    print_guidance(compacted.guidance)


def _print_expansion(compacted: Compacted) -> None:
    _step(6, "Expand", f"Behind summary {compacted.summary.id} every turn is still there.")
    print_table(("role", "text"), [(turn.role, turn.text) for turn in compacted.turns])
    click.echo(f"{compacted.turns_as_said} of {compacted.receipt.turns_removed} turns are word for word what was said.")


def _step(number: int, name: str, sentence: str) -> None:
    click.echo()
    print_heading(f"── {number}. {name} {'─' * (80 - len(name))}")
    click.echo(sentence)


def _print_hits(hits: tuple[Hit, ...]) -> None:
    print_table(
        ("score", "lexical", "dense", "role", "text"),
        [(hit.scores.score, hit.scores.lexical, hit.scores.dense, hit.record.role, hit.record.text) for hit in hits],
    )


def _print_next(tour: Tour, keep: bool) -> None:
    click.echo()
    print_heading(f"Done in {tour.seconds:.1f} s. What to try next")
    if keep:
        click.echo(f"  clew search 'power cut' --user maren --data {tour.data_dir}")
        click.echo(f"  clew session show {COMPACTED} --depth 1 --data {tour.data_dir}")
    else:
        click.echo("  clew demo --keep                                  look around in the demo's store")
    click.echo("  clew ingest --session s1 --user me 'I like tea.'  keep a turn of your own")
    click.echo("  clew search tea --user me                         find it again")
    click.echo("  clew up                                           serve the store to agents")

"""`clew observe`: the dated log of what happened in a session."""

from __future__ import annotations

from functools import partial

import click

from clew.api import (
    ObservationLine,
    ObservationLog,
    ObservationStats,
    ObserveRebuild,
    ObserveReceipt,
    ObserveRun,
    ObserveShow,
    ObserveStats,
)
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    counted,
    one_line,
    preview,
    print_degraded,
    print_fields,
    print_heading,
    print_note,
    print_text,
)

_MARKS = {"high": "!", "medium": "-", "low": "."}


@click.group(
    "observe",
    cls=VerbGroup,
    examples=["clew observe show s1", "clew observe run s1 --force", "clew assemble --session s1 --mode observations"],
)
def observe_command() -> None:
    """Keep a dated log of what happened in a session, small enough for every prompt."""


@observe_command.command("show", examples=["clew observe show s1", "clew observe show s1 --block"])
@takes(ObserveShow, "session_id")
@click.option("--block", is_flag=True, help="The block itself, as it is in a context.")
def show(invocation: Invocation, request: ObserveShow, block: bool) -> None:
    """Show the log by day: ! matters most, - is useful, . is the first to go."""
    invocation.answer(request, _print_block if block else print_log)


@observe_command.command("run", examples=["clew observe run s1", "clew observe run s1 --force"])
@takes(ObserveRun, "session_id")
def run(invocation: Invocation, request: ObserveRun) -> None:
    """Turn into observations what the buffer has no room for; every turn stays in the raw history."""
    invocation.answer(request, partial(print_receipt, force=request.force), doing="Observing")


@observe_command.command("stats", examples=["clew observe stats s1"])
@takes(ObserveStats, "session_id")
def stats(invocation: Invocation, request: ObserveStats) -> None:
    """Show how long the log is, and how much of the session it covers."""
    invocation.answer(request, print_stats)


@observe_command.command("rebuild", examples=["clew observe rebuild s1"])
@takes(ObserveRebuild, "session_id")
def rebuild(invocation: Invocation, request: ObserveRebuild) -> None:
    """Make the log again from the raw history, by rules alone.

    The same turns, settings and token counter give the same bytes.
    """
    invocation.answer(request, _print_rebuilt, doing="Observing")


def print_log(log: ObservationLog) -> None:
    """The lines under their days, with what else is known of each behind it."""
    if not log.lines:
        print_note("nothing is observed yet; `clew observe run` does it, and so does a context in mode observations")
    day = ""
    for line in log.lines:
        if line.observed != day:
            print_heading(line.observed)
            day = line.observed
        who = click.style(one_line(line.who), fg="cyan")
        click.echo(f"  {_MARKS[line.priority]} {who}: {preview(line.text)}{_remarks(line)}")
    click.echo(f"{counted(len(log.lines), 'line')}, {log.tokens:,} tokens; {_buffer(log)}")


def print_receipt(receipt: ObserveReceipt, *, force: bool) -> None:
    if receipt.runs:
        pruned = f", {receipt.dropped:,} pruned or merged" if receipt.dropped else ""
        print_heading(f"{counted(receipt.runs, 'run')}: {counted(receipt.added, 'new line')}{pruned}")
    else:
        why = "the newest turns stay in the buffer" if force else "--force observes all but the newest turns"
        print_heading(f"Nothing was due ({why})")
    click.echo(f"{counted(receipt.lines, 'line')}, {receipt.tokens:,} tokens; {_buffer(receipt)}")
    print_degraded(receipt.degraded)


def print_stats(found: ObservationStats) -> None:
    print_fields(
        {
            "lines": f"{found.high + found.medium + found.low:,}: {found.high:,} high, {found.medium:,} medium, "
            f"{found.low:,} low",
            "tokens": f"{found.tokens:,}, {found.share:.1%} of the {found.observed_tokens:,} of the turns observed",
            "turns observed": f"{found.observed_turns:,}, of which {found.cited_turns:,} are cited",
            "turns in the buffer": f"{found.buffer_turns:,}, {found.buffer_tokens:,} tokens",
            "runs": f"{found.runs:,}, of which the reflector followed {found.reflections:,}",
        }
    )


def _print_block(log: ObservationLog) -> None:
    print_text(log.text)


def _print_rebuilt(receipt: ObserveReceipt) -> None:
    changed = receipt.added or receipt.dropped
    print_heading(
        f"Rebuilt: {counted(receipt.added, 'new line')}, {receipt.dropped:,} gone" if changed else "Rebuilt: as before"
    )
    click.echo(f"{counted(receipt.lines, 'line')}, {receipt.tokens:,} tokens; {_buffer(receipt)}")


def _remarks(line: ObservationLine) -> str:
    when = f"{line.referenced}, {line.relative}" if line.referenced else ""
    trust = line.trust if line.trust == "untrusted" else ""
    remarks = "; ".join(filter(None, (when, trust)))
    return f"  ({remarks})" if remarks else ""


def _buffer(found: ObservationLog | ObserveReceipt) -> str:
    return f"{counted(found.buffer_turns, 'turn')} in the buffer, {found.buffer_tokens:,} tokens"

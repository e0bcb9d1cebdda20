"""`clew observe`: the dated log of what happened in a session."""

from __future__ import annotations

from functools import partial

import click

from clew.api import ObservationLine, ObservationLog, ObservationStats, ObserveReceipt
from clew.faces.cli.console.command import Verb, VerbGroup
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

_session = click.argument("session_id", metavar="SESSION")


@click.group(
    "observe",
    cls=VerbGroup,
    examples=["clew observe show s1", "clew observe run s1 --force", "clew assemble --session s1 --mode observations"],
)
def observe_command() -> None:
    """Keep a dated log of what happened in a session, small enough to stand in every prompt."""


@observe_command.command("show", cls=Verb, examples=["clew observe show s1", "clew observe show s1 --block"])
@_session
@click.option("--block", is_flag=True, help="The block itself, as it stands in a context.")
@click.pass_obj
def show(invocation: Invocation, *, session_id: str, block: bool) -> None:
    """Show the log by day: ! matters most, - is useful, . is the first to go."""
    with invocation.open() as memory:
        log = memory.observe_show(session_id)
    invocation.show(log, _print_block if block else print_log)


@observe_command.command("run", cls=Verb, examples=["clew observe run s1", "clew observe run s1 --force"])
@_session
@click.option("--force", is_flag=True, help="Observe all but the newest turns, however few they are.")
@click.pass_obj
def run(invocation: Invocation, *, session_id: str, force: bool) -> None:
    """Turn into observations what the buffer has no room for; every turn stays in the raw history."""
    with invocation.open() as memory, invocation.progress("Observing", None) as report:
        report(0)
        receipt = memory.observe_run(session_id, force=force)
    invocation.show(receipt, partial(print_receipt, force=force))


@observe_command.command("stats", cls=Verb, examples=["clew observe stats s1"])
@_session
@click.pass_obj
def stats(invocation: Invocation, session_id: str) -> None:
    """Show how long the log is, and how much of the session it stands for."""
    with invocation.open() as memory:
        invocation.show(memory.observe_stats(session_id), print_stats)


@observe_command.command("rebuild", cls=Verb, examples=["clew observe rebuild s1"])
@_session
@click.pass_obj
def rebuild(invocation: Invocation, session_id: str) -> None:
    """Make the log again from the raw history, by rules alone.

    The same turns, settings and token counter give the same bytes.
    """
    with invocation.open() as memory, invocation.progress("Observing", None) as report:
        report(0)
        receipt = memory.observe_rebuild(session_id)
    invocation.show(receipt, _print_rebuilt)


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

"""What the verbs of `clew facts` share: their options, how a date is read, and how facts are printed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from clew.api import FactReceipt, FactView
from clew.faces.cli.terminal import Cell, one_line, print_note, print_table

user_option = click.option("--user", metavar="ID", help="Whose facts; without it, those for all.")
limit_option = click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", default=100, show_default=True, help="Facts a page."
)
cursor_option = click.option(
    "--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Where the next page starts."
)
predicate_option = click.option("--predicate", metavar="NAME", help="Only what has this predicate.")


class Moment(click.ParamType[int]):
    """A day or a time as ISO 8601 writes it, in UTC unless it says otherwise."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{one_line(str(value), 40)!r} is no date; write 2026-03-01 or 2026-03-01T09:30", param, ctx)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(aware.timestamp() * 1000)


MOMENT = Moment()


def print_receipt(receipt: FactReceipt) -> None:
    """What was written, since when it holds, and what it put an end to."""
    fact = receipt.fact
    click.echo(f"{click.style(one_line(fact.id), fg='cyan')}  {one_line(fact.text)}  {_span(fact)}")
    if not receipt.new:
        print_note("this was known already; nothing was written")
    for ended in receipt.ended:
        click.echo(f"{click.style('ended', fg='cyan')}  {one_line(ended.id)}  {one_line(ended.text)}  {_span(ended)}")
    if receipt.redacted:
        print_note(f"cut out before it was written: {', '.join(receipt.redacted)}")


def print_facts(facts: Sequence[FactView]) -> None:
    print_table(
        ("fact", "since", "until", "subject", "predicate", "object", "trust", "confidence", "sources"),
        [_row(fact) for fact in facts],
    )


def day(ts_ms: int | None) -> str:
    """A moment in UTC: its day, and its minute where it is not midnight."""
    if ts_ms is None:
        return ""
    moment = datetime.fromtimestamp(ts_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d}" if ts_ms % 86_400_000 == 0 else f"{moment:%Y-%m-%d %H:%M}"


def _row(fact: FactView) -> tuple[Cell, ...]:
    return (
        fact.id,
        day(fact.valid_from),
        _until(fact),
        fact.subject,
        fact.predicate,
        fact.object,
        fact.trust,
        fact.confidence,
        ", ".join(fact.sources),
    )


def _span(fact: FactView) -> str:
    until = _until(fact)
    return f"since {day(fact.valid_from)}" + (f" until {until}" if until else "")


def _until(fact: FactView) -> str:
    if fact.valid_to is not None and fact.valid_to <= fact.valid_from:
        return "never held"
    return day(fact.valid_to)

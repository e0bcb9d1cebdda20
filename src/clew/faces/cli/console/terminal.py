"""Printing: one JSON object, or text for people that cannot steer their terminal.

Stored text is not trusted. Control characters, escape sequences and direction overrides are shown
as visible escapes, in tables, in plain text and in JSON alike. To a terminal, tables are drawn to
its width; into a pipe, every row is one whole line.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol

import click

# C0 without tab and newline, DEL, C1, line and paragraph separators, direction marks and overrides.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

Cell = str | int | float | None


def safe(text: str) -> str:
    """The text with everything that could steer a terminal made visible."""
    return _STEERING.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int | None = None) -> str:
    """Safe text on one line, cut to `limit` characters where one is given."""
    line = safe(" ".join(text.split()))
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1]}…"


def preview(text: str) -> str:
    """One line of a record: cut for the eye on a terminal, whole in a pipe."""
    return one_line(text, 240 if sys.stdout.isatty() else None)


def print_json(value: Any) -> None:
    """Exactly one JSON object on one line."""
    click.echo(safe_json(compact_json(value)).encode("utf-8"))


def safe_json(text: str) -> str:
    """The same JSON with everything that could steer a terminal written as an escape."""
    return _STEERING.sub(_escape_json, text)


def compact_json(value: Any) -> str:
    """JSON as a cell of a table."""
    import msgspec

    from clew.core.structs import plain

    return msgspec.json.encode(value, enc_hook=plain).decode("utf-8")


_TOLD = "clew.degraded"
"""Where a command notes the reasons that it has printed."""


def print_error(code: int, message: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"code": code, "message": message}})
    else:
        click.echo(f"{click.style('error:', fg='red')} {one_line(message)}", err=True, color=_color())


def print_note(message: str) -> None:
    """A remark beside the answer, kept out of what a pipe carries on."""
    click.echo(f"{click.style('note:', fg='yellow')} {one_line(message)}", err=True, color=_color())


def print_more(cursor: int | None) -> None:
    """How to see the next page, where there is one."""
    if cursor is not None:
        print_note(f"more follow: --cursor {cursor}")


def print_degraded(reasons: Sequence[str]) -> None:
    """Each reason once a command, whether the verb prints it itself or leaves that to whoever shows the answer."""
    context = click.get_current_context(silent=True)
    told = set() if context is None else context.meta.setdefault(_TOLD, set())
    for reason in reasons:
        if reason not in told:
            told.add(reason)
            print_note(f"degraded: {reason}")


def print_text(text: str, indent: str = "") -> None:
    """Stored text as it is, made safe."""
    for line in safe(text).split("\n"):
        click.echo(f"{indent}{line}".rstrip() if indent else line)


def print_heading(text: str) -> None:
    click.echo(click.style(one_line(text), bold=True), color=_color())


def print_fields(pairs: Mapping[str, Cell]) -> None:
    """One `name  value` line each, values aligned."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        click.echo(f"{click.style(f'{name:<{width}}', fg='cyan')}  {_cell(value)}", color=_color())


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Columns of cells; the last one may be long and is folded, never cut."""
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = [_all_numbers([row[place] for row in rows]) for place in range(len(columns))]
    if sys.stdout.isatty():
        _print_drawn_table(columns, cells, numeric)
    else:
        _print_plain_table(columns, cells, numeric)


def local_time(ts_ms: int) -> str:
    """A stored time in the reader's own zone."""
    try:
        return datetime.fromtimestamp(ts_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return str(ts_ms)


def byte_size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


class Report(Protocol):
    def __call__(self, step: str, done: int, total: int) -> None:
        """Told how far a step is; a `total` of 0 is one that is not known."""


@contextmanager
def progress_bars(*, visible: bool) -> Iterator[Report]:
    """Yields a function that draws one bar a step; silent where nobody watches."""
    if not (visible and sys.stderr.isatty()):
        yield _report_to_nobody
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(one_line(step), total=None)
            bars.update(tasks[step], completed=done, total=total or None)

        yield report


def silence_stdout() -> None:
    """The reader of our pipe has gone; let the interpreter's last flush go nowhere, quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _report_to_nobody(step: str, done: int, total: int) -> None:
    """Stands in for bars that are not drawn."""


def _color() -> bool | None:
    return False if os.environ.get("NO_COLOR") else None


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def _escape_json(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else one_line(value)


def _all_numbers(values: Sequence[Cell]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(type(value) in (int, float) for value in given)


def _print_plain_table(columns: Sequence[str], cells: list[list[str]], numeric: list[bool]) -> None:
    lines = [list(columns), *cells]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    for line in lines:
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        click.echo("  ".join(padded).rstrip())


def _print_drawn_table(columns: Sequence[str], cells: list[list[str]], numeric: list[bool]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold cyan")
    for place, column in enumerate(columns):
        last = place == len(columns) - 1
        table.add_column(
            column,
            justify="right" if numeric[place] else "left",
            overflow="fold",
            no_wrap=numeric[place],
            ratio=1 if last and not numeric[place] else None,
        )
    for row in cells:
        table.add_row(*(Text(text) for text in row))
    plain = _color() is False  # bold is refused with colour
    Console(color_system=None if plain else "auto", highlight=False, markup=False, emoji=False).print(table)


def counted(count: int, noun: str) -> str:
    """A number of things, with the noun in the right number."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

"""`clew capture`: writes down what an agent did."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec

from clew.api import Captured, Event
from clew.core.model import Kind
from clew.errors import ClewError, InvalidInput
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.source import in_batches
from clew.faces.cli.terminal import one_line, print_note


@click.command(
    "capture",
    cls=Verb,
    examples=[
        "clew capture --session s1 --user ada --tool bash --text 'make test: 3 of 912 failed'",
        "clew capture --session s1 < events.jsonl",
    ],
)
@click.option("--text", metavar="TEXT", help="What happened. Without it, events are read from standard input.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in Kind]),
    metavar="KIND",
    help=f"{', '.join(Kind)}; else observation.",
)
@click.option("--tool", metavar="NAME", help="The tool whose outcome it is.")
@click.option("--session", metavar="ID", help="The session it happened in.")
@click.option("--user", metavar="ID", help="The user it happened for.")
@click.option("--source", metavar="URL", help="The outside address the text came from.")
@click.option("--payload", metavar="JSON", help="Arguments or output; what is no JSON counts as text.")
@click.option("--id", "id_", metavar="ID", help="Your id of the event; the same event again is kept once.")
@click.option("--ts", type=int, metavar="MS", help="Milliseconds since 1970; else now.")
@click.pass_obj
def command(
    invocation: Invocation, *, text: str | None, kind: str | None, tool: str | None, session: str | None,
    user: str | None, source: str | None, payload: str | None, id_: str | None, ts: int | None,
) -> None:  # fmt: skip
    """Write events to the capture log, without the secrets in them.

    Standard input holds one event or one a line: {"text", "kind", "tool", "payload", "sessionId", "userId", "source",
    "metadata", "id", "ts"}; all but the text may be left out, and the options stand in for what is missing.
    """
    given = {
        "kind": kind, "tool": tool, "sessionId": session, "userId": user, "source": source, "ts": ts,
    }  # fmt: skip
    shared = {name: value for name, value in given.items() if value is not None}
    if text is None:
        if payload is not None or id_ is not None:
            raise click.UsageError("--payload and --id belong to one event; give --text, too.")
        events = _read_events(shared)
    else:
        one = {"text": text, "payload": _json_or_text(payload)} | ({} if id_ is None else {"id": id_})
        events = iter([_event(shared | one, "the event")])
    _capture(invocation, events)


def _capture(invocation: Invocation, events: Iterator[Event]) -> None:
    limit_bytes = invocation.config().frame_limit_bytes // 2
    captured: list[Captured] = []
    file = None
    with invocation.open() as memory:
        try:
            for batch in in_batches(events, lambda event: len(msgspec.json.encode(event)), limit_bytes):
                receipt = memory.capture(*batch)
                captured += receipt.captured
                file = receipt.file
        except ClewError as error:
            done = f"the first {len(captured):,} events are captured" if captured else "nothing was captured"
            raise type(error)(f"{error.message}; {done}") from error
    invocation.show({"captured": captured, "file": file}, _print_receipt)


def _read_events(shared: dict[str, Any]) -> Iterator[Event]:
    """One object over any number of lines, or one a line."""
    if sys.stdin.isatty():
        raise click.UsageError("Give --text, or pipe events in.")
    return (_event(shared | found, place) for place, found in _numbered(sys.stdin.buffer))


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects and where they stand. Where the first line is none, all of them together may be one."""
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    for place, (number, line) in enumerate(numbered):
        found = _object(line)
        if found is None and place == 0:
            found = _object(line + b"".join(rest for _, rest in numbered))
        if found is None:
            raise InvalidInput(f"line {number} of standard input is no JSON object")
        yield f"line {number} of standard input", found


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _event(fields: dict[str, Any], place: str) -> Event:
    try:
        return msgspec.convert(fields, Event)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"{place}: {error}") from None


def _json_or_text(payload: str | None) -> Any:
    try:
        return None if payload is None else msgspec.json.decode(payload)
    except msgspec.DecodeError:
        return payload


def _print_receipt(answer: dict[str, Any]) -> None:
    for item in answer["captured"]:
        click.echo(f"captured {one_line(item.id)}")
        if item.redacted:
            print_note(f"cut out before it was written: {', '.join(item.redacted)}")
    if not answer["captured"]:
        print_note("no events")

"""Verbs of the ledger: capture, harvest, and looking up what happened."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from clew.api import (
    Artifact,
    Captured,
    Event,
    Harvest,
    HarvestReceipt,
    Line,
    ReadArtifact,
    Recall,
    RecallResult,
    Replay,
    SpoolReceipt,
    TakeSpool,
    Timeline,
    TimelineView,
)
from clew.core.model import Kind
from clew.errors import ClewError, InvalidInput
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.fields import HITS, one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.source import exact_text_or_stdin, in_batches
from clew.faces.cli.console.terminal import (
    counted,
    local_time,
    one_line,
    preview,
    print_degraded,
    print_more,
    print_note,
    print_table,
    print_text,
    safe,
)


@click.command(
    "capture",
    cls=Verb,
    examples=[
        "clew capture --session s1 --user ada --tool bash --text 'make test: 3 of 912 failed'",
        "clew capture --session s1 < events.jsonl",
    ],
)
@click.option("--text", metavar="TEXT", help="What happened. Without it, events are read from standard input.")
@takes(Event, text="", kind=option(type=one_of(Kind), metavar="KIND"))
@click.option("--payload", metavar="JSON", help="Arguments or output; what is no JSON counts as text.")
def capture_command(invocation: Invocation, event: Event, text: str | None, payload: str | None) -> None:
    """Write events to the capture log, without the secrets in them.

    Standard input holds one event or one a line: {"text", "kind", "tool", "payload", "sessionId", "userId", "source",
    "metadata", "id", "ts"}; all but the text may be left out, and the options replace what is missing.
    """
    if text is not None:
        _capture(invocation, iter([replace(event, text=text, payload=_json_or_text(payload))]))
        return
    if payload is not None or event.id is not None:
        raise click.UsageError("--payload and --id belong to one event; give --text, too.")
    shared = msgspec.to_builtins(event)
    del shared["text"]
    _capture(invocation, _read_events(shared))


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
    invocation.show({"captured": captured, "file": file}, _print_capture_receipt)


def _read_events(shared: dict[str, Any]) -> Iterator[Event]:
    """One object over any number of lines, or one a line."""
    if sys.stdin.isatty():
        raise click.UsageError("Give --text, or pipe events in.")
    return (_event(shared | found, place) for place, found in _number_objects(sys.stdin.buffer))


def _number_objects(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects and their places. Where the first line is none, all lines together may be one."""
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


def _print_capture_receipt(answer: dict[str, Any]) -> None:
    for item in answer["captured"]:
        click.echo(f"captured {one_line(item.id)}")
        if item.redacted:
            print_note(f"cut out before it was written: {', '.join(item.redacted)}")
    if not answer["captured"]:
        print_note("no events")


@click.command("harvest", cls=Verb, examples=["clew harvest", "clew harvest events.jsonl"])
@takes(
    Harvest, "path", path=option(metavar="[FILE]", type=click.Path(dir_okay=False, resolve_path=True)), max_lines=None
)
def harvest_command(invocation: Invocation, request: Harvest) -> None:
    """Read captured events into the ledger, from where the last harvest stopped.

    Without FILE, the capture log of the data folder. A line that cannot be read is set aside with the reason, and the
    harvest goes on.
    """
    steps: list[HarvestReceipt] = []
    with invocation.open() as memory, invocation.stages() as report:
        while not (steps and steps[-1].done):
            steps.append(memory.call(request))
            report("Harvesting", steps[-1].read_bytes, steps[-1].total_bytes)
    reasons = sum((Counter(step.reasons) for step in steps), Counter[str]())
    receipt = HarvestReceipt(
        lines=sum(step.lines for step in steps),
        stored=sum(step.stored for step in steps),
        unchanged=sum(step.unchanged for step in steps),
        set_aside=sum(step.set_aside for step in steps),
        reasons=dict(sorted(reasons.items())),
        read_bytes=steps[-1].read_bytes,
        total_bytes=steps[-1].total_bytes,
    )
    invocation.show(receipt, _print_receipt)


def _print_receipt(receipt: HarvestReceipt) -> None:
    if receipt.lines == 0:
        print_note("nothing new; what is captured is also harvested in the background")
        return
    print_table(
        ("lines", "stored", "there already", "set aside"),
        [(receipt.lines, receipt.stored, receipt.unchanged, receipt.set_aside)],
    )
    for reason, count in receipt.reasons.items():
        print_note(f"set aside {count:,}: {reason}; see captures/set-aside.jsonl in the data folder")


@click.command("spool", cls=Verb, examples=["clew spool"])
@click.pass_obj
def spool_command(invocation: Invocation) -> None:
    """Take in the events that hooks wrote to disk because no daemon answered them.

    A daemon does this by itself, at its start and while it runs. A line that cannot be taken in is set aside with the
    reason.
    """
    steps: list[SpoolReceipt] = []
    with invocation.open() as memory:
        while not steps or (steps[-1].waiting and _handled(steps[-1])):
            steps.append(memory.call(TakeSpool()))
    receipt = SpoolReceipt(
        taken=sum(step.taken for step in steps),
        unchanged=sum(step.unchanged for step in steps),
        set_aside=sum(step.set_aside for step in steps),
        waiting=steps[-1].waiting,
        dropped=steps[-1].dropped,
    )
    invocation.show(receipt, _print_spool)


def _handled(step: SpoolReceipt) -> int:
    return step.taken + step.unchanged + step.set_aside


def _print_spool(receipt: SpoolReceipt) -> None:
    if not (_handled(receipt) or receipt.waiting or receipt.dropped):
        print_note("nothing waits")
        return
    print_table(
        ("taken in", "there already", "set aside", "waiting", "dropped"),
        [(receipt.taken, receipt.unchanged, receipt.set_aside, receipt.waiting, receipt.dropped)],
    )
    if receipt.set_aside:
        print_note("lines that could not be taken in are in spool-aside in the data folder, each with the reason")
    if receipt.dropped:
        print_note("dropped events had no room in the spool; this is their number over all time")


@click.command(
    "recall",
    cls=Verb,
    examples=[
        "clew recall 'which database did we choose' --user ada",
        "clew recall 'failing tests' --session s1 --episodes --mode lexical",
        "clew recall release --user ada --kind plan --kind decision",
    ],
)
@takes(
    Recall,
    "text",
    text=option(metavar="QUERY"),
    mode=option(type=one_of(("hybrid", "lexical", "vector")), metavar="MODE"),
    kinds=option(type=one_of(Kind), metavar="KIND"),
    k=HITS,
)
def recall_command(invocation: Invocation, request: Recall) -> None:
    """Find records and captured events, one line each. `clew timeline` shows what was around one."""
    if not (request.user_id or request.session_id):
        raise click.UsageError("Say where to look: --user or --session.")
    invocation.answer(request, _print_result)


def print_lines(lines: tuple[Line, ...]) -> None:
    """The table of lines that recall, timeline and replay share; the reference is what the next step takes."""
    print_table(
        ("when", "kind", "who", "trust", "importance", "ref", "text"),
        [
            (local_time(line.ts), line.kind, line.who, line.trust, line.importance, line.ref, preview(line.text))
            for line in lines
        ],
    )


def _print_result(found: RecallResult) -> None:
    if found.lines:
        print_lines(found.lines)
    else:
        print_note("nothing found")
    print_degraded(found.degraded)


@click.command(
    "timeline",
    cls=Verb,
    examples=["clew timeline session_raw:s1/t7", "clew timeline ledger:user:ada/e_5f0c --after 20"],
)
@takes(Timeline, "ref")
def timeline_command(invocation: Invocation, request: Timeline) -> None:
    """Show what was around the record at REF (COLLECTION/ID), oldest first.

    Of a turn or a captured event, that is its session; of anything else, its collection. `clew get` shows the record.
    """
    invocation.answer(request, _print_page)


@click.command("replay", cls=Verb, examples=["clew replay s1", "clew replay s1 --limit 50 --cursor 100"])
@takes(Replay, "session_id")
def replay_command(invocation: Invocation, request: Replay) -> None:
    """Show a session from its start: turns and captured events, in the order of their times."""
    invocation.answer(request, _print_page)


def _print_page(page: TimelineView) -> None:
    print_lines(page.lines)
    print_more(page.cursor)


@click.command("artifact", cls=Verb, examples=["clew artifact aa01ba5dabf874b18607e27464b5be8764e33e01"])
@takes(ReadArtifact, "name")
def artifact_command(invocation: Invocation, request: ReadArtifact) -> None:
    """Show a long payload of a captured event, or its beginning; records and packs name it."""
    invocation.answer(request, _print_artifact)


def _print_artifact(found: Artifact) -> None:
    print_text(found.text)


@click.command(
    "redact", cls=Verb, examples=["clew redact < deploy.log", "clew redact --pii 'Mail me at ann@example.org'"]
)
@click.argument("text", required=False)
@click.option("--pii", is_flag=True, help="Cut personal data, too: addresses, numbers of phones, cards and accounts.")
@click.pass_obj
def redact_command(invocation: Invocation, text: str | None, pii: bool) -> None:
    """Cut secrets out of TEXT, or of standard input, and print the rest. Nothing is kept."""
    from clew.text.redaction import Policy, redact

    clean = redact(exact_text_or_stdin(text), Policy.PII if pii else Policy.SECRETS)
    found = [{"kind": cut.kind, "start": cut.start, "end": cut.end} for cut in clean.found]
    invocation.show({"text": clean.text, "found": found}, _print_clean)


def _print_clean(answer: dict[str, Any]) -> None:
    text = safe(answer["text"]) if sys.stdout.isatty() else answer["text"]
    click.echo(text, nl=not text.endswith("\n"))
    if answer["found"]:
        print_note(f"cut {counted(len(answer['found']), 'secret')}")

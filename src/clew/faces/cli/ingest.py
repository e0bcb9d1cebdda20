"""`clew ingest`: one turn, or a whole conversation from a file."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from clew.api import Ingest, IngestReceipt, Message
from clew.core.model import Role
from clew.errors import InvalidInput
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.source import in_batches, text_or_stdin
from clew.faces.cli.terminal import one_line, print_note
from clew.faces.transcripts import BadLine, Transcript, read_transcript

LISTED_BAD_LINES = 20


@click.command(
    "ingest",
    cls=Verb,
    examples=[
        "clew ingest --session s1 --user ada 'We deploy on Fridays, never on Mondays.'",
        "clew ingest --session s1 --user ada --file conversation.jsonl",
    ],
)
@click.argument("text", required=False)
@click.option("--session", required=True, metavar="ID", help="The session the turn belongs to.")
@click.option("--user", metavar="ID", help="The user it belongs to.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    metavar="ROLE",
    default="user",
    show_default=True,
    help="Who speaks.",
)
@click.option("--speaker", metavar="NAME", help="The speaker's name; becomes searchable.")
@click.option("--id", "id_", metavar="ID", help="Your id of the turn; the same turn again is stored once.")
@click.option("--ts", type=int, metavar="MS", help="Milliseconds since 1970; else now.")
@click.option(
    "--file",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help='JSONL, one {"role", "text"} object a line; - is standard input.',
)
@click.option("--skip-bad", is_flag=True, help="With --file: leave bad lines out instead of storing nothing.")
@click.pass_obj
def command(
    invocation: Invocation, *, text: str | None, session: str, user: str | None, file: str | None,
    skip_bad: bool, role: str, speaker: str | None, id_: str | None, ts: int | None,
) -> None:  # fmt: skip
    """Keep a turn for good. Without TEXT and --file, reads the turn from standard input."""
    if file is None:
        message = Message(role=role, text=text_or_stdin(text), id=id_, ts=ts, speaker=speaker)
        _ingest_turn(invocation, session, user, message)
        return
    if text is not None or speaker or id_ or ts is not None:
        raise click.UsageError("--file brings its own turns; leave out TEXT, --speaker, --id and --ts.")
    _ingest_file(invocation, session, user, file, skip_bad)


def _ingest_turn(invocation: Invocation, session: str, user: str | None, message: Message) -> None:
    with invocation.open() as memory:
        receipt = memory.call(Ingest(session_id=session, message=message, user_id=user))
    invocation.show(receipt, _print_receipt)


def _print_receipt(receipt: IngestReceipt) -> None:
    click.echo(f"{'stored' if receipt.stored else 'was there already:'} {one_line(receipt.id)}")
    if receipt.redacted:
        print_note(f"cut out before it was stored: {', '.join(receipt.redacted)}")


def _ingest_file(invocation: Invocation, session: str, user: str | None, file: str, skip_bad: bool) -> None:
    config = invocation.config()
    with click.open_file(file, "rb") as lines:
        transcript = read_transcript(lines, session, config.max_text_bytes)
    if transcript.bad and not skip_bad:
        raise InvalidInput(_describe(file, transcript))
    stored = done = 0
    with invocation.open() as memory, invocation.progress("Storing", len(transcript.messages)) as report:
        for batch in in_batches(transcript.messages, _wire_size, config.frame_limit_bytes // 2):
            receipts = memory.ingest_batch(session, batch, user_id=user).receipts
            stored += sum(receipt.stored for receipt in receipts)
            done += len(batch)
            report(done)
    duplicates = done - stored
    answer = {"file": file, "stored": stored, "duplicates": duplicates, "bad": transcript.bad}
    invocation.show(answer, _print_counts)


def _wire_size(message: Message) -> int:
    return len(msgspec.json.encode(message))


def _describe(file: str, transcript: Transcript) -> str:
    count, total = len(transcript.bad), len(transcript.bad) + len(transcript.messages)
    listed = "; ".join(_bad_line(bad) for bad in transcript.bad[:LISTED_BAD_LINES])
    more = f"; and {count - LISTED_BAD_LINES:,} more" if count > LISTED_BAD_LINES else ""
    return (
        f"{file}: {count:,} of {total:,} lines cannot be read; nothing was stored "
        f"(--skip-bad stores the others): {listed}{more}"
    )


def _bad_line(bad: BadLine) -> str:
    return f"line {bad.line}: {bad.reason}"


def _print_counts(answer: dict[str, Any]) -> None:
    for bad in answer["bad"]:
        print_note(f"left out {_bad_line(bad)}")
    click.echo(f"stored {answer['stored']:,} turns; {answer['duplicates']:,} were there already")

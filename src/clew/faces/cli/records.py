"""Verbs on turns, records and collections."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from msgspec.structs import replace

from clew.api import (
    Clear,
    CollectionList,
    Delete,
    Done,
    Get,
    Hit,
    Ingest,
    IngestReceipt,
    ListCollections,
    ListRecords,
    Message,
    Put,
    PutReceipt,
    Records,
    RecordView,
    Search,
    SearchResult,
)
from clew.core.model import Role
from clew.core.projects import PROJECT as PROJECT_KEY
from clew.errors import InvalidInput, NotFound
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.fields import HITS, PROJECT, one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.source import in_batches, text_or_stdin
from clew.faces.cli.console.terminal import (
    compact_json,
    local_time,
    one_line,
    preview,
    print_degraded,
    print_error,
    print_fields,
    print_json,
    print_more,
    print_note,
    print_table,
    print_text,
)
from clew.faces.transcripts import BadLine, Transcript, read_transcript


@click.command(
    "search",
    cls=Verb,
    examples=[
        "clew search 'which database did we choose' --user ada",
        "clew search E1047 --collection session_raw:s1 -k 3",
    ],
)
@takes(Search, "text", text=option(metavar="QUERY"), k=HITS)
def search_command(invocation: Invocation, request: Search) -> None:
    """Find records by words and by meaning, best first."""
    if not (request.user_id or request.session_id or request.collections):
        raise click.UsageError("Say where to search: --user, --session or --collection.")
    invocation.answer(request, _print_result)


def _print_result(result: SearchResult) -> None:
    if result.hits:
        print_hits(result.hits)
    else:
        print_note("nothing found")
    print_degraded(result.degraded)


def print_hits(hits: tuple[Hit, ...]) -> None:
    """The table of hits that search, assembly and the demo share; `-` is a lane that did not run."""
    print_table(
        ("score", "lexical", "dense", "context", "when", "collection", "id", "text"),
        [
            (
                hit.scores.score,
                hit.scores.lexical,
                hit.scores.dense,
                hit.scores.context,
                local_time(hit.record.ts),
                hit.record.collection,
                hit.record.id,
                preview(hit.record.text),
            )
            for hit in hits
        ],
    )


@click.command("get", cls=Verb, examples=["clew get user:ada m_5f0c", "clew get session_raw:s1 t1 t2 --json"])
@takes(Get, "collection", "ids")
def get_command(invocation: Invocation, request: Get) -> None:
    """Show whole records by their ids; status 3 when one is not there."""
    with invocation.open() as memory:
        records = memory.call(request).records
    missing = sorted(set(request.ids) - {record.id for record in records})
    if invocation.json:
        print_json({"records": records, "missing": missing})
    else:
        _print_whole_records(records)
        if missing:
            print_error(NotFound.code, f"not in {request.collection}: {', '.join(missing)}", as_json=False)
    if missing:
        raise click.exceptions.Exit(NotFound.exit_status)


def _print_whole_records(records: tuple[RecordView, ...]) -> None:
    for place, record in enumerate(records):
        if place:
            click.echo()
        print_fields(
            {
                "id": record.id,
                "collection": record.collection,
                "when": local_time(record.ts),
                "role": record.role,
                "from": f"{record.provenance}, {record.trust}, stability {record.stability:g}",
                "tokens": record.tokens,
                "version": record.version,
                "used": f"{record.access_count} times",
                "metadata": compact_json(record.metadata),
            }
        )
        print_text(record.text, indent="  ")


@click.command(
    "put",
    cls=Verb,
    examples=["clew put global dates 'Year first.' --metadata '{\"by\":\"ada\"}'"],
)
@takes(Put, "collection", "id", text="")
@click.option("--metadata", metavar="JSON", help="An object to keep with the record.")
@click.argument("text", required=False)
def put_command(invocation: Invocation, request: Put, text: str | None, metadata: str | None) -> None:
    """Store a record; the same id again replaces it. Without TEXT, reads standard input."""
    details = _metadata(metadata)
    invocation.answer(replace(request, text=text_or_stdin(text), metadata=details), _print_put_receipt)


def _metadata(text: str | None) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise click.UsageError(f"--metadata must be a JSON object: {error}") from error


def _print_put_receipt(receipt: PutReceipt) -> None:
    click.echo(f"{'stored as' if receipt.changed else 'unchanged at'} version {receipt.version}")


@click.command("delete", cls=Verb, examples=["clew delete global style", "clew delete user:ada --all --yes"])
@takes(Delete, "collection", "ids", ids=option(required=False, metavar="[ID]..."))
@click.option("--all", "everything", is_flag=True, help="Every record of the collection.")
@click.option("--yes", is_flag=True, help="Do not ask before --all.")
def delete_command(invocation: Invocation, request: Delete, everything: bool, yes: bool) -> None:
    """Delete records by id, or all of a collection. Raw turns are never deleted this way."""
    if bool(request.ids) == everything:
        raise click.UsageError("Give the ids to delete, or --all.")
    if everything and not yes:
        invocation.confirm(f"Delete every record of {request.collection}?", "--all")
    invocation.answer(Clear(collection=request.collection) if everything else request, _print_count)


def _print_count(done: Done) -> None:
    click.echo(f"deleted {done.count:,}")


@click.command("collections", cls=Verb, examples=["clew collections"])
@click.pass_obj
def collections_command(invocation: Invocation) -> None:
    """Show every collection and how many records it holds."""
    invocation.answer(ListCollections(), _print_collections)


def _print_collections(found: CollectionList) -> None:
    if found.collections:
        print_table(("records", "collection"), [(item.count, item.name) for item in found.collections])
    else:
        print_note("the store is empty")


@click.command(
    "list",
    cls=Verb,
    examples=[
        "clew list user:ada",
        "clew list session_raw:s1 --limit 5",
        "clew list notes --where by=ada",
    ],
)
@takes(ListRecords, "collection", limit=option(default=50), key=None)
@click.option("--where", metavar="KEY=VALUE", help="Only records whose metadata holds this.")
def list_command(invocation: Invocation, request: ListRecords, where: str | None) -> None:
    """List the records of a collection, oldest first."""
    key, value = _condition(where)
    invocation.answer(replace(request, key=key, value=value), _print_records)


def _condition(where: str | None) -> tuple[str | None, Any]:
    if where is None:
        return None, None
    key, equals, text = where.partition("=")
    if not (key and equals):
        raise click.UsageError(f"--where takes KEY=VALUE, not {where!r}")
    try:
        return key, msgspec.json.decode(text)
    except msgspec.DecodeError:
        return key, text


def _print_records(found: Records) -> None:
    if not found.records:
        print_note("no records")
        return
    print_table(
        ("when", "role", "trust", "id", "text"),
        [
            (local_time(record.ts), record.role, record.trust, record.id, preview(record.text))
            for record in found.records
        ],
    )
    print_more(found.cursor)


LISTED_BAD_LINES = 20


@click.command(
    "ingest",
    cls=Verb,
    examples=[
        "clew ingest --session s1 --user ada 'We deploy on Fridays, never on Mondays.'",
        "clew ingest --session s1 --user ada --file conversation.jsonl",
    ],
)
@takes(
    Ingest,
    text="",
    role=option(type=one_of(Role), metavar="ROLE", help="Who speaks.", required=False, default=Role.USER.value),
    tool_call_ids=None,
    tool_call_id=None,
    source=None,
    heartbeat=None,
)
@click.option(
    "--file",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help='JSONL, one {"role", "text"} object a line; - is standard input.',
)
@click.option("--project", **PROJECT.settings, help="The project that the turns are of.")
@click.option("--skip-bad", is_flag=True, help="With --file: leave bad lines out instead of storing nothing.")
@click.argument("text", required=False)
def ingest_command(
    invocation: Invocation, request: Ingest, *, text: str | None, file: str | None, project: str | None, skip_bad: bool
) -> None:
    """Keep a turn for good. Without TEXT and --file, reads the turn from standard input."""
    turn = _in_project(request.message, project)
    if file is None:
        turn = replace(turn, text=text_or_stdin(text))
        invocation.answer(replace(request, message=turn), _print_receipt)
        return
    if text is not None or turn.speaker or turn.id or turn.ts is not None:
        raise click.UsageError("--file brings its own turns; leave out TEXT, --speaker, --id and --ts.")
    _ingest_file(invocation, request, file, project, skip_bad)


def _in_project(turn: Message, project: str | None) -> Message:
    """The turn, of this project unless it names one."""
    return turn if project is None else replace(turn, metadata={PROJECT_KEY: project} | turn.metadata)


def _print_receipt(receipt: IngestReceipt) -> None:
    click.echo(f"{'stored' if receipt.stored else 'was there already:'} {one_line(receipt.id)}")
    if receipt.redacted:
        print_note(f"cut out before it was stored: {', '.join(receipt.redacted)}")


def _ingest_file(invocation: Invocation, request: Ingest, file: str, project: str | None, skip_bad: bool) -> None:
    config, session, user = invocation.config(), request.session_id, request.user_id
    with click.open_file(file, "rb") as lines:
        transcript = read_transcript(lines, session, config.max_text_bytes)
    if transcript.bad and not skip_bad:
        raise InvalidInput(_describe(file, transcript))
    stored = done = 0
    with invocation.open() as memory, invocation.progress("Storing", len(transcript.messages)) as report:
        turns = [_in_project(turn, project) for turn in transcript.messages]
        for batch in in_batches(turns, _wire_size, config.frame_limit_bytes // 2):
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

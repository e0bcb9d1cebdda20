"""`clew list`: the records of one collection, page by page."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from clew.api import ListRecords, Records
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import local_time, preview, print_note, print_table


@click.command(
    "list",
    cls=Verb,
    examples=[
        "clew list user:ada",
        "clew list session_raw:s1 --limit 5",
        "clew list notes --where by=ada",
    ],
)
@click.argument("collection")
@click.option(
    "--limit", type=click.IntRange(1, 1000), metavar="N", default=50, show_default=True, help="Records a page."
)
@click.option("--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Where the next page starts.")
@click.option("--where", metavar="KEY=VALUE", help="Only records whose metadata holds this.")
@click.pass_obj
def command(invocation: Invocation, collection: str, limit: int, cursor: int, where: str | None) -> None:
    """List the records of a collection, oldest first."""
    key, value = _condition(where)
    request = ListRecords(collection=collection, cursor=cursor, limit=limit, key=key, value=value)
    with invocation.open() as memory:
        invocation.show(memory.call(request), _print_records)


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
    if found.cursor is not None:
        print_note(f"more follow: --cursor {found.cursor}")

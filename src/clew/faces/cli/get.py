"""`clew get`: whole records by their ids."""

from __future__ import annotations

import click

from clew.api import RecordView
from clew.errors import NotFound
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import compact_json, local_time, print_error, print_fields, print_json, print_text


@click.command("get", cls=Verb, examples=["clew get user:ada m_5f0c", "clew get session_raw:s1 t1 t2 --json"])
@click.argument("collection")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--max-chars", type=click.IntRange(min=1), metavar="N", help="Cut longer texts, and say so.")
@click.pass_obj
def command(invocation: Invocation, collection: str, ids: tuple[str, ...], max_chars: int | None) -> None:
    """Show whole records by their ids; status 3 when one is not there."""
    with invocation.open() as memory:
        records = memory.get(collection, *ids, max_chars=max_chars).records
    missing = sorted(set(ids) - {record.id for record in records})
    if invocation.json:
        print_json({"records": records, "missing": missing})
    else:
        _print_records(records)
        if missing:
            print_error(NotFound.code, f"not in {collection}: {', '.join(missing)}", as_json=False)
    if missing:
        raise click.exceptions.Exit(NotFound.exit_status)


def _print_records(records: tuple[RecordView, ...]) -> None:
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

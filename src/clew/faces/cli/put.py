"""`clew put`: one record under an id of the caller's."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from clew.api import PutReceipt
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.source import text_or_stdin


@click.command(
    "put",
    cls=Verb,
    examples=["clew put global dates 'Year first.' --metadata '{\"by\":\"ada\"}'"],
)
@click.argument("collection")
@click.argument("id_", metavar="ID")
@click.argument("text", required=False)
@click.option("--metadata", metavar="JSON", help="An object to keep with the record.")
@click.pass_obj
def command(invocation: Invocation, *, collection: str, id_: str, text: str | None, metadata: str | None) -> None:
    """Store a record; the same id again replaces it. Without TEXT, reads standard input."""
    details = _metadata(metadata)
    content = text_or_stdin(text)
    with invocation.open() as memory:
        invocation.show(memory.put(collection, id_, content, details), _print_receipt)


def _metadata(text: str | None) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise click.UsageError(f"--metadata must be a JSON object: {error}") from error


def _print_receipt(receipt: PutReceipt) -> None:
    click.echo(f"{'stored as' if receipt.changed else 'unchanged at'} version {receipt.version}")

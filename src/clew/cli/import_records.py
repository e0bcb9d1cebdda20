"""`clew import`: takes back what `clew export` wrote."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

import click
import msgspec

from clew.api import Import, ImportReceipt, MemoryApi
from clew.cli.command import Verb
from clew.cli.invocation import Invocation
from clew.cli.source import in_batches
from clew.errors import ClewError, InvalidInput


@click.command("import", cls=Verb, examples=["clew import backup.jsonl", "zcat backup.gz | clew import -"])
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.pass_obj
def command(invocation: Invocation, file: str) -> None:
    """Store what an export holds; what is there already stays as it is."""
    limit_bytes = invocation.config().frame_limit_bytes // 2
    size = None if file == "-" else os.path.getsize(file)
    stored = unchanged = line = read_bytes = 0
    with (
        click.open_file(file, "rb") as stream,
        invocation.open() as memory,
        invocation.progress("Importing", size) as report,
    ):
        for batch in in_batches(_lines(stream), _wire_size, limit_bytes):
            receipt = _import_batch(memory, batch, first_line=line + 1)
            stored += receipt.stored
            unchanged += receipt.unchanged
            line += len(batch)
            read_bytes += sum(len(text.encode("utf-8")) + 1 for text in batch)
            report(read_bytes)
    invocation.show(ImportReceipt(stored=stored, unchanged=unchanged), _print_receipt)


def _lines(stream: IO[bytes]) -> Iterator[str]:
    for number, line in enumerate(stream, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"line {number} is not valid UTF-8") from error


def _wire_size(line: str) -> int:
    return len(msgspec.json.encode(line))


def _import_batch(memory: MemoryApi, batch: list[str], first_line: int) -> ImportReceipt:
    try:
        return memory.call(Import(lines=tuple(batch)))
    except ClewError as error:
        place = f"lines {first_line} to {first_line + len(batch) - 1}"
        raise type(error)(f"{place}: {error.message}; the lines before are stored") from error


def _print_receipt(receipt: ImportReceipt) -> None:
    click.echo(f"stored {receipt.stored:,} records; {receipt.unchanged:,} were there already")

"""`clew export`: everything the store holds, as JSONL that `clew import` takes back."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from clew.api import Export, MemoryApi
from clew.errors import InvalidInput
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation


@click.command("export", cls=Verb, examples=["clew export backup.jsonl", "clew export - | gzip > backup.gz"])
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@click.pass_obj
def command(invocation: Invocation, file: str) -> None:
    """Write every record as JSONL, to a file that you alone can read or to standard output."""
    if file == "-":
        _export_to_stdout(invocation)
        return
    target = Path(file)
    if target.exists() and not target.is_file():
        raise InvalidInput(f"{file} is not a regular file; use - for standard output")
    with invocation.open() as memory, _replaced_whole(target) as stream:
        total = memory.status().record_count
        with invocation.progress("Exporting", total) as report:
            count = _write_lines(memory, stream, report)
    invocation.show({"file": file, "lines": count}, _print_count)


def _export_to_stdout(invocation: Invocation) -> None:
    if invocation.json:
        raise click.UsageError("With --json, name a FILE: the lines themselves are not one JSON object.")
    stream = sys.stdout.buffer
    with invocation.open() as memory:
        _write_lines(memory, stream, _unseen)
    stream.flush()


def _unseen(_: int) -> None:
    """No bar is drawn over lines that may go to the same terminal."""


def _write_lines(memory: MemoryApi, stream: IO[bytes], report: Callable[[int], None]) -> int:
    count = 0
    cursor: int | None = 0
    while cursor is not None:
        page = memory.call(Export(cursor=cursor))
        stream.writelines(f"{line}\n".encode() for line in page.lines)
        count += len(page.lines)
        cursor = page.cursor
        report(count)
    return count


@contextmanager
def _replaced_whole(target: Path) -> Iterator[IO[bytes]]:
    """A stream whose content becomes the file at once when all is written, and not at all otherwise."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # made 0600
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _print_count(answer: dict[str, Any]) -> None:
    click.echo(f"exported {answer['lines']:,} lines to {answer['file']}")

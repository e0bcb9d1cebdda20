"""Text that comes from an argument, a file or standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import click

from clew.errors import InvalidInput

T = TypeVar("T")

BATCH_ITEMS = 200


def text_or_stdin(text: str | None) -> str:
    """The argument, or all of standard input without its last line end."""
    return exact_text_or_stdin(text).removesuffix("\n") if text is None else text


def exact_text_or_stdin(text: str | None) -> str:
    """The argument, or all of standard input as it is."""
    if text is not None:
        return text
    if sys.stdin.isatty():
        raise click.UsageError("Give TEXT, or pipe it in.")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not valid UTF-8: {error}") from error


def in_batches(items: Iterable[T], size_of: Callable[[T], int], limit_bytes: int) -> Iterator[list[T]]:
    """Groups in order, each small enough for one request; an item that is larger alone stays alone."""
    batch: list[T] = []
    size = 0
    for item in items:
        item_size = size_of(item)
        if batch and (len(batch) == BATCH_ITEMS or size + item_size > limit_bytes):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item_size
    if batch:
        yield batch

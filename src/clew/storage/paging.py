"""Reading a whole collection, or a whole store, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from clew.core.model import Record
from clew.storage.protocol import Store, StoredRecord

PAGE = 1000
"""Rows of one read: few reads, and little memory."""


def every_member(store: Store, collection: str, after: int = 0) -> Iterator[Record]:
    """Gives the members of a collection behind a place in it, oldest first."""
    for page in member_pages(store, collection, after):
        yield from page


def member_pages(store: Store, collection: str, after: int = 0, size: int = PAGE) -> Iterator[list[Record]]:
    """Gives the members of a collection in lists, for callers that work on several at once."""
    while page := store.page(collection, after, size):
        yield page
        after = page[-1].seq


def every_record(store: Store) -> Iterator[StoredRecord]:
    """Gives the records of a store in the order in which they were written."""
    after = 0
    while page := store.export(after, PAGE):
        yield from page
        after = page[-1].key

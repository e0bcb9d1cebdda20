"""The loaded indexes: brought up to date on every use, bounded in bytes, least recently used out first.

Sessions come and go, and nobody asks for a purged one again. So the cache looks from time to time which of its indexes
belong to collections that hold nothing any more, and drops them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from clew.index.collection import CollectionIndex
from clew.storage.protocol import Store

OWN_BYTES = 8 * 1024
"""What an index takes beside its arrays."""

FEW_INDEXES = 64
"""The cache looks for indexes of empty collections when it has twice as many as after the last look, and more than
this."""


class IndexCache:
    def __init__(self, store: Store, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._request = _Request()
        self._sweep_beyond = FEW_INDEXES

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(entry.nbytes for entry in self._entries.values())

    @contextmanager
    def current(self, collection: str) -> Iterator[CollectionIndex]:
        """The collection's index, equal to the rows as they are now, for this caller alone."""
        seen = self._request.seen
        entry = self._entry(collection)
        with entry.lock:
            is_seen = seen is not None and seen.get(collection) is entry.index
            if not is_seen:
                self._bring_up_to_date(collection, entry)
            if seen is not None:
                seen[collection] = entry.index
            yield entry.index
        if not is_seen:
            self._evict()
            self._sweep()

    @contextmanager
    def once(self) -> Iterator[None]:
        """Brings each index that this thread uses inside up to date at its first use only. For a request that does not
        write what it looks up, and may be answered as of its beginning."""
        if self._request.seen is not None:
            yield
            return
        self._request.seen = {}
        try:
            yield
        finally:
            self._request.seen = None

    def forget(self) -> None:
        """Load every index anew when it is used next, also within a request: all vectors have changed."""
        with self._lock:
            self._entries.clear()

    def _bring_up_to_date(self, collection: str, entry: _Entry) -> None:
        index = entry.index
        index.apply(self._store.feed(collection, index.until))
        if index.crowded_by_dead:
            entry.index = index = CollectionIndex(collection)
            index.apply(self._store.feed(collection, 0))
        entry.nbytes = index.nbytes + OWN_BYTES

    def _entry(self, collection: str) -> _Entry:
        with self._lock:
            entry = self._entries.get(collection)
            if entry is None:
                entry = self._entries[collection] = _Entry(collection)
            self._entries.move_to_end(collection)
            return entry

    def _evict(self) -> None:
        """An index over the bound on its own is not kept at all: it is loaded again when asked for."""
        with self._lock:
            total = sum(entry.nbytes for entry in self._entries.values())
            while total > self._max_bytes:
                _, entry = self._entries.popitem(last=False)
                total -= entry.nbytes

    def _sweep(self) -> None:
        """Drop the indexes of collections that are empty, at a cost in proportion to the indexes made since."""
        with self._lock:
            names = list(self._entries) if len(self._entries) > self._sweep_beyond else []
        if not names:
            return
        empty = [name for name in names if self._store.size(name) == 0]
        with self._lock:
            for name in empty:
                self._entries.pop(name, None)
            self._sweep_beyond = max(FEW_INDEXES, 2 * len(self._entries))


class _Request(threading.local):
    """The indexes that the request of this thread has used already; None outside of one."""

    seen: dict[str, CollectionIndex] | None = None


class _Entry:
    def __init__(self, collection: str) -> None:
        self.index = CollectionIndex(collection)
        self.lock = threading.Lock()
        self.nbytes = 0

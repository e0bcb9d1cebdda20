"""The facts of a user, or of all, as they stand now: replayed once, then kept up to date record by record."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from clew.core import identity
from clew.core.model import Record
from clew.core.predicates import Registry, registry
from clew.features.facts.log import Entry, entry_in
from clew.features.facts.replay import Facts
from clew.kernel.parts import Parts
from clew.storage.protocol import Feed

MAX_VIEWS = 16
"""Collections whose facts are kept; making a view reads all records of its collection."""

_RECORDS_A_READ = 500


def known_facts(parts: Parts, user_id: str | None) -> Facts:
    """What is known of a user's subjects; without a user, of those of all."""
    return parts.state(FactViews).of(user_id)


class FactViews:
    """A view for each collection of facts that was asked for lately. Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.registry: Registry = registry(parts.config.fact_predicates)
        self.writing = threading.Lock()
        """Held from looking at what is known to adding to it: what ends what depends on both."""
        self._lock = threading.Lock()
        self._views: OrderedDict[str, _View] = OrderedDict()

    def of(self, user_id: str | None) -> Facts:
        collection = identity.facts_of(user_id)
        with self._lock:
            view = self._views.get(collection)
            if view is None:
                view = self._views[collection] = _View(collection, self.registry)
            self._views.move_to_end(collection)
            if len(self._views) > MAX_VIEWS:
                self._views.popitem(last=False)
        return view.current(self._parts)

    def rebuilt(self, user_id: str | None) -> tuple[Facts, Facts]:
        """What was kept, and the same from the rows alone, which is kept from now on."""
        self.of(user_id)
        collection = identity.facts_of(user_id)
        fresh = _View(collection, self.registry)
        fresh.current(self._parts)
        with self._lock:
            kept, self._views[collection] = self._views.get(collection, fresh), fresh
        return kept.current(self._parts), fresh.current(self._parts)


class _View:
    def __init__(self, collection: str, known: Registry) -> None:
        self._collection = collection
        self._registry = known
        self._lock = threading.Lock()
        self._until = 0
        self._facts = Facts(known)

    def current(self, parts: Parts) -> Facts:
        with self._lock:
            feed = parts.store.feed(self._collection, self._until)
            if feed.until != self._until:
                self._follow(parts, feed)
            return self._facts

    def _follow(self, parts: Parts, feed: Feed) -> None:
        """What was taken away leaves nothing to undo it by: then all is replayed."""
        begins_anew = feed.reset or bool(feed.removed)
        if feed.removed:
            feed = parts.store.feed(self._collection, 0)
        seqs = [row.seq for row in feed.added]
        chunks = (seqs[start : start + _RECORDS_A_READ] for start in range(0, len(seqs), _RECORDS_A_READ))
        entries, malformed = _read(record for chunk in chunks for record in parts.store.at(self._collection, chunk))
        if begins_anew:
            self._facts = Facts(self._registry, entries, malformed)
        else:
            self._facts.add(entries, malformed)
        self._until = feed.until


def _read(records: Iterable[Record]) -> tuple[list[Entry], list[str]]:
    """The entries of the log that records keep, and the ids of those that keep none."""
    entries: list[Entry] = []
    malformed: list[str] = []
    for record in records:
        entry = entry_in(record)
        if entry is None:
            malformed.append(record.id)
        else:
            entries.append(entry)
    return entries, malformed

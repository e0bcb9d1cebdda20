"""The sources of a record, and the records made from it.

A summary is made from turns or lower summaries, in the light of earlier ones; a memory is kept from a turn; a record
that others were merged into speaks for those as well; facts, plans and observations rest on the records they cite.
Metadata that a client gave proves nothing: a memory's id must be the one that its turn gives it, and only Clew writes
records that cite others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clew.core.citing import sources_in
from clew.core.collections import Collection, CollectionKind
from clew.core.ids import memory_id
from clew.core.lineage import lineage_of
from clew.core.marks import Mark, value_of
from clew.core.model import Record
from clew.errors import InvalidInput, NotFound
from clew.kernel.parts import Parts
from clew.kernel.records import find_record, place_of
from clew.kernel.views import all_summaries
from clew.storage.paging import every_member
from clew.storage.protocol import Place
from clew.storage.purging import home_ref, memory_places, rests_on_others

WITHHELD_IDS = "withheld_ids"
"""Where a summary's metadata names the sources whose words did not enter it, because they were quarantined."""


_Node = tuple[bool, str]
"""A node of a session: whether it is a summary, and its id."""


class Derivation:
    """The records around some record. Reads what it is asked for, once; meant for one request."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._sources: dict[str, list[Record]] = {}
        self._made_from: dict[str, Mapping[_Node, Sequence[Record]]] = {}
        self._claims: dict[str, list[Record]] | None = None

    def sources(self, record: Record) -> list[Record]:
        """The records whose words may have entered this one, at home."""
        if record.ref not in self._sources:
            found = [
                *self._of_summary(record),
                *self._of_memory(record),
                *self._of_merge(record),
                *self._of_claim(record),
            ]
            self._sources[record.ref] = _each_once(found)
        return self._sources[record.ref]

    def products(self, record: Record) -> list[Record]:
        """The records that its words may have entered."""
        places = self._parts.store.places(record.collection, record.id)
        found = [*self._summaries(places), *self._memories(places), *self._keepers(record), *self._claims_on(places)]
        return _each_once(found)

    def all_products(self, record: Record) -> list[Record]:
        """Its products, their products and so on, nearest first; never the record itself."""
        found = {record.ref: record}
        waiting = [record]
        for current in waiting:
            fresh = [product for product in self.products(current) if product.ref not in found]
            found.update((product.ref, product) for product in fresh)
            waiting += fresh
        return waiting[1:]

    # --- sources ---------------------------------------------------------------------------------------

    def _of_summary(self, record: Record) -> Iterator[Record]:
        lineage = lineage_of(record)
        if lineage is None:
            return
        session_id = record.collection.owner
        below = Collection.raw if lineage.level == 1 else Collection.summaries
        withheld = withheld_ids(record)
        entered = [id_ for id_ in lineage.source_ids if id_ not in withheld]
        yield from self._parts.store.get(below(session_id), entered)
        yield from self._parts.store.get(Collection.summaries(session_id), lineage.prior_ids)

    def _of_memory(self, record: Record) -> list[Record]:
        source = record.metadata.get("source")
        if not isinstance(source, Mapping):
            return []
        collection, id_ = source.get("collection"), source.get("id")
        if not isinstance(collection, str) or not isinstance(id_, str):
            return []
        is_kept = record.id == memory_id(collection, id_)
        found = self._parts.store.get(collection, [id_]) if is_kept else []
        return [at_home(self._parts, turn) for turn in found]

    def _of_merge(self, record: Record) -> Iterator[Record]:
        for ref in _merged_refs(record):
            yield from self._at(ref)

    def _of_claim(self, record: Record) -> Iterator[Record]:
        if rests_on_others(record.collection):
            for ref in sources_in(record.metadata):
                yield from self._at(ref)

    # --- products --------------------------------------------------------------------------------------

    def _summaries(self, places: Sequence[Place]) -> Iterator[Record]:
        for place in places:
            kind = place.collection.kind
            if kind in ("session_raw", "session_summary"):
                session_id = place.collection.owner
                yield from self._made_in(session_id).get((kind == "session_summary", place.id), ())

    def _made_in(self, session_id: str) -> Mapping[_Node, Sequence[Record]]:
        """The summaries of a session by the nodes they were made from."""
        if session_id not in self._made_from:
            found: dict[_Node, list[Record]] = {}
            for item in all_summaries(self._parts, session_id):
                record, lineage = item.record, item.lineage
                withheld = withheld_ids(record)
                entered = [(lineage.level > 1, id_) for id_ in lineage.source_ids if id_ not in withheld]
                for node in (*entered, *((True, id_) for id_ in lineage.prior_ids)):
                    found.setdefault(node, []).append(record)
            self._made_from[session_id] = found
        return self._made_from[session_id]

    def _memories(self, places: Sequence[Place]) -> Iterator[Record]:
        for collection, id_ in memory_places((place.collection, place.id) for place in places):
            yield from self._parts.store.get(collection, [id_])

    def _claims_on(self, places: Sequence[Place]) -> Iterator[Record]:
        if self._claims is None:
            self._claims = {}
            for record in _all_claims(self._parts):
                for ref in sources_in(record.metadata):
                    self._claims.setdefault(ref, []).append(record)
        for place in places:
            for claim in self._claims.get(home_ref(place.collection, place.id), ()):
                if any(place_of(source) in places for source in self._of_claim(claim)):  # not of a namesake
                    yield claim

    def _keepers(self, record: Record) -> list[Record]:
        """The records it was merged into, and not those that merely replace it."""
        kept = value_of(record.marks, Mark.SUPERSEDED_BY)
        found = self._at(kept) if isinstance(kept, str) else []
        return [keeper for keeper in found if any(self._names(ref, record) for ref in _merged_refs(keeper))]

    def _names(self, ref: str, record: Record) -> bool:
        return any(place_of(named) == place_of(record) for named in self._at(ref))

    def _at(self, ref: str) -> list[Record]:
        try:
            return [at_home(self._parts, find_record(self._parts, ref))]
        except (NotFound, InvalidInput):  # it is gone
            return []


def _all_claims(parts: Parts) -> Iterator[Record]:
    """Every record that rests on others and cites them."""
    for name, _ in parts.store.collections():
        if rests_on_others(name):
            yield from every_member(parts.store, name)


def at_home(parts: Parts, record: Record) -> Record:
    """The record as it is seen where it belongs: a turn in its raw history, a summary among summaries."""
    home = home_of(parts.store.places(record.collection, record.id))
    if home is None or home == place_of(record):
        return record
    return next(iter(parts.store.get(home.collection, [home.id])), record)


def home_of(places: Sequence[Place]) -> Place | None:
    """The place a record is named by."""
    return min(places, key=lambda place: (_distance_from_home(place.collection), place), default=None)


def withheld_ids(summary: Record) -> frozenset[str]:
    """The sources it leads to whose words did not enter it."""
    named = summary.metadata.get(WITHHELD_IDS)
    return frozenset(id_ for id_ in named if isinstance(id_, str)) if isinstance(named, list) else frozenset()


def _distance_from_home(collection: Collection) -> int:
    if collection.kind in (CollectionKind.RAW, CollectionKind.SUMMARIES):
        return 0
    return 2 if collection.is_internal else 1


def _merged_refs(record: Record) -> list[str]:
    refs = value_of(record.marks, Mark.MERGED)
    return [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []


def _each_once(records: Iterable[Record]) -> list[Record]:
    return list({record.ref: record for record in records}.values())

"""The graph in SQLite. `storage.graphing` says what each method promises.

Edges and entities leave with their records by the schema itself, whatever way a record goes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import apsw

from clew.core.model import Trust
from clew.storage.graphing import Edge, Entity, GraphCounts
from clew.storage.protocol import Place
from clew.storage.sqlite import reads
from clew.storage.sqlite.rows import Row, collection_key, first, many, only, run, run_each
from clew.storage.sqlite.seals import Damage
from clew.storage.sqlite.writer import Writer
from clew.text.entities import EdgeKind, EntityKind, Extract, Joined, Named, in_order

T = TypeVar("T")

_STANDINGS = {Trust.UNTRUSTED.value: 1, Trust.QUARANTINED.value: 2}
"""Of a record whose trust is not listed: 0, it may be relied on."""

_ENTITY_KINDS = {kind.value: kind for kind in EntityKind}
_EDGE_KINDS = {kind.value: kind for kind in EdgeKind}
"""Looked up for every row, for which calling an enumeration is too slow."""


class SqliteGraph(ABC):
    """The methods of `GraphStore`, for a store that has a writer and readers."""

    _writer: Writer
    _damage: Damage

    @abstractmethod
    def _read(self, question: Callable[[apsw.Connection], T], *, now: bool = False) -> T: ...

    def link(self, done: Sequence[int], said: Mapping[int, tuple[str, Extract]]) -> None:
        self._writer.run(lambda connection: _link(connection, done, said))

    def queue_links(self) -> int:
        def operation(connection: apsw.Connection) -> int:
            run(connection, "queue_links")
            return connection.changes()

        return self._writer.run(operation)

    def forget_graph(self) -> None:
        def operation(connection: apsw.Connection) -> None:
            for statement in ("delete_edges", "delete_sightings", "delete_entities", "queue_links"):
                run(connection, statement)

        self._writer.run(operation)

    def said(self, records: Sequence[int]) -> Mapping[int, tuple[str, Extract]]:
        def question(connection: apsw.Connection) -> dict[int, tuple[str, Extract]]:
            found = ((record, _said_by(connection, record)) for record in records)
            return {record: said for record, said in found if said is not None}

        return self._read(question)

    def entities_named(self, names: Sequence[str], owners: Sequence[str], *, untrusted: bool) -> list[Entity]:
        values = (json.dumps(list(names)), json.dumps(list(owners)), int(untrusted))
        return self._read(lambda connection: list(map(_entity, many(connection, "entities_named", values))))

    def entities_at(self, keys: Sequence[int]) -> list[Entity]:
        values = (json.dumps(list(keys)),)
        return self._read(lambda connection: list(map(_entity, many(connection, "entities_by_keys", values))))

    def entities(
        self, owners: Sequence[str], kinds: Sequence[EntityKind], after: int, limit: int, *, untrusted: bool
    ) -> list[Entity]:
        wanted = json.dumps([kind.value for kind in kinds or EntityKind])
        values = (after, json.dumps(list(owners)), wanted, int(untrusted), limit)
        return self._read(lambda connection: list(map(_entity, many(connection, "entities_after", values))))

    def entities_seen(
        self, places: Sequence[Place], owners: Sequence[str], *, untrusted: bool
    ) -> list[tuple[Place, Entity]]:
        seen_by = (int(untrusted), json.dumps(list(owners)))

        def question(connection: apsw.Connection) -> list[tuple[Place, Entity]]:
            keys = {name: collection_key(connection, name) for name in {place.collection for place in places}}
            return [
                (place, _entity(row))
                for place in places
                for row in many(connection, "entities_seen", (keys[place.collection], place.id, *seen_by))
            ]

        return self._read(question)

    def titles(self, keys: Sequence[int], *, untrusted: bool) -> Mapping[int, str]:
        def question(connection: apsw.Connection) -> dict[int, str]:
            rows = ((key, first(connection, "title_of_entity", (key, int(untrusted)))) for key in keys)
            return {key: row[0] for key, row in rows if row is not None}

        return self._read(question)

    def naming(self, key: int, limit: int, *, untrusted: bool) -> list[int]:
        values = (key, int(untrusted), limit)
        return self._read(lambda connection: [row[0] for row in many(connection, "records_naming", values)])

    def namings(self, keys: Sequence[int], at_most: int, *, untrusted: bool) -> Mapping[int, int]:
        def question(connection: apsw.Connection) -> dict[int, int]:
            return {key: only(connection, "count_namings", (key, int(untrusted), at_most))[0] for key in keys}

        return self._read(question)

    def edges_of(self, keys: Sequence[int], limit: int, *, untrusted: bool) -> list[Edge]:
        def question(connection: apsw.Connection) -> list[Edge]:
            return [
                Edge(source, target, _EDGE_KINDS[kind], weight, record)
                for key in keys
                for standing in range(int(untrusted) + 1)
                for statement in ("edges_out", "edges_in")
                for source, target, kind, weight, record in many(connection, statement, (key, standing, limit))
            ]

        return self._read(question)

    def homes(self, records: Sequence[int]) -> Mapping[int, tuple[Place, ...]]:
        def question(connection: apsw.Connection) -> dict[int, tuple[Place, ...]]:
            found = {record: reads.places_of(connection, record, self._damage)[0] for record in records}
            return {record: places for record, places in found.items() if places}

        return self._read(question)

    def graph_counts(self, owners: Sequence[str] | None) -> GraphCounts:
        if owners is None:
            return self._read(lambda connection: GraphCounts(*only(connection, "graph_counts")))
        values = (json.dumps(list(owners)),)
        return self._read(lambda connection: GraphCounts(*only(connection, "graph_counts_of", values)))


def _link(connection: apsw.Connection, done: Sequence[int], said: Mapping[int, tuple[str, Extract]]) -> None:
    for record, (owner, extract) in said.items():
        run(connection, "delete_edges_of_record", (record,))
        run(connection, "delete_sightings_of_record", (record,))
        if not extract.entities:
            continue
        trust = first(connection, "record_trust", (record,))
        if trust is not None:
            _say(connection, record, _STANDINGS.get(trust[0], 0), owner, extract)
    run_each(connection, "delete_task", [(seq,) for seq in done])


def _say(connection: apsw.Connection, record: int, standing: int, owner: str, extract: Extract) -> None:
    keys = [_entity_key(connection, owner, item) for item in extract.entities]
    sightings = [(record, key, standing, item.title) for key, item in zip(keys, extract.entities, strict=True)]
    run_each(connection, "add_sighting", sightings)
    run_each(
        connection,
        "add_edge",
        [(record, keys[e.source], keys[e.target], e.kind.value, e.weight, standing) for e in extract.edges],
    )


def _entity_key(connection: apsw.Connection, owner: str, item: Named) -> int:
    values = (item.name, item.kind.value, owner)
    found = first(connection, "find_entity", values)
    return int(only(connection, "add_entity", values)[0] if found is None else found[0])


def _said_by(connection: apsw.Connection, record: int) -> tuple[str, Extract] | None:
    rows = many(connection, "entities_of_record", (record,))
    if not rows:
        return None
    places = {key: place for place, (key, *_) in enumerate(rows)}
    joined = many(connection, "edges_of_record", (record,))
    edges = [Joined(places[s], places[t], _EDGE_KINDS[kind], weight) for s, t, kind, weight in joined]
    entities = [Named(_ENTITY_KINDS[kind], name, title) for _, kind, name, _, title in rows]
    return rows[0][3], in_order(entities, edges)


def _entity(row: Row) -> Entity:
    key, kind, name, owner = row
    return Entity(key, _ENTITY_KINDS[kind], name, owner)

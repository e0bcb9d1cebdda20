"""The part of a store that keeps the graph: the statements of records about entities, and the edges between those.

Everything here is derived from records and leaves with them: an edge with its record, an entity with the last record
that names it. Callers say whose entities they may see. The store keeps the statements of a quarantined record and
never shows them; it shows those of an untrusted one where `untrusted` asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from clew.text.entities import EdgeKind, EntityKind, Extract

if TYPE_CHECKING:
    from clew.storage.protocol import Place


@dataclass(frozen=True, slots=True, order=True)
class Entity:
    """An entity of one owner. Its key is this store's own, and no part of the content."""

    key: int
    kind: EntityKind
    name: str
    owner: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A statement of one record about two entities."""

    source: int
    target: int
    kind: EdgeKind
    weight: float
    record: int


@dataclass(frozen=True, slots=True)
class GraphCounts:
    entities: int
    edges: int
    pending: int
    """Records that wait to be read for the graph."""


class GraphStore(Protocol):
    def link(self, done: Sequence[int], said: Mapping[int, tuple[str, Extract]]) -> None:
        """In one step: replace the statements of records, by key, about the entities of an owner, and take tasks off
        the queue. The statements of a record that has been removed meanwhile are dropped.
        """

    def queue_links(self) -> int:
        """Queue every record to be read for the graph; how many were not queued yet."""

    def forget_graph(self) -> None:
        """In one step: drop all entities and edges, and queue every record to be read for the graph."""

    def said(self, records: Sequence[int]) -> Mapping[int, tuple[str, Extract]]:
        """The statements of records, by key, with the owner of the entities; sorted. Leaves out records without any."""

    def entities_named(self, names: Sequence[str], owners: Sequence[str], *, untrusted: bool) -> list[Entity]:
        """Every entity of these owners that has one of the names, by key."""

    def entities_at(self, keys: Sequence[int]) -> list[Entity]:
        """The entities that exist, by key."""

    def entities(
        self, owners: Sequence[str], kinds: Sequence[EntityKind], after: int, limit: int, *, untrusted: bool
    ) -> list[Entity]:
        """Up to `limit` entities of these owners with a key above `after`, by key; without kinds, of all kinds."""

    def entities_seen(
        self, places: Sequence[Place], owners: Sequence[str], *, untrusted: bool
    ) -> list[tuple[Place, Entity]]:
        """The entities of these owners that the records at these places name, in the order of places and keys."""

    def titles(self, keys: Sequence[int], *, untrusted: bool) -> Mapping[int, str]:
        """How each entity is written by the oldest record that may be shown; trusted ones first."""

    def naming(self, key: int, limit: int, *, untrusted: bool) -> list[int]:
        """Keys of records that name an entity, those that may be relied on first, then the newest first."""

    def namings(self, keys: Sequence[int], at_most: int, *, untrusted: bool) -> Mapping[int, int]:
        """How many records name each entity, counted no further than `at_most`."""

    def edges_of(self, keys: Sequence[int], limit: int, *, untrusted: bool) -> list[Edge]:
        """The `limit` heaviest edges out of each entity and as many into it, of equally heavy ones the newest.

        Untrusted ones come beside those, as many again.
        """

    def homes(self, records: Sequence[int]) -> Mapping[int, tuple[Place, ...]]:
        """The places of records by key, sorted; those that are gone are left out."""

    def graph_counts(self, owners: Sequence[str] | None) -> GraphCounts:
        """How large the graph of these owners is, or of all of them."""

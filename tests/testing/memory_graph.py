"""The reference store's graph: each text holds its own edges, and every query looks at all texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.core.ids import digest
from clew.core.model import Trust
from clew.storage.graphing import Edge, Entity, GraphCounts
from clew.storage.protocol import Place, Task
from clew.text.entities import EntityKind, Extract, Named, in_order
from tests.testing.memory_state import Held

_KEY_BYTES = 7
_HELD_BACK = (Trust.UNTRUSTED, Trust.QUARANTINED)


class Graphed(Held):
    def link(self, done: Sequence[int], said: Mapping[int, tuple[str, Extract]]) -> None:
        with self._transaction():
            for key, (owner, extract) in said.items():
                if key in self._state.texts:
                    ordered = in_order(extract.entities, extract.edges)
                    self._state.texts[key].said = (owner, ordered) if ordered.entities else None
            for seq in done:
                self._state.queue.pop(seq, None)

    def queue_links(self) -> int:
        with self._transaction():
            before = len(self._state.queue)
            for key in sorted(self._state.texts):
                self._add_task(key, Task.LINK)
            return len(self._state.queue) - before

    def forget_graph(self) -> None:
        with self._transaction():
            for text in self._state.texts.values():
                text.said = None
            for key in sorted(self._state.texts):
                self._add_task(key, Task.LINK)

    def said(self, records: Sequence[int]) -> Mapping[int, tuple[str, Extract]]:
        known = ((key, self._state.texts[key].said) for key in records if key in self._state.texts)
        return {key: said for key, said in known if said is not None}

    def entities_named(self, names: Sequence[str], owners: Sequence[str], *, untrusted: bool) -> list[Entity]:
        return [item for item in self._shown(untrusted) if item.name in names and item.owner in owners]

    def entities_at(self, keys: Sequence[int]) -> list[Entity]:
        return sorted({entity for _, entity, _ in self._sightings() if entity.key in keys})

    def entities(
        self, owners: Sequence[str], kinds: Sequence[EntityKind], after: int, limit: int, *, untrusted: bool
    ) -> list[Entity]:
        found = [item for item in self._shown(untrusted) if item.owner in owners and item.kind in (kinds or EntityKind)]
        return [item for item in found if item.key > after][:limit]

    def entities_seen(
        self, places: Sequence[Place], owners: Sequence[str], *, untrusted: bool
    ) -> list[tuple[Place, Entity]]:
        return [
            (place, entity)
            for place in places
            for entity in sorted(item for key, item, _ in self._sightings(untrusted) if place in self._at(key))
            if entity.owner in owners
        ]

    def titles(self, keys: Sequence[int], *, untrusted: bool) -> Mapping[int, str]:
        found: dict[int, str] = {}
        for _, entity, title in sorted(self._sightings(untrusted), key=lambda item: self._standing(item[0])):
            if entity.key in keys:
                found.setdefault(entity.key, title)
        return found

    def naming(self, key: int, limit: int, *, untrusted: bool) -> list[int]:
        records = [record for record, entity, _ in self._sightings(untrusted) if entity.key == key]
        return sorted(records, key=lambda record: (self._standing(record), -record))[:limit]

    def namings(self, keys: Sequence[int], at_most: int, *, untrusted: bool) -> Mapping[int, int]:
        return {key: min(len(self.naming(key, at_most, untrusted=untrusted)), at_most) for key in keys}

    def edges_of(self, keys: Sequence[int], limit: int, *, untrusted: bool) -> list[Edge]:
        return [
            edge
            for key in keys
            for standing in range(int(untrusted) + 1)
            for at_end in (
                [edge for edge in self._edges(standing) if edge.source == key],
                [edge for edge in self._edges(standing) if edge.target == key],
            )
            for edge in _heaviest(at_end, limit)
        ]

    def homes(self, records: Sequence[int]) -> Mapping[int, tuple[Place, ...]]:
        return {key: tuple(sorted(self._at(key))) for key in records if self._at(key)}

    def graph_counts(self, owners: Sequence[str] | None) -> GraphCounts:
        said = [text.said for text in self._state.texts.values() if text.said is not None]
        edges = sum(len(extract.edges) for owner, extract in said if owners is None or owner in owners)
        entities = {item for _, item, _ in self._sightings() if owners is None or item.owner in owners}
        pending = sum(task is Task.LINK for _, task in self._state.queue.values())
        return GraphCounts(len(entities), edges, pending)

    # --- edges of the texts ------------------------------------------------------------------------------

    def _sightings(self, untrusted: bool | None = None) -> Iterator[tuple[int, Entity, str]]:
        """Records, the entities they name, and the spelling; all of them, or those that may be shown."""
        for key, text in sorted(self._state.texts.items()):
            if text.said is not None and (untrusted is None or self._standing(key) <= untrusted):
                owner, extract = text.said
                yield from ((key, _entity(owner, item), item.title) for item in extract.entities)

    def _shown(self, untrusted: bool) -> list[Entity]:
        return sorted({entity for _, entity, _ in self._sightings(untrusted)})

    def _edges(self, standing: int) -> Iterator[Edge]:
        for key, text in self._state.texts.items():
            if text.said is not None and self._standing(key) == standing:
                owner, extract = text.said
                ends = [_entity(owner, item).key for item in extract.entities]
                yield from (Edge(ends[e.source], ends[e.target], e.kind, e.weight, key) for e in extract.edges)

    def _standing(self, key: int) -> int:
        trust = self._state.texts[key].draft.trust
        return _HELD_BACK.index(trust) + 1 if trust in _HELD_BACK else 0

    def _at(self, key: int) -> set[Place]:
        text = self._state.texts.get(key)
        return set() if text is None else text.places


def _heaviest(edges: list[Edge], limit: int) -> list[Edge]:
    return sorted(edges, key=lambda edge: (-edge.weight, -edge.record, edge.source, edge.target, edge.kind))[:limit]


def _entity(owner: str, item: Named) -> Entity:
    key = int.from_bytes(digest(owner, item.kind, item.name, size_bytes=_KEY_BYTES), "big")
    return Entity(key, item.kind, item.name, owner)

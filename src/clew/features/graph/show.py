"""Nodes, ways and sources as callers see them: titles, one line of each record, and the way in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.core.model import Record
from clew.features.graph.operations import GraphEntity, GraphPath, GraphSource, GraphStep
from clew.features.graph.view import GraphView, Link, Node
from clew.features.graph.walk import Route
from clew.kernel.derivation import home_of
from clew.kernel.parts import Parts
from clew.kernel.refs import place_of
from clew.text.excerpts import one_line

LINE_CHARS = 160
IDEA = "idea"


class Display:
    """Looks up what is to be shown, once; meant for one request."""

    def __init__(self, parts: Parts, view: GraphView) -> None:
        self._parts = parts
        self._view = view
        self._entities: dict[Node, GraphEntity] = {}
        self._sources: dict[int, GraphSource | None] = {}

    def entity(self, node: Node) -> GraphEntity:
        if node not in self._entities:
            self.prepare([node])
        return self._entities[node]

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Look up many nodes at once."""
        missing = [node for node in dict.fromkeys(nodes) if node not in self._entities]
        if not missing:
            return
        titles, counts = self._view.titles(missing), self._view.namings(missing)
        for node in missing:
            self._entities[node] = GraphEntity(kind=node.kind.value, name=titles[node], records=counts[node])

    def prepare_sources(self, links: Iterable[Link]) -> None:
        """Look up the records of many links at once."""
        wanted = dict.fromkeys(record for link in links for record in link.records)
        missing = [record for record in wanted if record not in self._sources]
        if not missing:
            return
        homes = {key: home for key, at in self._parts.store.homes(missing).items() if (home := home_of(at)) is not None}
        ids: dict[str, list[str]] = {}
        for home in homes.values():
            ids.setdefault(home.collection, []).append(home.id)
        found = {place_of(item): item for name, named in ids.items() for item in self._parts.store.get(name, named)}
        for key in missing:
            record = found.get(homes[key]) if key in homes else None
            self._sources[key] = None if record is None else source_of(record)

    def path(self, route: Route) -> GraphPath:
        self.prepare(route.nodes)
        self.prepare_sources(route.links)
        steps = tuple(
            self.step(link.kind.value, link.source == before, after, link.strength, link.records)
            for link, before, after in zip(route.links, route.nodes, route.nodes[1:], strict=False)
        )
        start = self.entity(route.nodes[0])
        return GraphPath(score=route.score, start=start, steps=steps, text=in_words(start.name, steps))

    def step(self, kind: str, forward: bool, node: Node, strength: float, records: Sequence[int]) -> GraphStep:
        sources = tuple(source for record in records if (source := self._sources.get(record)) is not None)
        return GraphStep(kind=kind, forward=forward, to=self.entity(node), strength=strength, sources=sources)


def source_of(record: Record) -> GraphSource:
    return GraphSource(ref=record.ref, trust=record.trust.value, text=one_line(record.text, LINE_CHARS))


def in_words(start: str, steps: Sequence[GraphStep]) -> str:
    """A way in one line, with arrows as its edges point."""
    arrows = (f" -{step.kind}-> " if step.forward else f" <-{step.kind}- " for step in steps)
    return start + "".join(f"{arrow}{step.to.name}" for arrow, step in zip(arrows, steps, strict=True))

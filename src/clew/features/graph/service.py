"""Answers questions to the graph: which entities there are, what lies around them, how they are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from clew.core.model import Record
from clew.core.operation import Done
from clew.errors import InvalidInput, NotFound
from clew.features.graph.operations import (
    GraphDownstream,
    GraphEntities,
    GraphEntity,
    GraphEntityList,
    GraphNeighbour,
    GraphNeighbourhood,
    GraphNeighbours,
    GraphPath,
    GraphPathList,
    GraphPaths,
    GraphRebuild,
    GraphSource,
    GraphStatus,
    GraphStatusView,
    GraphStep,
    GraphUpstream,
)
from clew.features.graph.view import GraphView, Link, Node, at_one_moment
from clew.features.graph.walk import Allowed, Reached, Route, best_routes, reach
from clew.kernel.derivation import home_of
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit, place_of
from clew.kernel.services import serves
from clew.storage.graphing import Entity
from clew.text.entities import UPSTREAM, EdgeKind, EntityKind, canonical, owners_seen_by
from clew.text.excerpts import one_line

E = TypeVar("E", bound=StrEnum)

MAX_LISTED = 1000
MAX_NAME_CHARS = 1000
_NAMES_SCANNED = 20_000
"""Entities to compare an unknown name with."""

_LIKE = 0.72
"""How alike two names must be to offer one for the other."""

_OFFERED = 3
_PAGE = 1000


@at_one_moment
@serves(GraphNeighbours)
def neighbours(parts: Parts, request: GraphNeighbours) -> GraphNeighbourhood:
    kinds = [one_of(EdgeKind, "kinds", kind) for kind in request.kinds] or list(EdgeKind)
    if request.direction not in ("out", "in", "both"):
        raise InvalidInput("direction must be one of out, in, both")
    view = GraphView(parts, request.user_id, request.session_id, untrusted=request.untrusted)

    def allowed(link: Link, node: Node) -> bool:
        direction = "out" if link.source == node else "in"
        return link.kind in kinds and request.direction in (direction, "both")

    start = entity_named(view, request.name)
    limit = checked_limit(request.limit, MAX_LISTED)
    return _neighbourhood(parts, view, start, reach(view, start, _check_steps(request.depth, 3), allowed), limit)


@at_one_moment
@serves(GraphUpstream)
def upstream(parts: Parts, request: GraphUpstream) -> GraphNeighbourhood:
    return _transitive(parts, request, lambda link, node: link.kind in UPSTREAM and link.source == node)


@at_one_moment
@serves(GraphDownstream)
def downstream(parts: Parts, request: GraphDownstream) -> GraphNeighbourhood:
    return _transitive(parts, request, lambda link, node: link.kind in UPSTREAM and link.target == node)


@at_one_moment
@serves(GraphPaths)
def paths(parts: Parts, request: GraphPaths) -> GraphPathList:
    view = GraphView(parts, request.user_id, request.session_id, untrusted=request.untrusted)
    source, target = entity_named(view, request.source), entity_named(view, request.target)
    limit = checked_limit(request.limit, 20)
    found = best_routes(view, source, target, _check_steps(request.max_hops, 4, "maxHops"), limit)
    display = Display(parts, view)
    return GraphPathList(paths=tuple(map(display.path, found)))


@at_one_moment
@serves(GraphEntities)
def entities(parts: Parts, request: GraphEntities) -> GraphEntityList:
    kinds = [one_of(EntityKind, "kinds", kind) for kind in request.kinds]
    limit = checked_limit(request.limit, MAX_LISTED)
    view = GraphView(parts, request.user_id, request.session_id, untrusted=request.untrusted)
    display = Display(parts, view)
    if request.text:
        check_unicode("text", request.text)
        likest = [node for node in _find_likest(view, request.text) if not kinds or node.kind in kinds][:limit]
        return GraphEntityList(entities=tuple(map(display.entity, likest)))
    if request.cursor < 0:
        raise InvalidInput(f"{request.cursor} is not a cursor that a page gave")
    page = view.pages(kinds, request.cursor, limit)
    nodes = _own_of_page(view, page, kinds)
    display.prepare(nodes)
    cursor = page[-1].key if len(page) == limit else None
    return GraphEntityList(entities=tuple(map(display.entity, nodes)), cursor=cursor)


@serves(GraphRebuild)
def rebuild(parts: Parts, _: GraphRebuild) -> Done:
    parts.store.forget_graph()
    return Done(count=parts.store.graph_counts(()).pending)


@serves(GraphStatus)
def status(parts: Parts, request: GraphStatus) -> GraphStatusView:
    counts = parts.store.graph_counts(None if request.user_id is None else owners_seen_by(request.user_id, None))
    return GraphStatusView(entities=counts.entities, edges=counts.edges, pending=counts.pending)


def entity_named(view: GraphView, text: str) -> Node:
    """The entity that a name means. Raises NotFound, with the likest names."""
    check_unicode("name", text)
    if not 0 < len(text) <= MAX_NAME_CHARS:
        raise InvalidInput(f"a name must have 1 to {MAX_NAME_CHARS} characters, not {len(text)}")
    found = view.find(text)
    if found:
        return found[0]
    offers = [f"{node.kind}:{node.name}" for node in _find_likest(view, text)[:_OFFERED]]
    hint = f"; there is {', '.join(offers)}" if offers else ""
    raise NotFound(f"the graph knows no {text[:80]!r}{hint}")


def one_of(kind: type[E], what: str, name: str) -> E:
    if name not in set(kind):
        raise InvalidInput(f"{what} must be of {', '.join(kind)}")
    return kind(name)


def every_entity(view: GraphView, kinds: Sequence[EntityKind] = (), at_most: int = _NAMES_SCANNED) -> Iterator[Entity]:
    after = count = 0
    while count < at_most and (page := view.pages(kinds, after, min(_PAGE, at_most - count))):
        yield from page
        after = page[-1].key
        count += len(page)


def _transitive(parts: Parts, request: GraphUpstream | GraphDownstream, allowed: Allowed) -> GraphNeighbourhood:
    view = GraphView(parts, request.user_id, request.session_id, untrusted=request.untrusted)
    start = entity_named(view, request.name)
    limit = checked_limit(request.limit, MAX_LISTED)
    return _neighbourhood(parts, view, start, reach(view, start, _check_steps(request.depth, 8), allowed), limit)


def _neighbourhood(parts: Parts, view: GraphView, start: Node, reached: Reached, limit: int) -> GraphNeighbourhood:
    nearest = sorted(reached.routes.values(), key=lambda route: (len(route.links), *route.order()))
    shown = nearest[:limit]
    display = Display(parts, view)
    display.prepare([start, *(node for route in shown for node in route.nodes)])
    display.prepare_sources(link for route in shown for link in route.links)
    return GraphNeighbourhood(
        entity=display.entity(start),
        neighbours=tuple(
            GraphNeighbour(entity=display.entity(route.end), distance=len(route.links), path=display.path(route))
            for route in shown
        ),
        truncated=reached.truncated or len(nearest) > limit,
    )


def _find_likest(view: GraphView, text: str) -> list[Node]:
    """Nodes whose names contain the text, and then those whose names are spelt nearly like it."""
    wanted = canonical(text.partition(":")[2] if text.partition(":")[0] in set(EntityKind) else text)
    if not wanted:
        return []
    nodes: dict[str, list[Node]] = {}
    for entity in every_entity(view):
        nodes.setdefault(entity.name, []).append(view.node_of(entity))
    containing = sorted((name for name in nodes if wanted in name), key=lambda name: (len(name), name))
    names = [*containing, *get_close_matches(wanted, nodes, MAX_LISTED, _LIKE)]
    return list(dict.fromkeys(node for name in names for node in nodes[name]))


def _own_of_page(view: GraphView, page: Sequence[Entity], kinds: Sequence[EntityKind]) -> list[Node]:
    """The nodes of a page. A node belongs to the page of the first of its entities."""
    nodes = ((entity, view.node_of(entity)) for entity in page)
    return [
        node
        for entity, node in nodes
        if (not kinds or node.kind in kinds)
        and entity == next(item for item in view.entities_of(node) if not kinds or item.kind in kinds)
    ]


def _check_steps(steps: int, highest: int, what: str = "depth") -> int:
    if not 1 <= steps <= highest:
        raise InvalidInput(f"{what} must be from 1 to {highest}, not {steps}")
    return steps


# --- answers -------------------------------------------------------------------------------------------

LINE_CHARS = 160


class Display:
    """Looks up the titles and sources to show, each once; meant for one request."""

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
    """A path in one line, with arrows as its edges point."""
    arrows = (f" -{step.kind}-> " if step.forward else f" <-{step.kind}- " for step in steps)
    return start + "".join(f"{arrow}{step.to.name}" for arrow, step in zip(arrows, steps, strict=True))

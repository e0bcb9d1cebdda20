"""Ways through the graph: how strong one is, what can be reached, and how two entities are joined.

A way is as strong as its steps together. A node that very many records name joins everything with everything, so what
leads through one counts for less. Every walk is bounded: at each step only the strongest ways go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clew.features.graph.view import FAN_OUT, GraphView, Link, Node
from clew.text.entities import EdgeKind, EntityKind

BEAM = 16
"""Ways that go on after a step."""

_NEXT_FAN_OUT = 12
"""Edges that are read out of and into a node that is not where the walk starts."""

_FACTORS: Mapping[EdgeKind, float] = {
    EdgeKind.USES: 0.9,
    EdgeKind.BLOCKED_BY: 0.9,
    EdgeKind.DECIDES: 0.9,
    EdgeKind.EVALUATES: 0.85,
    EdgeKind.RELATES_TO: 0.95,
    EdgeKind.MENTIONS: 0.8,
}
"""What is left of a way that takes a step of a kind. How close two are that belong together, their weight says."""

_HUB_NAMINGS = 8
"""A node that so many records name halves what leads through it about every fourth doubling."""


class Route(NamedTuple):
    """A way: its nodes, one more than its links."""

    score: float
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @property
    def end(self) -> Node:
        return self.nodes[-1]

    def extended(self, link: Link, damping: float) -> Route:
        score = self.score * damping * link.strength * _FACTORS[link.kind]
        return Route(score, (*self.nodes, link.other(self.end)), (*self.links, link))

    def order(self) -> tuple[float, int, tuple[Node, ...]]:
        return -self.score, len(self.links), self.nodes


Allowed = Callable[[Link, Node], bool]
"""Whether a walk may follow a link out of a node."""


class Reached(NamedTuple):
    routes: dict[Node, Route]
    """The best way to each node, the start left out."""
    truncated: bool


def any_way(_: Link, __: Node) -> bool:
    return True


def reach(
    view: GraphView,
    start: Node,
    depth: int,
    allowed: Allowed = any_way,
    *,
    beam: int = BEAM,
    fan_out: int = FAN_OUT,
) -> Reached:
    """What can be reached in so many steps; the start has `fan_out` edges of either direction read."""
    found: dict[Node, Route] = {}
    frontier = [Route(1.0, (start,), ())]
    truncated = False
    for step in range(depth):
        layer, cut = _stepped(view, frontier, allowed, fan_out if step == 0 else _NEXT_FAN_OUT)
        truncated |= cut
        fresh: dict[Node, Route] = {}
        for route in layer:
            if route.end != start and route.end not in found:
                fresh.setdefault(route.end, route)
        found.update(fresh)
        frontier = list(fresh.values())[:beam]
        truncated |= len(fresh) > beam and step + 1 < depth
    return Reached(found, truncated)


def best_routes(view: GraphView, source: Node, target: Node, max_hops: int, count: int) -> list[Route]:
    """The strongest ways between two nodes, found by walking towards each other from both ends."""
    ahead = _layers(view, source, (max_hops + 1) // 2)
    back: dict[Node, list[Route]] = {}
    for route in _layers(view, target, max_hops // 2):
        back.setdefault(route.end, []).append(route)
    found: dict[tuple[Node, ...], Route] = {}
    for first in ahead:
        for second in back.get(first.end, ()):
            joined = _joined(view, first, second)
            if len(set(joined.nodes)) == len(joined.nodes) and 0 < len(joined.links) <= max_hops:
                kept = found.get(joined.nodes)
                found[joined.nodes] = joined if kept is None or joined.score > kept.score else kept
    return sorted(found.values(), key=Route.order)[:count]


def damping_of(view: GraphView, nodes: Iterable[Node]) -> dict[Node, float]:
    """What is left of a way that leads through a node. A file is named by every part of it, and is no hub by that."""
    counts = view.namings(nodes)
    return {node: 1.0 if node.kind is EntityKind.FILE else _damping(counts[node]) for node in counts}


def _damping(namings: int) -> float:
    return 1 / (1 + math.log2(1 + namings / _HUB_NAMINGS) / 4)


def extended_by_one(view: GraphView, routes: Sequence[Route]) -> Iterator[tuple[int, Route]]:
    """The ways that are one step longer, each with the place of the one it goes on from."""
    around = view.around(list(dict.fromkeys(route.end for route in routes)), _NEXT_FAN_OUT)
    through = damping_of(view, [route.end for route in routes])
    for place, route in enumerate(routes):
        for link in around[route.end]:
            if link.other(route.end) not in route.nodes:
                yield place, route.extended(link, through[route.end])


def _layers(view: GraphView, start: Node, depth: int) -> list[Route]:
    """Every way that a bounded walk finds, that of no step included."""
    found = frontier = [Route(1.0, (start,), ())]
    for step in range(depth):
        layer, _ = _stepped(view, frontier, any_way, FAN_OUT if step == 0 else _NEXT_FAN_OUT)
        found = [*found, *layer]
        frontier = layer[:BEAM]
    return found


def _stepped(view: GraphView, frontier: Sequence[Route], allowed: Allowed, fan_out: int) -> tuple[list[Route], bool]:
    """The ways one step on, the strongest first, and whether a node has more links than were followed."""
    ends = list(dict.fromkeys(route.end for route in frontier))
    around = view.around(ends, fan_out)
    through = damping_of(view, [route.end for route in frontier if route.links])
    layer = [
        route.extended(link, through.get(route.end, 1.0))
        for route in frontier
        for link in around[route.end]
        if link.other(route.end) not in route.nodes and allowed(link, route.end)
    ]
    return sorted(layer, key=Route.order), any(len(links) >= fan_out for links in around.values())


def _joined(view: GraphView, first: Route, second: Route) -> Route:
    """The second way is walked backwards."""
    middle = damping_of(view, [first.end])[first.end] if first.links and second.links else 1.0
    nodes = (*first.nodes, *reversed(second.nodes[:-1]))
    return Route(first.score * second.score * middle, nodes, (*first.links, *reversed(second.links)))

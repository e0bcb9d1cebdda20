"""Walks through the graph: to everything within reach, between two entities, and from a query to records.

A way is as strong as its steps together. A node that very many records name joins everything with everything, so a way
through one counts for less. Every walk is bounded: at each step only the strongest ways go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.features.graph.view import FAN_OUT, GraphView, Link, Node
from clew.kernel.derivation import home_of
from clew.kernel.parts import Parts
from clew.storage.protocol import Place
from clew.text.entities import EdgeKind, EntityKind, canonical
from clew.text.names import names_in

BEAM = 16
"""Ways that go on after a step."""

_NEXT_FAN_OUT = 12
"""Edges to read out of and into a node that the walk passes."""

_FACTORS: Mapping[EdgeKind, float] = {
    EdgeKind.USES: 0.9,
    EdgeKind.BLOCKED_BY: 0.9,
    EdgeKind.DECIDES: 0.9,
    EdgeKind.EVALUATES: 0.85,
    EdgeKind.RELATES_TO: 0.95,
    EdgeKind.MENTIONS: 0.8,
}
"""The share of its strength that a way keeps on a step of each kind."""

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

    def extend(self, link: Link, damping: float) -> Route:
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
    """The nodes within so many steps. Reads `fan_out` edges of either direction at the start."""
    found: dict[Node, Route] = {}
    frontier = [Route(1.0, (start,), ())]
    truncated = False
    for step in range(depth):
        layer, cut = _step(view, frontier, allowed, fan_out if step == 0 else _NEXT_FAN_OUT)
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
            joined = _join(view, first, second)
            if len(set(joined.nodes)) == len(joined.nodes) and 0 < len(joined.links) <= max_hops:
                kept = found.get(joined.nodes)
                found[joined.nodes] = joined if kept is None or joined.score > kept.score else kept
    return sorted(found.values(), key=Route.order)[:count]


def damping_of(view: GraphView, nodes: Iterable[Node]) -> dict[Node, float]:
    """The share of its strength that a way keeps through each node. A file is no hub, though all its parts name it."""
    counts = view.namings(nodes)
    return {node: 1.0 if node.kind is EntityKind.FILE else _damping(counts[node]) for node in counts}


def _damping(namings: int) -> float:
    return 1 / (1 + math.log2(1 + namings / _HUB_NAMINGS) / 4)


def extend(
    view: GraphView,
    routes: Sequence[Route],
    fan_out: int = _NEXT_FAN_OUT,
    allowed: Allowed = any_way,
    *,
    damp_starts: bool = True,
) -> tuple[list[tuple[int, Route]], bool]:
    """The ways one step on, each with the place of the one it extends; and whether a node has more links than that.

    `damp_starts` says whether a way that has no step yet leads through a node, too.
    """
    around = view.around(list(dict.fromkeys(route.end for route in routes)), fan_out)
    through = damping_of(view, [route.end for route in routes if route.links or damp_starts])
    longer = [
        (place, route.extend(link, through.get(route.end, 1.0)))
        for place, route in enumerate(routes)
        for link in around[route.end]
        if link.other(route.end) not in route.nodes and allowed(link, route.end)
    ]
    return longer, any(len(links) >= fan_out for links in around.values())


def _layers(view: GraphView, start: Node, depth: int) -> list[Route]:
    """Every way that a bounded walk finds, including the one without a step."""
    found = frontier = [Route(1.0, (start,), ())]
    for step in range(depth):
        layer, _ = _step(view, frontier, any_way, FAN_OUT if step == 0 else _NEXT_FAN_OUT)
        found = [*found, *layer]
        frontier = layer[:BEAM]
    return found


def _step(view: GraphView, frontier: Sequence[Route], allowed: Allowed, fan_out: int) -> tuple[list[Route], bool]:
    """The ways one step on, the strongest first, and whether some were left out."""
    longer, cut = extend(view, frontier, fan_out, allowed, damp_starts=False)
    return sorted((route for _, route in longer), key=Route.order), cut


def _join(view: GraphView, first: Route, second: Route) -> Route:
    """The first way, and then the second backwards."""
    middle = damping_of(view, [first.end])[first.end] if first.links and second.links else 1.0
    nodes = (*first.nodes, *reversed(second.nodes[:-1]))
    return Route(first.score * second.score * middle, nodes, (*first.links, *reversed(second.links)))


# --- from a query to records ---------------------------------------------------------------------------

_MAX_WORDS_OF_A_NAME = 4
_MAX_QUERY_WORDS, _MAX_QUERY_CHARS = 48, 4000
_LEADING = 6
"""Entities of a query whose surroundings a pack looks at."""

_LED_BEAM, _LED_FAN_OUT = 4, 16
"""How far it looks: small, because the pack waits for it."""


@dataclass(frozen=True, slots=True)
class Led:
    """A record that the graph leads to from an entity that a query names."""

    place: Place
    """Its home."""
    strength: float
    """In (0, 1]."""
    through: tuple[str, ...]
    """References of the records on the way there, edge by edge."""


def lead_to(
    parts: Parts, query_text: str, user_id: str | None, session_id: str | None, limit: int, *, untrusted: bool = False
) -> list[Led]:
    """Records up to two steps from the entities that a query names, the strongest first."""
    with parts.store.reading():
        return _find_leads(parts, GraphView(parts, user_id, session_id, untrusted=untrusted), query_text, limit)


def _find_leads(parts: Parts, view: GraphView, query_text: str, limit: int) -> list[Led]:
    led: dict[int, tuple[float, Route]] = {}
    for node in named_in(view, query_text)[:_LEADING]:
        for route in reach(view, node, 2, beam=_LED_BEAM, fan_out=_LED_FAN_OUT).routes.values():
            for record in route.links[-1].records:
                if record not in led or led[record][0] < route.score:
                    led[record] = (route.score, route)
    best = sorted(led.items(), key=lambda item: (-item[1][0], item[0]))[:limit]
    walked = {link.records[0] for _, (_, route) in best for link in route.links[:-1]}
    homes = parts.store.homes(sorted(walked.union(record for record, _ in best)))
    places = {record: home for record in homes if (home := home_of(homes[record])) is not None}
    return [
        Led(
            place=places[record],
            strength=score,
            through=tuple(
                _ref(places[key]) for key in (*(link.records[0] for link in route.links[:-1]), record) if key in places
            ),
        )
        for record, (score, route) in best
        if record in places
    ]


def _ref(place: Place) -> str:
    return f"{place.collection}/{place.id}"


def named_in(view: GraphView, text: str) -> list[Node]:
    """The entities that a text names: by the form of the name, or by its words, the longest names first."""
    formed = (canonical(span.title) for span in names_in(text[:_MAX_QUERY_CHARS]))
    words = text[:_MAX_QUERY_CHARS].split()[:_MAX_QUERY_WORDS]
    runs = (
        canonical(" ".join(words[start : start + size]))
        for size in range(_MAX_WORDS_OF_A_NAME, 0, -1)
        for start in range(len(words) - size + 1)
    )
    names = [name for name in dict.fromkeys((*formed, *runs)) if len(name) > 2]
    return view.named(names) if names else []

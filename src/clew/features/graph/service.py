"""Questions to the graph: what there is, what lies around it, how it is joined, and what a query leads to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TypeVar

from clew.core.operation import Done
from clew.errors import InvalidInput, NotFound
from clew.features.graph.names import MAX_CHARS, names_in
from clew.features.graph.operations import (
    GraphDownstream,
    GraphEntities,
    GraphEntityList,
    GraphNeighbour,
    GraphNeighbourhood,
    GraphNeighbours,
    GraphPathList,
    GraphPaths,
    GraphRebuild,
    GraphStatus,
    GraphStatusView,
    GraphUpstream,
)
from clew.features.graph.show import Display
from clew.features.graph.view import GraphView, Link, Node, at_one_moment
from clew.features.graph.walk import Allowed, Reached, Route, best_routes, reach
from clew.kernel.derivation import home_of
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.services import serves
from clew.storage.graphing import Entity
from clew.storage.protocol import Place
from clew.text.entities import UPSTREAM, EdgeKind, EntityKind, canonical, owners_seen_by

E = TypeVar("E", bound=StrEnum)

MAX_LISTED = 1000
MAX_NAME_CHARS = 1000
_NAMES_SCANNED = 20_000
"""Entities whose names are compared with one that is not known."""

_LIKE = 0.72
"""How alike two names must be for one to be offered for the other."""

_OFFERED = 3
_PAGE = 1000
_MAX_WORDS_OF_A_NAME = 4
_MAX_QUERY_WORDS = 48
_LEADING = 6
"""Entities of a query whose surroundings are looked at for a pack."""

_LED_BEAM, _LED_FAN_OUT = 4, 16
"""How far they are looked at: a pack waits for it."""


@dataclass(frozen=True, slots=True)
class Led:
    """A record that the graph leads to from what a query names."""

    place: Place
    """Where it is at home."""
    strength: float
    """In (0, 1]."""
    through: tuple[str, ...]
    """References of the records that lead there from what the query names, edge by edge."""


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
    return _neighbourhood(parts, view, start, reach(view, start, _checked_steps(request.depth, 3), allowed), limit)


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
    found = best_routes(view, source, target, _checked_steps(request.max_hops, 4, "maxHops"), limit)
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
        likest = [node for node in _likest(view, request.text) if not kinds or node.kind in kinds][:limit]
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


def lead_to(
    parts: Parts, query_text: str, user_id: str | None, session_id: str | None, limit: int, *, untrusted: bool = False
) -> list[Led]:
    """Records that lie up to two steps from what a query names, the strongest first; none where nothing is known."""
    with parts.store.reading():
        return _led(parts, GraphView(parts, user_id, session_id, untrusted=untrusted), query_text, limit)


def _led(parts: Parts, view: GraphView, query_text: str, limit: int) -> list[Led]:
    led: dict[int, tuple[float, Route]] = {}
    for node in named_in(view, query_text)[:_LEADING]:
        for route in _nearest(view, node):
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
    """The entities that a text names: by what looks like a name in it, and by words that are names of some."""
    text = text[:MAX_CHARS]
    said = [canonical(span.title) for span in names_in(text)]
    words = canonical(text).split()[:_MAX_QUERY_WORDS]
    runs = (
        canonical(" ".join(words[start : start + size]))
        for size in range(_MAX_WORDS_OF_A_NAME, 0, -1)
        for start in range(len(words) - size + 1)
    )
    names = [name for name in dict.fromkeys([*said, *runs]) if len(name) > 2]
    return view.named(names) if names else []


def entity_named(view: GraphView, text: str) -> Node:
    """The entity somebody means. Raises NotFound, with what they may have meant."""
    check_unicode("name", text)
    if not 0 < len(text) <= MAX_NAME_CHARS:
        raise InvalidInput(f"a name must have 1 to {MAX_NAME_CHARS} characters, not {len(text)}")
    found = view.find(text)
    if found:
        return found[0]
    offers = [f"{node.kind}:{node.name}" for node in _likest(view, text)[:_OFFERED]]
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
    return _neighbourhood(parts, view, start, reach(view, start, _checked_steps(request.depth, 8), allowed), limit)


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


def _nearest(view: GraphView, node: Node) -> Iterable[Route]:
    return reach(view, node, 2, beam=_LED_BEAM, fan_out=_LED_FAN_OUT).routes.values()


def _likest(view: GraphView, text: str) -> list[Node]:
    """Nodes whose names hold the text or are spelt nearly like it."""
    wanted = canonical(text.partition(":")[2] if text.partition(":")[0] in set(EntityKind) else text)
    graded: dict[Node, float] = {}
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    for entity in every_entity(view) if wanted else ():
        likeness = 1.0 if entity.name == wanted else 0.9 if wanted in entity.name else _likeness(matcher, entity.name)
        if likeness >= _LIKE:
            node = view.node_of(entity)
            graded[node] = max(graded.get(node, 0.0), likeness)
    return sorted(graded, key=lambda node: (-graded[node], len(node.name), node))


def _likeness(matcher: SequenceMatcher[str], name: str) -> float:
    matcher.set_seq1(name)
    if matcher.real_quick_ratio() < _LIKE or matcher.quick_ratio() < _LIKE:
        return 0.0
    return matcher.ratio()


def _own_of_page(view: GraphView, page: Sequence[Entity], kinds: Sequence[EntityKind]) -> list[Node]:
    """The nodes of a page, each on the page of the first of its entities alone."""
    nodes = ((entity, view.node_of(entity)) for entity in page)
    return [
        node
        for entity, node in nodes
        if (not kinds or node.kind in kinds)
        and entity == next(item for item in view.entities_of(node) if not kinds or item.kind in kinds)
    ]


def _checked_steps(steps: int, highest: int, what: str = "depth") -> int:
    if not 1 <= steps <= highest:
        raise InvalidInput(f"{what} must be from 1 to {highest}, not {steps}")
    return steps

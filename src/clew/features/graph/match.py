"""Finds the projects that an idea belongs to, each with the path that justifies it.

An idea leads into the graph in two ways: it names entities, and it resembles records that name some. From there it goes
on, up to three steps, to projects. Several ways to a project count more than one; a way through an entity that
everything mentions counts little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.errors import InvalidInput
from clew.features.graph.operations import (
    GraphEntity,
    GraphMatch,
    GraphMatchItem,
    GraphMatchList,
    GraphPath,
    GraphStep,
)
from clew.features.graph.service import Display, in_words, source_of
from clew.features.graph.view import GraphView, Node, at_one_moment
from clew.features.graph.walk import Route, damping_of, extend, named_in
from clew.kernel.intake import check_unicode
from clew.kernel.operations import Search
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.search import Found, recall
from clew.kernel.services import serves
from clew.storage.protocol import Place
from clew.text.entities import EntityKind, canonical

MAX_MATCHES = 50
MAX_IDEA_CHARS = 4000
_HOPS = 3
_BEAM = 32
_RESEMBLING = 48
"""Records like the idea to start from."""

_CONTRAST = 8
"""How fast likeness counts less behind the likest record: models give everything some likeness."""

_UNLIKE, _ALIKE = 0.4, 0.55
"""Likeness in meaning below which a record does not count, and from which it counts fully.

An idea that belongs to no project is still a little like something in every store: short ones reach 0.3 to 0.5 with
notes they have nothing in common with, ideas that belong somewhere 0.4 to 0.7 with those of their project."""

_NAMED, _RESEMBLED, _ALSO_NAMED = 0.9, 0.8, 0.35
"""The strength that a way starts with: at an entity the idea names, at the project or the note of a like record, at
another entity of such a record."""

_NEXT_BEST = 0.5
"""The weight of each further way to a project, against the one before it."""


class _Start(NamedTuple):
    """How the idea leads to a node."""

    node: Node
    strength: float
    record: Found | None
    """The record that resembles the idea; none where the idea names the node."""

    @property
    def origin(self) -> str:
        """The record or the name that the way rests on; the same evidence counts once."""
        return f"{self.node.kind}:{self.node.name}" if self.record is None else self.record.ref


class _Way(NamedTuple):
    start: _Start
    route: Route


@at_one_moment
@serves(GraphMatch)
def match(parts: Parts, request: GraphMatch) -> GraphMatchList:
    check_unicode("idea", request.idea)
    if not request.idea.strip() or len(request.idea) > MAX_IDEA_CHARS:
        raise InvalidInput(f"an idea must have 1 to {MAX_IDEA_CHARS} characters")
    limit = checked_limit(request.limit, MAX_MATCHES)
    view = GraphView(parts, request.user_id, request.session_id, untrusted=request.untrusted)
    search = Search(text=request.idea, k=_RESEMBLING, user_id=request.user_id, session_id=request.session_id)
    similar, degraded = recall(parts, search)
    starts = [*_named_starts(view, request.idea), *_resembling_starts(parts, view, similar)]
    ways = _ways_to_projects(view, starts)
    display = Display(parts, view)
    ranked = sorted(ways.items(), key=lambda item: (-_combine(item[1]), item[0]))[:limit]
    display.prepare(project for project, _ in ranked)
    return GraphMatchList(matches=tuple(_item(display, project, found) for project, found in ranked), degraded=degraded)


def _named_starts(view: GraphView, idea: str) -> list[_Start]:
    nodes = named_in(view, idea)
    through = damping_of(view, nodes)
    return [_Start(node, _NAMED * (1.0 if node.kind is EntityKind.PROJECT else through[node]), None) for node in nodes]


def _resembling_starts(parts: Parts, view: GraphView, similar: Sequence[Found]) -> list[_Start]:
    """Starts at the entities of like records: strong at its project or note, weak at the others."""
    like = {Place(item.record.collection, item.record.id): item for item in similar}
    likest = max(map(_likeness, similar), default=0.0)
    starts = []
    for place, entity in parts.store.entities_seen(list(like), view.owners, untrusted=view.untrusted):
        node, item = view.node_of(entity), like[place]
        weight = _weight(item)
        if weight > 0:
            contrast = (_likeness(item) / likest) ** _CONTRAST
            share = _RESEMBLED if _is_home(node, item) else _ALSO_NAMED
            starts.append(_Start(node, share * weight * contrast, item))
    return starts


def _likeness(item: Found) -> float:
    """Meaning counts once more where it is known: an idea puts in other words what a project says."""
    similarity, dense = item.candidate.similarity, item.candidate.dense
    return similarity if dense is None else (similarity + dense) / 2


def _weight(item: Found) -> float:
    """How much a like record counts: nothing where its meaning is not near.

    Where meaning is not known, the record shares words with the idea, or search would not have found it.
    """
    likeness = _likeness(item)
    if item.candidate.dense is None:
        return likeness
    return likeness * min(max((likeness - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0), 1.0)


def _is_home(node: Node, item: Found) -> bool:
    """Whether the node is a project or the note of the record."""
    return node.kind is EntityKind.PROJECT or node.name == canonical(str(item.record.metadata.get("source_doc", "")))


def _ways_to_projects(view: GraphView, starts: Sequence[_Start]) -> dict[Node, list[_Way]]:
    """By project: the best way to it from each start."""
    found: dict[Node, dict[str, _Way]] = {}
    frontier = [_Way(start, Route(start.strength, (start.node,), ())) for start in starts]
    for hop in range(_HOPS + 1):
        arrived = [way for way in frontier if way.route.end.kind is EntityKind.PROJECT]
        for way in arrived:
            _keep_best(found.setdefault(way.route.end, {}), way)
        going_on = sorted((way for way in frontier if way not in arrived), key=lambda way: way.route.order())[:_BEAM]
        if hop == _HOPS or not going_on:
            break
        frontier = _one_step_on(view, going_on)
    return {project: sorted(ways.values(), key=lambda way: way.route.order()) for project, ways in found.items()}


def _keep_best(ways: dict[str, _Way], way: _Way) -> None:
    origin = way.start.origin
    if origin not in ways or ways[origin].route.score < way.route.score:
        ways[origin] = way


def _one_step_on(view: GraphView, ways: Sequence[_Way]) -> list[_Way]:
    """Extends the ways by a step. Of several ways from one start to a node, the strongest goes on."""
    best: dict[tuple[Node, str], _Way] = {}
    for place, after in extend(view, [way.route for way in ways])[0]:
        start = ways[place].start
        key = (after.end, start.origin)
        if key not in best or best[key].route.score < after.score:
            best[key] = _Way(start, after)
    return list(best.values())


def _combine(ways: Iterable[_Way]) -> float:
    """The strength of several ways together, given the best first."""
    doubt = 1.0
    for place, way in enumerate(ways):
        doubt *= 1.0 - min(way.route.score, 0.99) * _NEXT_BEST**place
    return 1.0 - doubt


def _item(display: Display, project: Node, ways: Sequence[_Way]) -> GraphMatchItem:
    shown: GraphEntity = display.entity(project)
    return GraphMatchItem(project=shown, score=_combine(ways), path=_path(display, ways[0]), paths=len(ways))


def _path(display: Display, way: _Way) -> GraphPath:
    route, start = way.route, way.start
    first = (
        display.step("names", True, start.node, start.strength, ())
        if start.record is None
        else GraphStep(
            kind="resembles",
            forward=True,
            to=display.entity(start.node),
            strength=start.strength,
            sources=(source_of(start.record.record),),
        )
    )
    rest = display.path(route).steps if route.links else ()
    steps = (first, *rest)
    return GraphPath(score=route.score, start=None, steps=steps, text=in_words("idea", steps))

"""The graph as text: Markdown to read, Mermaid to draw, JSON for programs. The same graph gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from clew.errors import InvalidInput
from clew.features.graph.operations import GraphEntity, GraphExport, GraphText
from clew.features.graph.service import Display, entity_named, every_entity
from clew.features.graph.view import GraphView, Link, Node, at_one_moment
from clew.features.graph.walk import reach
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.services import serves

MAX_SHOWN = 500
_STEPS = range(1, 4)
_SCANNED = 20_000


class Part(NamedTuple):
    """The part of the graph that is shown."""

    nodes: Sequence[Node]
    links: Sequence[Link]
    entities: Mapping[Node, GraphEntity]


@at_one_moment
@serves(GraphExport)
def export(parts: Parts, request: GraphExport) -> GraphText:
    write = _FORMATS.get(request.format)
    if write is None:
        raise InvalidInput(f"format must be one of {', '.join(_FORMATS)}")
    view = GraphView(parts, request.user_id, request.session_id, untrusted=request.untrusted)
    part = _part(parts, view, request)
    return GraphText(format=request.format, text=write(part), entities=len(part.nodes), edges=len(part.links))


def _part(parts: Parts, view: GraphView, request: GraphExport) -> Part:
    limit = checked_limit(request.limit, MAX_SHOWN)
    nodes = _around(view, request.name, request.depth) if request.name is not None else _most_named(view)
    nodes = nodes[:limit]
    display = Display(parts, view)
    display.prepare(nodes)
    shown = set(nodes)
    links = {
        link: None
        for found in view.around(nodes).values()
        for link in found
        if link.source in shown and link.target in shown
    }
    ordered = sorted(links, key=lambda link: (link.source, link.target, link.kind))
    return Part(nodes, ordered, {node: display.entity(node) for node in nodes})


def _around(view: GraphView, name: str, depth: int) -> list[Node]:
    if depth not in _STEPS:
        raise InvalidInput(f"depth must be from {_STEPS.start} to {_STEPS.stop - 1}, not {depth}")
    start = entity_named(view, name)
    routes = sorted(reach(view, start, depth).routes.values(), key=lambda route: route.order())
    return [start, *(route.end for route in routes)]


def _most_named(view: GraphView) -> list[Node]:
    nodes = list(dict.fromkeys(view.node_of(entity) for entity in every_entity(view, at_most=_SCANNED)))
    counts = view.namings(nodes)
    return sorted(nodes, key=lambda node: (-counts[node], node))


def _markdown(part: Part) -> str:
    """A section a kind, an item an entity, and what leads out of it below."""
    lines = ["# Graph"]
    for kind in dict.fromkeys(sorted(node.kind for node in part.nodes)):
        lines += ["", f"## {kind}", ""]
        for node in sorted(node for node in part.nodes if node.kind == kind):
            entity = part.entities[node]
            lines.append(f"- {_escape(entity.name)} ({entity.records})")
            lines += [
                f"  - {link.kind} {_escape(part.entities[link.target].name)} ({link.target.kind})"
                for link in part.links
                if link.source == node
            ]
    return "\n".join(lines) + "\n"


def _mermaid(part: Part) -> str:
    places = {node: f"n{place}" for place, node in enumerate(part.nodes)}
    lines = ["graph LR"]
    lines += [f'  {id_}["{_quote(part.entities[node].name)}"]:::{node.kind}' for node, id_ in places.items()]
    lines += [f"  {places[link.source]} -->|{link.kind}| {places[link.target]}" for link in part.links]
    return "\n".join(lines) + "\n"


def _json(part: Part) -> str:
    places = {node: place for place, node in enumerate(part.nodes)}
    written = {
        "entities": [
            {"kind": part.entities[node].kind, "name": part.entities[node].name, "records": part.entities[node].records}
            for node in part.nodes
        ],
        "edges": [
            {
                "source": places[link.source],
                "target": places[link.target],
                "kind": link.kind.value,
                "strength": round(link.strength, 3),
            }
            for link in part.links
        ],
    }
    return msgspec.json.encode(written).decode("utf-8")


def _escape(name: str) -> str:
    """A name that cannot be taken for markup: names come from text that anybody may have written."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|!" else char for char in name)


def _quote(name: str) -> str:
    return "".join(char if char.isalnum() or char in " .-/:+@_" else f"#{ord(char)};" for char in name)


_FORMATS: Mapping[str, Callable[[Part], str]] = {"markdown": _markdown, "mermaid": _mermaid, "json": _json}

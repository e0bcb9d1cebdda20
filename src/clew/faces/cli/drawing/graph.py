"""A picture of the graph: a layout of springs, drawn as SVG by ourselves and as PNG with matplotlib.

The same graph gives the same picture: the layout starts from a circle, and nothing in it is left to chance.
"""

from __future__ import annotations

from html import escape
from importlib import util
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clew.errors import InvalidInput
from clew.faces.cli.console.output import replaced_whole
from clew.faces.cli.console.terminal import safe

Positions = NDArray[np.float64]

_COLOURS = {
    "project": "#1b6ca8",
    "repo": "#3d8f6b",
    "decision": "#b5472f",
    "concept": "#7a7a7a",
    "tool": "#e08e2b",
    "person": "#8a4f9e",
    "file": "#4a4a4a",
}
_WIDTH, _HEIGHT, _MARGIN = 1200, 900, 70
_FOOT = 30
"""Room at the bottom for the legend."""

_ROW, _IN_A_ROW = 48, 5
"""How high a row of names that nothing joins is, and how many names it holds."""

_CHAR = 7.5
"""How wide a letter of a name is drawn, roughly."""

_STEPS = 250
_NAME_CHARS = 32


class Entity(Struct):
    kind: str
    name: str
    records: int


class Edge(Struct):
    source: int
    target: int
    kind: str
    strength: float


class Graph(Struct):
    """A graph as `graph_export` gives it."""

    entities: list[Entity]
    edges: list[Edge]


def read_graph(text: str) -> Graph:
    return msgspec.json.decode(text, type=Graph)


def draw(path: Path, graph: Graph) -> bool:
    """Write the picture in the format that the file's ending names; False where a PNG needs what is not installed."""
    ending = path.suffix.lower()
    if ending not in (".svg", ".png"):
        raise InvalidInput(f"{path.name}: a picture ends in .svg or .png")
    if ending == ".png" and util.find_spec("matplotlib") is None:
        return False
    places = _layout(graph)
    with replaced_whole(path) as stream:
        if ending == ".svg":
            stream.write(_svg(graph, places).encode())
        else:
            _write_png(stream, graph, places)
    return True


def _layout(graph: Graph) -> Positions:
    """Lays out joined names by springs, and puts names that nothing joins into rows below them."""
    ends = np.array([(edge.source, edge.target) for edge in graph.edges if edge.source != edge.target], dtype=int)
    joined = np.unique(ends)
    alone = np.setdiff1d(np.arange(len(graph.entities)), joined)
    rows = -(-len(alone) // _IN_A_ROW)
    places = np.zeros((len(graph.entities), 2))
    if len(joined):
        floor = max(_HEIGHT - _FOOT - rows * _ROW, _HEIGHT // 2)
        places[joined] = _fit(_sprung(len(joined), np.searchsorted(joined, ends)), floor)
    if len(alone):
        at = np.arange(len(alone))
        room, height = _WIDTH / _IN_A_ROW, min(_ROW, _HEIGHT / 2 / rows)
        above = _HEIGHT - _FOOT - (rows - at // _IN_A_ROW) * height
        places[alone] = np.column_stack([(at % _IN_A_ROW + 0.5) * room, above + height / 2])
    return places


def _sprung(count: int, ends: NDArray[np.int_]) -> Positions:
    """Nodes push each other away, edges pull their ends together, and the steps grow smaller."""
    angles = np.arange(count) * (2 * np.pi / count)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    ideal = 1.6 / np.sqrt(count)
    for step in range(_STEPS):
        away = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-3)
        force = (away * (ideal**2 / distance**2)[:, :, None]).sum(axis=1) - 0.15 * places
        along = places[ends[:, 0]] - places[ends[:, 1]]
        pull = along * (np.linalg.norm(along, axis=1) / ideal)[:, None]
        np.add.at(force, ends[:, 0], -pull)
        np.add.at(force, ends[:, 1], pull)
        length = np.maximum(np.linalg.norm(force, axis=1), 1e-9)[:, None]
        places = places + force / length * np.minimum(length, 0.1 * (1 - step / _STEPS))
    return places


def _fit(places: Positions, floor: float) -> Positions:
    """The layout in the picture's own coordinates, above a floor."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-6)
    room = np.array([_WIDTH - 2 * _MARGIN, floor - 2 * _MARGIN])
    fitted: Positions = _MARGIN + (places - low) / span * room
    return fitted


def _svg(graph: Graph, places: Positions) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="14" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#999"/></marker></defs>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    for edge in graph.edges:
        (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999" marker-end="url(#tip)" '
            f'stroke-width="{0.5 + 1.5 * edge.strength:.2f}"><title>{escape(edge.kind)}</title></line>'
        )
    for entity, (x, y) in zip(graph.entities, places, strict=True):
        label = _label(entity)
        lines.append(
            f"<g><title>{escape(entity.kind)}: {escape(_line(entity.name))}</title>"
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_radius(entity):.1f}" fill="{_COLOURS[entity.kind]}"/>'
            f'<text x="{_inside(x, label):.1f}" y="{y - _radius(entity) - 4:.1f}" font-size="13" '
            f'text-anchor="middle">{escape(label)}</text></g>'
        )
    for kind, x in _legend(graph):
        lines.append(
            f'<g class="legend"><circle cx="{x}" cy="{_HEIGHT - _FOOT / 2}" r="6" fill="{_COLOURS[kind]}"/>'
            f'<text x="{x + 12}" y="{_HEIGHT - _FOOT / 2 + 4}" font-size="12">{kind}</text></g>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _write_png(stream: IO[bytes], graph: Graph, places: Positions) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH / 100, _HEIGHT / 100))
    panel: Any = figure.add_axes((0, 0, 1, 1))
    panel.set(xlim=(0, _WIDTH), ylim=(_HEIGHT, 0))
    panel.axis("off")
    for edge in graph.edges:
        panel.annotate(
            "", xy=places[edge.target], xytext=places[edge.source],
            arrowprops={"arrowstyle": "->", "color": "#999999", "lw": 0.5 + 1.5 * edge.strength, "shrinkB": 8},
        )  # fmt: skip
    for entity, (x, y) in zip(graph.entities, places, strict=True):
        label = _label(entity)
        panel.scatter([x], [y], s=_radius(entity) ** 2 * 1.6, color=_COLOURS[entity.kind], zorder=3)
        panel.text(
            _inside(x, label), y - _radius(entity) - 4, label, fontsize=9, ha="center", zorder=4, parse_math=False
        )
    for kind, x in _legend(graph):
        panel.scatter([x], [_HEIGHT - _FOOT / 2], s=60, color=_COLOURS[kind], zorder=3)
        panel.text(x + 12, _HEIGHT - _FOOT / 2 + 4, kind, fontsize=9)
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})


def _radius(entity: Entity) -> float:
    return float(min(6 + 2 * np.log2(1 + entity.records), 24))


def _legend(graph: Graph) -> list[tuple[str, int]]:
    """The kinds that are drawn, each with the place of its mark from the left."""
    drawn = {entity.kind for entity in graph.entities}
    return [(kind, 20 + 100 * place) for place, kind in enumerate(kind for kind in _COLOURS if kind in drawn)]


def _inside(x: float, label: str) -> float:
    """Where a label is centred so that it does not leave the picture."""
    half = len(label) * _CHAR / 2 + 4
    return float(np.clip(x, half, _WIDTH - half))


def _label(entity: Entity) -> str:
    """A name that is not too long; of a path, its end says most."""
    line = _line(entity.name)
    if len(line) <= _NAME_CHARS:
        return line
    if "/" not in line or " " in line:
        return f"{line[: _NAME_CHARS - 1]}…"
    end = line[2 - _NAME_CHARS :]
    return f"…/{end.partition('/')[2] or end}"


def _line(name: str) -> str:
    return safe(" ".join(name.split()))

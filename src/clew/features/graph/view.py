"""The graph as one question may see it: whose entities, which of them are one, and what lies around them.

An entity of a user and one of all that have the same kind and name are one node. A concept is a name of which nothing
more is known; where the same name is also known as a project, a tool or something else, it is that. What the operator
merged is one node, too. All of this happens when a question is asked: what records say stays as they said it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import NamedTuple, TypeVar

from clew.features.graph.aliases import aliases_of
from clew.features.graph.names import kind_of_name
from clew.kernel.parts import Parts
from clew.storage.graphing import Edge, Entity
from clew.text.entities import EdgeKind, EntityKind, canonical, owners_seen_by

Q = TypeVar("Q")
A = TypeVar("A")

FAN_OUT = 48
"""Edges that are read out of an entity and into it, the heaviest first: of a hub, nobody needs all of them."""

NAMINGS_COUNTED = 1000
MAX_CITED = 2
"""Records that are cited for one link."""

_BY_PRECEDENCE = (
    EntityKind.PROJECT, EntityKind.TOOL, EntityKind.PERSON, EntityKind.REPO, EntityKind.FILE, EntityKind.DECISION,
)  # fmt: skip
"""What a concept is taken for, where its name is known as several other things."""


class Node(NamedTuple):
    kind: EntityKind
    name: str


class Link(NamedTuple):
    """All that joins one node with another by edges of one kind and direction."""

    source: Node
    target: Node
    kind: EdgeKind
    strength: float
    """In (0, 1]; more records that say the same make it stronger."""
    records: tuple[int, ...]
    """Keys of those that say it most clearly."""

    def other(self, node: Node) -> Node:
        return self.target if node == self.source else self.source


class GraphView:
    """One question's sight of the graph. Remembers what it has looked up; meant for one request."""

    def __init__(self, parts: Parts, user_id: str | None, session_id: str | None, *, untrusted: bool = False) -> None:
        self._store = parts.store
        self.owners = owners_seen_by(user_id, session_id)
        self.untrusted = untrusted
        self._aliases = {Node(*one): Node(*other) for one, other in aliases_of(parts, user_id).items()}
        self._merged: dict[Node, list[Node]] = {}
        for dropped, kept in self._aliases.items():
            self._merged.setdefault(kept, []).append(dropped)
        self._named: dict[str, list[Entity]] = {}
        self._counts: dict[Node, int] = {}

    def named(self, names: Sequence[str]) -> list[Node]:
        """The nodes that have one of these names, in the order of names."""
        self._look_up(names)
        found = (self._node(entity) for name in names for entity in self._named.get(name, ()))
        return list(dict.fromkeys(found))

    def find(self, text: str) -> list[Node]:
        """What somebody may mean by a name, which may be given as `kind:name`."""
        kind, _, rest = text.partition(":")
        if kind in set(EntityKind) and rest.strip():
            merged = self._aliases.get(Node(EntityKind(kind), canonical(rest)))
            return [node for node in self.find(rest) if node.kind == kind or node == merged]
        names = dict.fromkeys([canonical(text), canonical(kind_of_name(text)[1])])
        return sorted(self.named([name for name in names if name]), key=lambda node: _rank(node.kind))

    def node_of(self, entity: Entity) -> Node:
        self._look_up([entity.name])
        return self._node(entity)

    def entities_of(self, node: Node) -> list[Entity]:
        """The entities that a node stands for, by key."""
        return self._entities([node])[node]

    def _entities(self, nodes: Iterable[Node]) -> dict[Node, list[Entity]]:
        """The same for many at once."""
        alike = {node: [node, *self._merged.get(node, ())] for node in nodes}
        self._look_up([item.name for items in alike.values() for item in items])
        return {
            node: sorted({e for item in items for e in self._named[item.name] if self._node(e) == node})
            for node, items in alike.items()
        }

    def _keys(self, nodes: Iterable[Node]) -> dict[Node, list[int]]:
        return {node: [entity.key for entity in found] for node, found in self._entities(nodes).items()}

    def around(self, nodes: Sequence[Node], limit: int = FAN_OUT) -> Mapping[Node, list[Link]]:
        """The links of each node, the strongest first."""
        keys = self._keys(nodes)
        edges = self._store.edges_of([key for found in keys.values() for key in found], limit, untrusted=self.untrusted)
        ends = self._nodes_at({end for edge in edges for end in (edge.source, edge.target)})
        links = _gathered((ends[edge.source], ends[edge.target], edge) for edge in _each_once(edges))
        found: dict[Node, list[Link]] = {node: [] for node in nodes}
        for link in links:
            for end in {link.source, link.target} & found.keys():
                found[end].append(link)
        return found

    def titles(self, nodes: Iterable[Node]) -> dict[Node, str]:
        """How nodes are written: as their oldest record does that may be shown."""
        keys = {node: _own_first(node, found) for node, found in self._entities(nodes).items()}
        titles = self._store.titles([key for found in keys.values() for key in found], untrusted=self.untrusted)
        return {node: next((titles[key] for key in found if key in titles), node.name) for node, found in keys.items()}

    def namings(self, nodes: Iterable[Node]) -> dict[Node, int]:
        """How many records name each node, as far as that is counted."""
        wanted = list(nodes)
        keys = self._keys([node for node in wanted if node not in self._counts])
        every = [key for found in keys.values() for key in found]
        counts = self._store.namings(every, NAMINGS_COUNTED, untrusted=self.untrusted) if every else {}
        self._counts.update((node, sum(counts[key] for key in found)) for node, found in keys.items())
        return {node: self._counts[node] for node in wanted}

    def pages(self, kinds: Sequence[EntityKind], after: int, limit: int) -> list[Entity]:
        return self._store.entities(self.owners, kinds, after, limit, untrusted=self.untrusted)

    def _look_up(self, names: Iterable[str]) -> None:
        missing = [name for name in dict.fromkeys(names) if name not in self._named]
        if missing:
            self._named.update((name, []) for name in missing)
            for entity in self._store.entities_named(missing, self.owners, untrusted=self.untrusted):
                self._named[entity.name].append(entity)

    def _nodes_at(self, keys: Iterable[int]) -> dict[int, Node]:
        """Only a concept may be something else under the same name, and has to be looked up."""
        entities = self._store.entities_at(sorted(keys))
        self._look_up([entity.name for entity in entities if entity.kind is EntityKind.CONCEPT])
        return {entity.key: self._node(entity) for entity in entities}

    def _node(self, entity: Entity) -> Node:
        kind = entity.kind
        if kind is EntityKind.CONCEPT:
            known = {item.kind for item in self._named.get(entity.name, ())}
            kind = next((better for better in _BY_PRECEDENCE if better in known), kind)
        node = Node(kind, entity.name)
        return self._aliases.get(node, node)


def at_one_moment(ask: Callable[[Parts, Q], A]) -> Callable[[Parts, Q], A]:
    """A question to the graph takes many small reads; they are of one moment, and so they are fast."""

    @wraps(ask)
    def asked(parts: Parts, request: Q) -> A:
        with parts.store.reading():
            return ask(parts, request)

    return asked


def _own_first(node: Node, entities: Iterable[Entity]) -> list[int]:
    """The entities of its own kind and name, and then those of its name, before those that are taken for it."""
    ordered = sorted(
        entities, key=lambda entity: ((entity.kind, entity.name) != node, entity.name != node.name, entity)
    )
    return [entity.key for entity in ordered]


def _rank(kind: EntityKind) -> int:
    return _BY_PRECEDENCE.index(kind) if kind in _BY_PRECEDENCE else len(_BY_PRECEDENCE)


def _each_once(edges: Iterable[Edge]) -> Iterator[Edge]:
    """An edge between two of the entities asked about was read from both ends."""
    return iter(dict.fromkeys(edges))


def _gathered(joined: Iterable[tuple[Node, Node, Edge]]) -> list[Link]:
    by_ends: dict[tuple[Node, Node, EdgeKind], list[Edge]] = {}
    for source, target, edge in joined:
        if source != target:
            by_ends.setdefault((source, target, edge.kind), []).append(edge)
    links = [_link(*ends, edges) for ends, edges in by_ends.items()]
    return sorted(links, key=lambda link: (-link.strength, link.kind, link.source, link.target))


def _link(source: Node, target: Node, kind: EdgeKind, edges: Sequence[Edge]) -> Link:
    if len(edges) == 1:
        return Link(source, target, kind, edges[0].weight, (edges[0].record,))
    doubt = 1.0
    for edge in edges:
        doubt *= 1.0 - edge.weight
    clearest = sorted(edges, key=lambda edge: (-edge.weight, -edge.record))[:MAX_CITED]
    heaviest = max(edge.weight for edge in edges)
    strength = max(min(1.0 - doubt, (1.0 + heaviest) / 2), heaviest)
    return Link(source, target, kind, strength, tuple(edge.record for edge in clearest))

"""The graph as one question may see it: whose entities, which of them are one, and what lies around them.

An entity of a user and a shared one with the same kind and name are one node. A concept is a name of which nothing more
is known; where the same name is also a project, a tool or something else, the concept counts as that. Entities that the
operator merged are one node, too. A merge is a record in an internal collection of its user or of all, not a change of
the graph: it outlives a rebuild, and a purge of the user removes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import NamedTuple, TypeVar

from clew.core.collections import Collection
from clew.core.model import Metadata
from clew.kernel.parts import Parts
from clew.storage.graphing import Edge, Entity
from clew.storage.paging import every_member
from clew.text.entities import EdgeKind, EntityKind, canonical, owners_seen_by
from clew.text.names import kind_of_name

Q = TypeVar("Q")
A = TypeVar("A")

FAN_OUT = 48
"""Edges to read out of an entity and into it, the heaviest first: nobody needs all edges of a hub."""

NAMINGS_COUNTED = 1000
MAX_CITED = 2
"""Records to cite for one link."""

BY_PRECEDENCE = (
    EntityKind.PROJECT, EntityKind.TOOL, EntityKind.PERSON, EntityKind.REPO, EntityKind.FILE, EntityKind.DECISION,
    EntityKind.CONCEPT,
)  # fmt: skip
"""Of several kinds that one node could have, the first of these counts."""


_BY_RANK = (
    EntityKind.PROJECT, EntityKind.REPO, EntityKind.TOOL, EntityKind.PERSON, EntityKind.FILE, EntityKind.DECISION,
    EntityKind.CONCEPT,
)  # fmt: skip
"""Of the kinds of merged nodes, the first of these counts."""


def readings_of_name(text: str) -> list[str]:
    """The names that a text may mean: as it is written, and by its form, as the address of a repository."""
    return list(dict.fromkeys([canonical(text), canonical(kind_of_name(text)[1])]))


class Node(NamedTuple):
    kind: EntityKind
    name: str


class Link(NamedTuple):
    """All edges of one kind from one node to another."""

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
    """What one request may see of the graph. Remembers what it has looked up."""

    def __init__(self, parts: Parts, user_id: str | None, session_id: str | None, *, untrusted: bool = False) -> None:
        self._store = parts.store
        self.owners = owners_seen_by(user_id, session_id)
        self.untrusted = untrusted
        self._aliases = aliases_of(parts, user_id)
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
        """The nodes that a name, or `kind:name`, may mean."""
        kind, _, rest = text.partition(":")
        if kind in set(EntityKind) and rest.strip():
            merged = self._aliases.get(Node(EntityKind(kind), canonical(rest)))
            return [node for node in self.find(rest) if node.kind == kind or node == merged]
        return sorted(self.named(readings_of_name(text)), key=lambda node: BY_PRECEDENCE.index(node.kind))

    def node_of(self, entity: Entity) -> Node:
        self._look_up([entity.name])
        return self._node(entity)

    def entities_of(self, node: Node) -> list[Entity]:
        """The entities of a node, by key."""
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
        links = _gather_links((ends[edge.source], ends[edge.target], edge) for edge in dict.fromkeys(edges))
        found: dict[Node, list[Link]] = {node: [] for node in nodes}
        for link in links:
            for end in {link.source, link.target} & found.keys():
                found[end].append(link)
        return found

    def titles(self, nodes: Iterable[Node]) -> dict[Node, str]:
        """How to write each node: as in the oldest record that may be shown."""
        keys = {node: _own_first(node, found) for node, found in self._entities(nodes).items()}
        titles = self._store.titles([key for found in keys.values() for key in found], untrusted=self.untrusted)
        return {node: next((titles[key] for key in found if key in titles), node.name) for node, found in keys.items()}

    def namings(self, nodes: Iterable[Node]) -> dict[Node, int]:
        """How many records name each node, counted up to a bound."""
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
        """Looks up concepts alone: only a concept may be something else under the same name."""
        entities = self._store.entities_at(sorted(keys))
        self._look_up([entity.name for entity in entities if entity.kind is EntityKind.CONCEPT])
        return {entity.key: self._node(entity) for entity in entities}

    def _node(self, entity: Entity) -> Node:
        kind = entity.kind
        if kind is EntityKind.CONCEPT:
            known = {item.kind for item in self._named.get(entity.name, ())}
            kind = next((better for better in BY_PRECEDENCE if better in known), kind)
        node = Node(kind, entity.name)
        return self._aliases.get(node, node)


def at_one_moment(ask: Callable[[Parts, Q], A]) -> Callable[[Parts, Q], A]:
    """Runs the many small reads of a question in one snapshot, which also makes them fast."""

    @wraps(ask)
    def asked(parts: Parts, request: Q) -> A:
        with parts.store.reading():
            return ask(parts, request)

    return asked


def _own_first(node: Node, entities: Iterable[Entity]) -> list[int]:
    """The keys of its entities: those of its own kind and name first, then those of its name, then merged ones."""
    ordered = sorted(
        entities, key=lambda entity: ((entity.kind, entity.name) != node, entity.name != node.name, entity)
    )
    return [entity.key for entity in ordered]


def _gather_links(joined: Iterable[tuple[Node, Node, Edge]]) -> list[Link]:
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


# --- merged names --------------------------------------------------------------------------------------

ALIAS = "alias"


def aliases_of(parts: Parts, user_id: str | None) -> dict[Node, Node]:
    """The node that each merged name leads to in the end, as a user sees it: their own merges override those for all.

    The kept node gets the strongest kind of the nodes merged into it, so that no project is lost in a concept. Where
    that is not its own kind, its own name leads there, too.
    """
    given = merged_for(parts, None) | merged_for(parts, user_id)
    ends = {dropped: _end(given, dropped) for dropped in given}
    kinds: dict[Node, EntityKind] = {}
    for dropped, end in ends.items():
        kinds[end] = min(kinds.get(end, end.kind), dropped.kind, key=_BY_RANK.index)
    raised = {end: Node(kind, end.name) for end, kind in kinds.items() if kind is not end.kind and end not in given}
    return raised | {dropped: raised.get(end, end) for dropped, end in ends.items() if raised.get(end, end) != dropped}


def merged_for(parts: Parts, user_id: str | None) -> dict[Node, Node]:
    """Each merge for this user alone, or for all, as the operator gave it."""
    records = every_member(parts.store, Collection.aliases(user_id))
    return dict(pair for record in records if (pair := merged_pair(record.metadata)) is not None)


def merged_pair(metadata: Metadata) -> tuple[Node, Node] | None:
    """The dropped and the kept name of a record of a merge."""
    match metadata.get(ALIAS):
        case {"drop": [str(kind), str(name)], "keep": [str(into_kind), str(into)]}:
            if {kind, into_kind} <= set(EntityKind):
                return Node(EntityKind(kind), name), Node(EntityKind(into_kind), into)
    return None


def _end(given: dict[Node, Node], name: Node) -> Node:
    """The last of merges that follow each other. A circle ends where it closes."""
    seen = {name}
    while (following := given.get(name)) is not None and following not in seen:
        seen.add(following)
        name = following
    return name

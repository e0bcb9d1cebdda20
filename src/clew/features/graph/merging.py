"""Proposes entities that may be one, and merges and parts them on the operator's word alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clew.core.collections import Collection, CollectionKind
from clew.core.ids import ID_BYTES, digest
from clew.core.model import Provenance
from clew.core.operation import Done
from clew.errors import InvalidInput, NotFound
from clew.features.graph.operations import GraphMerge, GraphMergeList, GraphMergeProposal, GraphMerges, GraphUnmerge
from clew.features.graph.service import entity_named, every_entity
from clew.features.graph.view import (
    ALIAS,
    GraphView,
    Node,
    aliases_of,
    at_one_moment,
    merged_for,
    merged_pair,
    readings_of_name,
)
from clew.kernel.intake import check_unicode, make_draft
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.services import serves
from clew.storage.paging import every_member
from clew.storage.protocol import NewRecord, Place, Task
from clew.text.entities import EntityKind, owners_seen_by

MAX_PROPOSALS = 500
_SCANNED = 20_000


@at_one_moment
@serves(GraphMerges)
def merges(parts: Parts, request: GraphMerges) -> GraphMergeList:
    limit = checked_limit(request.limit, MAX_PROPOSALS)
    view = GraphView(parts, request.user_id, None)
    nodes = list(dict.fromkeys(view.node_of(entity) for entity in every_entity(view, at_most=_SCANNED)))
    proposals = dict.fromkeys(_written_alike(nodes))
    proposals.update(dict.fromkeys(_repos_of_projects(nodes)))
    counts = view.namings({node for keep, drop, _ in proposals for node in (keep, drop)})
    told = [_proposal(one, other, why, counts[one] >= counts[other]) for one, other, why in proposals]
    merged = merged_for(parts, None) | merged_for(parts, request.user_id)
    aliases = aliases_of(parts, request.user_id)
    return GraphMergeList(
        proposals=tuple(told[:limit]),
        merged=tuple(
            _proposal(aliases.get(dropped, kept), dropped, "merged", True) for dropped, kept in sorted(merged.items())
        ),
    )


@serves(GraphMerge)
def merge(parts: Parts, request: GraphMerge) -> Done:
    view = GraphView(parts, request.user_id, None)
    keep, drop = entity_named(view, request.keep), entity_named(view, request.drop)
    if keep == drop:
        raise InvalidInput(f"{_written(keep)} is one entity already{_way_back(parts, request)}")
    _keep_alias(parts, request.user_id, drop, keep)
    return Done(count=1)


@serves(GraphUnmerge)
def unmerge(parts: Parts, request: GraphUnmerge) -> Done:
    check_unicode("name", request.name)
    found = _find_merged(merged_for(parts, request.user_id), request.name)
    if not found:
        raise NotFound(f"{request.name[:80]!r} was not merged into anything")
    if len(found) > 1:
        raise InvalidInput(f"{request.name[:80]!r} may be {' or '.join(map(_written, found))}")
    parts.store.remove(Collection.aliases(request.user_id), [_alias_id(found[0])])
    return Done(count=1)


def _find_merged(merged: Iterable[Node], text: str) -> list[Node]:
    """The merged nodes that a name, or `kind:name`, may mean."""
    kind, _, rest = text.partition(":")
    is_kind = kind in set(EntityKind) and bool(rest.strip())
    names = readings_of_name(rest if is_kind else text)
    return [node for node in sorted(merged) if node.name in names and (not is_kind or node.kind == kind)]


def _way_back(parts: Parts, request: GraphMerge) -> str:
    """The command that parts merged names; empty where they were never apart."""
    for user_id in dict.fromkeys([request.user_id, None]):
        merged = merged_for(parts, user_id)
        dropped = [*_find_merged(merged, request.drop), *_find_merged(merged, request.keep)]
        if dropped:
            name, whose = _written(dropped[0]), "" if user_id is None else f" --user {user_id}"
            return f": {name} was merged; `clew graph unmerge {name}{whose}` takes it back"
    return ""


def _proposal(keep: Node, drop: Node, reason: str, in_order: bool) -> GraphMergeProposal:
    """`in_order` says whether the first of the two is the one to keep: more records name it."""
    kept, dropped = (keep, drop) if in_order else (drop, keep)
    return GraphMergeProposal(keep=_written(kept), drop=_written(dropped), reason=reason)


def _written(node: Node) -> str:
    return f"{node.kind}:{node.name}"


def _bare(name: str) -> str:
    return "".join(char for char in name if char.isalnum())


def _written_alike(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node, str]]:
    """Names with the same letters and digits, whatever is between them."""
    by_letters: dict[tuple[EntityKind, str], Node] = {}
    for node in nodes:
        bare = _bare(node.name)
        first = by_letters.setdefault((node.kind, bare), node) if bare else node
        if first != node:
            yield first, node, "the same letters, written apart or together"


def _repos_of_projects(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node, str]]:
    """Repositories and concepts with the name of a project."""
    projects = {_bare(node.name): node for node in nodes if node.kind is EntityKind.PROJECT}
    for node in nodes:
        project = projects.get(_bare(node.name.rpartition("/")[2]))
        if project is not None and node.kind in (EntityKind.REPO, EntityKind.CONCEPT) and node != project:
            yield project, node, f"a {node.kind} that is called like the project"


# --- the records of merges -----------------------------------------------------------------------------


_NAMES_GONE = "graph names gone"
"""The bookmark of a purge whose names are still to be taken out of merges."""


def forget_unnamed(parts: Parts) -> None:
    """Drops merges of names that no record gives any more: a purged name must not live on in them.

    Not while records wait to be read for the graph: until then nobody knows which names there are.
    """
    parts.store.put([], {_NAMES_GONE: "1"})
    finish_forgetting(parts)


def finish_forgetting(parts: Parts) -> None:
    """Does so once no record waits. Without a purge, merges stay: other rules may only read fewer names."""
    if (parts.store.bookmark(_NAMES_GONE) or "0") == "0":
        return
    with parts.store.reading():
        if parts.store.graph_counts(()).pending:
            return
        unnamed = list(_find_unnamed(parts))
    for place in unnamed:
        parts.store.remove(place.collection, [place.id])
    parts.store.put([], {_NAMES_GONE: "0"})


def _find_unnamed(parts: Parts) -> Iterator[Place]:
    for collection, _ in parts.store.collections():
        if collection.kind is not CollectionKind.ALIASES:
            continue
        owners = owners_seen_by(collection.user_id, None)
        for record in every_member(parts.store, collection):
            names = list(dict.fromkeys(node.name for node in merged_pair(record.metadata) or ()))
            found = {entity.name for entity in parts.store.entities_named(names, owners, untrusted=True)}
            if not names or found != set(names):
                yield Place(collection, record.id)


def _keep_alias(parts: Parts, user_id: str | None, dropped: Node, kept: Node) -> None:
    draft = make_draft(
        parts,
        f"{_written(dropped)} is {_written(kept)}",
        role=None,
        provenance=Provenance.MEMORY,
        ts_ms=parts.clock.now_ms(),
        metadata={ALIAS: {"drop": [*dropped], "keep": [*kept]}},
    )
    tasks = (Task.EMBED,) if parts.meaning.wanted else ()
    parts.store.put([NewRecord(draft, Place(Collection.aliases(user_id), _alias_id(dropped)), tasks)])


def _alias_id(dropped: Node) -> str:
    return digest(*dropped, size_bytes=ID_BYTES).hex()

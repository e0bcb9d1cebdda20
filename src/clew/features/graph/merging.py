"""Entities that may be one: proposed with the reason, merged and parted on the operator's word alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clew.core.operation import Done
from clew.errors import InvalidInput, NotFound
from clew.features.graph.aliases import Name, aliases_of, drop_alias, keep_alias, merged_for
from clew.features.graph.names import kind_of_name
from clew.features.graph.operations import GraphMerge, GraphMergeList, GraphMergeProposal, GraphMerges, GraphUnmerge
from clew.features.graph.service import entity_named, every_entity
from clew.features.graph.view import GraphView, Node, at_one_moment
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.services import serves
from clew.text.entities import EntityKind, canonical

MAX_PROPOSALS = 500
_SCANNED = 20_000
_LEAST_SPELT_CHARS = 6
_NEVER_MISSPELT = frozenset({EntityKind.FILE, EntityKind.DECISION})
"""Kinds in which one other letter is another thing."""


@at_one_moment
@serves(GraphMerges)
def merges(parts: Parts, request: GraphMerges) -> GraphMergeList:
    limit = checked_limit(request.limit, MAX_PROPOSALS)
    view = GraphView(parts, request.user_id, None)
    nodes = list(dict.fromkeys(view.node_of(entity) for entity in every_entity(view, at_most=_SCANNED)))
    proposals = dict.fromkeys(_written_alike(nodes))
    proposals.update(dict.fromkeys(_repos_of_projects(nodes)))
    proposals.update(dict.fromkeys(_misspelt(nodes)))
    counts = view.namings({node for keep, drop, _ in proposals for node in (keep, drop)})
    told = [_proposal(one, other, why, counts[one] >= counts[other]) for one, other, why in proposals]
    merged = merged_for(parts, None) | merged_for(parts, request.user_id)
    aliases = aliases_of(parts, request.user_id)
    return GraphMergeList(
        proposals=tuple(told[:limit]),
        merged=tuple(
            _proposal(Node(*aliases.get(dropped, kept)), Node(*dropped), "merged", True)
            for dropped, kept in sorted(merged.items())
        ),
    )


@serves(GraphMerge)
def merge(parts: Parts, request: GraphMerge) -> Done:
    view = GraphView(parts, request.user_id, None)
    keep, drop = entity_named(view, request.keep), entity_named(view, request.drop)
    if keep == drop:
        raise InvalidInput(f"{_written(keep)} is one entity already{_way_back(parts, request)}")
    keep_alias(parts, request.user_id, (drop.kind, drop.name), (keep.kind, keep.name))
    return Done(count=1)


@serves(GraphUnmerge)
def unmerge(parts: Parts, request: GraphUnmerge) -> Done:
    check_unicode("name", request.name)
    found = _merged_as(merged_for(parts, request.user_id), request.name)
    if not found:
        raise NotFound(f"{request.name[:80]!r} was not merged into anything")
    if len(found) > 1:
        raise InvalidInput(f"{request.name[:80]!r} may be {' or '.join(map(_written, found))}")
    drop_alias(parts, request.user_id, found[0])
    return Done(count=1)


def _merged_as(merged: Iterable[Name], text: str) -> list[Node]:
    """What somebody may mean by a name that was merged, which may be given as `kind:name`."""
    kind, _, rest = text.partition(":")
    is_kind = kind in set(EntityKind) and bool(rest.strip())
    name = rest if is_kind else text
    names = {canonical(name), canonical(kind_of_name(name)[1])}
    return [Node(*item) for item in sorted(merged) if item[1] in names and (not is_kind or item[0] == kind)]


def _way_back(parts: Parts, request: GraphMerge) -> str:
    """How names are parted that were merged; nothing where they have always been one."""
    for user_id in dict.fromkeys([request.user_id, None]):
        merged = merged_for(parts, user_id)
        dropped = [*_merged_as(merged, request.drop), *_merged_as(merged, request.keep)]
        if dropped:
            name, whose = _written(dropped[0]), "" if user_id is None else f" --user {user_id}"
            return f": {name} was merged; `clew graph unmerge {name}{whose}` takes it back"
    return ""


def _proposal(keep: Node, drop: Node, reason: str, in_order: bool) -> GraphMergeProposal:
    """What more records name is kept."""
    kept, dropped = (keep, drop) if in_order else (drop, keep)
    return GraphMergeProposal(keep=_written(kept), drop=_written(dropped), reason=reason)


def _written(node: Node) -> str:
    return f"{node.kind}:{node.name}"


def _bare(name: str) -> str:
    return "".join(char for char in name if char.isalnum())


def _written_alike(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node, str]]:
    """The same letters and digits, whatever stands between them."""
    by_letters: dict[tuple[EntityKind, str], Node] = {}
    for node in nodes:
        bare = _bare(node.name)
        first = by_letters.setdefault((node.kind, bare), node) if bare else node
        if first != node:
            yield first, node, "the same letters, written apart or together"


def _repos_of_projects(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node, str]]:
    """A repository that is called like a project, or a concept that is called so but for marks."""
    projects = {_bare(node.name): node for node in nodes if node.kind is EntityKind.PROJECT}
    for node in nodes:
        project = projects.get(_bare(node.name.rpartition("/")[2]))
        if project is not None and node.kind in (EntityKind.REPO, EntityKind.CONCEPT) and node != project:
            yield project, node, f"a {node.kind} that is called like the project"


_MOST_ALIKE = 8
"""Of names that one letter tells apart; more of them are a series, and no misspellings."""


def _misspelt(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node, str]]:
    """Names of one kind that a single letter tells apart: left out, put in, another, or two that changed places.

    Two such names have a form in common that lacks one letter, so that only those have to be compared.
    """
    by_form: dict[tuple[EntityKind, str], list[Node]] = {}
    for node in nodes:
        if node.kind in _NEVER_MISSPELT or len(node.name) < _LEAST_SPELT_CHARS or not node.name.isalpha():
            continue
        for form in {node.name, *(node.name[:at] + node.name[at + 1 :] for at in range(len(node.name)))}:
            others = by_form.setdefault((node.kind, form), [])
            if len(others) == _MOST_ALIKE:
                continue
            yield from ((other, node, "one letter differs") for other in others if _one_letter_apart(other, node))
            others.append(node)


def _one_letter_apart(one: Node, other: Node) -> bool:
    shorter, longer = sorted((one.name, other.name), key=len)
    if one == other or len(longer) - len(shorter) > 1:
        return False
    if len(shorter) == len(longer):
        apart = [(a, b) for a, b in zip(shorter, longer, strict=True) if a != b]
        return len(apart) == 1 or (len(apart) == 2 and apart[0] == apart[1][::-1])
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))

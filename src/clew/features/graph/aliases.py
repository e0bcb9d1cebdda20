"""Names that the operator said mean the same.

A merge is a record in an internal collection of its user or of all, not a change of the graph: it holds when the graph
is made again, and a purge of the user takes it along.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.core import identity
from clew.core.identity import ID_BYTES, digest
from clew.core.model import Metadata, Provenance
from clew.kernel.intake import make_draft
from clew.kernel.parts import Parts
from clew.kernel.views import every
from clew.storage.protocol import NewRecord, Place, Task
from clew.text.entities import EntityKind, owners_seen_by

Name = tuple[EntityKind, str]
"""An entity by its kind and its name in the form in which names are compared."""

_ALIAS = "alias"
_BY_STRENGTH = (
    EntityKind.PROJECT, EntityKind.REPO, EntityKind.TOOL, EntityKind.PERSON, EntityKind.FILE, EntityKind.DECISION,
    EntityKind.CONCEPT,
)  # fmt: skip
"""What names of several kinds are together: the first of these that one of them is."""


def aliases_of(parts: Parts, user_id: str | None) -> dict[Name, Name]:
    """What each merged name stands for in the end, as a user sees it: their own word goes before that for all.

    What is kept has the strongest kind of what was merged into it, so that no project is lost in a concept; where that
    is not its own, its own name stands for it, too.
    """
    given = merged_for(parts, None) | merged_for(parts, user_id)
    ends = {dropped: _end(given, dropped) for dropped in given}
    kinds: dict[Name, EntityKind] = {}
    for dropped, end in ends.items():
        kinds[end] = min(kinds.get(end, end[0]), dropped[0], key=_BY_STRENGTH.index)
    raised = {end: (kind, end[1]) for end, kind in kinds.items() if kind is not end[0] and end not in given}
    return raised | {dropped: raised.get(end, end) for dropped, end in ends.items() if raised.get(end, end) != dropped}


def merged_for(parts: Parts, user_id: str | None) -> dict[Name, Name]:
    """What was merged into what for this user alone, or for all, as it was said."""
    records = every(parts, identity.aliases_of(user_id))
    return dict(pair for record in records if (pair := _pair(record.metadata)) is not None)


def keep_alias(parts: Parts, user_id: str | None, dropped: Name, kept: Name) -> None:
    written = {"drop": [*dropped], "keep": [*kept]}
    text = f"{dropped[0]}:{dropped[1]} is {kept[0]}:{kept[1]}"
    draft = make_draft(
        parts,
        text,
        role=None,
        provenance=Provenance.MEMORY,
        ts_ms=parts.clock.now_ms(),
        metadata={_ALIAS: written},
    )
    tasks = (Task.EMBED,) if parts.meaning.wanted else ()
    parts.store.put([NewRecord(draft, Place(identity.aliases_of(user_id), _alias_id(dropped)), tasks)])


def drop_alias(parts: Parts, user_id: str | None, dropped: Name) -> bool:
    """Whether there was such a merge."""
    return parts.store.remove(identity.aliases_of(user_id), [_alias_id(dropped)]) > 0


def forget_unnamed(parts: Parts) -> int:
    """Drop merges of names that no record gives any more: what was purged must not live on in them.

    Not while records wait to be read for the graph: then nobody knows which names there are.
    """
    with parts.store.reading():
        is_settled = parts.store.graph_counts(()).pending == 0
        unnamed = list(_unnamed(parts)) if is_settled else []
    return sum(parts.store.remove(place.collection, [place.id]) for place in unnamed)


def _unnamed(parts: Parts) -> Iterator[Place]:
    """Where the merges are whose names no record gives."""
    for collection, _ in parts.store.collections():
        if identity.kind_of(collection) != "_aliases":
            continue
        owner = identity.owner_of(collection)
        owners = owners_seen_by(None if owner == identity.GLOBAL else identity.owner_of(owner), None)
        for record in every(parts, collection):
            pair = _pair(record.metadata)
            names = [] if pair is None else list(dict.fromkeys(name for _, name in pair))
            found = {entity.name for entity in parts.store.entities_named(names, owners, untrusted=True)}
            if not names or found != set(names):
                yield Place(collection, record.id)


def _pair(metadata: Metadata) -> tuple[Name, Name] | None:
    match metadata.get(_ALIAS):
        case {"drop": [str(kind), str(name)], "keep": [str(into_kind), str(into)]}:
            if {kind, into_kind} <= set(EntityKind):
                return (EntityKind(kind), name), (EntityKind(into_kind), into)
    return None


def _end(given: dict[Name, Name], name: Name) -> Name:
    """Merges may follow each other; what leads in a circle stays where the circle closes."""
    seen = {name}
    while (following := given.get(name)) is not None and following not in seen:
        seen.add(following)
        name = following
    return name


def _alias_id(dropped: Name) -> str:
    return digest(*dropped, size_bytes=ID_BYTES).hex()

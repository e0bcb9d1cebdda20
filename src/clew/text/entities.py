"""The types of the graph: kinds of entities and edges, the form in which names are compared, and owners.

An entity belongs to an owner: a user, a session whose user is not known, or all. Clew derives it from one record alone,
so it can make the graph again from the records at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from clew.core.collections import Collection, CollectionKind
from clew.text.letters import one_form

MAX_NAME_CHARS = 120
SHARED = "shared"
"""The owner of entities that everybody may see: those of global records and of the operator's texts."""

_EDGES_OF_NAMES = " \t\n.,;:!?'\"`*_()[]{}<>«»“”‘’|#"


class EntityKind(StrEnum):
    PROJECT = "project"
    REPO = "repo"
    DECISION = "decision"
    CONCEPT = "concept"
    """Anything that is named and not known to be one of the others."""
    TOOL = "tool"
    PERSON = "person"
    FILE = "file"


class EdgeKind(StrEnum):
    USES = "uses"
    BLOCKED_BY = "blocked_by"
    RELATES_TO = "relates_to"
    EVALUATES = "evaluates"
    DECIDES = "decides"
    MENTIONS = "mentions"


UPSTREAM = (EdgeKind.USES, EdgeKind.BLOCKED_BY)
"""Edges that lead from a thing to one that it depends on."""


@dataclass(frozen=True, slots=True, order=True)
class Named:
    """An entity as a record names it."""

    kind: EntityKind
    name: str
    """In the form for comparing."""
    title: str
    """As it was written."""


@dataclass(frozen=True, slots=True, order=True)
class Joined:
    """A directed edge between two entities of one record, by their places among them."""

    source: int
    target: int
    kind: EdgeKind
    weight: float
    """How sure and how close, in (0, 1]."""


@dataclass(frozen=True, slots=True)
class Extract:
    """What one record says about entities."""

    entities: tuple[Named, ...] = ()
    edges: tuple[Joined, ...] = ()


def in_order(entities: Sequence[Named], edges: Iterable[Joined]) -> Extract:
    """An extract in a fixed order, so that equal ones compare equal."""
    order = sorted(range(len(entities)), key=entities.__getitem__)
    places = {old: new for new, old in enumerate(order)}
    moved = (replace(edge, source=places[edge.source], target=places[edge.target]) for edge in edges)
    return Extract(tuple(entities[old] for old in order), tuple(sorted(moved)))


def canonical(title: str) -> str:
    """A name in the form for comparing; empty where nothing is left of it."""
    folded = " ".join(one_form(title[: 4 * MAX_NAME_CHARS]).casefold().split())
    return folded.strip(_EDGES_OF_NAMES)[:MAX_NAME_CHARS].strip(_EDGES_OF_NAMES)


def tidy(title: str) -> str:
    """A name in the form to show: on one line, without markup, and bounded."""
    shown = " ".join(title[: 4 * MAX_NAME_CHARS].split()).strip(_EDGES_OF_NAMES)
    return shown[:MAX_NAME_CHARS].strip(_EDGES_OF_NAMES)


def named(kind: EntityKind, title: str) -> Named | None:
    """An entity of this name; None where it is no name."""
    name = canonical(title)
    return Named(kind, name, tidy(title) or name) if name else None


def owner_of_user(user_id: str) -> str:
    return f"user:{user_id}"


def owner_of_session(session_id: str) -> str:
    return f"session:{session_id}"


def owner_of_record(collections: Iterable[str]) -> str | None:
    """The owner of the entities of a record, by its collections; None where it has none.

    A turn belongs to its user and, where none is known, to its session.
    """
    owners = [owner for owner in map(_owner_of, collections) if owner is not None]
    return min(owners, key=_nearness, default=None)


def owners_seen_by(user_id: str | None, session_id: str | None) -> tuple[str, ...]:
    """Whose entities a question may see: its user's, its session's, and those of all."""
    own = [owner_of_user(user_id)] if user_id is not None else []
    own += [owner_of_session(session_id)] if session_id is not None else []
    return (*own, SHARED)


def _owner_of(collection: str) -> str | None:
    home = Collection(collection).home
    if home.kind not in _GIVING:
        return None
    if home.is_shared:
        return SHARED
    if home.user_id is not None:
        return owner_of_user(home.user_id)
    return None if home.session_id is None else owner_of_session(home.session_id)


_GIVING = frozenset(
    {
        CollectionKind.GLOBAL,
        CollectionKind.AUTHORED,
        CollectionKind.MEMORIES,
        CollectionKind.TURNS,
        CollectionKind.REPLIES,
        CollectionKind.OWNED,
        CollectionKind.RAW,
        CollectionKind.FACTS,
        CollectionKind.LEDGER,
        CollectionKind.GUIDANCE,
    }
)
"""Kinds of collection whose records give the graph entities."""


def _nearness(owner: str) -> int:
    return ("user", "session", SHARED).index(owner.partition(":")[0])

"""Where a pack looks, and what it finds there: lanes, candidates, and what those lead to.

Hot is the running session and what the user laid down, warm is what is kept, cold is the archive; facts and plans
have lanes of their own. Each gives its most similar records, whatever their trust, so that a trace can say why each of
them is in or out; but what is quarantined does not take the place of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec

from clew.core import identity
from clew.core.marks import Mark
from clew.core.model import Record
from clew.core.ranking import SIMILARITY_ALONE
from clew.features.facts.truth import owners_of
from clew.features.pack.considered import Considered, refs_in, superseded_by
from clew.features.pack.rules import Policy, pack_score
from clew.index.search import Candidate, Query, search
from clew.kernel.parts import Parts
from clew.kernel.search import Found, best, origin

CANDIDATES = 48
"""Of one lane, and more where more items are asked for: a turn may stand in two collections of it."""

MAX_WITHHELD = 12
MAX_LINKS = 8
"""How many marks that lead from one record to another are followed."""


class Lane(StrEnum):
    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    FACTS = "facts"
    PLANS = "plans"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Route:
    """A lane and the collections that are in it for one request."""

    lane: Lane
    collections: tuple[str, ...]
    searched: bool = True


@dataclass(frozen=True, slots=True)
class Sighting:
    """A record that was found, in which lane, and what its score was made from."""

    considered: Considered
    lane: Lane
    candidate: Candidate
    linked_from: str | None = None
    path: tuple[str, ...] = ()
    """References of the records that lead to it through the graph, edge by edge."""

    @property
    def ref(self) -> str:
        return self.considered.ref


@dataclass(frozen=True, slots=True)
class Sightings:
    found: tuple[Sighting, ...]
    out_of_scope: tuple[tuple[str, Sighting], ...]
    """References that a found record leads to and that this request may not see; nothing of them was read."""


def routes(user_id: str | None, session_id: str | None, *, cold: bool) -> list[Route]:
    """Where a request may look."""
    hot, ledgers, kept = [], [], []
    if session_id is not None:
        hot += [identity.session(session_id), identity.guidance_of_session(session_id)]
        ledgers.append(identity.ledger_of_session(session_id))
    if user_id is not None:
        hot.append(identity.guidance_of_user(user_id))
        kept.append(identity.memories_of(user_id))
        ledgers.append(identity.ledger_of_user(user_id))
    turns = [] if user_id is None else [identity.turns_of(user_id), identity.replies_to(user_id)]
    owners = owners_of(user_id)
    archived = [identity.archive_of(name) for name in (*kept, identity.GLOBAL, *ledgers)]
    return [
        Route(Lane.HOT, tuple(hot)),
        Route(Lane.WARM, (*kept, *turns, *ledgers, identity.GLOBAL, identity.LORE)),
        Route(Lane.COLD, tuple(archived), searched=cold),
        Route(Lane.FACTS, tuple(identity.facts_of(owner) for owner in owners)),
        Route(Lane.PLANS, tuple(identity.plans_of(owner) for owner in owners)),
        Route(Lane.GRAPH, ()),
    ]


def look(parts: Parts, query: Query, lanes: Sequence[Route], policy: Policy) -> Sightings:
    """Every candidate of the lanes that are searched, and what the relevant ones lead to."""
    by_similarity = replace(query, weights=SIMILARITY_ALONE)
    found: dict[str, Sighting] = {}
    for route in lanes:
        if route.searched:
            for sighting in _in_lane(parts, query, by_similarity, route, max(CANDIDATES, 2 * policy.items)):
                found.setdefault(sighting.ref, sighting)
    outside = _follow(parts, found, _searched(lanes), policy.min_similarity)
    return Sightings(tuple(found.values()), tuple(outside))


def decay_of(parts: Parts, collection: str) -> float:
    """How fast what a collection holds loses recency."""
    return dict(zip(identity.Scope, parts.config.recency_decays, strict=True))[identity.scope_of(collection)]


def _searched(lanes: Iterable[Route]) -> dict[str, Lane]:
    return {name: route.lane for route in lanes if route.searched for name in route.collections}


def _in_lane(parts: Parts, query: Query, by_similarity: Query, route: Route, limit: int) -> list[Sighting]:
    found = best(parts, by_similarity, route.collections, limit, exclude={}, repeats=True)
    withheld = [item for name in route.collections for item in _withheld(parts, by_similarity, name)]
    nearest = sorted(withheld, key=lambda item: (-item.score, item.ref))[:MAX_WITHHELD]
    return [_sighting(item, query, route.lane) for item in (*found, *nearest)]


def _withheld(parts: Parts, query: Query, collection: str) -> list[Found]:
    """The quarantined records that would have been candidates."""
    held = set(parts.store.withheld(collection))
    if not held:
        return []
    with parts.indexes.current(collection) as index:
        near = search(index, query, identity.scope_of(collection), decay_of(parts, collection), CANDIDATES)
    by_seq = {candidate.seq: candidate for candidate in near if candidate.seq in held}
    return [
        Found(record, by_seq[record.seq], by_seq[record.seq].score)
        for record in parts.store.at(collection, list(by_seq))
    ]


def _sighting(found: Found, query: Query, lane: Lane) -> Sighting:
    candidate = found.candidate
    score = pack_score(candidate.similarity, candidate.recency, candidate.scope, query.weights, found.quality)
    considered = Considered(found.record, origin(found.record), score, candidate.similarity, candidate.shared)
    return Sighting(considered, lane, candidate)


# --- what candidates lead to --------------------------------------------------------------------------


def _follow(
    parts: Parts, found: dict[str, Sighting], searched: dict[str, Lane], min_similarity: float
) -> list[tuple[str, Sighting]]:
    """Adds what replaces or contradicts a relevant record, at that record's own place: it bears on the same question.

    Gives the references that lead out of what may be seen.
    """
    outside: dict[str, Sighting] = {}
    for ref, parent in _links(found.values(), min_similarity):
        known = found.get(ref)
        if known is not None:
            found[ref] = lifted(known, parent)
            continue
        place = next((pair for pair in identity.readings_of(ref) if pair[0] in searched), None)
        if place is None:
            outside.setdefault(ref, parent)
            continue
        for record in parts.store.get(place[0], [place[1]]):
            found[ref] = linked(record, parent, searched[place[0]])
    return list(outside.items())


def _links(found: Iterable[Sighting], min_similarity: float) -> list[tuple[str, Sighting]]:
    links: list[tuple[str, Sighting]] = []
    for sighting in sorted(found, key=lambda item: (-item.considered.score, item.ref)):
        record = sighting.considered.record
        if sighting.considered.similarity >= min_similarity:
            replaced = superseded_by(record)
            refs = ([] if replaced is None else [replaced]) + refs_in(record, Mark.CONTRADICTS)
            links += [(ref, sighting) for ref in refs if "/" in ref.strip("/")]
    return links[:MAX_LINKS]


def lifted(known: Sighting, parent: Sighting) -> Sighting:
    one, other = known.considered, parent.considered
    if one.similarity >= other.similarity:
        return known
    better = replace(one, similarity=other.similarity, score=max(one.score, other.score), shared=other.shared)
    return replace(known, considered=better, linked_from=parent.ref)


def linked(record: Record, parent: Sighting, lane: Lane) -> Sighting:
    candidate = msgspec.structs.replace(
        parent.candidate,
        seq=record.seq, ts_ms=record.ts_ms, lexical=0.0, lexical_rank=None, dense=None, dense_rank=None, context=0.0,
    )  # fmt: skip
    considered = replace(parent.considered, record=record, origin=origin(record))
    return Sighting(considered, lane, candidate, parent.ref)

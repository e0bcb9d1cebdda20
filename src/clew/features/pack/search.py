"""Where a pack looks, and what it finds there: lanes, records near the question, and what those lead to.

Hot is the running session and the user's guidance, warm is what is kept, cold is the archive. Facts and plans have
lanes of their own, and the graph leads to records that share no word with the question. Each lane gives its nearest
records, whatever their trust, so that a trace can say why each is in or out. Quarantined records take nobody's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec.structs import replace as with_other

from clew.core.collections import GLOBAL, LORE, Collection, readings_of
from clew.core.marks import Mark
from clew.core.model import Record, Trust
from clew.core.ranking import RECENCY_DECAYS, SIMILARITY_ALONE, Weights
from clew.core.relevance import FAINT, Shared
from clew.features.facts.truth import owners_of
from clew.features.graph.walk import Led, lead_to
from clew.features.pack.choice import Choice, Lane, refs_in, superseded_by
from clew.features.pack.operations import PackRequest
from clew.features.pack.rules import Policy
from clew.index.search import Query, search
from clew.kernel.echoes import without_repeats_of_others
from clew.kernel.parts import Parts
from clew.kernel.search import Found, best, origin, unsought

CANDIDATES = 48
"""Of one lane, and more where more items are asked for: two collections of a lane may hold the same turn."""

MAX_WITHHELD = 12
MAX_LINKS = 8
"""How many marks that lead from one record to another are followed."""

LED = 8
"""How many records are followed through the graph from the names in a question."""

PATH_SHARE = 0.7
"""What a record at the end of the strongest path has of the nearest record's similarity."""


@dataclass(frozen=True, slots=True)
class Route:
    """A lane and the collections that are in it for one request."""

    lane: Lane
    collections: tuple[Collection, ...]
    searched: bool = True


@dataclass(frozen=True, slots=True)
class Unseen:
    """A reference that a record leads to and that this request may not see. Nothing of it was read."""

    ref: str
    parent: Choice


def routes(user_id: str | None, session_id: str | None, *, cold: bool) -> list[Route]:
    """Where a request may look."""
    hot, ledgers, kept = [], [], []
    if session_id is not None:
        hot += [Collection.session(session_id), Collection.guidance(None, session_id)]
        ledgers.append(Collection.ledger(None, session_id))
    if user_id is not None:
        hot.append(Collection.guidance(user_id))
        kept.append(Collection.memories(user_id))
        ledgers.append(Collection.ledger(user_id))
    turns = [] if user_id is None else [Collection.turns(user_id), Collection.replies(user_id)]
    owners = owners_of(user_id)
    archived = [name.archive for name in (*kept, GLOBAL, *ledgers)]
    return [
        Route(Lane.HOT, tuple(hot)),
        Route(Lane.WARM, (*kept, *turns, *ledgers, GLOBAL, LORE)),
        Route(Lane.COLD, tuple(archived), searched=cold),
        Route(Lane.FACTS, tuple(Collection.facts(owner) for owner in owners)),
        Route(Lane.PLANS, tuple(Collection.plans(owner) for owner in owners)),
        Route(Lane.GRAPH, ()),
    ]


def find_choices(
    parts: Parts, query: Query, lanes: Sequence[Route], policy: Policy
) -> tuple[list[Choice], tuple[Unseen, ...]]:
    """The nearest records of every lane that is searched, and those that the relevant ones lead to."""
    by_similarity = replace(query, weights=SIMILARITY_ALONE)
    choices: dict[str, Choice] = {}
    for route in lanes:
        if route.searched:
            for found in _nearest(parts, by_similarity, route, max(CANDIDATES, 2 * policy.items)):
                shown = found if policy.untrusted else _without_repeats_of_others(parts, found, policy)
                choices.setdefault(found.ref, _choice(shown, query.weights, route.lane))
    unseen = follow_marks(parts, choices, _searched(lanes), policy.min_similarity)
    return list(choices.values()), unseen


def _searched(lanes: Iterable[Route]) -> dict[Collection, Lane]:
    return {name: route.lane for route in lanes if route.searched for name in route.collections}


def _nearest(parts: Parts, query: Query, route: Route, limit: int) -> list[Found]:
    found = best(parts, query, route.collections, limit, exclude={}, repeats=True)
    withheld = [item for name in route.collections for item in _withheld(parts, query, name)]
    return [*found, *sorted(withheld, key=lambda item: (-item.score, item.ref))[:MAX_WITHHELD]]


def _without_repeats_of_others(parts: Parts, found: Found, policy: Policy) -> Found:
    if found.record.trust is not Trust.UNTRUSTED or found.candidate.similarity < policy.min_similarity:
        return found
    own = without_repeats_of_others(parts, found.record)
    return found if own is None else with_other(found, record=own)


def _withheld(parts: Parts, query: Query, collection: Collection) -> list[Found]:
    """The quarantined records that are near enough to be among the nearest."""
    held = set(parts.store.withheld(collection))
    if not held:
        return []
    with parts.indexes.current(collection) as index:
        near = search(index, query, collection.scope, RECENCY_DECAYS[collection.scope], CANDIDATES)
    by_seq = {candidate.seq: candidate for candidate in near if candidate.seq in held}
    return [
        Found(record, by_seq[record.seq], by_seq[record.seq].score)
        for record in parts.store.at(collection, list(by_seq))
    ]


def _choice(found: Found, weights: Weights, lane: Lane) -> Choice:
    candidate = found.candidate
    score = pack_score(candidate.similarity, candidate.recency, candidate.scope, weights, found.quality)
    return Choice(found, lane, origin(found.record), score, candidate.similarity, candidate.shared)


def pack_score(similarity: float, recency: float, nearness: float, weights: Weights, quality: float) -> float:
    """The score that a search gives, of a record that was found by its similarity alone."""
    base = weights.similarity * similarity + weights.recency * recency + weights.scope * nearness
    return min(max(base * quality, 0.0), 1.0)


# --- along marks ----------------------------------------------------------------------------------------


def follow_marks(
    parts: Parts, choices: dict[str, Choice], searched: dict[Collection, Lane], min_similarity: float
) -> tuple[Unseen, ...]:
    """Adds what replaces or contradicts a relevant record, with that record's own similarity."""
    unseen: dict[str, Unseen] = {}
    for ref, parent in _links(choices.values(), min_similarity):
        if ref in choices:
            choices[ref].lift(parent)
            continue
        place = next((pair for pair in readings_of(ref) if pair[0] in searched), None)
        if place is None:
            unseen.setdefault(ref, Unseen(ref, parent))
            continue
        for record in parts.store.get(place[0], [place[1]]):
            choices[ref] = linked(record, parent, searched[place[0]])
    return tuple(unseen.values())


def _links(choices: Iterable[Choice], min_similarity: float) -> list[tuple[str, Choice]]:
    links: list[tuple[str, Choice]] = []
    for choice in sorted(choices, key=lambda item: (-item.score, item.ref)):
        if choice.similarity >= min_similarity:
            replaced = superseded_by(choice.record)
            refs = ([] if replaced is None else [replaced]) + refs_in(choice.record, Mark.CONTRADICTS)
            parent = replace(choice)  # as it is now: what it leads to must not gain from what leads to it
            links += [(ref, parent) for ref in refs if "/" in ref.strip("/")]
    return links[:MAX_LINKS]


def linked(record: Record, parent: Choice, lane: Lane) -> Choice:
    """A record that another one leads to, with the similarity of that one."""
    candidate = with_other(
        parent.found.candidate,
        seq=record.seq, ts_ms=record.ts_ms, lexical=0.0, lexical_rank=None, dense=None, dense_rank=None, context=0.0,
    )  # fmt: skip
    found = Found(record, candidate, parent.found.score, parent.found.quality)
    return Choice(found, lane, origin(record), parent.score, parent.similarity, parent.shared, parent.ref)


# --- along the graph ------------------------------------------------------------------------------------


def add_from_graph(
    parts: Parts, request: PackRequest[Any], choices: list[Choice], lanes: Sequence[Route]
) -> list[Choice]:
    """The choices, with the records that lie near what the question names in the graph.

    They come in behind what was found by itself: no path makes a record nearer than a share of the nearest one.
    """
    leads = lead_to(parts, request.query, request.user_id, request.session_id, LED, untrusted=request.untrusted)
    nearest = max((choice.similarity for choice in choices), default=0.0)
    if not leads or nearest <= 0.0:
        return choices
    searched = _searched(lanes)
    by_origin = {choice.origin: choice for choice in sorted(choices, key=lambda choice: choice.similarity)}
    for lead in leads:
        record = _visible(parts, lead, searched)
        if record is not None:
            choice = by_origin.setdefault(origin(record), _unfound(record))
            _bring_nearer(choice, lead.strength * PATH_SHARE * nearest, lead.through)
    kept = set(map(id, by_origin.values()))
    return [*by_origin.values(), *(choice for choice in choices if id(choice) not in kept)]


def _visible(parts: Parts, lead: Led, searched: Iterable[Collection]) -> Record | None:
    """The record as a lane of this request shows it; None where none does."""
    places = parts.store.places(lead.place.collection, lead.place.id)
    place = min((place for place in places if place.collection in searched), default=None)
    return None if place is None else next(iter(parts.store.get(place.collection, [place.id])), None)


def _unfound(record: Record) -> Choice:
    return Choice(unsought(record), Lane.GRAPH, origin(record), 0.0, 0.0, Shared())


def _by_path(own: Shared) -> Shared:
    """A path through the graph makes a record worth a place beside what is clear, and is not clear by itself: the names
    of many things are common words."""
    return own if own.is_clear else Shared(max(own.similarity, FAINT), own.lexical, own.words, by_meaning=True)


def _bring_nearer(choice: Choice, similarity: float, path: tuple[str, ...]) -> None:
    """A record that was found by itself keeps its own similarity where that is greater."""
    if choice.similarity < similarity:
        choice.similarity, choice.score = similarity, max(choice.score, similarity)
        choice.shared, choice.lane, choice.path = _by_path(choice.shared), Lane.GRAPH, path

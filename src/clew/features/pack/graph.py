"""What the graph adds to a pack's candidates: records that lie near what the question names, by a path that is told.

A record that no words of the question lead to may still be about what it names. It comes in behind what was found by
itself: no path makes it nearer than a share of the nearest of those.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from clew.core.model import Record
from clew.core.relevance import BY_NAME
from clew.features.graph.service import Led, lead_to
from clew.features.history.outline import unasked
from clew.features.pack.considered import Considered
from clew.features.pack.operations import PackRequest
from clew.features.pack.search import Lane, Route, Sighting, Sightings
from clew.kernel.parts import Parts
from clew.kernel.search import origin

LED = 8
"""Records that are followed from what a question names."""

PATH_SHARE = 0.7
"""What a record at the end of the strongest path has of the nearest candidate's similarity."""


def along_the_graph(parts: Parts, request: PackRequest[Any], seen: Sightings, lanes: Collection[Route]) -> Sightings:
    """The candidates with those that paths lead to; the same where the question names nothing that is known."""
    led = lead_to(parts, request.query, request.user_id, request.session_id, LED, untrusted=request.untrusted)
    nearest = max((sighting.considered.similarity for sighting in seen.found), default=0.0)
    if not led or nearest <= 0.0:
        return seen
    searched = [name for route in lanes if route.searched for name in route.collections]
    nearest_last = sorted(seen.found, key=lambda sighting: sighting.considered.similarity)
    found = {sighting.considered.origin: sighting for sighting in nearest_last}
    for lead in led:
        record = _visible(parts, lead, searched)
        if record is not None:
            near = lead.strength * PATH_SHARE * nearest
            found[origin(record)] = _nearer(found.get(origin(record)) or _unfound(record), near, lead.through)
    others = [sighting for sighting in seen.found if found[sighting.considered.origin].ref != sighting.ref]
    return replace(seen, found=(*found.values(), *others))


def _visible(parts: Parts, led: Led, searched: Collection[str]) -> Record | None:
    """The record as a lane of this request shows it; None where none does."""
    places = parts.store.places(led.place.collection, led.place.id)
    place = min((place for place in places if place.collection in searched), default=None)
    return None if place is None else next(iter(parts.store.get(place.collection, [place.id])), None)


def _unfound(record: Record) -> Sighting:
    return Sighting(Considered(record, origin(record), 0.0, 0.0), Lane.GRAPH, unasked(record).candidate)


def _nearer(sighting: Sighting, near: float, path: tuple[str, ...]) -> Sighting:
    """What was found by itself keeps its own similarity where that is the greater."""
    considered = sighting.considered
    if considered.similarity >= near:
        return sighting
    lifted = replace(considered, similarity=near, score=max(considered.score, near), shared=BY_NAME)
    return replace(sighting, considered=lifted, lane=Lane.GRAPH, path=path)

"""Facts as callers see them: each with how it stands now, in pages, and with a plain word where nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew.api import FactList, FactView
from clew.domain.facts import Fact, Facts
from clew.services.fact_staleness import Standing, standings
from clew.services.parts import Parts

MAX_LISTED = 1000
QUOTED_SUBJECT_CHARS = 200


def views(parts: Parts, known: Facts, facts: Sequence[Fact]) -> list[FactView]:
    standing = standings(parts, facts)
    return [_view(known, fact, standing[fact.id]) for fact in facts]


def listed(
    parts: Parts, known: Facts, facts: Sequence[Fact], *, at_ms: int, nothing: str, cursor: int | None = None
) -> FactList:
    """What can be relied on, and apart from it what cannot."""
    shown = views(parts, known, sorted(facts, key=_by_subject))
    return FactList(
        facts=tuple(view for view in shown if not view.stale),
        stale=tuple(view for view in shown if view.stale),
        known=bool(shown),
        message="" if shown else nothing,
        at=at_ms,
        cursor=cursor,
    )


def page(known: Facts, wanted: Callable[[Fact], bool], cursor: int, limit: int) -> tuple[list[Fact], int | None]:
    """Facts of whole subjects, in the order in which those were first named, until there are enough."""
    found: list[Fact] = []
    for place, facts in known.subjects(cursor):
        found += filter(wanted, facts)
        if len(found) >= limit:
            return found, place
    return found, None


def nothing_known(subject: str | None, predicate: str | None) -> str:
    if subject is None:
        return "nothing is known" if predicate is None else f"nothing is known that has the predicate {predicate}"
    about = f"nothing is known about {' '.join(subject.split())[:QUOTED_SUBJECT_CHARS]}"
    return about if predicate is None else f"{about} under {predicate}"


def _view(known: Facts, fact: Fact, standing: Standing) -> FactView:
    successor = known.successor(fact)
    return FactView(
        id=fact.id,
        ref=fact.ref,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        text=fact.text,
        valid_from=fact.valid_from_ms,
        valid_to=fact.valid_to_ms,
        recorded=fact.recorded_ms,
        confidence=fact.confidence,
        trust=standing.trust.value,
        sources=fact.sources,
        ended_by=None if successor is None else successor.id,
        invalidated=fact.invalidated,
        corroborated=len(fact.assertions) - 1,
        stale=bool(standing.reasons),
        why=standing.reasons,
    )


def _by_subject(fact: Fact) -> tuple[str, str, int, str]:
    return fact.subject.casefold(), fact.predicate, fact.valid_from_ms, fact.id

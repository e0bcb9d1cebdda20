"""Answers questions for facts: which hold now, which held at some moment, and all of a subject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clew.features.facts.lanes import FOREVER_MS, Fact
from clew.features.facts.log import MAX_SUBJECT_CHARS
from clew.features.facts.operations import FactList, FactsAsOf, FactsCurrent, FactsTimeline, FactTimeline, FactView
from clew.features.facts.replay import Facts
from clew.features.facts.truth import Support, known_facts, supports
from clew.kernel.intake import check_unicode, checked_ts
from clew.kernel.parts import Parts
from clew.kernel.records import checked_cursor, checked_limit
from clew.kernel.services import serves

MAX_LISTED = 1000
QUOTED_SUBJECT_CHARS = 200


def views(parts: Parts, known: Facts, facts: Sequence[Fact]) -> list[FactView]:
    """Facts as callers see them."""
    found = supports(parts, facts)
    return [_view(known, fact, found[fact.id]) for fact in facts]


def list_facts(
    parts: Parts, known: Facts, facts: Sequence[Fact], *, at_ms: int, nothing: str, cursor: int | None = None
) -> FactList:
    """Sound facts, and apart from them stale ones."""
    shown = views(parts, known, sorted(facts, key=_by_subject))
    return FactList(
        facts=tuple(view for view in shown if not view.stale),
        stale=tuple(view for view in shown if view.stale),
        known=bool(shown),
        message="" if shown else nothing,
        at=at_ms,
        cursor=cursor,
    )


def page(
    known: Facts, choose: Callable[[Sequence[Fact]], Iterable[Fact]], cursor: int, limit: int
) -> tuple[list[Fact], int | None]:
    """The chosen facts of whole subjects, in the order in which those were first named, until there are enough."""
    found: list[Fact] = []
    for place, facts in known.subjects(cursor):
        found += choose(facts)
        if len(found) >= limit:
            return found, place
    return found, None


def nothing_known(subject: str | None, predicate: str | None) -> str:
    if subject is None:
        return "nothing is known" if predicate is None else f"nothing is known that has the predicate {predicate}"
    about = f"nothing is known about {' '.join(subject.split())[:QUOTED_SUBJECT_CHARS]}"
    return about if predicate is None else f"{about} under {predicate}"


def _view(known: Facts, fact: Fact, support: Support) -> FactView:
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
        trust=support.trust.value,
        sources=fact.sources,
        ended_by=None if successor is None else successor.id,
        invalidated=fact.invalidated,
        corroborated=len(fact.assertions) - 1,
        stale=bool(support.reasons),
        why=support.reasons,
    )


def _by_subject(fact: Fact) -> tuple[str, str, int, str]:
    return fact.subject.casefold(), fact.predicate, fact.valid_from_ms, fact.id


@serves(FactsCurrent)
def current(parts: Parts, request: FactsCurrent) -> FactList:
    return _at(parts, request, parts.clock.now_ms(), None)


@serves(FactsAsOf)
def as_of(parts: Parts, request: FactsAsOf) -> FactList:
    recorded_ms = None if request.recorded is None else checked_ts(request.recorded)
    return _at(parts, request, checked_ts(request.at), recorded_ms)


@serves(FactsTimeline)
def timeline(parts: Parts, request: FactsTimeline) -> FactTimeline:
    limit = checked_limit(request.limit, MAX_LISTED)
    known = known_facts(parts, request.user_id)
    predicate = _checked_predicate(known, request.predicate)
    found = known.timeline(_checked_subject(request.subject), predicate)[-limit:]
    return FactTimeline(
        facts=tuple(views(parts, known, found)),
        known=bool(found),
        message="" if found else nothing_known(request.subject, predicate),
    )


def _at(parts: Parts, request: FactsCurrent | FactsAsOf, at_ms: int, recorded_ms: int | None) -> FactList:
    """Of one subject all facts that hold; of all subjects, page by page."""
    limit, cursor = checked_limit(request.limit, MAX_LISTED), checked_cursor(request.cursor)
    known = known_facts(parts, request.user_id)
    predicate = _checked_predicate(known, request.predicate)
    following: int | None = None
    if request.subject is not None or recorded_ms is not None:
        subject = None if request.subject is None else _checked_subject(request.subject)
        holding = known.as_of(at_ms, FOREVER_MS if recorded_ms is None else recorded_ms, subject, predicate)
        found = list(holding[cursor : cursor + limit])
        following = cursor + limit if len(holding) > cursor + limit else None
    else:
        found, following = page(
            known,
            lambda facts: (each for each in facts if each.is_current(at_ms) and predicate in (None, each.predicate)),
            cursor,
            limit,
        )
    nothing = nothing_known(request.subject, predicate)
    return list_facts(parts, known, found, at_ms=at_ms, nothing=nothing, cursor=following)


def _checked_predicate(known: Facts, name: str | None) -> str | None:
    return None if name is None else known.registry.checked(name)


def _checked_subject(subject: str) -> str:
    check_unicode("subject", subject)
    return subject[: 4 * MAX_SUBJECT_CHARS]

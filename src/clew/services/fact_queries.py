"""Asking for facts: what is true now, what was true then, what ever was."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api import FactList, FactsAsOf, FactsCurrent, FactsTimeline, FactTimeline
from clew.domain.fact_log import MAX_SUBJECT_CHARS
from clew.domain.facts import Fact, Facts
from clew.services.fact_answers import MAX_LISTED, listed, nothing_known, page, views
from clew.services.intake import check_unicode, checked_ts
from clew.services.parts import Parts
from clew.services.records import checked_cursor, checked_limit


def current(parts: Parts, request: FactsCurrent) -> FactList:
    return _at(parts, request, parts.clock.now_ms(), None)


def as_of(parts: Parts, request: FactsAsOf) -> FactList:
    recorded_ms = None if request.recorded is None else checked_ts(request.recorded)
    return _at(parts, request, checked_ts(request.at), recorded_ms)


def timeline(parts: Parts, request: FactsTimeline) -> FactTimeline:
    limit = checked_limit(request.limit, MAX_LISTED)
    known = parts.facts.of(parts, request.user_id)
    predicate = _checked_predicate(known, request.predicate)
    found = known.timeline(_searched(request.subject), predicate)[-limit:]
    return FactTimeline(
        facts=tuple(views(parts, known, found)),
        known=bool(found),
        message="" if found else nothing_known(request.subject, predicate),
    )


def _at(parts: Parts, request: FactsCurrent | FactsAsOf, at_ms: int, recorded_ms: int | None) -> FactList:
    """Of one subject all that holds; of all subjects, page by page."""
    limit, cursor = checked_limit(request.limit, MAX_LISTED), checked_cursor(request.cursor)
    known = parts.facts.of(parts, request.user_id)
    predicate = _checked_predicate(known, request.predicate)
    following: int | None = None
    if request.subject is not None or recorded_ms is not None:
        subject = None if request.subject is None else _searched(request.subject)
        holding = _believed(known, at_ms, recorded_ms, subject, predicate)
        found = holding[cursor : cursor + limit]
        following = cursor + limit if len(holding) > cursor + limit else None
    else:
        found, following = page(
            known, lambda fact: fact.is_current(at_ms) and predicate in (None, fact.predicate), cursor, limit
        )
    nothing = nothing_known(request.subject, predicate)
    return listed(parts, known, found, at_ms=at_ms, nothing=nothing, cursor=following)


def _believed(
    known: Facts, at_ms: int, recorded_ms: int | None, subject: str | None, predicate: str | None
) -> Sequence[Fact]:
    if recorded_ms is None:
        return known.current(subject, predicate, at_ms=at_ms)
    return known.as_of(at_ms, recorded_ms, subject, predicate)


def _checked_predicate(known: Facts, name: str | None) -> str | None:
    return None if name is None else known.registry.checked(name)


def _searched(subject: str) -> str:
    check_unicode("subject", subject)
    return subject[: 4 * MAX_SUBJECT_CHARS]

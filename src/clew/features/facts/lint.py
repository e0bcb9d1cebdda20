"""Checks facts: finds what is wrong with them, lists stale ones, and compares them with the rows.

Replayed intervals never overlap: each value ends where the next begins. The linter reports an overlap where a value
overruled another without naming it: it cuts off a value that was to end later, as imported lines may hold, or values of
a predicate that took many at the time and takes one now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from clew.core.collections import Collection
from clew.features.claims.rules import CONFIDENCE_OF_TRUST
from clew.features.facts.lanes import Fact
from clew.features.facts.log import Assertion
from clew.features.facts.operations import (
    FactLint,
    FactList,
    FactProblem,
    FactRebuild,
    FactsLint,
    FactsRebuild,
    FactsStale,
)
from clew.features.facts.queries import MAX_LISTED, list_facts, page
from clew.features.facts.replay import Facts
from clew.features.facts.truth import FactViews, Grounds, known_facts
from clew.kernel.parts import Parts
from clew.kernel.records import checked_cursor, checked_limit
from clew.kernel.services import serves

MAX_PROBLEMS = 10_000
_DIGEST_BYTES = 16

NOTHING_STALE = "no fact has lost its ground"


@serves(FactsLint)
def lint(parts: Parts, request: FactsLint) -> FactLint:
    limit = checked_limit(request.limit, MAX_PROBLEMS)
    known = known_facts(parts, request.user_id)
    found = list(problems(parts, known, Collection.facts(request.user_id)))
    return FactLint(
        ok=not found,
        checked=len(known.assertions()) + len(known.invalidations()),
        problems=tuple(found[:limit]),
        found=len(found),
    )


def problems(parts: Parts, known: Facts, collection: str) -> Iterator[FactProblem]:
    """Every problem of the facts of a collection."""
    for id_ in known.malformed:
        yield FactProblem(kind="malformed", ref=f"{collection}/{id_}", message="it is no entry of the log of facts")
    yield from _of_invalidations(known, collection)
    grounds = Grounds(parts)
    for _, facts in known.subjects():
        grounds.examine(facts)
        for fact in facts:
            yield from _of_fact(known, fact)
            for assertion in fact.assertions:
                yield from _of_assertion(known, grounds, assertion)


@serves(FactsStale)
def stale(parts: Parts, request: FactsStale) -> FactList:
    limit, cursor = checked_limit(request.limit, MAX_LISTED), checked_cursor(request.cursor)
    known = known_facts(parts, request.user_id)
    grounds = Grounds(parts)

    def choose(facts: Sequence[Fact]) -> Iterator[Fact]:
        grounds.examine(facts)
        return (fact for fact in facts if not fact.never_held and grounds.support(fact).reasons)

    found, following = page(known, choose, cursor, limit)
    return list_facts(parts, known, found, at_ms=parts.clock.now_ms(), nothing=NOTHING_STALE, cursor=following)


@serves(FactsRebuild)
def rebuild(parts: Parts, request: FactsRebuild) -> FactRebuild:
    kept, fresh = parts.state(FactViews).rebuild(request.user_id)
    said = fresh.canonical()
    identical = said == kept.canonical()
    return FactRebuild(
        identical=identical,
        message="what was kept is what the rows say"
        if identical
        else "what was kept was not what the rows say; it is now",
        facts=sum(len(facts) for _, facts in fresh.subjects()),
        assertions=len(fresh.assertions()),
        invalidations=len(fresh.invalidations()),
        malformed=len(fresh.malformed),
        digest=blake2b(said, digest_size=_DIGEST_BYTES).hexdigest(),
    )


# --- problems ---------------------------------------------------------------------------------


def _of_invalidations(known: Facts, collection: str) -> Iterator[FactProblem]:
    for entry in known.invalidations():
        for id_ in entry.fact_ids:
            if known.get(id_) is None:
                yield FactProblem(
                    kind="unknown_fact",
                    ref=f"{collection}/{entry.id}",
                    message=f"it takes {id_} back, which is not known",
                )


def _of_fact(known: Facts, fact: Fact) -> Iterator[FactProblem]:
    """Whether another value cut it off before its own end, without naming it."""
    ending = known.successor(fact)
    if ending is None or not known.registry.is_single(fact.predicate) or fact.valid_to_ms is None:
        return
    for assertion in fact.assertions:
        end_ms = known.own_end_ms(assertion)
        goes_on = end_ms is None or end_ms > fact.valid_to_ms
        was_to_last = goes_on and assertion.valid_to_ms is not None
        stood_beside = goes_on and assertion.many
        if was_to_last or stood_beside:
            why = "was asserted beside others" if stood_beside else "was to hold longer"
            yield FactProblem(
                kind="overlap",
                ref=assertion.ref,
                message=f"{ending.ref} cuts off what {why}; {fact.predicate} takes one value",
            )


def _of_assertion(known: Facts, grounds: Grounds, assertion: Assertion) -> Iterator[FactProblem]:
    if assertion.predicate not in known.registry:
        yield FactProblem(
            kind="unknown_predicate", ref=assertion.ref, message=f"{assertion.predicate} is no known predicate"
        )
    for id_ in assertion.supersedes:
        if known.get(id_) is None:
            yield FactProblem(
                kind="unknown_fact", ref=assertion.ref, message=f"it supersedes {id_}, which is not known"
            )
    sources = {ref: grounds.source(assertion.collection, ref) for ref in assertion.sources}
    gone = {f"{ref} is gone" for ref, source in sources.items() if source is None}
    for flaw in dict.fromkeys(grounds.flaws(assertion)):
        is_dangling = flaw in gone or not sources
        yield FactProblem(kind="dangling_source" if is_dangling else "stale_source", ref=assertion.ref, message=flaw)
    allowed = max((CONFIDENCE_OF_TRUST[source.trust] for source in sources.values() if source is not None), default=1.0)
    if assertion.confidence > allowed:
        yield FactProblem(
            kind="confidence",
            ref=assertion.ref,
            message=f"its confidence of {assertion.confidence:g} is more than its sources allow, which is {allowed:g}",
        )

"""Proof that the store is what it should be: rows, hashes, queue, and an index equal to its rows."""

from __future__ import annotations

from collections.abc import Iterator

from clew.core.collections import CollectionKind
from clew.core.model import Draft
from clew.features.facts.truth import FactViews
from clew.features.graph import linking
from clew.features.upkeep import verify_history
from clew.features.upkeep.operations import Check, Verify, VerifyReport
from clew.index.collection import CollectionIndex
from clew.kernel.intake import search_terms, speaker_in
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.storage.paging import every_record
from clew.storage.protocol import Finding
from clew.text.terms import ANALYSER_VERSION

MAX_PROBLEMS = 20


@serves(Verify)
def verify(parts: Parts, request: Verify) -> VerifyReport:
    repaired = _repair(parts) if request.repair else ()
    checks = tuple(_check(finding) for finding in _findings(parts))
    return VerifyReport(ok=all(check.ok for check in checks), checks=checks, repaired=repaired)


def terms_of(draft: Draft) -> bytes:
    return search_terms(draft.text, speaker_in(dict(draft.metadata)), draft.ts_ms)


def _repair(parts: Parts) -> tuple[str, ...]:
    """Makes derived data again, and puts nodes that fell out of a view back into it. It never touches a text:
    a damaged one is set aside as it is, for a person."""
    done = parts.store.repair()
    if parts.meaning.usable:
        parts.store.queue_missing_vectors()
    if wrong := _terms(parts).problems:
        parts.store.replace_terms(ANALYSER_VERSION, terms_of)
        done += ("made the search terms of all records again, since some were wrong: " + ", ".join(wrong),)
    verify_history.repair(parts)
    linking.repair(parts)
    return done


def _findings(parts: Parts) -> Iterator[Finding]:
    yield from parts.store.findings()
    yield _terms(parts)
    yield _indexes(parts)
    yield from verify_history.findings(parts)
    yield linking.finding(parts)
    yield _facts(parts)


def _terms(parts: Parts) -> Finding:
    """Every record is found by its own words."""
    problems: list[str] = []
    count = 0
    for stored in every_record(parts.store):
        count += 1
        if terms_of(stored.draft) != stored.draft.terms:
            problems.append(f"record {stored.key}")
    return Finding("search terms", f"{count} records carry the terms of their text", tuple(problems[:MAX_PROBLEMS]))


def _indexes(parts: Parts) -> Finding:
    """Each index, as it is kept up to date bit by bit, equals one built anew from the rows."""
    names = [name for name, _ in parts.store.collections()]
    problems = []
    for name in names:
        with parts.indexes.current(name) as kept:
            fresh = CollectionIndex(name)
            fresh.apply(parts.store.feed(name, 0))
            if fresh.until == kept.until and not kept.equals(fresh):
                problems.append(name)
    return Finding("indexes", f"{len(names)} collection indexes equal their rows", tuple(problems[:MAX_PROBLEMS]))


def _facts(parts: Parts) -> Finding:
    """What is kept of each log of facts, entry by entry, equals one replayed from the rows."""
    names = [name for name, _ in parts.store.collections() if name.kind is CollectionKind.FACTS]
    problems = []
    for name in names:
        kept, fresh = parts.state(FactViews).rebuild(name.user_id)
        if kept.canonical() != fresh.canonical():
            problems.append(name)
    return Finding("facts", f"{len(names)} logs of facts equal their rows", tuple(problems[:MAX_PROBLEMS]))


def _check(finding: Finding) -> Check:
    return Check(name=finding.name, ok=not finding.problems, proof=finding.proof, problems=finding.problems)

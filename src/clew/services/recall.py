"""Search: one question, put to the collections it may see, answered best first with every score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from clew.api import Hit, Scores, Search, SearchResult
from clew.domain import identity
from clew.domain.identity import Scope
from clew.domain.model import Record
from clew.domain.ranking import Weights
from clew.domain.terms import QueryTerms, analyse_query, fold
from clew.errors import InvalidInput
from clew.index.search import Candidate, Query, search
from clew.services.parts import Parts
from clew.services.records import checked_limit, view

MAX_HITS = 1000
MAX_COLLECTIONS = 256
MAX_QUERY_CHARS = 4000
"""What lies beyond this in a query adds noise, not meaning, and costs time."""

_PHRASE_CANDIDATES = 200
"""How deep a quoted string is looked for among the best matches of its words."""

_WITHOUT_PHRASE = 0.5
"""What is left of a score where a quoted string of the query is missing, though others hold it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its record."""

    record: Record
    candidate: Candidate


def find(parts: Parts, request: Search) -> SearchResult:
    found, degraded = recall(parts, request)
    return SearchResult(hits=tuple(map(hit, found)), degraded=degraded)


def recall(parts: Parts, request: Search, at_least: float = 0.0) -> tuple[list[Found], tuple[str, ...]]:
    """The best records for a request, at least so similar, and why they may not be the best there are."""
    limit = checked_limit(request.k, MAX_HITS)
    named = [checked_searchable(name) for name in dict.fromkeys(request.collections)]
    collections = named or visible_collections(request.user_id, request.session_id)
    if len(collections) > MAX_COLLECTIONS:
        raise InvalidInput(f"one search takes at most {MAX_COLLECTIONS} collections, not {len(collections)}")
    query, trouble = prepare(parts, request.text)
    depth = max(limit, _PHRASE_CANDIDATES) if query.terms.phrases else limit
    candidates = [
        (name, candidate)
        for name in collections
        for candidate in _in_collection(parts, name, query, depth, request.exclude.get(name, ()))
        if candidate.similarity >= at_least
    ]
    if query.terms.phrases:
        found = _in_order(_prefer_phrases(_records(parts, candidates), query.terms))
        return (found if named else _without_repeats(found))[:limit], trouble
    return _collect(parts, candidates, limit, repeats=bool(named)), trouble


def prepare(parts: Parts, text: str) -> tuple[Query, tuple[str, ...]]:
    """Everything about a question that does not depend on where it is put."""
    text = text[:MAX_QUERY_CHARS]
    vector, trouble = parts.meaning.of_query(text)
    calibration = parts.meaning.calibration
    config = parts.config
    query = Query(
        terms=analyse_query(text),
        vector=vector,
        calibration=calibration and calibration.of_queries,
        now_ms=parts.clock.now_ms(),
        weights=Weights.normalised(config.similarity_weight, config.recency_weight, config.scope_weight),
    )
    return query, () if trouble is None else (trouble,)


def visible_collections(user_id: str | None, session_id: str | None) -> list[str]:
    """What may be recalled for a user in a session: nothing of anybody else's."""
    names = []
    if session_id is not None:
        names.append(identity.session(session_id))
    if user_id is not None:
        names += [identity.memories_of(user_id), identity.turns_of(user_id)]
    return [*names, identity.GLOBAL]


def checked_searchable(name: str) -> str:
    if identity.is_internal(name):
        raise InvalidInput(f"{name[:80]!r} is internal and cannot be searched")
    return identity.checked_collection(name)


def hit(found: Found) -> Hit:
    candidate = found.candidate
    scores = Scores(
        score=candidate.score,
        similarity=candidate.similarity,
        lexical=candidate.lexical,
        lexical_rank=candidate.lexical_rank,
        dense=candidate.dense,
        dense_rank=candidate.dense_rank,
        recency=candidate.recency,
        scope=candidate.scope,
    )
    return Hit(record=view(found.record), scores=scores)


def _in_collection(parts: Parts, name: str, query: Query, limit: int, excluded_ids: Sequence[str]) -> list[Candidate]:
    scope = identity.scope_of(name)
    excluded = set(parts.store.seqs(name, excluded_ids)) if excluded_ids else set()
    with parts.indexes.current(name) as index:
        candidates = search(index, query, scope, _decay(parts, scope), limit + len(excluded))
    return [candidate for candidate in candidates if candidate.seq not in excluded]


def _collect(parts: Parts, candidates: list[tuple[str, Candidate]], limit: int, *, repeats: bool) -> list[Found]:
    """The best with their records. Rows are read from the best down, until there are enough."""
    waiting = sorted(candidates, key=lambda item: -item[1].score)
    found: list[Found] = []
    while waiting and len(found) < limit:
        last = waiting[min(limit, len(waiting)) - 1][1].score
        chunk = list(takewhile(lambda item: item[1].score >= last, waiting))  # noqa: B023 — used at once
        waiting = waiting[len(chunk) :]
        found += _in_order(_records(parts, chunk))
        found = found if repeats else _without_repeats(found)
    return found[:limit]


def _in_order(found: list[Found]) -> list[Found]:
    """Best first; equal scores by time, newest first, then by id."""
    return sorted(found, key=lambda item: (-item.candidate.score, -item.record.ts_ms, item.record.id))


def _records(parts: Parts, candidates: list[tuple[str, Candidate]]) -> list[Found]:
    by_name: dict[str, dict[int, Candidate]] = {}
    for name, candidate in candidates:
        by_name.setdefault(name, {})[candidate.seq] = candidate
    return [
        Found(record, by_seq[record.seq])
        for name, by_seq in by_name.items()
        for record in parts.store.at(name, list(by_seq))
    ]


def _decay(parts: Parts, scope: Scope) -> float:
    config = parts.config
    return {
        Scope.SESSION: config.recency_decay_session,
        Scope.USER: config.recency_decay_user,
        Scope.GLOBAL: config.recency_decay_global,
    }[scope]


def _prefer_phrases(found: list[Found], terms: QueryTerms) -> list[Found]:
    """Where a quoted string occurs at all, what lacks it falls behind."""
    for phrase in terms.phrases:
        holds = [phrase in fold(item.record.text) for item in found]
        if any(holds):
            found = [item if held else _demoted(item) for item, held in zip(found, holds, strict=True)]
    return found


def _demoted(item: Found) -> Found:
    candidate = item.candidate
    score, similarity = candidate.score * _WITHOUT_PHRASE, candidate.similarity * _WITHOUT_PHRASE
    return Found(item.record, replace(candidate, score=score, similarity=similarity))


def _without_repeats(best: Sequence[Found]) -> list[Found]:
    """A turn stands in several collections, and may be kept as a memory; it is shown once, at its best."""
    shown: dict[str, Found] = {}
    for item in best:
        shown.setdefault(_origin(item.record), item)
    return list(shown.values())


def _origin(record: Record) -> str:
    """The same for a turn in its session, among its user's turns, and in the memory kept from it."""
    kind, _, owner = record.collection.partition(":")
    source = record.metadata.get("source")
    if kind == "session":
        return identity.turn_name(owner, record.id)
    if kind == "turns":
        return record.id
    if kind == "user" and isinstance(source, dict) and isinstance(source.get("id"), str):
        return str(source["id"])
    return f"{record.collection}\n{record.id}"

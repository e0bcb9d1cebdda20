"""Search: one question, put to the collections it may see, answered best first with every score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from clew.core.collections import GLOBAL, LORE, Collection, CollectionKind, Scope
from clew.core.ids import LEDGER_ORIGIN, id_of, memory_id, session_of, turn_name
from clew.core.lineage import lineage_of
from clew.core.model import Record
from clew.core.ranking import RECENCY_DECAYS, REPLY_SHARE, SCOPE_NEARNESS, Weights, quality
from clew.errors import InvalidInput
from clew.index.search import Candidate, Query, search
from clew.kernel.operations import Hit, Scores, Search, SearchResult
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit, view
from clew.kernel.services import serves
from clew.kernel.views import summaries_over
from clew.text.dates import keys_asked_for
from clew.text.terms import QueryTerms, analyse_query, fold, without_names

MAX_HITS = 1000
MAX_COLLECTIONS = 256
MAX_QUERY_CHARS = 4000
"""Characters of a query that count; more would add noise, not meaning, and cost time."""

_PHRASE_CANDIDATES = 200
"""How deep a quoted string is looked for among the best matches of its words."""

_SUMMARY_MARGIN = 64
"""How many more are looked at where summaries may fall behind once their quality is known."""

_COVERED_CANDIDATES = 128
"""How many turns of the raw history are looked at to find the summaries that lead to them."""

_KINDS_OF_TURNS = (CollectionKind.SESSION, CollectionKind.TURNS, CollectionKind.REPLIES)
"""Collections that may show the same turn, under ids that are made from one another."""

_WITHOUT_PHRASE = 0.5
"""The share of its score that a text keeps where it lacks a quoted string of the query that others hold."""


class Found(Struct, frozen=True):
    """A candidate with its record, its place in the order, and what that place was made from."""

    record: Record
    candidate: Candidate
    score: float
    quality: float = 1.0
    use: float | None = None
    authority: float | None = None
    linked_from: str | None = None

    @property
    def ref(self) -> str:
        return f"{self.record.collection}/{self.record.id}"


@serves(Search)
def find(parts: Parts, request: Search) -> SearchResult:
    found, degraded = recall(parts, request)
    return SearchResult(hits=tuple(map(hit, found)), degraded=degraded)


def recall(parts: Parts, request: Search) -> tuple[list[Found], tuple[str, ...]]:
    """The best records for a request, and why they may not be the best there are."""
    limit = checked_limit(request.k, MAX_HITS, "k")
    named = [checked_searchable(name) for name in dict.fromkeys(request.collections)]
    collections = named or visible_collections(request.user_id, request.session_id)
    if len(collections) > MAX_COLLECTIONS:
        raise InvalidInput(f"one search takes at most {MAX_COLLECTIONS} collections, not {len(collections)}")
    exclude = {Collection(name): ids for name, ids in request.exclude.items()}
    with parts.indexes.once():
        query, trouble = prepare(parts, request.text, collections)
        return best(parts, query, collections, limit, exclude=exclude, repeats=bool(named)), trouble


def best(
    parts: Parts,
    query: Query,
    collections: Sequence[Collection],
    limit: int,
    *,
    exclude: Mapping[Collection, Sequence[str]],
    at_least: float = 0.0,
    repeats: bool = False,
) -> list[Found]:
    """The best members of these collections that are at least so similar, best first. Nothing that is quarantined."""
    depth = max(limit, _PHRASE_CANDIDATES) if query.terms.phrases else limit
    running = [name.owner for name in collections if name.kind is CollectionKind.SESSION]
    candidates = [
        (name, candidate)
        for name in collections
        for candidate in _in_collection(parts, name, query, depth, excluded_ids=exclude.get(name, ()), running=running)
        if candidate.similarity >= at_least
    ]
    if query.terms.phrases:
        found = _in_order(_prefer_phrases(_records(parts, candidates), query.terms))
        return (found if repeats else without_repeats(found))[:limit]
    return _collect(parts, candidates, limit, repeats=repeats)


def prepare(parts: Parts, text: str, collections: Sequence[Collection]) -> tuple[Query, tuple[str, ...]]:
    """Prepare a question once for all collections; `collections` say whose names it may hold."""
    text = cut(text)
    terms = analyse_query(text)
    now_ms = parts.clock.now_ms()
    meant = parts.meaning.of_query(without_names(text, _speakers(parts, terms, collections)))
    query = Query(
        terms=terms,
        vector=meant.vector,
        calibration=meant.calibration,
        now_ms=now_ms,
        weights=Weights.normalised(*parts.tuning.search_weights),
        dates=frozenset(keys_asked_for(text, now_ms)),
        text=text,
    )
    return query, () if meant.trouble is None else (meant.trouble,)


def _speakers(parts: Parts, terms: QueryTerms, collections: Sequence[Collection]) -> set[str]:
    """Words of a question that name who speaks in these collections. A vector would take them for its subject."""
    names: set[str] = set()
    if parts.meaning.available and terms.names:
        for collection in (name for name in collections if name.holds_turns):
            with parts.indexes.current(collection) as index:
                names.update(index.speakers_among(terms.names))
    return names


def cut(text: str) -> str:
    """As much of a question as is looked for, up to the end of a word where there is one."""
    if len(text) <= MAX_QUERY_CHARS:
        return text
    head = text[: MAX_QUERY_CHARS + 1]
    whole = head if head[-1].isspace() else head.rsplit(maxsplit=1)[0]
    return whole[:MAX_QUERY_CHARS]


def visible_collections(user_id: str | None, session_id: str | None) -> list[Collection]:
    """The collections that may be recalled for a user in a session: nothing of anybody else's."""
    names = []
    if session_id is not None:
        names.append(Collection.session(session_id))
    if user_id is not None:
        names += [Collection.memories(user_id), Collection.turns(user_id), Collection.replies(user_id)]
    return [*names, GLOBAL, LORE]


def checked_searchable(name: str) -> Collection:
    collection = Collection.named(name)
    if collection.is_internal:
        raise InvalidInput(f"{name[:80]!r} is internal and cannot be searched")
    return collection


def hit(found: Found) -> Hit:
    candidate = found.candidate
    scores = Scores(
        score=found.score,
        similarity=candidate.similarity,
        lexical=candidate.lexical,
        lexical_rank=candidate.lexical_rank,
        dense=candidate.dense,
        dense_rank=candidate.dense_rank,
        recency=candidate.recency,
        scope=candidate.scope,
        keywords=candidate.keywords,
        context=candidate.context,
        use=found.use,
        authority=found.authority,
        quality=found.quality,
        covered=candidate.covered,
        linked_from=found.linked_from,
    )
    return Hit(record=view(found.record), scores=scores)


def unsought(record: Record) -> Found:
    """A record that nobody searched for, and that comes in for another reason than its words."""
    candidate = Candidate(
        seq=record.seq,
        ts_ms=record.ts_ms,
        score=0.0,
        similarity=0.0,
        lexical=0.0,
        lexical_rank=None,
        dense=None,
        dense_rank=None,
        recency=0.0,
        keywords=0.0,
        scope=SCOPE_NEARNESS[record.collection.scope],
        record=0,
    )
    return Found(record, candidate, 0.0)


def _in_collection(
    parts: Parts, name: Collection, query: Query, limit: int, *, excluded_ids: Sequence[str], running: Sequence[str]
) -> list[Candidate]:
    scope = name.scope
    margin = _SUMMARY_MARGIN if name.holds_summaries else 0
    with parts.indexes.current(name) as index:
        if index.size == 0:
            return []
        excluded = [*parts.store.withheld(name), *(parts.store.seqs(name, excluded_ids) if excluded_ids else ())]
        is_replies = name.kind is CollectionKind.REPLIES
        if is_replies:  # the view of a running session shows them, or their summaries
            excluded += [seq for session_id in running for seq in index.seqs_of_session(session_id)]
        own = search(index, query, scope, RECENCY_DECAYS[scope], limit + margin, excluded=excluded)
    if is_replies:
        return [replace(item, similarity=item.similarity * REPLY_SHARE, score=item.score * REPLY_SHARE) for item in own]
    if name.kind is not CollectionKind.SESSION:
        return own
    through = _through_turns(parts, name.owner, query)
    return _take_better(own, {place: found for place, found in through.items() if place not in excluded})


def _through_turns(parts: Parts, session_id: str, query: Query) -> dict[int, Candidate]:
    """Summaries of the view by the best turn that each covers, under their own place."""
    lead_to = summaries_over(parts, session_id)
    if not lead_to:
        return {}
    decay = RECENCY_DECAYS[Scope.SESSION]
    history = Collection.raw(session_id)
    with parts.indexes.current(history) as index:
        turns = search(index, query, Scope.SESSION, decay, _COVERED_CANDIDATES, excluded=parts.store.withheld(history))
    found: dict[int, Candidate] = {}
    for turn in turns:  # best first, so the first is the best of its summary
        place = lead_to.get(turn.seq)
        if place is not None and place not in found:
            found[place] = replace(turn, seq=place, record=0, covered=turn.similarity)
    return found


def _take_better(own: list[Candidate], through: dict[int, Candidate]) -> list[Candidate]:
    """Each summary at the better score: that of its own words, or that of the best turn it covers."""
    if not through:
        return own
    merged = {candidate.seq: candidate for candidate in own}
    for place, candidate in through.items():
        if place not in merged or merged[place].score < candidate.score:
            merged[place] = candidate
    return list(merged.values())


def _collect(parts: Parts, candidates: list[tuple[Collection, Candidate]], limit: int, *, repeats: bool) -> list[Found]:
    """The best with their records. Rows are read from the best down, until no unread one could be among them.

    A row can only lose by being read: the record of a summary says how much of its score it keeps.
    """
    waiting = sorted(candidates if repeats else _at_their_best(candidates), key=lambda item: -item[1].score)
    found: list[Found] = []
    while waiting and (len(found) < limit or found[limit - 1].score < waiting[0][1].score):
        last = waiting[min(limit, len(waiting)) - 1][1].score
        chunk = list(takewhile(lambda item: item[1].score >= last, waiting))  # noqa: B023 — used at once
        waiting = waiting[len(chunk) :]
        found = _in_order(found + _records(parts, chunk))
        found = found if repeats else without_repeats(found)
    return found[:limit]


def _at_their_best(candidates: list[tuple[Collection, Candidate]]) -> list[tuple[Collection, Candidate]]:
    """Drops early what `without_repeats` would drop: a turn where it scores less than in another collection."""
    of_turns = {name for name in {name for name, _ in candidates} if name.kind in _KINDS_OF_TURNS}
    highest: dict[int, float] = {}
    for name, candidate in candidates:
        if name in of_turns and candidate.record:
            highest[candidate.record] = max(candidate.score, highest.get(candidate.record, 0.0))
    return [
        (name, candidate)
        for name, candidate in candidates
        if name not in of_turns or candidate.score >= highest.get(candidate.record, 0.0)
    ]


def _in_order(found: list[Found]) -> list[Found]:
    """Best first; equal scores by time, newest first, then by id."""
    return sorted(found, key=lambda item: (-item.score, -item.record.ts_ms, item.record.id))


def _records(parts: Parts, candidates: list[tuple[Collection, Candidate]]) -> list[Found]:
    by_name: dict[Collection, dict[int, Candidate]] = {}
    for name, candidate in candidates:
        by_name.setdefault(name, {})[candidate.seq] = candidate
    return [
        _found(record, by_seq[record.seq])
        for name, by_seq in by_name.items()
        for record in parts.store.at(name, list(by_seq))
    ]


def _found(record: Record, candidate: Candidate) -> Found:
    """A summary that was found by its own words counts by its quality."""
    lineage = lineage_of(record) if candidate.covered is None else None
    kept = 1.0 if lineage is None else quality(lineage.decay)
    return Found(record, candidate, candidate.score * kept, kept)


def _prefer_phrases(found: list[Found], terms: QueryTerms) -> list[Found]:
    """Where some texts hold a quoted string, those that lack it fall behind."""
    for phrase in terms.phrases:
        holds = [phrase in fold(item.record.text) for item in found]
        if any(holds):
            found = [item if held else _demote(item) for item, held in zip(found, holds, strict=True)]
    return found


def _demote(item: Found) -> Found:
    similarity = item.candidate.similarity * _WITHOUT_PHRASE
    return replace(item, score=item.score * _WITHOUT_PHRASE, candidate=replace(item.candidate, similarity=similarity))


def without_repeats(ordered: Sequence[Found]) -> list[Found]:
    """Shows a turn once, at its best: it is in several collections, and may be kept as a memory."""
    shown: dict[str, Found] = {}
    for item in ordered:
        shown.setdefault(origin(item.record), item)
    return list(shown.values())


def origin(record: Record) -> str:
    """The same for a turn in its session, among its user's turns, and in the memory kept from it.

    And for an event in the ledgers of its session and of its user.
    """
    match record.collection.kind:
        case CollectionKind.SESSION:
            return turn_name(record.collection.owner, record.id)
        case CollectionKind.TURNS | CollectionKind.REPLIES | CollectionKind.GUIDANCE:
            return record.id
        case CollectionKind.LEDGER:
            session_id = record.collection.session_id
            name = record.id if session_id is None else turn_name(session_id, record.id)
            return f"{LEDGER_ORIGIN}{name}"
        case CollectionKind.MEMORIES if (turn := _kept_from(record)) is not None:
            return turn
    return f"{record.collection}\n{record.id}"


def turn_ref(record: Record) -> str | None:
    """The citation of the turn that a record shows or was kept from; None where it comes from no turn."""
    kind = record.collection.kind
    if kind is CollectionKind.MEMORIES:
        name = _kept_from(record)
    else:
        name = origin(record) if kind in (*_KINDS_OF_TURNS, CollectionKind.GUIDANCE) else None
    return None if name is None else Collection.raw(session_of(name)).ref(id_of(name))


def _kept_from(record: Record) -> str | None:
    """The turn a memory was kept from. The claim in its metadata counts only where the memory's own id confirms it."""
    source = record.metadata.get("source")
    if not isinstance(source, dict) or not all(isinstance(source.get(key), str) for key in ("collection", "id")):
        return None
    return source["id"] if record.id == memory_id(source["collection"], source["id"]) else None

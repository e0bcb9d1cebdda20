"""The methods that an existing client of the protocol calls, in terms of `MemoryApi`.

Clew ignores unknown parameters and checks the types of known ones. Results keep the shapes that such a
client reads. Its metadata comes back unchanged; Clew adds what it knows under keys that the client did
not use. `access_count` alone is always Clew's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import to_builtins

from clew.api import (
    AddHint,
    Clear,
    Compact,
    Delete,
    Gate,
    GateScore,
    Ingest,
    JournalEntry,
    JsonObject,
    ListCollections,
    ListRecords,
    MemoryApi,
    Message,
    Put,
    ReadJournal,
    RecordView,
    Search,
    Touch,
)
from clew.core.collections import Collection
from clew.core.ids import session_of
from clew.errors import InvalidInput
from clew.faces.daemon.compat_documents import delete_document, ingest_document, promote_dreams
from clew.faces.daemon.compat_params import (
    BumpAccessCounts,
    CompactSession,
    ExpandSummary,
    GatingScalar,
    InsertSessionTurn,
    InsertText,
    JournalQuery,
    LifecycleHint,
    ListByMeta,
    MarkdownDocument,
    Nothing,
    OneCollection,
    OneDocument,
    OneRecord,
    OneUser,
    PromoteDreams,
    QueryRawSession,
    SearchText,
    SearchTextCollections,
)
from clew.faces.daemon.wire import Method

P = TypeVar("P")

OK: JsonObject = {"ok": True}
MAX_TS_MS = 2**53
DEFAULT_DEPTH = 3

GATE_KEYS: Mapping[str, str] = {
    "g": "gate",
    "t": "technical",
    "h": "novelty",
    "r": "repetition",
    "d": "natural_density",
    "inputFreq": "input_frequency",
    "memSaturation": "memory_saturation",
    "p": "artefacts",
    "a": "actions",
    "dtech": "technical_density",
    "gconv": "conversational_score",
    "gtech": "technical_score",
}
"""The wire's short names of the gate's parts."""

TYPE_OF_SCOPE: Mapping[str, str] = {
    "session": "turn",
    "session_raw": "turn",
    "session_summary": "summary",
    "turns": "turn",
    "replies": "turn",
    "user": "memory",
    "global": "memory",
}


def _health(memory: MemoryApi, _: Nothing) -> JsonObject:
    status = memory.status()
    return {"ok": status.ok, "message": status.message}


def _insert_text(memory: MemoryApi, given: InsertText) -> JsonObject:
    memory.call(Put(collection=given.collection, id=given.id, text=given.text, metadata=given.metadata))
    return OK


def _insert_session_turn(memory: MemoryApi, given: InsertSessionTurn) -> JsonObject:
    """Reads role, time and user from the metadata. A turn without a role counts as the assistant's, because the
    user's turns can become memories and guidance."""
    role, user_id, ts = (given.metadata.get(key) for key in ("role", "userId", "ts"))
    message = Message(
        id=given.id,
        text=given.text,
        role=role if isinstance(role, str) else "assistant",
        ts=_milliseconds(ts),
        metadata=given.metadata,
    )
    owner = user_id if isinstance(user_id, str) else None
    memory.call(Ingest(session_id=given.session_id, message=message, user_id=owner))
    return OK


def _gating_scalar(memory: MemoryApi, given: GatingScalar) -> JsonObject:
    score: GateScore = memory.call(Gate(text=given.text, user_id=given.user_id))
    return {short: getattr(score, name) for short, name in GATE_KEYS.items()}


def _search_text(memory: MemoryApi, given: SearchText) -> JsonObject:
    return _search(memory, given.text, given.k, {given.collection: given.exclude_ids or ()})


def _search_text_collections(memory: MemoryApi, given: SearchTextCollections) -> JsonObject:
    exclude = given.exclude_by_collection or {}
    return _search(memory, given.text, given.k, {name: exclude.get(name, ()) for name in given.collections})


def _query_raw_session(memory: MemoryApi, given: QueryRawSession) -> JsonObject:
    return _search(memory, given.text, given.k, {f"session_raw:{given.session_id}": given.exclude_ids or ()})


def _list_collection(memory: MemoryApi, given: OneCollection) -> JsonObject:
    return {"results": [_result(record) for record in _records(memory, given.collection)]}


def _list_by_meta(memory: MemoryApi, given: ListByMeta) -> JsonObject:
    """Compares with the metadata that the client sees: its own, and what Clew adds."""
    results = (_result(record) for record in _records(memory, given.collection))
    return {"results": [result for result in results if _holds(result["metadata"], given.key, given.value)]}


def _bump_access_counts(memory: MemoryApi, given: BumpAccessCounts) -> JsonObject:
    uses: dict[str, tuple[str, ...]] = {}
    for update in given.updates:
        uses[update.collection] = uses.get(update.collection, ()) + update.ids
    memory.call(Touch(uses=uses))
    return OK


def _export_memory(memory: MemoryApi, given: OneUser) -> JsonObject:
    names = [view.name for view in memory.call(ListCollections()).collections]
    if given.user_id is None:
        wanted = [name for name in names if name.startswith("user:")]
    else:
        wanted = [name for name in names if name == f"user:{given.user_id}"]
    records = (record for name in wanted for record in _records(memory, name))
    return {"records": [_export_record(record) for record in records]}


def _flush_namespace(memory: MemoryApi, given: OneUser) -> JsonObject:
    if not given.user_id:
        raise InvalidInput("flush_namespace needs a userId; it deletes every memory of that user")
    memory.call(Clear(collection=f"user:{given.user_id}"))
    return OK


def _delete(memory: MemoryApi, given: OneRecord) -> JsonObject:
    memory.call(Delete(collection=given.collection, ids=(given.id,)))
    return OK


def _session_lifecycle_hint(memory: MemoryApi, given: LifecycleHint) -> JsonObject:
    details = to_builtins(given)
    del details["hook"]
    details.pop("sessionId", None)
    memory.call(AddHint(hook=given.hook, session_id=given.session_id, details=details))
    return {"ok": True, "hook": given.hook, "sessionId": given.session_id, "reason": given.reason}


def _list_lifecycle_journal(memory: MemoryApi, given: JournalQuery) -> JsonObject:
    journal = memory.call(ReadJournal(session_id=given.session_id, limit=given.limit))
    return {"results": [_journal_result(entry) for entry in journal.entries]}


def _compact_session(memory: MemoryApi, given: CompactSession) -> JsonObject:
    receipt = memory.call(
        Compact(
            session_id=given.session_id,
            force=given.force or False,
            cluster_turns=given.target_size,
            min_turns=given.continuity_min_turns,
            tail_tokens=given.continuity_tail_budget_tokens,
            prior_tokens=given.continuity_prior_context_tokens,
        )
    )
    answer = {
        "didCompact": receipt.did_compact,
        "clustersFormed": receipt.clusters_formed,
        "clustersDeclined": receipt.clusters_declined,
        "turnsRemoved": receipt.turns_removed,
        "meanConfidence": receipt.mean_confidence,
        "tokensBefore": receipt.tokens_before,
        "tokensAfter": receipt.tokens_after,
        "shardsKept": receipt.shards_kept,
    }
    return answer if receipt.summary_method is None else answer | {"summaryMethod": receipt.summary_method}


def _expand_summary(memory: MemoryApi, given: ExpandSummary) -> JsonObject:
    """The covered turns; where the depth does not reach them, the summaries it does reach."""
    expansion = memory.expand(given.session_id, given.summary_id, max_depth=given.max_depth or DEFAULT_DEPTH)
    closed = [node.id for node in expansion.closed if node.kind == "summary"]
    unopened = memory.get(f"session_summary:{given.session_id}", *closed).records if closed else ()
    return {"results": [_result(record) for record in (*expansion.turns, *unopened)]}


def _search(memory: MemoryApi, text: str, k: int, exclude: Mapping[str, tuple[str, ...]]) -> JsonObject:
    """Sorts the hits by similarity, which is the protocol's only score."""
    request = Search(text=text, k=k, collections=tuple(exclude), exclude=dict(exclude))
    hits = sorted(memory.call(request).hits, key=lambda hit: -hit.scores.similarity)
    return {"results": [_result(hit.record, hit.scores.similarity) for hit in hits]}


def _holds(metadata: JsonObject, key: str, value: Any) -> bool:
    """JSON equality: 2 is 2.0, and 1 is not true."""
    found = metadata.get(key)
    return key in metadata and isinstance(found, bool) == isinstance(value, bool) and bool(found == value)


def _records(memory: MemoryApi, collection: str) -> Iterator[RecordView]:
    """Every record of a collection, page by page."""
    cursor: int | None = 0
    while cursor is not None:
        page = memory.call(ListRecords(collection=collection, cursor=cursor))
        yield from page.records
        cursor = page.cursor


def _result(record: RecordView, score: float = 0.0) -> JsonObject:
    return {
        "id": record.id,
        "score": score,
        "text": record.text,
        "metadata": _metadata(record),
        "version": record.version,
    }


def _export_record(record: RecordView) -> JsonObject:
    return {
        "collection": record.collection,
        "id": record.id,
        "text": record.text,
        "metadata": _metadata(record),
    }


def _metadata(record: RecordView) -> JsonObject:
    scope, _, owner = record.collection.partition(":")
    known: JsonObject = {
        "collection": record.collection,
        "ts": record.ts,
        "role": record.role,
        "type": TYPE_OF_SCOPE.get(scope),
        "provenance_class": record.provenance,
        "stability_weight": record.stability,
        "token_estimate": record.tokens,
        "trust": record.trust,
        "userId": owner if scope in ("user", "turns", "replies") else None,
        "sessionId": owner if scope in ("session", "session_raw", "session_summary") else _session_behind(record),
        "raw_history": True if scope == "session_raw" else None,
        "active_view": False if scope == "session_raw" else None,
    }
    added = {key: value for key, value in known.items() if value is not None} | _gate_parts(record.metadata)
    return added | record.metadata | {"access_count": record.access_count}


def _gate_parts(metadata: JsonObject) -> JsonObject:
    """The parts of a memory's gate score under the short names that older clients read."""
    parts = {f"gating_{short}": metadata.get(f"gating_{name}") for short, name in GATE_KEYS.items()}
    return {short: value for short, value in parts.items() if value is not None}


def _session_behind(record: RecordView) -> str | None:
    """The session of a turn in a collection of its user, or of the turn behind a memory."""
    source = record.metadata.get("source")
    name = source.get("id") if isinstance(source, dict) else record.id
    is_turn = Collection(record.collection).spans_sessions or isinstance(source, dict)
    return (session_of(name) or None) if is_turn and isinstance(name, str) else None


def _journal_result(entry: JournalEntry) -> JsonObject:
    about = {"hook": entry.hook, "ts": entry.ts, "sessionId": entry.session_id}
    return {
        "id": str(entry.seq),
        "score": 0.0,
        "text": entry.hook,
        "metadata": entry.details | about,
        "version": 1,
    }


def _milliseconds(value: Any) -> int | None:
    """A usable time, or None for the store's clock: metadata may hold anything."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < MAX_TS_MS else None


def _reads(params: type[P], act: Callable[[MemoryApi, P], JsonObject]) -> Method:
    return Method(params, act)


def _writes(params: type[P], act: Callable[[MemoryApi, P], JsonObject], *, lets_writes_pass: bool = False) -> Method:
    return Method(params, act, writes=True, lets_writes_pass=lets_writes_pass)


METHODS: Mapping[str, Method] = {
    "health": _reads(Nothing, _health),
    "insert_text": _writes(InsertText, _insert_text),
    "insert_session_turn": _writes(InsertSessionTurn, _insert_session_turn),
    "gating_scalar": _reads(GatingScalar, _gating_scalar),
    "search_text": _reads(SearchText, _search_text),
    "search_text_collections": _reads(SearchTextCollections, _search_text_collections),
    "query_raw_session": _reads(QueryRawSession, _query_raw_session),
    "list_collection": _reads(OneCollection, _list_collection),
    "list_by_meta": _reads(ListByMeta, _list_by_meta),
    "bump_access_counts": _writes(BumpAccessCounts, _bump_access_counts),
    "export_memory": _reads(OneUser, _export_memory),
    "flush_namespace": _writes(OneUser, _flush_namespace),
    "delete": _writes(OneRecord, _delete),
    "session_lifecycle_hint": _writes(LifecycleHint, _session_lifecycle_hint),
    "list_lifecycle_journal": _reads(JournalQuery, _list_lifecycle_journal),
    "compact_session": _writes(CompactSession, _compact_session, lets_writes_pass=True),
    "expand_summary": _reads(ExpandSummary, _expand_summary),
    "ingest_markdown_document": _writes(MarkdownDocument, ingest_document),
    "delete_authored_document": _writes(OneDocument, delete_document),
    "promote_dream_entries": _writes(PromoteDreams, promote_dreams),
}
"""The compatibility methods whose shape differs from that of Clew's own method."""

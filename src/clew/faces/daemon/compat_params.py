"""What the methods of existing clients are given. Unknown fields are ignored, the types of known ones checked."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from clew.api import JsonObject
from clew.core.structs import make_known, subclasses


class Params(Struct, kw_only=True, rename="camel"):
    """Base of them all."""


class Nothing(Params):
    pass


class InsertText(Params):
    collection: str
    id: str
    text: str
    metadata: JsonObject = field(default_factory=dict)


class InsertSessionTurn(Params):
    session_id: str
    id: str
    text: str
    metadata: JsonObject = field(default_factory=dict)


class GatingScalar(Params):
    text: str
    user_id: str | None = None


class SearchText(Params):
    collection: str
    text: str
    k: int = 10
    exclude_ids: tuple[str, ...] | None = None


class SearchTextCollections(Params):
    collections: tuple[str, ...]
    text: str
    k: int = 10
    exclude_by_collection: dict[str, tuple[str, ...]] | None = None


class QueryRawSession(Params):
    session_id: str
    text: str
    k: int = 10
    exclude_ids: tuple[str, ...] | None = None


class CompactSession(Params):
    session_id: str
    force: bool | None = None
    target_size: int | None = None
    continuity_min_turns: int | None = None
    continuity_tail_budget_tokens: int | None = None
    continuity_prior_context_tokens: int | None = None


class ExpandSummary(Params):
    session_id: str
    summary_id: str
    max_depth: int | None = None


class OneCollection(Params):
    collection: str


class ListByMeta(Params):
    collection: str
    key: str
    value: Any


class AccessUpdate(Params):
    collection: str
    ids: tuple[str, ...]


class BumpAccessCounts(Params):
    updates: tuple[AccessUpdate, ...]


class OneUser(Params):
    user_id: str | None = None


class OneRecord(Params):
    collection: str
    id: str


class MarkdownDocument(Params):
    source_doc: str
    text: str
    core_doc: bool = False
    source_meta: JsonObject = field(default_factory=dict)


class OneDocument(Params):
    source_doc: str


class DreamEntry(Params):
    text: str
    score: float = 0.0
    recall_count: int = 0
    unique_queries: int = 0
    section: str = ""
    line: int = 0
    source_line: int = 0
    metadata: JsonObject = field(default_factory=dict)


class PromoteDreams(Params):
    user_id: str
    source_doc: str
    entries: tuple[DreamEntry, ...] = ()
    source_root: str | None = None
    source_path: str | None = None
    source_kind: str | None = None
    file_hash: str | None = None
    source_size: int | None = None
    source_mtime_ms: float | None = None
    ingest_version: int | None = None
    hash_backend: str | None = None


class LifecycleHint(Params, omit_defaults=True):
    hook: str
    reason: str | None = None
    session_file: str | None = None
    session_id: str | None = None
    session_key: str | None = None
    agent_id: str | None = None
    workspace_dir: str | None = None
    message_count: int | None = None
    duration_ms: float | None = None
    transcript_archived: bool | None = None
    next_session_id: str | None = None
    next_session_key: str | None = None


class JournalQuery(Params):
    session_id: str | None = None
    limit: int = 50


make_known(subclasses(Params))

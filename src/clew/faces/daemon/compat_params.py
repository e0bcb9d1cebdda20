"""Parameters of the methods for existing clients. Clew ignores unknown fields and checks the types of known ones."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from clew.api import JsonObject
from clew.core.structs import make_known, subclasses


class Params(Struct, kw_only=True, rename="camel"):
    """Base of all parameters."""


class Nothing(Params):
    pass


class InsertText(Params):
    collection: str
    """Name of the collection."""
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    text: str
    """The text, at most `max_text_bytes`."""
    metadata: JsonObject = field(default_factory=dict)
    """Free JSON, given back as it came. Gives no authority."""


class InsertSessionTurn(Params):
    session_id: str
    """The session."""
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    text: str
    """The text, at most `max_text_bytes`."""
    metadata: JsonObject = field(default_factory=dict)
    """Free JSON, given back as it came. Gives no authority."""


class GatingScalar(Params):
    text: str
    """The text, at most `max_text_bytes`."""
    user_id: str | None = None
    """The user."""


class SearchText(Params):
    collection: str
    """Name of the collection."""
    text: str
    """The text, at most `max_text_bytes`."""
    k: int = 10
    """How many, 1 to 1,000."""
    exclude_ids: tuple[str, ...] | None = None
    """Ids to leave out."""


class SearchTextCollections(Params):
    collections: tuple[str, ...]
    """Names of collections."""
    text: str
    """The text, at most `max_text_bytes`."""
    k: int = 10
    """How many, 1 to 1,000."""
    exclude_by_collection: dict[str, tuple[str, ...]] | None = None
    """Ids to leave out, by collection."""


class QueryRawSession(Params):
    session_id: str
    """The session."""
    text: str
    """The text, at most `max_text_bytes`."""
    k: int = 10
    """How many, 1 to 1,000."""
    exclude_ids: tuple[str, ...] | None = None
    """Ids to leave out."""


class CompactSession(Params):
    session_id: str
    """The session."""
    force: bool | None = None
    """Compact all but the newest turns, however few there are."""
    target_size: int | None = None
    """Turns a summary; else the setting `compact_cluster_turns`."""
    continuity_min_turns: int | None = None
    """Turns to leave as they are; else the setting `tail_min_turns`."""
    continuity_tail_budget_tokens: int | None = None
    """Size of the tail that is left as it is."""
    continuity_prior_context_tokens: int | None = None
    """How much of earlier summaries a summary is written in the light of."""


class ExpandSummary(Params):
    session_id: str
    """The session."""
    summary_id: str
    """Id of the summary."""
    max_depth: int | None = None
    """Levels to go down, 1 to 64."""


class OneCollection(Params):
    collection: str
    """Name of the collection."""


class ListByMeta(Params):
    collection: str
    """Name of the collection."""
    key: str
    """A key of the metadata."""
    value: Any
    """What the metadata must hold under the key; 1 and true are different."""


class AccessUpdate(Params):
    collection: str
    """Name of the collection."""
    ids: tuple[str, ...]
    """Ids of records in the collection."""


class BumpAccessCounts(Params):
    updates: tuple[AccessUpdate, ...]
    """What was used."""


class OneUser(Params):
    user_id: str | None = None
    """The user."""


class OneRecord(Params):
    collection: str
    """Name of the collection."""
    id: str
    """Id of the record in its collection, 1 to 512 characters."""


class MarkdownDocument(Params):
    source_doc: str
    """The document, by its path or another name that stays the same."""
    text: str
    """The text, at most `max_text_bytes`."""
    core_doc: bool = False
    """Whether it is one of the agent's own documents. Kept, and gives no authority."""
    source_meta: JsonObject = field(default_factory=dict)
    """What is known of its file. Kept with each record."""


class OneDocument(Params):
    source_doc: str
    """The document, by its path or another name that stays the same."""


class DreamEntry(Params):
    text: str
    """The text, at most `max_text_bytes`."""
    score: float = 0.0
    recall_count: int = 0
    """How often it was recalled."""
    unique_queries: int = 0
    """By how many different queries."""
    section: str = ""
    line: int = 0
    source_line: int = 0
    metadata: JsonObject = field(default_factory=dict)
    """Free JSON, given back as it came. Gives no authority."""


class PromoteDreams(Params):
    user_id: str
    """The user."""
    source_doc: str
    """The document, by its path or another name that stays the same."""
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
    """What happened, such as `before_reset` or `session_end`."""
    reason: str | None = None
    session_file: str | None = None
    session_id: str | None = None
    """The session."""
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
    """The session."""
    limit: int = 50
    """How many at most."""


make_known(subclasses(Params))

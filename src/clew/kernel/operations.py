"""Operations on turns, records and collections."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct, field

from clew.core.operation import Answer, Done, JsonObject, Request


class IngestReceipt(Answer, frozen=True):
    id: str
    stored: bool
    """False for a heartbeat, which is never stored, and for a turn that was there already."""
    duplicate: bool = False
    collections: tuple[str, ...] = ()
    tokens: int = 0
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""


class IngestBatchReceipt(Answer, frozen=True):
    receipts: tuple[IngestReceipt, ...]


class PutReceipt(Answer, frozen=True):
    version: int
    changed: bool
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""


class RecordView(Answer, frozen=True):
    """A stored record. `metadata` is what the client gave plus what Clew knows."""

    collection: str
    id: str
    text: str
    ts: int
    role: str | None
    provenance: str
    trust: str
    stability: float
    tokens: int
    version: int
    access_count: int
    metadata: JsonObject
    marks: JsonObject = field(default_factory=dict)
    """What is known of it beside its text: kind, grade, retention, why it is or is not trusted."""
    last_used: int | None = None


class Records(Answer, frozen=True):
    records: tuple[RecordView, ...]
    cursor: int | None = None
    """Where the next page starts; absent on the last."""


class CollectionView(Answer, frozen=True):
    name: str
    count: int


class CollectionList(Answer, frozen=True):
    collections: tuple[CollectionView, ...]


class Scores(Answer, frozen=True):
    """Why a hit stands where it stands. All but `context` in [0, 1]; a lane that did not run is absent."""

    score: float
    similarity: float
    lexical: float | None
    lexical_rank: int | None
    dense: float | None
    dense_rank: int | None
    recency: float
    scope: float
    keywords: float = 0.0
    """The share of the query's terms that the text holds."""
    context: float = 0.0
    """What the turns around a turn, its session, its speaker and its date add to its similarity, or take from it."""
    use: float | None = None
    """In a context: how often it was used, beside the most used candidate."""
    authority: float | None = None
    """In a context: how much its origin speaks for it."""
    quality: float = 1.0
    """What a summary keeps of its score; 1 for anything else."""
    covered: float | None = None
    """Of a summary that was found by a turn it stands for: how similar that turn is."""
    linked_from: str | None = None
    """In a context: the text whose link brought it in."""


class Hit(Answer, frozen=True):
    record: RecordView
    scores: Scores


class SearchResult(Answer, frozen=True):
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Status(Answer, frozen=True):
    ok: bool
    message: str
    version: str
    data_dir: str
    turn_count: int
    """Turns of users: what `turns:*` holds."""
    memory_count: int
    """Durable memories of users: what `user:*` holds."""
    record_count: int
    lifecycle_hint_count: int
    gating_threshold: float
    abstractive_ready: bool
    embedding_profile: str | None
    """The model whose vectors are in use; absent when search is by words alone."""
    pending: int
    """Texts waiting for the embedder or the gate."""
    token_counter: str
    index_bytes: int
    store_bytes: int
    quarantined_count: int = 0
    """Records that wait for someone to look at them."""
    last_lifecycle: int | None = None
    """When records were last aged."""
    degraded: tuple[str, ...] = ()


class Flushed(Answer, frozen=True):
    ok: bool
    pending: int


class JournalEntry(Answer, frozen=True):
    seq: int
    ts: int
    hook: str
    session_id: str | None
    details: JsonObject


class Journal(Answer, frozen=True):
    entries: tuple[JournalEntry, ...]


class Message(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One turn as a caller gives it.

    With an `id`, or with a `ts`, giving the same turn again stores it once. With neither, every
    call is a new turn: two people may both say "yes".
    """

    role: str
    text: str
    id: str | None = None
    ts: int | None = None
    """Milliseconds since the epoch; the store's clock when absent."""
    speaker: str | None = None
    """A participant's name; becomes part of the searchable text."""
    tool_call_ids: tuple[str, ...] = ()
    """The tool calls this turn makes."""
    tool_call_id: str | None = None
    """The tool call this turn answers."""
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    metadata: JsonObject = field(default_factory=dict)


class Ingest(Request[IngestReceipt], frozen=True):
    """Keeps one turn. Returns when it is durable."""

    method: ClassVar[str] = "ingest"
    flatten: ClassVar[str] = "message"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    session_id: str
    message: Message
    user_id: str | None = None
    heartbeat: bool = False


class IngestBatch(Request[IngestBatchReceipt], frozen=True):
    """Keeps several turns in one step: all of them, or none."""

    method: ClassVar[str] = "ingest_batch"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    session_id: str
    messages: tuple[Message, ...]
    user_id: str | None = None


class Put(Request[PutReceipt], frozen=True):
    """Stores a record under an id of the caller's. The same id again replaces it."""

    method: ClassVar[str] = "put"
    positional: ClassVar[tuple[str, ...]] = ("metadata",)
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    collection: str
    id: str
    text: str
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    kind: str | None = None
    """Fact, preference, decision, task, plan, observation, event or note; else what its words say it is."""
    metadata: JsonObject = field(default_factory=dict)


class Delete(Request[Done], frozen=True, forbid_unknown_fields=False):
    """Takes records out of a collection. Raw history is refused; unknown ids are skipped."""

    method: ClassVar[str] = "delete_batch"
    spread: ClassVar[str] = "ids"
    python_name: ClassVar[str] = "delete"
    writes: ClassVar[bool] = True
    collection: str
    ids: tuple[str, ...]


class Clear(Request[Done], frozen=True):
    """Takes every record out of a collection. Raw history is refused."""

    method: ClassVar[str] = "clear"
    writes: ClassVar[bool] = True
    collection: str


class EnsureCollections(Request[Done], frozen=True, forbid_unknown_fields=False):
    """Makes the collections exist, empty where they are new."""

    method: ClassVar[str] = "ensure_collections"
    writes: ClassVar[bool] = True
    collections: tuple[str, ...]


class Get(Request[Records], frozen=True):
    """The named records that exist, in the order asked for."""

    method: ClassVar[str] = "get"
    spread: ClassVar[str] = "ids"
    collection: str
    ids: tuple[str, ...]
    max_chars: int | None = None
    """Longer texts are cut, and say so."""


class ListRecords(Request[Records], frozen=True):
    """The records of a collection, a page a call.

    Oldest first. With `key`, only records whose metadata holds that value under it.
    """

    method: ClassVar[str] = "list"
    collection: str
    cursor: int = 0
    limit: int = 1000
    key: str | None = None
    value: Any = None


class ListCollections(Request[CollectionList], frozen=True):
    """Every collection, and how many records it holds."""

    method: ClassVar[str] = "collections"


class Search(Request[SearchResult], frozen=True):
    """The k best records, best first, each with its scores.

    In the named collections, or in what the named user and session may recall.
    """

    method: ClassVar[str] = "search"
    text: str
    k: int = 10
    collections: tuple[str, ...] = ()
    user_id: str | None = None
    session_id: str | None = None
    exclude: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids to leave out, by collection."""


class GetStatus(Request[Status], frozen=True, forbid_unknown_fields=False):
    """What the store holds, and whether all of it works."""

    method: ClassVar[str] = "status"


class Flush(Request[Flushed], frozen=True, forbid_unknown_fields=False):
    """Waits until everything acknowledged is searchable by meaning, too; `pending` says what still waits by then."""

    method: ClassVar[str] = "flush"
    timeout_ms: int = 4_000  # older clients name no time, and give up after 5 s


class Reindex(Request[Done], frozen=True):
    """Brings search up to date.

    Queues what the current embedder has not embedded.

    With `everything`, search terms are computed again at once, and every vector is made anew.
    """

    method: ClassVar[str] = "reindex"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    everything: bool = False


class AddHint(Request[Done], frozen=True):
    """A host's advisory note that a session is about to be reset or has ended."""

    method: ClassVar[str] = "add_hint"
    writes: ClassVar[bool] = True
    hook: str
    session_id: str | None = None
    details: JsonObject = field(default_factory=dict)


class ReadJournal(Request[Journal], frozen=True):
    """The hosts' notes about sessions, newest first."""

    method: ClassVar[str] = "journal"
    session_id: str | None = None
    limit: int = 50

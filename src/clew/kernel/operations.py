"""Operations on turns, records and collections."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct, field

from clew.core.operation import Answer, Done, JsonObject, Request


class IngestReceipt(Answer, frozen=True):
    id: str
    """Id of the turn in its session."""
    stored: bool
    """False for a heartbeat, which is never stored, and for a turn that was there already."""
    duplicate: bool = False
    """Whether the turn was there already."""
    collections: tuple[str, ...] = ()
    """Where the turn was stored."""
    tokens: int = 0
    """Likely number of tokens of the text."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""


class IngestBatchReceipt(Answer, frozen=True):
    receipts: tuple[IngestReceipt, ...]
    """One for each turn, in the order given."""


class PutReceipt(Answer, frozen=True):
    version: int
    """1 when new; one more with every change."""
    changed: bool
    """False where equal text and metadata were there already."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""


class RecordView(Answer, frozen=True):
    """A stored record. `metadata` is what the client gave plus what Clew knows."""

    collection: str
    """Name of the collection."""
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    text: str
    """The text, at most `max_text_bytes`."""
    ts: int
    """Milliseconds since 1970."""
    role: str | None
    """Who spoke; absent for records that are no turns."""
    provenance: str
    """Where the text came from: `user_turn`, `assistant_turn`, `system_turn`, `tool_output`, `web`, `memory`,
    `summary`, `authored` or `note`."""
    trust: str
    """`trusted`, `unknown`, `untrusted` or `quarantined`; follows from the provenance."""
    stability: float
    """How lasting it is taken to be, from 0 to 1."""
    tokens: int
    """Likely number of tokens of the text."""
    version: int
    """1 when new; one more with every change."""
    access_count: int
    """How often it entered a context."""
    metadata: JsonObject
    """What the client gave; of a memory, also its source and the parts of its gate score."""
    marks: JsonObject = field(default_factory=dict)
    """What is known of it beside its text: kind, grade, retention, why it is or is not trusted."""
    last_used: int | None = None
    """When it last entered a context or a pack; absent where it never did."""


class Records(Answer, frozen=True):
    records: tuple[RecordView, ...]
    """The records."""
    cursor: int | None = None
    """Where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class CollectionView(Answer, frozen=True):
    name: str
    """Its name."""
    count: int
    """Records in it."""


class CollectionList(Answer, frozen=True):
    collections: tuple[CollectionView, ...]
    """By name; empty ones, too."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Scores(Answer, frozen=True):
    """Why a hit has its place. All but `context` in [0, 1]; a lane that did not run is absent."""

    score: float
    """What the hits are ordered by: of a search, the weighted sum of similarity, recency and scope; in a context,
    similarity weighed by keywords and standing. Times quality."""
    similarity: float
    """Both lanes in one number."""
    lexical: float | None
    """Match of words, as a share of a full match."""
    lexical_rank: int | None
    """Place in that lane, from 1."""
    dense: float | None
    """Similarity of meaning."""
    dense_rank: int | None
    """Place in that lane, from 1; absent where too many are nearer to count them."""
    recency: float
    """1 for now, falling with age."""
    scope: float
    """1.0 session, 0.6 user, 0.3 all else."""
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
    """Of a summary that was found by a turn it covers: how similar that turn is."""
    linked_from: str | None = None
    """In a context: the text whose link brought it in."""


class Hit(Answer, frozen=True):
    record: RecordView
    """What was found."""
    scores: Scores
    """Why it has its place."""


class SearchResult(Answer, frozen=True):
    hits: tuple[Hit, ...]
    """Best first."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Status(Answer, frozen=True):
    ok: bool
    """Whether all is well."""
    message: str
    """`ok`, or what is degraded."""
    version: str
    """Version of Clew."""
    data_dir: str
    """The data folder."""
    turn_count: int
    """Turns of users: what `turns:*` holds."""
    memory_count: int
    """Durable memories of users: what `user:*` holds."""
    record_count: int
    """Texts of all kinds, each counted once."""
    lifecycle_hint_count: int
    """Entries of the journal."""
    gating_threshold: float
    """The setting `gate_threshold`."""
    abstractive_ready: bool
    """Always false in this version."""
    embedding_profile: str | None
    """The model whose vectors are in use; absent when search is by words alone."""
    pending: int
    """Texts waiting for the embedder or the gate."""
    token_counter: str
    """What counts tokens: a tokenizer's name, or `estimate`."""
    index_bytes: int
    """Memory of the loaded indexes."""
    store_bytes: int
    """Size of the database."""
    quarantined_count: int = 0
    """Records that wait for someone to look at them."""
    last_lifecycle: int | None = None
    """When records were last aged."""
    spool_waiting: int = 0
    """Events of hooks on disk that no daemon has taken in yet."""
    spool_dropped: int = 0
    """Events that the spool had no room for, over all time."""
    spool_set_aside: int = 0
    """Lines of the spool that could not be taken in."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Flushed(Answer, frozen=True):
    ok: bool
    """Whether nothing waits any more."""
    pending: int
    """How many texts wait to be indexed, with the notes that wait to be read."""


class JournalEntry(Answer, frozen=True):
    seq: int
    """Place in the journal."""
    ts: int
    """Milliseconds since 1970."""
    hook: str
    """What happened, such as `before_reset` or `session_end`."""
    session_id: str | None
    """The session it is about."""
    details: JsonObject
    """Free JSON, kept as it is."""


class Journal(Answer, frozen=True):
    entries: tuple[JournalEntry, ...]
    """Newest first."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ToolCall(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One call of a tool, as the assistant made it."""

    name: str
    """The tool."""
    arguments: JsonObject = field(default_factory=dict)
    """Its arguments by name. Clew keeps the first 2,000 characters for search, and never reads them as words."""
    id: str | None = None
    """The host's id of the call, which its result names as `toolCallId`."""


class Message(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One turn as a caller gives it.

    With an `id`, or with a `ts`, giving the same turn again stores it once. With neither, every
    call is a new turn: two people may both say "yes".
    """

    role: str
    """Who speaks: `user`, `assistant`, `system`, `tool_call` or `tool_result`; `tool` and `developer` are taken for
    such."""
    text: str
    """The text, at most `max_text_bytes`."""
    id: str | None = None
    """Your id of the turn in its session; the same turn again is stored once. Without one, Clew makes one."""
    ts: int | None = None
    """When it was said, in milliseconds since 1970; else now."""
    speaker: str | None = None
    """The speaker's name; becomes searchable."""
    calls: tuple[ToolCall, ...] = ()
    """The tool calls this turn makes, with what they ask for. Clew writes them behind the text."""
    tool_call_ids: tuple[str, ...] = ()
    """The ids of the tool calls this turn makes, where `calls` does not give them."""
    tool_call_id: str | None = None
    """The tool call this turn answers."""
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    metadata: JsonObject = field(default_factory=dict)
    """Free JSON, given back as it came. Gives no authority."""


class Ingest(Request[IngestReceipt], frozen=True):
    """Keeps one turn. Returns when it is durable."""

    method: ClassVar[str] = "ingest"
    flatten: ClassVar[str] = "message"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    session_id: str
    """The session the turn belongs to. Two users must not share one."""
    message: Message
    """The turn."""
    user_id: str | None = None
    """The user the turn belongs to."""
    heartbeat: bool = False
    """A sign of life: answered, and not stored."""


class IngestBatch(Request[IngestBatchReceipt], frozen=True):
    """Keeps several turns in one step: all of them, or none."""

    method: ClassVar[str] = "ingest_batch"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    session_id: str
    """The session the turns belong to. Two users must not share one."""
    messages: tuple[Message, ...]
    """Turns, oldest first."""
    user_id: str | None = None
    """The user the turns belong to."""


class Put(Request[PutReceipt], frozen=True):
    """Stores a record under an id of the caller's. The same id again replaces it."""

    method: ClassVar[str] = "put"
    positional: ClassVar[tuple[str, ...]] = ("metadata",)
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    collection: str
    """Name of the collection."""
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    text: str
    """The text, at most `max_text_bytes`."""
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    by_model: bool = False
    """Whether a model keeps it by itself. Such a statement is recalled only on request until a turn of the user says
    the same, or the operator confirms it."""
    kind: str | None = None
    """`fact`, `preference`, `decision`, `task`, `plan`, `observation`, `event` or `note`; else what its words say
    it is."""
    metadata: JsonObject = field(default_factory=dict)
    """Free JSON, given back as it came. Gives no authority."""


class Delete(Request[Done], frozen=True, forbid_unknown_fields=False):
    """Takes records out of a collection. Raw history is refused; unknown ids are skipped."""

    method: ClassVar[str] = "delete_batch"
    spread: ClassVar[str] = "ids"
    python_name: ClassVar[str] = "delete"
    writes: ClassVar[bool] = True
    collection: str
    """Name of the collection."""
    ids: tuple[str, ...]
    """Ids of records in the collection."""


class Clear(Request[Done], frozen=True):
    """Takes every record out of a collection. Raw history is refused."""

    method: ClassVar[str] = "clear"
    writes: ClassVar[bool] = True
    collection: str
    """Name of the collection."""


class EnsureCollections(Request[Done], frozen=True, forbid_unknown_fields=False):
    """Makes the collections exist, empty where they are new."""

    method: ClassVar[str] = "ensure_collections"
    writes: ClassVar[bool] = True
    collections: tuple[str, ...]
    """Names of collections."""


class Get(Request[Records], frozen=True):
    """The named records that exist, in the order asked for."""

    method: ClassVar[str] = "get"
    spread: ClassVar[str] = "ids"
    collection: str
    """Name of the collection."""
    ids: tuple[str, ...]
    """Ids of records in the collection."""
    max_chars: int | None = None
    """Cut longer texts, and say so."""


class ListRecords(Request[Records], frozen=True):
    """The records of a collection, a page a call.

    Oldest first. With `key`, only records whose metadata holds that value under it.
    """

    method: ClassVar[str] = "list"
    collection: str
    """Name of the collection."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 1000
    """Records a page, 1 to 10,000."""
    key: str | None = None
    """A key of the metadata."""
    value: Any = None
    """What the metadata must hold under the key; 1 and true are different."""


class ListCollections(Request[CollectionList], frozen=True):
    """Every collection, and how many records it holds."""

    method: ClassVar[str] = "collections"


class Search(Request[SearchResult], frozen=True):
    """The k best records, best first, each with its scores.

    In the named collections, or in what the named user and session may recall.
    """

    method: ClassVar[str] = "search"
    text: str
    """The question; its first 4,000 characters count."""
    k: int = 10
    """How many, 1 to 1,000."""
    collections: tuple[str, ...] = ()
    """Search these collections."""
    user_id: str | None = None
    """Search what this user said and what is kept about them."""
    session_id: str | None = None
    """Search this session, too."""
    exclude: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids to leave out, by collection."""


class GetStatus(Request[Status], frozen=True, forbid_unknown_fields=False):
    """What the store holds, and whether all of it works."""

    method: ClassVar[str] = "status"


class Flush(Request[Flushed], frozen=True, forbid_unknown_fields=False):
    """Waits until everything acknowledged is searchable by meaning, too; `pending` says what still waits by then."""

    method: ClassVar[str] = "flush"
    timeout_ms: int = 4_000  # older clients name no time, and give up after 5 s
    """How long to wait; a daemon waits no longer than its deadline."""


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
    """Compute all search terms and all vectors again, not only the vectors that are missing."""


class AddHint(Request[Done], frozen=True):
    """A host's advisory note that a session is about to be reset or has ended."""

    method: ClassVar[str] = "add_hint"
    writes: ClassVar[bool] = True
    hook: str
    """What happened, such as `before_reset` or `session_end`."""
    session_id: str | None = None
    """The session it is about."""
    details: JsonObject = field(default_factory=dict)
    """Free JSON, kept as it is."""
    id: str | None = None
    """Your id of the note; the journal takes it once while it holds it, and shows it among the details."""
    ts: int | None = None
    """When it happened, in milliseconds since 1970; else now."""


class ReadJournal(Request[Journal], frozen=True):
    """The hosts' notes about sessions, newest first."""

    method: ClassVar[str] = "journal"
    session_id: str | None = None
    """Only notes about this session."""
    limit: int = 50
    """How many, newest first, 1 to 10,000."""

"""What Clew can be asked and what it answers: one request type an operation, one class that asks.

`MemoryApi` is the surface that every face uses. It builds a request and hands it to `call`, which
is all that differs between `Memory` (in this process) and `Client` (over a daemon's socket).
On the wire, field names are camelCase; unknown fields are refused, except by the few operations that
older clients of the protocol also call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

from msgspec import Struct, field

JsonObject = dict[str, Any]
R = TypeVar("R")


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
    metadata: JsonObject = field(default_factory=dict)


class Answer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every result."""


class Request(Struct, Generic[R], frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of every request; `R` is what it is answered with."""

    method: ClassVar[str]
    answer: ClassVar[type[Answer]]
    deadline_factor: ClassVar[int] = 1
    """How many ordinary deadlines it may take; more for what reads the whole store."""


# --- results -------------------------------------------------------------------------------------


class Done(Answer, frozen=True):
    ok: bool = True
    count: int = 0
    """How many things the call changed."""


class IngestReceipt(Answer, frozen=True):
    id: str
    stored: bool
    """False for a heartbeat, which is never stored, and for a turn that was there already."""
    duplicate: bool = False
    collections: tuple[str, ...] = ()
    tokens: int = 0


class IngestBatchReceipt(Answer, frozen=True):
    receipts: tuple[IngestReceipt, ...]


class PutReceipt(Answer, frozen=True):
    version: int
    changed: bool


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
    """Why a hit stands where it stands. All in [0, 1]; a lane that did not run is absent."""

    score: float
    similarity: float
    lexical: float | None
    lexical_rank: int | None
    dense: float | None
    dense_rank: int | None
    recency: float
    scope: float


class Hit(Answer, frozen=True):
    record: RecordView
    scores: Scores


class SearchResult(Answer, frozen=True):
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Section(Answer, frozen=True):
    """One part of a context: what it was allowed and what it took, in tokens."""

    name: str
    budget_tokens: int
    used_tokens: int
    items: int


class ContextMessage(Answer, frozen=True):
    role: str
    text: str
    id: str | None = None
    tool_call_ids: tuple[str, ...] = ()
    tool_call_id: str | None = None


class Context(Answer, frozen=True):
    """A bounded context: the recent tail exactly as it was, and recalled text as quoted data."""

    messages: tuple[ContextMessage, ...]
    recalled_text: str
    """The framed recall, ready to stand in a system message; empty when nothing was recalled."""
    recalled: tuple[Hit, ...]
    sections: tuple[Section, ...]
    budget_tokens: int
    used_tokens: int
    degraded: tuple[str, ...] = ()

    def as_messages(self) -> list[dict[str, str]]:
        """The whole context in the plain shape chat APIs take, recall as a leading system message."""
        recalled = [{"role": "system", "content": self.recalled_text}] if self.recalled_text else []
        return recalled + [{"role": m.role, "content": m.text} for m in self.messages]


class GateScore(Answer, frozen=True):
    """How worth keeping a text is, with every part of the sum. All in [0, 1]."""

    gate: float
    technical: float
    novelty: float
    repetition: float
    input_frequency: float
    memory_saturation: float
    natural_density: float
    artefacts: float
    actions: float
    technical_density: float
    conversational_score: float
    technical_score: float
    threshold: float
    keep: bool


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
    degraded: tuple[str, ...] = ()


class Flushed(Answer, frozen=True):
    ok: bool
    pending: int


class Check(Answer, frozen=True):
    name: str
    ok: bool
    proof: str
    """One line: what was compared, over how many."""
    problems: tuple[str, ...] = ()


class VerifyReport(Answer, frozen=True):
    ok: bool
    checks: tuple[Check, ...]


class ExportPage(Answer, frozen=True):
    lines: tuple[str, ...]
    """JSONL without the line ends."""
    cursor: int | None = None


class ImportReceipt(Answer, frozen=True):
    stored: int
    unchanged: int


class JournalEntry(Answer, frozen=True):
    seq: int
    ts: int
    hook: str
    session_id: str | None
    details: JsonObject


class Journal(Answer, frozen=True):
    entries: tuple[JournalEntry, ...]


# --- requests ------------------------------------------------------------------------------------


class Ingest(Request[IngestReceipt], frozen=True):
    method: ClassVar[str] = "ingest"
    answer: ClassVar[type[Answer]] = IngestReceipt
    session_id: str
    message: Message
    user_id: str | None = None
    heartbeat: bool = False


class IngestBatch(Request[IngestBatchReceipt], frozen=True):
    """All of the messages are stored, or none."""

    method: ClassVar[str] = "ingest_batch"
    answer: ClassVar[type[Answer]] = IngestBatchReceipt
    session_id: str
    messages: tuple[Message, ...]
    user_id: str | None = None


class Put(Request[PutReceipt], frozen=True):
    method: ClassVar[str] = "put"
    answer: ClassVar[type[Answer]] = PutReceipt
    collection: str
    id: str
    text: str
    metadata: JsonObject = field(default_factory=dict)


class Delete(Request[Done], frozen=True, forbid_unknown_fields=False):
    method: ClassVar[str] = "delete_batch"
    answer: ClassVar[type[Answer]] = Done
    collection: str
    ids: tuple[str, ...]


class Clear(Request[Done], frozen=True):
    method: ClassVar[str] = "clear"
    answer: ClassVar[type[Answer]] = Done
    collection: str


class EnsureCollections(Request[Done], frozen=True, forbid_unknown_fields=False):
    method: ClassVar[str] = "ensure_collections"
    answer: ClassVar[type[Answer]] = Done
    collections: tuple[str, ...]


class Get(Request[Records], frozen=True):
    method: ClassVar[str] = "get"
    answer: ClassVar[type[Answer]] = Records
    collection: str
    ids: tuple[str, ...]


class ListRecords(Request[Records], frozen=True):
    """Oldest first. With `key`, only records whose metadata holds that value under it."""

    method: ClassVar[str] = "list"
    answer: ClassVar[type[Answer]] = Records
    collection: str
    cursor: int = 0
    limit: int = 1000
    key: str | None = None
    value: Any = None


class ListCollections(Request[CollectionList], frozen=True):
    method: ClassVar[str] = "collections"
    answer: ClassVar[type[Answer]] = CollectionList


class Search(Request[SearchResult], frozen=True):
    """In the named collections, or in what the named user and session may recall."""

    method: ClassVar[str] = "search"
    answer: ClassVar[type[Answer]] = SearchResult
    text: str
    k: int = 10
    collections: tuple[str, ...] = ()
    user_id: str | None = None
    session_id: str | None = None
    exclude: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids to leave out, by collection."""


class Assemble(Request[Context], frozen=True):
    """With `messages`, the tail is taken from them; otherwise from the stored session."""

    method: ClassVar[str] = "assemble"
    answer: ClassVar[type[Answer]] = Context
    session_id: str
    query: str | None = None
    messages: tuple[Message, ...] | None = None
    budget_tokens: int | None = None
    user_id: str | None = None


class Touch(Request[Done], frozen=True):
    method: ClassVar[str] = "touch"
    answer: ClassVar[type[Answer]] = Done
    uses: dict[str, tuple[str, ...]]


class Gate(Request[GateScore], frozen=True):
    method: ClassVar[str] = "gate"
    answer: ClassVar[type[Answer]] = GateScore
    text: str
    user_id: str | None = None


class GetStatus(Request[Status], frozen=True, forbid_unknown_fields=False):
    method: ClassVar[str] = "status"
    answer: ClassVar[type[Answer]] = Status


class Flush(Request[Flushed], frozen=True, forbid_unknown_fields=False):
    """Waits until everything acknowledged is searchable by meaning, too."""

    method: ClassVar[str] = "flush"
    answer: ClassVar[type[Answer]] = Flushed
    timeout_ms: int = 20_000


class Verify(Request[VerifyReport], frozen=True):
    method: ClassVar[str] = "verify"
    answer: ClassVar[type[Answer]] = VerifyReport
    deadline_factor: ClassVar[int] = 60
    repair: bool = False


class Reindex(Request[Done], frozen=True):
    """Queues every text for the current embedder; with `terms`, recomputes search terms first."""

    method: ClassVar[str] = "reindex"
    answer: ClassVar[type[Answer]] = Done
    deadline_factor: ClassVar[int] = 60
    terms: bool = False


class Export(Request[ExportPage], frozen=True):
    method: ClassVar[str] = "export"
    answer: ClassVar[type[Answer]] = ExportPage
    cursor: int = 0
    limit: int = 500


class Import(Request[ImportReceipt], frozen=True):
    """All of the lines are stored, or none."""

    method: ClassVar[str] = "import"
    answer: ClassVar[type[Answer]] = ImportReceipt
    lines: tuple[str, ...]


class AddHint(Request[Done], frozen=True):
    """A host's advisory note that a session is about to be reset or has ended."""

    method: ClassVar[str] = "add_hint"
    answer: ClassVar[type[Answer]] = Done
    hook: str
    session_id: str | None = None
    details: JsonObject = field(default_factory=dict)


class ReadJournal(Request[Journal], frozen=True):
    method: ClassVar[str] = "journal"
    answer: ClassVar[type[Answer]] = Journal
    session_id: str | None = None
    limit: int = 50


REQUESTS: Mapping[str, type[Request[Any]]] = {kind.method: kind for kind in Request.__subclasses__()}
"""Every operation by its name on the wire."""


class MemoryApi(ABC):
    """The operations of Clew as methods. Subclasses say only how a request reaches the engine."""

    @abstractmethod
    def call(self, request: Request[R]) -> R:
        """Carry out one request. Raises a ClewError; then nothing was changed."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ingest(
        self,
        session_id: str,
        role: str,
        text: str,
        *,
        user_id: str | None = None,
        id: str | None = None,  # noqa: A002 — the word every client of this interface uses
        ts: int | None = None,
        speaker: str | None = None,
        metadata: JsonObject | None = None,
        heartbeat: bool = False,
    ) -> IngestReceipt:
        """Keep one turn. Returns when it is durable."""
        message = Message(role=role, text=text, id=id, ts=ts, speaker=speaker, metadata=metadata or {})
        return self.call(Ingest(session_id=session_id, message=message, user_id=user_id, heartbeat=heartbeat))

    def ingest_batch(
        self, session_id: str, messages: Sequence[Message], *, user_id: str | None = None
    ) -> IngestBatchReceipt:
        """Keep several turns in one step, all or none."""
        return self.call(IngestBatch(session_id=session_id, messages=tuple(messages), user_id=user_id))

    def search(
        self,
        text: str,
        *,
        k: int = 10,
        collections: Sequence[str] = (),
        user_id: str | None = None,
        session_id: str | None = None,
        exclude: Mapping[str, Sequence[str]] | None = None,
    ) -> SearchResult:
        """The k best records, best first, each with its scores."""
        left_out = {name: tuple(ids) for name, ids in (exclude or {}).items()}
        return self.call(
            Search(
                text=text, k=k, collections=tuple(collections), user_id=user_id,
                session_id=session_id, exclude=left_out,
            )
        )  # fmt: skip

    def assemble(
        self,
        session_id: str,
        *,
        query: str | None = None,
        messages: Sequence[Message] | None = None,
        budget_tokens: int | None = None,
        user_id: str | None = None,
    ) -> Context:
        """The context for the next model call, never over the budget."""
        given = None if messages is None else tuple(messages)
        return self.call(
            Assemble(
                session_id=session_id, query=query, messages=given,
                budget_tokens=budget_tokens, user_id=user_id,
            )
        )  # fmt: skip

    def put(self, collection: str, id: str, text: str, metadata: JsonObject | None = None) -> PutReceipt:  # noqa: A002
        """Store a record under an id of the caller's; the same id again replaces it."""
        return self.call(Put(collection=collection, id=id, text=text, metadata=metadata or {}))

    def get(self, collection: str, *ids: str) -> Records:
        """The named records that exist, in the order asked for."""
        return self.call(Get(collection=collection, ids=ids))

    def list(self, collection: str, *, cursor: int = 0, limit: int = 1000) -> Records:
        return self.call(ListRecords(collection=collection, cursor=cursor, limit=limit))

    def collections(self) -> CollectionList:
        return self.call(ListCollections())

    def delete(self, collection: str, *ids: str) -> Done:
        return self.call(Delete(collection=collection, ids=ids))

    def clear(self, collection: str) -> Done:
        return self.call(Clear(collection=collection))

    def touch(self, uses: Mapping[str, Sequence[str]]) -> Done:
        """Count one use of each named record."""
        return self.call(Touch(uses={name: tuple(ids) for name, ids in uses.items()}))

    def gate(self, text: str, *, user_id: str | None = None) -> GateScore:
        return self.call(Gate(text=text, user_id=user_id))

    def status(self) -> Status:
        return self.call(GetStatus())

    def flush(self, *, timeout_ms: int = 20_000) -> Flushed:
        return self.call(Flush(timeout_ms=timeout_ms))

    def verify(self, *, repair: bool = False) -> VerifyReport:
        return self.call(Verify(repair=repair))

    def reindex(self, *, terms: bool = False) -> Done:
        return self.call(Reindex(terms=terms))

"""What Clew can be asked: one type an operation, which says its name on the wire and its answer.

On the wire, field names are camelCase; unknown fields are refused, except by the few operations that
older clients of the protocol also call.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct, field

from clew.api.answers import (
    Answer,
    AuthoredReport,
    CollectionList,
    CompactReceipt,
    Context,
    Done,
    Expansion,
    ExportPage,
    Flushed,
    GateScore,
    GrepResult,
    GuidanceList,
    ImportReceipt,
    IngestBatchReceipt,
    IngestReceipt,
    Journal,
    JsonObject,
    Node,
    PutReceipt,
    Records,
    SearchResult,
    SessionView,
    Status,
    VerifyReport,
)

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
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    metadata: JsonObject = field(default_factory=dict)


class Request(Struct, Generic[R], frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of every request; `R` is what it is answered with."""

    method: ClassVar[str]
    answer: ClassVar[type[Answer]]
    deadline_factor: ClassVar[int] = 1
    """How many ordinary deadlines it may take; more for what reads the whole store."""


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
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    kind: str | None = None
    """Fact, preference, decision, task, plan, observation, event or note; else what its words say it is."""
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
    max_chars: int | None = None
    """Longer texts are cut, and say so."""


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
    """With `messages`, the tail is taken from them; otherwise from the stored session.

    Messages that a summary of the session stands for are left to it, by their ids, beyond those the tail needs.
    """

    method: ClassVar[str] = "assemble"
    answer: ClassVar[type[Answer]] = Context
    session_id: str
    query: str | None = None
    messages: tuple[Message, ...] | None = None
    budget_tokens: int | None = None
    limit_tokens: int | None = None
    """What the context must stay within, where that is less than the budget for now. Recall gives way first, then the
    tail down to its base."""
    user_id: str | None = None
    since: int | None = None
    """When this conversation began, in milliseconds since the epoch. Summaries of older turns are recalled only where
    they answer the query. Without it, a stored session counts as a whole, and given messages as all there is."""
    mode: str = "recall"
    """What stands for the past beyond the tail: `recall`, the session's `observations`, or `both`. With observations,
    the tail is all that was not observed yet, and what it has no room for is observed first."""


class Compact(Request[CompactReceipt], frozen=True):
    """Let summaries stand for the turns outside the tail.

    Without `force`, nothing happens until a whole cluster of turns is outside the tail. With it, the tail
    is its base alone, and every turn outside it counts.
    """

    method: ClassVar[str] = "compact"
    answer: ClassVar[type[Answer]] = CompactReceipt
    deadline_factor: ClassVar[int] = 60
    session_id: str
    force: bool = False
    budget_tokens: int | None = None
    cluster_turns: int | None = None
    min_turns: int | None = None
    tail_tokens: int | None = None
    prior_tokens: int | None = None


class Expand(Request[Expansion], frozen=True):
    """The turns that summaries stand for. With a `query`, those that answer it best are within the token bound."""

    method: ClassVar[str] = "expand"
    answer: ClassVar[type[Answer]] = Expansion
    session_id: str
    ids: tuple[str, ...]
    max_depth: int = 3
    budget_tokens: int | None = None
    query: str | None = None
    exclude: tuple[str, ...] = ()
    """Ids of turns to leave out, since whoever asks has them before him."""


class Describe(Request[Node], frozen=True):
    method: ClassVar[str] = "describe"
    answer: ClassVar[type[Answer]] = Node
    session_id: str
    id: str


class ShowSession(Request[SessionView], frozen=True):
    method: ClassVar[str] = "show_session"
    answer: ClassVar[type[Answer]] = SessionView
    deadline_factor: ClassVar[int] = 4
    session_id: str


class Grep(Request[GrepResult], frozen=True):
    """Lines of the raw history that hold a string, or match a regular expression, oldest first."""

    method: ClassVar[str] = "grep"
    answer: ClassVar[type[Answer]] = GrepResult
    session_id: str
    pattern: str
    regex: bool = False
    ignore_case: bool = False
    limit: int = 100
    cursor: int = 0


class ListGuidance(Request[GuidanceList], frozen=True):
    """The turns of a user, and of a session, that are kept word for word because they guide."""

    method: ClassVar[str] = "list_guidance"
    answer: ClassVar[type[Answer]] = GuidanceList
    user_id: str | None = None
    session_id: str | None = None
    limit: int = 1000


class LoadAuthored(Request[AuthoredReport], frozen=True):
    """Reads the authored files now. Fails where hard text is over its share of the budget."""

    method: ClassVar[str] = "load_authored"
    answer: ClassVar[type[Answer]] = AuthoredReport
    deadline_factor: ClassVar[int] = 60
    notes: bool = True
    """Whether every note is read, too; otherwise they come in bit by bit, in the background."""


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
    """Waits until everything acknowledged is searchable by meaning, too; `pending` says what still waits by then."""

    method: ClassVar[str] = "flush"
    answer: ClassVar[type[Answer]] = Flushed
    timeout_ms: int = 4_000  # older clients name no time, and give up after 5 s


class Verify(Request[VerifyReport], frozen=True):
    method: ClassVar[str] = "verify"
    answer: ClassVar[type[Answer]] = VerifyReport
    deadline_factor: ClassVar[int] = 60
    repair: bool = False


class Reindex(Request[Done], frozen=True):
    """Queues what the current embedder has not embedded.

    With `everything`, search terms are computed again at once, and every vector is made anew.
    """

    method: ClassVar[str] = "reindex"
    answer: ClassVar[type[Answer]] = Done
    deadline_factor: ClassVar[int] = 60
    everything: bool = False


class Backup(Request[Done], frozen=True):
    """Writes a consistent copy of the store to a new file, while others read and write."""

    method: ClassVar[str] = "backup"
    answer: ClassVar[type[Answer]] = Done
    deadline_factor: ClassVar[int] = 60
    path: str


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

"""What Clew answers: one type a result. On the wire, field names are camelCase."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

JsonObject = dict[str, Any]


class Answer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every result."""


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


class LeftOut(Answer, frozen=True):
    """Something that could have been in a context and is not, and why."""

    ref: str
    reason: str


class Section(Answer, frozen=True):
    """One part of a context: what it was allowed and what it took, in tokens, and what that is."""

    name: str
    budget_tokens: int
    used_tokens: int
    items: int
    refs: tuple[str, ...] = ()
    """Where each item is stored, as `collection/id`; a message that was given and never stored has none."""
    left_out: tuple[LeftOut, ...] = ()


class ContextMessage(Answer, frozen=True):
    role: str
    text: str
    id: str | None = None
    tool_call_ids: tuple[str, ...] = ()
    tool_call_id: str | None = None


class Context(Answer, frozen=True):
    """A bounded context: what the operator wrote, the recent tail exactly as it was, guidance and recall as data."""

    messages: tuple[ContextMessage, ...]
    authored_text: str
    """Authored rules, word for word; meant to speak with a system's voice, as guidance and recall never do."""
    guidance_text: str
    """What the user laid down earlier and the query touches, framed; empty when there is none."""
    guidance: tuple[Hit, ...]
    """The turns of the guidance, nearest first: in the order of the numbered lines of its text."""
    recalled_text: str
    """The framed recall; empty when nothing was recalled."""
    recalled: tuple[Hit, ...]
    """The records of the recall, best first: in the order of its numbered lines, so a citation finds its record."""
    sections: tuple[Section, ...]
    budget_tokens: int
    used_tokens: int
    degraded: tuple[str, ...] = ()
    observations_text: str = ""
    """The observation log, framed; it stands before the tail, and is the same bytes until the observer runs again."""

    def as_messages(self) -> list[dict[str, str]]:
        """The whole context in the plain shape chat APIs take.

        Guidance and recall come last and in the user's name: what was said once must not speak with a
        system's voice.
        """
        authored = [{"role": "system", "content": self.authored_text}] if self.authored_text else []
        log = [{"role": "user", "content": self.observations_text}] if self.observations_text else []
        tail = [{"role": message.role, "content": message.text} for message in self.messages]
        quoted = [{"role": "user", "content": text} for text in (self.guidance_text, self.recalled_text) if text]
        return authored + log + tail + quoted


class CompactReceipt(Answer, frozen=True):
    """What a compaction did to a session's active view. The raw history is never touched."""

    did_compact: bool
    clusters_formed: int = 0
    clusters_declined: int = 0
    """Clusters that no summary could make smaller; their turns stay in the view."""
    turns_removed: int = 0
    """Turns that left the active view because a summary stands for them now."""
    summary_method: str | None = None
    """How most of the summaries were made."""
    mean_confidence: float = 0.0
    tokens_before: int = 0
    tokens_after: int = 0
    shards_kept: int = 0
    summaries: tuple[str, ...] = ()
    """Ids of the new summaries, those of higher levels last."""
    degraded: tuple[str, ...] = ()


class Node(Answer, frozen=True):
    """A turn or a summary of a session, with its lineage."""

    id: str
    kind: str
    """`turn` or `summary`."""
    level: int
    """0 for a turn; a summary is one above what it stands for."""
    tokens: int
    source_ids: tuple[str, ...] = ()
    parent_ids: tuple[str, ...] = ()
    """The summaries that stand for it."""
    prior_ids: tuple[str, ...] = ()
    """Earlier summaries it was written in the light of."""
    turn_count: int = 1
    """Raw turns it reaches."""
    first_ts: int = 0
    last_ts: int = 0
    compacted_ts: int | None = None
    method: str | None = None
    confidence: float | None = None
    trivial: bool = False
    in_view: bool = False
    trust: str = ""
    role: str | None = None
    """Of a turn: who it is from."""
    text: str = ""


class Expansion(Answer, frozen=True):
    """What summaries stand for: turns, in order, and what was not opened."""

    turns: tuple[RecordView, ...]
    """Word for word, in the order they were said, which is that of the numbered lines of the text."""
    text: str = ""
    """The turns as quoted data, framed, ready for a prompt; its size is what the token bound is about."""
    closed: tuple[Node, ...] = ()
    """Summaries that were not opened, and turns left out, because of the depth or the token bound."""
    tokens: int = 0


class SessionView(Answer, frozen=True):
    """A session as a graph: the active view on top, every summary, and how many turns there are."""

    session_id: str
    turn_count: int
    view: tuple[Node, ...]
    """What the active view holds, oldest first."""
    summaries: tuple[Node, ...]
    """Every summary of the session, also those that higher ones stand for."""
    dismissed_count: int = 0


class GrepMatch(Answer, frozen=True):
    id: str
    ts: int
    role: str | None
    line_number: int
    line: str
    """The line that holds the match, cut around it where it is long."""
    trust: str = ""


class GrepResult(Answer, frozen=True):
    matches: tuple[GrepMatch, ...]
    cursor: int | None = None
    """Where to go on; absent when the whole history was read."""


class GuidanceItem(Answer, frozen=True):
    record: RecordView
    cues: tuple[str, ...]
    """The words that make it guidance; empty where it was kept for what it means."""


class GuidanceList(Answer, frozen=True):
    items: tuple[GuidanceItem, ...]


class AuthoredDocument(Answer, frozen=True):
    name: str
    core: bool
    """Whether it is one of the agent's own documents; otherwise a note."""
    hard_nodes: int
    hard_tokens: int
    soft_nodes: int
    soft_tokens: int
    lore_nodes: int
    conflicts: tuple[str, ...] = ()
    """Actions that one and the same node demands and forbids."""


class AuthoredReport(Answer, frozen=True):
    documents: tuple[AuthoredDocument, ...]
    degraded: tuple[str, ...] = ()
    """Files that could not be read."""


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
    quarantined_count: int = 0
    """Records that wait for someone to look at them."""
    last_lifecycle: int | None = None
    """When records were last aged."""
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

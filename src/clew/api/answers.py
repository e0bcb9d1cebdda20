"""What Clew answers: one type a result. On the wire, field names are camelCase."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

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
    """The framed recall; empty when nothing was recalled."""
    recalled: tuple[Hit, ...]
    sections: tuple[Section, ...]
    budget_tokens: int
    used_tokens: int
    degraded: tuple[str, ...] = ()

    def as_messages(self) -> list[dict[str, str]]:
        """The whole context in the plain shape chat APIs take.

        Recall comes last and in the user's name: what was said once must not speak with a system's voice.
        """
        recalled = [{"role": "user", "content": self.recalled_text}] if self.recalled_text else []
        return [{"role": message.role, "content": message.text} for message in self.messages] + recalled


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

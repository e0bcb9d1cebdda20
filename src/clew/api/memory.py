"""The operations of Clew as methods: the surface that every face uses.

`MemoryApi` builds a request and hands it to `call`, which is all that differs between `Memory` (in this
process) and `Client` (over a daemon's socket).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

from clew.api.facts_methods import FactsApi
from clew.api.graph_methods import GraphApi
from clew.api.observing_methods import ObservingApi
from clew.api.plans_methods import PlansApi
from clew.core.identity import session_raw
from clew.core.operation import Done, JsonObject, R, Request
from clew.features.authored.operations import AuthoredReport, LoadAuthored
from clew.features.context.operations import Assemble, Context
from clew.features.gate.operations import Gate, GateScore
from clew.features.guidance.operations import GuidanceList, ListGuidance
from clew.features.history.operations import (
    Compact,
    CompactReceipt,
    Describe,
    Expand,
    Expansion,
    Grep,
    GrepResult,
    Node,
    SessionView,
    ShowSession,
)
from clew.features.ledger.operations import (
    Capture,
    CaptureReceipt,
    Event,
    Harvest,
    HarvestReceipt,
    Recall,
    RecallResult,
    Replay,
    Timeline,
    TimelineView,
)
from clew.features.lifecycle.operations import Age, AgeReceipt, Revive, Touch
from clew.features.pack.operations import Bundle, Explanation, Pack, Why
from clew.features.trust.operations import Review, ReviewReceipt
from clew.features.upkeep.operations import Purge, PurgeReceipt, Verify, VerifyReport
from clew.kernel.operations import (
    Clear,
    CollectionList,
    Delete,
    Flush,
    Flushed,
    Get,
    GetStatus,
    Ingest,
    IngestBatch,
    IngestBatchReceipt,
    IngestReceipt,
    ListCollections,
    ListRecords,
    Message,
    Put,
    PutReceipt,
    Records,
    Reindex,
    Search,
    SearchResult,
    Status,
)


class MemoryApi(FactsApi, GraphApi, ObservingApi, PlansApi, ABC):
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
        tool_call_ids: Sequence[str] = (),
        tool_call_id: str | None = None,
        source: str | None = None,
        metadata: JsonObject | None = None,
        heartbeat: bool = False,
    ) -> IngestReceipt:
        """Keep one turn. Returns when it is durable."""
        message = Message(
            role=role,
            text=text,
            id=id,
            ts=ts,
            speaker=speaker,
            tool_call_ids=tuple(tool_call_ids),
            tool_call_id=tool_call_id,
            source=source,
            metadata=metadata or {},
        )
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
        limit_tokens: int | None = None,
        user_id: str | None = None,
        since: int | None = None,
        mode: str = "recall",
    ) -> Context:
        """The context for the next model call, never over the budget."""
        given = None if messages is None else tuple(messages)
        return self.call(
            Assemble(
                session_id=session_id, query=query, messages=given, budget_tokens=budget_tokens,
                limit_tokens=limit_tokens, user_id=user_id, since=since, mode=mode,
            )
        )  # fmt: skip

    def compact(self, session_id: str, *, force: bool = False, budget_tokens: int | None = None) -> CompactReceipt:
        """Let summaries stand for the turns outside the tail; every raw turn stays."""
        return self.call(Compact(session_id=session_id, force=force, budget_tokens=budget_tokens))

    def expand(
        self,
        session_id: str,
        *ids: str,
        max_depth: int = 3,
        budget_tokens: int | None = None,
        query: str | None = None,
        exclude: Sequence[str] = (),
    ) -> Expansion:
        """The raw turns that summaries stand for."""
        return self.call(
            Expand(
                session_id=session_id, ids=ids, max_depth=max_depth, budget_tokens=budget_tokens, query=query,
                exclude=tuple(exclude),
            )
        )  # fmt: skip

    def describe(self, session_id: str, id: str) -> Node:  # noqa: A002
        """The lineage of one turn or summary."""
        return self.call(Describe(session_id=session_id, id=id))

    def query_raw(self, session_id: str, text: str, *, k: int = 10) -> SearchResult:
        """Search every turn a session ever had, compacted or not."""
        return self.search(text, k=k, collections=[session_raw(session_id)])

    def grep(
        self,
        session_id: str,
        pattern: str,
        *,
        regex: bool = False,
        ignore_case: bool = False,
        limit: int = 100,
        cursor: int = 0,
    ) -> GrepResult:
        """Lines of the raw history that hold a string or match a regular expression."""
        return self.call(
            Grep(
                session_id=session_id, pattern=pattern, regex=regex, ignore_case=ignore_case,
                limit=limit, cursor=cursor,
            )
        )  # fmt: skip

    def show_session(self, session_id: str) -> SessionView:
        """The active view and every summary of a session."""
        return self.call(ShowSession(session_id=session_id))

    def guidance(self, *, user_id: str | None = None, session_id: str | None = None) -> GuidanceList:
        """What is kept word for word because it guides."""
        return self.call(ListGuidance(user_id=user_id, session_id=session_id))

    def load_authored(self) -> AuthoredReport:
        """Read the authored files now."""
        return self.call(LoadAuthored())

    def put(
        self,
        collection: str,
        id: str,  # noqa: A002
        text: str,
        metadata: JsonObject | None = None,
        *,
        source: str | None = None,
        kind: str | None = None,
    ) -> PutReceipt:
        """Store a record under an id of the caller's; the same id again replaces it."""
        return self.call(
            Put(collection=collection, id=id, text=text, metadata=metadata or {}, source=source, kind=kind)
        )

    def get(self, collection: str, *ids: str, max_chars: int | None = None) -> Records:
        """The named records that exist, in the order asked for."""
        return self.call(Get(collection=collection, ids=ids, max_chars=max_chars))

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

    def capture(self, *events: Event) -> CaptureReceipt:
        """Write down what an agent did, redacted; `harvest` brings it into the ledger."""
        return self.call(Capture(events=events))

    def harvest(self, path: str | None = None, *, max_lines: int = 1000) -> HarvestReceipt:
        """One step of reading captured events into the ledger."""
        return self.call(Harvest(path=path, max_lines=max_lines))

    def recall(
        self,
        text: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        mode: str = "hybrid",
        episodes: bool = False,
        kinds: Sequence[str] = (),
        k: int = 10,
    ) -> RecallResult:
        """The best records, one line each."""
        return self.call(
            Recall(
                text=text, user_id=user_id, session_id=session_id, mode=mode, episodes=episodes,
                kinds=tuple(kinds), k=k,
            )
        )  # fmt: skip

    def timeline(self, ref: str, *, before: int = 5, after: int = 5) -> TimelineView:
        """What was around a record."""
        return self.call(Timeline(ref=ref, before=before, after=after))

    def replay(self, session_id: str, *, cursor: int = 0, limit: int = 200) -> TimelineView:
        """A session from its start, turns and captured events."""
        return self.call(Replay(session_id=session_id, cursor=cursor, limit=limit))

    def pack(
        self,
        query: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        exclude_session: str | None = None,
        budget_tokens: int | None = None,
        limit: int | None = None,
        kinds: Sequence[str] = (),
        untrusted: bool = False,
        cold: bool = False,
        refs: bool = False,
        trace: bool = False,
    ) -> Bundle:
        """The bounded, cited bundle for one request."""
        return self.call(
            Pack(
                query=query, user_id=user_id, session_id=session_id, exclude_session=exclude_session,
                budget_tokens=budget_tokens, limit=limit, kinds=tuple(kinds), untrusted=untrusted, cold=cold,
                refs=refs, trace=trace,
            )
        )  # fmt: skip

    def why(
        self,
        ref: str,
        query: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        budget_tokens: int | None = None,
        untrusted: bool = False,
        cold: bool = False,
    ) -> Explanation:
        """Why a record would stand in the pack for a query, or would not."""
        return self.call(
            Why(
                ref=ref, query=query, user_id=user_id, session_id=session_id, budget_tokens=budget_tokens,
                untrusted=untrusted, cold=cold,
            )
        )  # fmt: skip

    def review(self, ref: str, verdict: str, *, reason: str = "") -> ReviewReceipt:
        """The operator's word on a record's trust: quarantine, release or confirm."""
        return self.call(Review(ref=ref, verdict=verdict, reason=reason))

    def age(self, *, dry_run: bool = True) -> AgeReceipt:
        """Grade, archive and mark what a lifecycle run would."""
        return self.call(Age(dry_run=dry_run))

    def revive(self, *refs: str) -> Done:
        """Bring archived records back."""
        return self.call(Revive(refs=refs))

    def purge(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        ref: str | None = None,
        source: str | None = None,
        dry_run: bool = False,
    ) -> PurgeReceipt:
        """Remove for good: a user, a session, a record, or what came from an address, and all made from it."""
        return self.call(Purge(user_id=user_id, session_id=session_id, ref=ref, source=source, dry_run=dry_run))

    def gate(self, text: str, *, user_id: str | None = None) -> GateScore:
        return self.call(Gate(text=text, user_id=user_id))

    def status(self) -> Status:
        return self.call(GetStatus())

    def flush(self, *, timeout_ms: int = 20_000) -> Flushed:
        return self.call(Flush(timeout_ms=timeout_ms))

    def verify(self, *, repair: bool = False) -> VerifyReport:
        return self.call(Verify(repair=repair))

    def reindex(self, *, everything: bool = False) -> Done:
        return self.call(Reindex(everything=everything))

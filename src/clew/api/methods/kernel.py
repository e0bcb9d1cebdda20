"""The operations of `kernel` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew.api.calls import AsyncCalls, Calls
from clew.core.operation import Done, JsonObject
from clew.kernel.operations import (
    AddHint,
    Clear,
    CollectionList,
    Delete,
    EnsureCollections,
    Flush,
    Flushed,
    Get,
    GetStatus,
    Ingest,
    IngestBatch,
    IngestBatchReceipt,
    IngestReceipt,
    Journal,
    ListCollections,
    ListRecords,
    Message,
    Put,
    PutReceipt,
    ReadJournal,
    Records,
    Reindex,
    Search,
    SearchResult,
    Status,
    ToolCall,
)


class KernelMethods(Calls):
    """The operations of `kernel`."""

    def ingest(
        self, session_id: str, role: str, text: str, *, id: str | None = None, ts: int | None = None,
        speaker: str | None = None, calls: Sequence[ToolCall] = (), tool_call_ids: Sequence[str] = (),
        tool_call_id: str | None = None, source: str | None = None, metadata: JsonObject | None = None,
        user_id: str | None = None, heartbeat: bool = False,
    ) -> IngestReceipt:  # fmt: skip
        """Keeps one turn. Returns when it is durable."""
        return self.call(Ingest(
            session_id=session_id, message=Message(role=role, text=text, id=id, ts=ts, speaker=speaker,
            calls=tuple(calls), tool_call_ids=tuple(tool_call_ids), tool_call_id=tool_call_id, source=source,
            metadata=metadata or {}), user_id=user_id, heartbeat=heartbeat,
        ))  # fmt: skip

    def ingest_batch(
        self, session_id: str, messages: Sequence[Message], *, user_id: str | None = None,
    ) -> IngestBatchReceipt:  # fmt: skip
        """Keeps several turns in one step: all of them, or none."""
        return self.call(IngestBatch(session_id=session_id, messages=tuple(messages), user_id=user_id))

    def put(
        self, collection: str, id: str, text: str, metadata: JsonObject | None = None, *, source: str | None = None,
        by_model: bool = False, kind: str | None = None,
    ) -> PutReceipt:  # fmt: skip
        """Stores a record under an id of the caller's. The same id again replaces it."""
        return self.call(Put(
            collection=collection, id=id, text=text, source=source, by_model=by_model, kind=kind,
            metadata=metadata or {},
        ))  # fmt: skip

    def delete(self, collection: str, *ids: str) -> Done:
        """Takes records out of a collection. Raw history is refused; unknown ids are skipped."""
        return self.call(Delete(collection=collection, ids=ids))

    def clear(self, collection: str) -> Done:
        """Takes every record out of a collection. Raw history is refused."""
        return self.call(Clear(collection=collection))

    def ensure_collections(self, collections: Sequence[str]) -> Done:
        """Makes the collections exist, empty where they are new."""
        return self.call(EnsureCollections(collections=tuple(collections)))

    def get(self, collection: str, *ids: str, max_chars: int | None = None) -> Records:
        """The named records that exist, in the order asked for."""
        return self.call(Get(collection=collection, ids=ids, max_chars=max_chars))

    def list(
        self, collection: str, *, cursor: int = 0, limit: int = 1000, key: str | None = None, value: Any = None,
    ) -> Records:  # fmt: skip
        """The records of a collection, a page a call.

        Oldest first. With `key`, only records whose metadata holds that value under it.
        """
        return self.call(ListRecords(collection=collection, cursor=cursor, limit=limit, key=key, value=value))

    def collections(self) -> CollectionList:
        """Every collection, and how many records it holds."""
        return self.call(ListCollections())

    def search(
        self, text: str, *, k: int = 10, collections: Sequence[str] = (), user_id: str | None = None,
        session_id: str | None = None, exclude: Mapping[str, Sequence[str]] | None = None,
    ) -> SearchResult:  # fmt: skip
        """The k best records, best first, each with its scores.

        In the named collections, or in what the named user and session may recall.
        """
        return self.call(Search(
            text=text, k=k, collections=tuple(collections), user_id=user_id, session_id=session_id,
            exclude={key: tuple(value) for key, value in (exclude or {}).items()},
        ))  # fmt: skip

    def status(self) -> Status:
        """What the store holds, and whether all of it works."""
        return self.call(GetStatus())

    def flush(self, *, timeout_ms: int = 4000) -> Flushed:
        """Waits until everything acknowledged is searchable by meaning, too; `pending` says what still waits by
        then.
        """
        return self.call(Flush(timeout_ms=timeout_ms))

    def reindex(self, *, everything: bool = False) -> Done:
        """Brings search up to date.

        Queues what the current embedder has not embedded.

        With `everything`, search terms are computed again at once, and every vector is made anew.
        """
        return self.call(Reindex(everything=everything))

    def add_hint(
        self, hook: str, *, session_id: str | None = None, details: JsonObject | None = None, id: str | None = None,
        ts: int | None = None,
    ) -> Done:  # fmt: skip
        """A host's advisory note that a session is about to be reset or has ended."""
        return self.call(AddHint(hook=hook, session_id=session_id, details=details or {}, id=id, ts=ts))

    def journal(self, *, session_id: str | None = None, limit: int = 50) -> Journal:
        """The hosts' notes about sessions, newest first."""
        return self.call(ReadJournal(session_id=session_id, limit=limit))


class AsyncKernelMethods(AsyncCalls):
    """The operations of `kernel` to await."""

    async def ingest(
        self, session_id: str, role: str, text: str, *, id: str | None = None, ts: int | None = None,
        speaker: str | None = None, calls: Sequence[ToolCall] = (), tool_call_ids: Sequence[str] = (),
        tool_call_id: str | None = None, source: str | None = None, metadata: JsonObject | None = None,
        user_id: str | None = None, heartbeat: bool = False,
    ) -> IngestReceipt:  # fmt: skip
        """Keeps one turn. Returns when it is durable."""
        return await self.call(Ingest(
            session_id=session_id, message=Message(role=role, text=text, id=id, ts=ts, speaker=speaker,
            calls=tuple(calls), tool_call_ids=tuple(tool_call_ids), tool_call_id=tool_call_id, source=source,
            metadata=metadata or {}), user_id=user_id, heartbeat=heartbeat,
        ))  # fmt: skip

    async def ingest_batch(
        self, session_id: str, messages: Sequence[Message], *, user_id: str | None = None,
    ) -> IngestBatchReceipt:  # fmt: skip
        """Keeps several turns in one step: all of them, or none."""
        return await self.call(IngestBatch(session_id=session_id, messages=tuple(messages), user_id=user_id))

    async def put(
        self, collection: str, id: str, text: str, metadata: JsonObject | None = None, *, source: str | None = None,
        by_model: bool = False, kind: str | None = None,
    ) -> PutReceipt:  # fmt: skip
        """Stores a record under an id of the caller's. The same id again replaces it."""
        return await self.call(Put(
            collection=collection, id=id, text=text, source=source, by_model=by_model, kind=kind,
            metadata=metadata or {},
        ))  # fmt: skip

    async def delete(self, collection: str, *ids: str) -> Done:
        """Takes records out of a collection. Raw history is refused; unknown ids are skipped."""
        return await self.call(Delete(collection=collection, ids=ids))

    async def clear(self, collection: str) -> Done:
        """Takes every record out of a collection. Raw history is refused."""
        return await self.call(Clear(collection=collection))

    async def ensure_collections(self, collections: Sequence[str]) -> Done:
        """Makes the collections exist, empty where they are new."""
        return await self.call(EnsureCollections(collections=tuple(collections)))

    async def get(self, collection: str, *ids: str, max_chars: int | None = None) -> Records:
        """The named records that exist, in the order asked for."""
        return await self.call(Get(collection=collection, ids=ids, max_chars=max_chars))

    async def list(
        self, collection: str, *, cursor: int = 0, limit: int = 1000, key: str | None = None, value: Any = None,
    ) -> Records:  # fmt: skip
        """The records of a collection, a page a call.

        Oldest first. With `key`, only records whose metadata holds that value under it.
        """
        return await self.call(ListRecords(collection=collection, cursor=cursor, limit=limit, key=key, value=value))

    async def collections(self) -> CollectionList:
        """Every collection, and how many records it holds."""
        return await self.call(ListCollections())

    async def search(
        self, text: str, *, k: int = 10, collections: Sequence[str] = (), user_id: str | None = None,
        session_id: str | None = None, exclude: Mapping[str, Sequence[str]] | None = None,
    ) -> SearchResult:  # fmt: skip
        """The k best records, best first, each with its scores.

        In the named collections, or in what the named user and session may recall.
        """
        return await self.call(Search(
            text=text, k=k, collections=tuple(collections), user_id=user_id, session_id=session_id,
            exclude={key: tuple(value) for key, value in (exclude or {}).items()},
        ))  # fmt: skip

    async def status(self) -> Status:
        """What the store holds, and whether all of it works."""
        return await self.call(GetStatus())

    async def flush(self, *, timeout_ms: int = 4000) -> Flushed:
        """Waits until everything acknowledged is searchable by meaning, too; `pending` says what still waits by
        then.
        """
        return await self.call(Flush(timeout_ms=timeout_ms))

    async def reindex(self, *, everything: bool = False) -> Done:
        """Brings search up to date.

        Queues what the current embedder has not embedded.

        With `everything`, search terms are computed again at once, and every vector is made anew.
        """
        return await self.call(Reindex(everything=everything))

    async def add_hint(
        self, hook: str, *, session_id: str | None = None, details: JsonObject | None = None, id: str | None = None,
        ts: int | None = None,
    ) -> Done:  # fmt: skip
        """A host's advisory note that a session is about to be reset or has ended."""
        return await self.call(AddHint(hook=hook, session_id=session_id, details=details or {}, id=id, ts=ts))

    async def journal(self, *, session_id: str | None = None, limit: int = 50) -> Journal:
        """The hosts' notes about sessions, newest first."""
        return await self.call(ReadJournal(session_id=session_id, limit=limit))

"""A `MemoryApi` over one dict: small, exact, and without any of the engine's machinery.

A test puts it behind a server to control when the work happens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from clew import api
from clew.errors import Conflict, InvalidInput

R = TypeVar("R")


class DictMemory(api.MemoryApi):
    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._collections: dict[str, dict[str, api.RecordView]] = {}
        self._journal: list[api.JournalEntry] = []
        self.closed = False

    def call(self, request: api.Request[R]) -> R:
        handler: Callable[[Any], Any] | None = getattr(self, f"_on_{request.method}", None)
        if handler is None:
            raise InvalidInput(f"the double does not do {request.method}")
        with self._lock:
            return cast("R", handler(request))

    def close(self) -> None:
        self.closed = True

    def _store(self, collection: str, **fields: Any) -> api.RecordView:
        records = self._collections.setdefault(collection, {})
        old = records.get(fields["id"])
        version = 1 if old is None else old.version + 1
        record = api.RecordView(
            collection=collection, provenance="user_turn", trust="unknown", stability=0.5,
            tokens=len(fields["text"]) // 4 + 1, version=version, access_count=0, **fields,
        )  # fmt: skip
        records[record.id] = record
        return record

    def _on_ingest(self, request: api.Ingest) -> api.IngestReceipt:
        message = request.message
        names = [f"session:{request.session_id}", f"session_raw:{request.session_id}"]
        if request.user_id is not None and message.role == "user":
            names.append(f"turns:{request.user_id}")
        identifier = message.id or f"turn-{len(self._collections.get(names[1], {}))}"
        known = self._collections.get(names[1], {}).get(identifier)
        if known is not None and known.text != message.text:
            raise Conflict(f"turn {identifier} exists with other content")
        if known is None:
            for name in names:
                self._store(
                    name, id=identifier, text=message.text, ts=message.ts or 1, role=message.role,
                    metadata=message.metadata,
                )  # fmt: skip
        return api.IngestReceipt(
            id=identifier, stored=known is None, duplicate=known is not None, collections=tuple(names)
        )

    def _on_put(self, request: api.Put) -> api.PutReceipt:
        record = self._store(
            request.collection, id=request.id, text=request.text, ts=1, role=None, metadata=request.metadata
        )
        return api.PutReceipt(version=record.version, changed=True)

    def _on_delete_batch(self, request: api.Delete) -> api.Done:
        records = self._collections.get(request.collection, {})
        gone = [records.pop(name, None) for name in request.ids]
        return api.Done(count=sum(record is not None for record in gone))

    def _on_clear(self, request: api.Clear) -> api.Done:
        return api.Done(count=len(self._collections.pop(request.collection, {})))

    def _on_ensure_collections(self, request: api.EnsureCollections) -> api.Done:
        for name in request.collections:
            self._collections.setdefault(name, {})
        return api.Done()

    def _on_get(self, request: api.Get) -> api.Records:
        records = self._collections.get(request.collection, {})
        return api.Records(records=tuple(records[name] for name in request.ids if name in records))

    def _on_list(self, request: api.ListRecords) -> api.Records:
        records = list(self._collections.get(request.collection, {}).values())
        if request.key is not None:
            records = [r for r in records if r.metadata.get(request.key) == request.value]
        page = records[request.cursor : request.cursor + request.limit]
        end = request.cursor + len(page)
        return api.Records(records=tuple(page), cursor=end if end < len(records) else None)

    def _all_collections(self) -> tuple[api.CollectionView, ...]:
        return tuple(api.CollectionView(name=n, count=len(r)) for n, r in self._collections.items())

    def _on_collections(self, _: api.ListCollections) -> api.CollectionList:
        return api.CollectionList(collections=self._all_collections())

    def _on_search(self, request: api.Search) -> api.SearchResult:
        words = set(request.text.lower().split())
        hits = []
        for name in request.collections:
            left_out = request.exclude.get(name, ())
            for record in self._collections.get(name, {}).values():
                share = len(words & set(record.text.lower().split())) / max(len(words), 1)
                if share > 0 and record.id not in left_out:
                    hits.append(api.Hit(record=record, scores=_scores(share)))
        hits.sort(key=lambda hit: -hit.scores.score)
        return api.SearchResult(hits=tuple(hits[: request.k]))

    def _on_touch(self, request: api.Touch) -> api.Done:
        for collection, ids in request.uses.items():
            records = self._collections.get(collection, {})
            for name in ids:
                if name in records:
                    old = records[name]
                    fields = {f: getattr(old, f) for f in old.__struct_fields__}
                    records[name] = api.RecordView(**fields | {"access_count": old.access_count + 1})
        return api.Done()

    def _on_gate(self, _: api.Gate) -> api.GateScore:
        parts = [name for name in api.GateScore.__struct_fields__ if name != "keep"]
        return api.GateScore(**dict.fromkeys(parts, 0.5), keep=True)

    def _on_status(self, _: api.GetStatus) -> api.Status:
        counts = {"turns": 0, "user": 0}
        for view in self._all_collections():
            scope = view.name.partition(":")[0]
            counts[scope] = counts.get(scope, 0) + view.count
        return api.Status(
            ok=True, message="ready", version="0", data_dir="", turn_count=counts["turns"],
            memory_count=counts["user"], record_count=0, lifecycle_hint_count=len(self._journal),
            gating_threshold=0.35, abstractive_ready=False, embedding_profile=None, pending=0,
            token_counter="estimate", index_bytes=0, store_bytes=0,
        )  # fmt: skip

    def _on_flush(self, _: api.Flush) -> api.Flushed:
        return api.Flushed(ok=True, pending=0)

    def _on_add_hint(self, request: api.AddHint) -> api.Done:
        entry = api.JournalEntry(
            seq=len(self._journal) + 1, ts=1, hook=request.hook, session_id=request.session_id,
            details=request.details,
        )  # fmt: skip
        self._journal.append(entry)
        return api.Done()

    def _on_journal(self, request: api.ReadJournal) -> api.Journal:
        wanted = [e for e in reversed(self._journal) if request.session_id in (None, e.session_id)]
        return api.Journal(entries=tuple(wanted[: request.limit]))


def _scores(share: float) -> api.Scores:
    return api.Scores(
        score=share, similarity=share, lexical=share, lexical_rank=None, dense=None, dense_rank=None,
        recency=1.0, scope=1.0,
    )  # fmt: skip

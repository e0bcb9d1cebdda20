"""The engine in this process: puts store, indexes, models and services together, and answers requests.

This is the only module that names concrete adapters. Each operation is one entry of `_SERVICES`.
"""

from __future__ import annotations

import atexit
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from clew import __version__, api
from clew.config import Config
from clew.core.identity import ID_BYTES
from clew.core.ports import Clock, Embedder, Ids, Summarizer
from clew.errors import InvalidInput
from clew.features.authored import service as authored
from clew.features.context import assemble
from clew.features.facts import (
    lint as fact_lint,
)
from clew.features.facts import (
    pack as fact_pack,
)
from clew.features.facts import (
    queries as fact_queries,
)
from clew.features.facts import (
    review as fact_review,
)
from clew.features.facts import (
    writing as facts,
)
from clew.features.facts.views import FactViews
from clew.features.gate import service as gatekeeping
from clew.features.graph import (
    linking,
)
from clew.features.graph import (
    match as graph_match,
)
from clew.features.graph import (
    merging as graph_merging,
)
from clew.features.graph import (
    service as graph,
)
from clew.features.graph import (
    text as graph_text,
)
from clew.features.guidance import service as guidance
from clew.features.history import compact, expand
from clew.features.history import expand as grep
from clew.features.history.coverage import Coverage
from clew.features.history.recent import RecentTurns, SessionLocks
from clew.features.ledger import artifacts, capture, harvest
from clew.features.ledger import lookup as ledger
from clew.features.lifecycle import archive, duplicates
from clew.features.lifecycle import service as lifecycle
from clew.features.observations import service as observe
from clew.features.pack import service as pack
from clew.features.pack import trace as traces
from clew.features.pack import why
from clew.features.plans import service as plans
from clew.features.trust import service as trust
from clew.features.upkeep import copies, purge, transfer, verify
from clew.index.cache import IndexCache
from clew.kernel import ingest, records
from clew.kernel import search as recall
from clew.kernel.courtesy import Courtesy
from clew.kernel.meaning import Meaning
from clew.kernel.parts import Parts
from clew.kernel.queue import Indexer
from clew.models.embedding.choose import Choice, make_embedder
from clew.models.embedding.guard import GuardedEmbedder
from clew.models.summarizing.choose import SummarizerChoice, make_summarizer
from clew.models.tokens import CachedCounter, make_counter
from clew.storage.protocol import Store
from clew.storage.sqlite import SqliteStore
from clew.text.terms import ANALYSER_VERSION

R = TypeVar("R")

_log = logging.getLogger("clew.engine")

_SERVICES: Mapping[type[api.Request[Any]], Callable[[Parts, Any], Any]] = {
    api.AddHint: records.add_hint,
    api.Age: lifecycle.age,
    api.Assemble: assemble.assemble,
    api.Backup: transfer.backup,
    api.Capture: capture.capture,
    api.Clear: records.clear,
    api.Compact: compact.compact,
    api.Delete: records.delete,
    api.Describe: expand.describe,
    api.DiffTraces: traces.diff_traces,
    api.EnsureCollections: records.ensure_collections,
    api.Expand: expand.expand,
    api.Export: transfer.export,
    api.FactsAccept: fact_review.accept,
    api.FactsAsOf: fact_queries.as_of,
    api.FactsAssert: facts.assert_fact,
    api.FactsCurrent: fact_queries.current,
    api.FactsDecline: fact_review.decline,
    api.FactsInvalidate: facts.invalidate,
    api.FactsLint: fact_lint.lint,
    api.FactsPack: fact_pack.pack,
    api.FactsPropose: fact_review.propose,
    api.FactsRebuild: fact_lint.rebuild,
    api.FactsReview: fact_review.review,
    api.FactsStale: fact_lint.stale,
    api.FactsTimeline: fact_queries.timeline,
    api.FindDuplicates: duplicates.find_duplicates,
    api.Gate: gatekeeping.gate,
    api.Get: records.get,
    api.GraphDownstream: graph.downstream,
    api.GraphEntities: graph.entities,
    api.GraphExport: graph_text.export,
    api.GraphMatch: graph_match.match,
    api.GraphMerge: graph_merging.merge,
    api.GraphMerges: graph_merging.merges,
    api.GraphNeighbours: graph.neighbours,
    api.GraphPaths: graph.paths,
    api.GraphRebuild: graph.rebuild,
    api.GraphStatus: graph.status,
    api.GraphUnmerge: graph_merging.unmerge,
    api.GraphUpstream: graph.upstream,
    api.Grep: grep.grep,
    api.Harvest: harvest.harvest,
    api.Import: transfer.import_lines,
    api.Ingest: ingest.ingest,
    api.IngestBatch: ingest.ingest_batch,
    api.Inspect: trust.inspect,
    api.Label: lifecycle.label,
    api.ListCollections: records.list_collections,
    api.ListGuidance: guidance.list_guidance,
    api.ListPurges: purge.list_purges,
    api.ListCopies: copies.list_copies,
    api.FindTurn: copies.find_turn,
    api.ListRecords: records.list_records,
    api.ListTraces: traces.list_traces,
    api.ListTrust: trust.list_trust,
    api.LoadAuthored: authored.load_authored,
    api.Merge: duplicates.merge,
    api.ObserveRebuild: observe.observe_rebuild,
    api.ObserveRun: observe.observe_run,
    api.ObserveShow: observe.observe_show,
    api.ObserveStats: observe.observe_stats,
    api.Pack: pack.pack,
    api.PlansAdd: plans.add,
    api.PlansClose: plans.close,
    api.PlansDue: plans.due,
    api.PlansList: plans.list_plans,
    api.PlansPropose: plans.propose,
    api.Purge: purge.purge,
    api.Put: ingest.put,
    api.ReadArtifact: artifacts.read_artifact,
    api.ReadJournal: records.read_journal,
    api.Recall: ledger.recall_lines,
    api.Replay: ledger.replay,
    api.Review: trust.review,
    api.Revive: lifecycle.revive,
    api.Search: recall.find,
    api.ShowSession: expand.show_session,
    api.ShowTrace: traces.show_trace,
    api.Timeline: ledger.timeline,
    api.Touch: archive.touch,
    api.Verify: verify.verify,
    api.Why: why.why,
}

_LEAVES_WORK = (
    api.Capture,
    api.Compact,
    api.FactsAccept,
    api.FactsAssert,
    api.FactsInvalidate,
    api.GraphRebuild,
    api.Harvest,
    api.Import,
    api.Ingest,
    api.IngestBatch,
    api.LoadAuthored,
    api.ObserveRebuild,
    api.ObserveRun,
    api.PlansAdd,
    api.Put,
    api.Verify,
)
"""Requests after which the queue may hold something new."""


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class RandomIds:
    def new(self) -> str:
        return secrets.token_hex(ID_BYTES)


class Memory(api.MemoryApi):
    """A store opened in this process. Safe to use from several threads; several processes may share one."""

    def __init__(
        self,
        config: Config,
        *,
        store: Store | None = None,
        embedder: Embedder | None = None,
        summarizer: Summarizer | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> None:
        """The parts may be given, for tests and for embedding Clew; `open` is the usual way."""
        chosen = make_summarizer(config) if summarizer is None else SummarizerChoice(summarizer)
        self._summarizer_trouble = chosen.reason if config.summarizer != "none" else ""
        self._store = store or SqliteStore(config.database, synchronous=config.synchronous)
        self._parts = Parts(
            config=config,
            store=self._store,
            indexes=IndexCache(self._store, config.index_cache_bytes),
            meaning=_make_meaning(config, self._store, embedder),
            counter=CachedCounter(make_counter(config)),
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            library=authored.Library(),
            coverage=Coverage(),
            facts=FactViews(config.fact_predicates),
            session_locks=SessionLocks(),
            recent=RecentTurns(),
            summarizer=chosen.summarizer,
        )
        if self._store.analyser_version() != ANALYSER_VERSION:
            _log.info("search terms are of an older version; computing them again")
            self._store.replace_terms(ANALYSER_VERSION, verify.terms_of)
        if unread := linking.renew(self._parts):
            _log.info("the graph was made by older rules; records that are read again for it: %d", unread)
        replayed = purge.reconcile(self._parts)
        if replayed:
            _log.warning("this copy of the store is older than its ledger; purges carried out again: %d", replayed)
        self._courtesy = Courtesy()
        workers = (gatekeeping.worker(plans.close_by_turn), authored.WORKER, harvest.WORKER, linking.WORKER)
        self._indexer = Indexer(self._parts, workers, self._courtesy, _lock_file(config, store))
        atexit.register(self.close)  # no thread may be inside a native library when the interpreter ends
        self._indexer.start()

    @classmethod
    def open(cls, config: Config | None = None, **settings: Any) -> Self:
        """Open the store of a data folder, making it where there is none.

        `Memory.open()` takes everything from `clew.toml` and the environment; keyword arguments are
        settings: `Memory.open(data_dir="notes", embedder="none")`.
        """
        return cls(config or Config.load(**settings))

    def call(self, request: api.Request[R]) -> R:
        answer: Any
        match request:
            case api.GetStatus():
                answer = self._status()
            case api.Flush():
                answer = self._flush(request)
            case api.Reindex():
                answer = self._reindex(request)
            case _:
                with self._courtesy.call():
                    answer = _SERVICES[type(request)](self._parts, request)
                if isinstance(request, _LEAVES_WORK):
                    self._indexer.wake()
        return answer  # type: ignore[no-any-return]  # the request's type says which answer it is

    def close(self) -> None:
        self._indexer.close()
        self._parts.meaning.close()
        if self._parts.summarizer is not None:
            self._parts.summarizer.close()
        self._indexer.join()
        self._store.close()
        atexit.unregister(self.close)

    def _status(self) -> api.Status:
        parts = self._parts
        counts = parts.store.counts()
        trouble = parts.meaning.health()
        return api.Status(
            ok=True,
            message="ok" if trouble is None else f"degraded: {trouble}",
            version=__version__,
            data_dir=str(parts.config.data_dir),
            turn_count=counts.user_turns,
            memory_count=counts.memories,
            record_count=counts.records,
            lifecycle_hint_count=counts.hints,
            gating_threshold=parts.config.gate_threshold,
            abstractive_ready=parts.summarizer is not None and parts.summarizer.ready(),
            embedding_profile=parts.meaning.profile,
            pending=counts.pending,
            token_counter=parts.counter.name,
            index_bytes=parts.indexes.nbytes,
            store_bytes=counts.store_bytes,
            quarantined_count=counts.quarantined,
            last_lifecycle=aged.ts if (aged := lifecycle.last_run(parts)) else None,
            degraded=tuple(reason for reason in (trouble, self._summarizer_trouble) if reason),
        )

    def _flush(self, request: api.Flush) -> api.Flushed:
        if request.timeout_ms < 0:
            raise InvalidInput("timeoutMs must not be negative")
        deadline = time.monotonic() + request.timeout_ms / 1000
        pending = self._parts.library.take_in_notes(self._parts, deadline) if self._parts.config.authored_notes else 0
        while has_more := harvest.some(self._parts):
            if time.monotonic() >= deadline:
                break
        pending += has_more + self._indexer.drain(max(deadline - time.monotonic(), 0.0))
        return api.Flushed(ok=pending == 0, pending=pending)

    def _reindex(self, request: api.Reindex) -> api.Done:
        count = 0
        if request.everything:
            count = self._store.replace_terms(ANALYSER_VERSION, verify.terms_of)
            if self._parts.meaning.available:
                self._store.forget_vectors()
        if self._parts.meaning.available or not request.everything:
            count = max(count, self._parts.meaning.adopt())
            self._parts.indexes.forget()
            self._indexer.wake()
        return api.Done(count=count)


def _make_meaning(config: Config, store: Store, embedder: Embedder | None) -> Meaning:
    choice = Choice(embedder) if embedder is not None else make_embedder(config)
    timeout_ms = config.embed_timeout_ms
    guarded = GuardedEmbedder(choice.embedder, timeout_ms) if choice.embedder is not None else None
    return Meaning(store, guarded, choice.reason, timeout_ms)


def _lock_file(config: Config, store: Store | None) -> Path | None:
    return config.data_dir / "indexer.lock" if store is None else None

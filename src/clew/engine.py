"""The engine in this process: puts store, indexes, models and services together, and answers requests.

This is the only module that names concrete adapters. Which function carries out an operation is written at the function
(`clew.kernel.services`).
"""

from __future__ import annotations

import atexit
import logging
import secrets
import time
from pathlib import Path
from typing import Any, Self, TypeVar

from msgspec.structs import replace

from clew import __version__, api
from clew.config import Config
from clew.core.ids import ID_BYTES
from clew.core.ports import Clock, Embedder, Ids, Summarizer
from clew.core.tuning import Tuning
from clew.errors import InvalidInput
from clew.features.authored import service as authored
from clew.features.gate import service as gate
from clew.features.graph import linking
from clew.features.guidance import marking
from clew.features.ledger import artifacts, harvest
from clew.features.lifecycle import service as lifecycle
from clew.features.plans.service import close_by_turn
from clew.features.upkeep import purge, verify
from clew.index.cache import IndexCache
from clew.kernel.meaning import Meaning
from clew.kernel.parts import Parts
from clew.kernel.queue import Courtesy, Indexer
from clew.kernel.services import SERVICES, load_services
from clew.models.choose import Choice, make_embedder, make_summarizer
from clew.models.guard import GuardedEmbedder
from clew.models.tokens import CachedCounter, make_counter
from clew.storage.protocol import Store
from clew.storage.sqlite import SqliteStore
from clew.text.terms import ANALYSER_VERSION
from clew.wire.spool import SpoolState

R = TypeVar("R")

_log = logging.getLogger("clew.engine")

load_services("clew.kernel", "clew.features")


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
        tuning: Tuning | None = None,
    ) -> None:
        """The parts may be given, for tests and for embedding Clew; `open` is the usual way."""
        chosen = make_summarizer(config) if summarizer is None else Choice(summarizer)
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
            summarizer=chosen.model,
            tuning=tuning or Tuning(),
        )
        if self._store.analyser_version() != ANALYSER_VERSION:
            _log.info("search terms are of an older version; computing them again")
            self._store.replace_terms(ANALYSER_VERSION, verify.terms_of)
        if unread := linking.renew(self._parts):
            _log.info("the graph was made by older rules; records that are read again for it: %d", unread)
        artifacts.settle(self._parts)
        replayed = purge.reconcile(self._parts)
        if replayed:
            _log.warning("this copy of the store is older than its ledger; purges carried out again: %d", replayed)
        self._courtesy = Courtesy()
        workers = (
            gate.worker(close_by_turn),
            marking.WORKER,
            authored.WORKER,
            harvest.WORKER,
            linking.WORKER,
            purge.WORKER,
        )
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
                    answer = SERVICES[type(request)](self._parts, request)
                if request.leaves_work:
                    self._indexer.wake()
        return _with_damage(answer, self._store.damage())  # type: ignore[no-any-return]  # as the request's type says

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
        troubles = [reason for reason in (purge.trouble(parts), parts.meaning.health()) if reason]
        spool = SpoolState(str(parts.config.data_dir))
        return api.Status(
            ok=True,
            message=f"degraded: {troubles[0]}" if troubles else "ok",
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
            spool_waiting=spool.waiting,
            spool_dropped=spool.dropped,
            spool_set_aside=spool.set_aside,
            degraded=(*troubles, *filter(None, [self._summarizer_trouble])),
        )

    def _flush(self, request: api.Flush) -> api.Flushed:
        if request.timeout_ms < 0:
            raise InvalidInput("timeoutMs must not be negative")
        deadline = time.monotonic() + request.timeout_ms / 1000
        has_notes = bool(self._parts.config.authored_notes)
        pending = self._parts.state(authored.Library).take_in_notes(deadline) if has_notes else 0
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


def _with_damage(answer: Any, damage: tuple[str, ...]) -> Any:
    """Says so in every answer that can, once a damaged row was left out: nobody knows what it would have changed."""
    if not damage or not hasattr(answer, "degraded"):
        return answer
    shown = f"{damage[0]} (and {len(damage) - 1} more)" if len(damage) > 1 else damage[0]
    return replace(answer, degraded=(*answer.degraded, f"the store is damaged: {shown}; run `clew verify`"))


def _make_meaning(config: Config, store: Store, embedder: Embedder | None) -> Meaning:
    choice = Choice(embedder) if embedder is not None else make_embedder(config)
    timeout_ms = config.embed_timeout_ms
    guarded = GuardedEmbedder(choice.model, timeout_ms) if choice.model is not None else None
    return Meaning(store, guarded, choice.reason, timeout_ms)


def _lock_file(config: Config, store: Store | None) -> Path | None:
    return config.data_dir / "indexer.lock" if store is None else None

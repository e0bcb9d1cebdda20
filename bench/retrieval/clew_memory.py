"""Clew itself, through the interface that everybody uses, with the settings that everybody gets."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from bench.retrieval.corpus import Corpus, Question, Turn
from clew.api import Message, Pack
from clew.config import Config
from clew.core.collections import Collection
from clew.core.ids import memory_id, turn_name
from clew.core.ports import Embedder
from clew.engine import Memory
from clew.errors import EmbedderFailed, StoreError
from clew.kernel.meaning import UNREADABLE

USER = "u1"
MOST_HITS = 1000
MOST_ITEMS = 100
_TEXT = 3
"""Where the text stands in a recalled line."""
SETTLE_MS = 3_600_000


class ClewMemory:
    """One user's memory. Where all was said in one session, that session is the running one."""

    name = "clew"

    def __init__(self, config: Config, embedder: Embedder | None) -> None:
        """Without an embedder the settings must ask for none; search is then by words alone."""
        self._clock = _StandingClock()
        self._by_meaning = embedder is not None
        self._memory = Memory(config, embedder=embedder, clock=self._clock)
        self._turns: dict[str, Turn] = {}
        self._name_at: dict[str, str] = {}
        self._session: str | None = None

    def fill(self, corpus: Corpus) -> None:
        sessions = {turn.session for turn in corpus.turns}
        self._session = sessions.pop() if len(sessions) == 1 else None
        self._turns = {turn.name: turn for turn in corpus.turns}
        self._name_at = {ref: turn.name for turn in corpus.turns for ref in _places_of(turn)}
        for session, turns in groupby(corpus.turns, key=lambda turn: turn.session):
            self._memory.ingest_batch(session, [_message(turn) for turn in turns], user_id=USER)
        if not self._memory.flush(timeout_ms=SETTLE_MS).ok:
            raise StoreError("not every turn could be made searchable")

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        self._stand_at(question)
        found = self._memory.search(question.text, k=min(limit, MOST_HITS), user_id=USER, session_id=self._session)
        self._refuse_degraded(found.degraded)
        refs = (f"{hit.record.collection}/{hit.record.id}" for hit in found.hits)
        return list(dict.fromkeys(self._name_at[ref] for ref in refs if ref in self._name_at))

    def shown(self, question: Question, budget_tokens: int) -> tuple[str, frozenset[str]]:
        """A context of the running session, where there is one, else a pack. Only what is there whole counts."""
        self._stand_at(question)
        text, items = self._context(question, budget_tokens) if self._session else self._pack(question, budget_tokens)
        names = {self._name_at[ref]: shown for ref, shown in items.items() if ref in self._name_at}
        return text, frozenset(name for name, shown in names.items() if self._turns[name].text in shown)

    def _pack(self, question: Question, budget_tokens: int) -> tuple[str, dict[str, str]]:
        request = Pack(query=question.text, budget_tokens=budget_tokens, user_id=USER, limit=MOST_ITEMS)
        bundle = self._memory.call(request)
        self._refuse_degraded(bundle.degraded)
        return bundle.bundle_text, {item.record_ref: item.text for item in bundle.items}

    def _context(self, question: Question, budget_tokens: int) -> tuple[str, dict[str, str]]:
        """Of what is recalled alone: with a tail, the newest turns would be there whatever is asked."""
        context = self._memory.assemble(
            self._session or "", query=question.text, user_id=USER, messages=(), budget_tokens=budget_tokens
        )
        self._refuse_degraded(context.degraded)
        shown: dict[str, str] = {}
        for text, hits in ((context.guidance_text, context.guidance), (context.recalled_text, context.recalled)):
            lines = [json.loads(line) for line in text.splitlines()[1:-1]]
            refs = [f"{hit.record.collection}/{hit.record.id}" for hit in hits]
            shown |= {ref: line[_TEXT] for ref, line in zip(refs, lines, strict=True)}
        return "\n".join(filter(None, (context.guidance_text, context.recalled_text))), shown

    def close(self) -> None:
        self._memory.close()

    def _stand_at(self, question: Question) -> None:
        self._clock.ms = question.asked_ms

    def _refuse_degraded(self, reasons: Sequence[str]) -> None:
        """A search that went on without an embedder that failed would be measured as one with it."""
        failures = [reason for reason in reasons if reason != UNREADABLE]
        if self._by_meaning and failures:
            raise EmbedderFailed("; ".join(failures))


class _StandingClock:
    """Stands at the time a question was asked; where that is not known, it goes as any clock does."""

    def __init__(self) -> None:
        self.ms: int | None = None

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 if self.ms is None else self.ms


def _places_of(turn: Turn) -> Iterator[str]:
    """Where a turn may be found: in its session, among what the user said, as the memory kept from it, as guidance."""
    said = Collection.turns(USER)
    name = turn_name(turn.session, turn.name)
    yield f"{Collection.session(turn.session)}/{turn.name}"
    yield f"{said}/{name}"
    yield f"{Collection.memories(USER)}/{memory_id(said, name)}"
    yield f"{Collection.guidance(USER)}/{name}"


def _message(turn: Turn) -> Message:
    return Message(role=turn.role, text=turn.text, id=turn.name, ts=turn.ts_ms, speaker=turn.speaker)

"""Turns as the tail sees them: what assembling and compacting share, and the newest turns of a session."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from clew.core.budget import portion
from clew.core.collections import Collection
from clew.core.model import Record, Role, role_of
from clew.errors import InvalidInput
from clew.features.history.operations import ContextMessage
from clew.features.history.tail import Tail, TailTurn, split_tail
from clew.kernel.parts import Parts
from clew.kernel.views import is_turn

MESSAGE_OVERHEAD_TOKENS = 4
"""The tokens that chat APIs add to each message for its role and delimiters."""

MIN_BUDGET_TOKENS = 64
MAX_BUDGET_TOKENS = 10_000_000


def checked_budget(parts: Parts, budget_tokens: int | None) -> int:
    total = parts.config.budget_tokens if budget_tokens is None else budget_tokens
    if not MIN_BUDGET_TOKENS <= total <= MAX_BUDGET_TOKENS:
        raise InvalidInput(f"budgetTokens must be from {MIN_BUDGET_TOKENS} to {MAX_BUDGET_TOKENS}, not {total}")
    return total


def within_limit(budget_tokens: int, limit_tokens: int | None) -> int:
    """The bound of a context: its budget, or less where the caller says so."""
    if limit_tokens is not None and limit_tokens < MIN_BUDGET_TOKENS:
        raise InvalidInput(f"limitTokens must be at least {MIN_BUDGET_TOKENS}, not {limit_tokens}")
    return budget_tokens if limit_tokens is None else min(budget_tokens, limit_tokens)


def tail_target(parts: Parts, total: int) -> int:
    """How many tokens the tail grows to."""
    return portion(total, parts.config.tail_share)


def tail_of(parts: Parts, turns: Sequence[TailTurn], target: int, min_turns: int | None = None) -> Tail:
    least = parts.config.tail_min_turns if min_turns is None else min_turns
    return split_tail(turns, least, target, max(parts.tuning.tail_max_turns, least))


def stored_message(record: Record) -> ContextMessage:
    calls = record.metadata.get("toolCallIds", ())
    answered = record.metadata.get("toolCallId")
    return ContextMessage(
        role=(record.role or Role.USER).value,
        text=record.text,
        id=record.id,
        tool_call_ids=tuple(call for call in calls if isinstance(call, str)) if isinstance(calls, list) else (),
        tool_call_id=answered if isinstance(answered, str) else None,
    )


def tail_turn(parts: Parts, message: ContextMessage) -> TailTurn:
    tokens = parts.counter.bound(message.text) + MESSAGE_OVERHEAD_TOKENS
    return TailTurn(role_of(message.role), tokens, message.tool_call_ids, message.tool_call_id)


MAX_SESSIONS = 32
"""Sessions whose newest turns are kept."""

MAX_CHARS = 1 << 20
"""Of a session's newest turns; longer ones are read anew each time."""

_TURNS_A_READ = 64
_COUPLED_TURNS = 16
"""Turns that are read beyond those the tail has room for, to see which of them must not be parted."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Turns, oldest first: as a context shows them, and as its tail counts them."""

    messages: tuple[ContextMessage, ...]
    turns: tuple[TailTurn, ...]


def recent_turns(parts: Parts, session_id: str, target_tokens: int) -> Recent:
    """The newest turns that no summary covers; others come back only where the base needs them."""
    return parts.state(RecentTurns).of(session_id, target_tokens)


class RecentTurns:
    """Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int], tuple[int, Recent]] = OrderedDict()

    def of(self, session_id: str, target_tokens: int) -> Recent:
        with self._parts.indexes.current(Collection.session(session_id)) as index:
            until = index.until
        asked = (session_id, target_tokens)
        with self._lock:
            known = self._kept.get(asked)
        if known is None or known[0] != until:
            known = (until, _read(self._parts, session_id, target_tokens))
        if sum(len(message.text) for message in known[1].messages) > MAX_CHARS:
            return known[1]
        with self._lock:
            self._kept[asked] = known
            self._kept.move_to_end(asked)
            if len(self._kept) > MAX_SESSIONS:
                self._kept.popitem(last=False)
        return known[1]


def _read(parts: Parts, session_id: str, target_tokens: int) -> Recent:
    with parts.store.reading():
        newest = _newest_turns(parts, Collection.session(session_id), target_tokens)
        if len(newest) < parts.config.tail_min_turns:
            newest = _newest_turns(parts, Collection.raw(session_id), 0)
    messages = tuple(stored_message(turn) for turn in reversed(newest))
    return Recent(messages, tuple(tail_turn(parts, message) for message in messages))


def _newest_turns(parts: Parts, collection: str, target_tokens: int) -> list[Record]:
    """Newest first: enough to fill the target, and a few more, since coupled ones must not be parted."""
    turns: list[Record] = []
    tokens = 0
    before: int | None = None
    enough = False
    while True:
        wanted = _COUPLED_TURNS if enough else _TURNS_A_READ
        read = parts.store.newest(collection, before, wanted)
        turns += [record for record in read if is_turn(record)]
        if enough or len(read) < wanted:
            return turns
        before = read[-1].seq
        tokens += sum(record.tokens for record in read)
        full = tokens >= target_tokens or len(turns) >= parts.tuning.tail_max_turns
        enough = full and len(turns) >= parts.config.tail_min_turns

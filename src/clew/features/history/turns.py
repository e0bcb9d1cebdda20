"""Turns as the tail sees them: the rules that assembling and compacting share."""

from __future__ import annotations

from collections.abc import Sequence

from clew.core.budget import portion
from clew.core.model import Record, Role, role_of
from clew.errors import InvalidInput
from clew.features.history.operations import ContextMessage
from clew.features.history.tail import Tail, TailTurn, split_tail
from clew.kernel.parts import Parts

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

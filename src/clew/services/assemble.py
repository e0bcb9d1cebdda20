"""A context for the next model call: the recent tail as it was, and recall as quoted data, in budget.

Read `assemble` top-down: turns, tail, plan, recall, receipt. Recall may fail in any way; the tail then
stands alone and the reason is in the result.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from clew.api import Assemble, Context, ContextMessage, Message, Search, Section
from clew.domain import identity
from clew.domain.budget import Allocation, Shares, plan, portion
from clew.domain.framing import FRAME_CLOSE, FRAME_OPEN, Quoted, clip, frame, line
from clew.domain.model import Record, Role, role_of
from clew.domain.tail import Tail, TailTurn, extension_sizes, split_tail
from clew.errors import InvalidInput
from clew.services.parts import Parts
from clew.services.recall import Found, hit, recall

MESSAGE_OVERHEAD_TOKENS = 4
"""What chat APIs add to each message for its role and delimiters."""

MIN_BUDGET_TOKENS = 64
MAX_BUDGET_TOKENS = 10_000_000
_ITEM_SHARE = 0.25
"""The largest part of the recall one item may take; longer texts are cut, visibly."""

_SHORTEST_ITEM_TOKENS = 24
"""No item is shorter than this, with its reference, date and name; what is left over is not worth trying."""

_TURNS_A_READ = 64

_log = logging.getLogger("clew.assemble")


@dataclass(frozen=True, slots=True)
class _Recalled:
    found: tuple[Found, ...] = ()
    text: str = ""
    tokens: int = 0
    degraded: tuple[str, ...] = ()


def assemble(parts: Parts, request: Assemble) -> Context:
    total = _checked_budget(parts, request.budget_tokens)
    session = identity.session_raw(request.session_id)
    if request.messages is None:
        messages = _stored_messages(parts, session, portion(total, parts.config.tail_share))
    else:
        messages = [_given_message(message) for message in request.messages]
    turns = [_tail_turn(parts, message) for message in messages]
    tail = split_tail(turns, parts.config.tail_min_turns, portion(total, parts.config.tail_share))
    allocation = plan(total, base=tail.base_tokens, extension=extension_sizes(turns, tail), shares=_shares(parts))
    if allocation.degraded is None:
        kept = messages[tail.start :]
        recalled = _recall_safely(parts, request, kept, allocation.recall)
    else:
        kept = messages[tail.base_start :]
        recalled = _Recalled(degraded=(allocation.degraded,))
    return _context(kept, tail, allocation, recalled)


# --- turns -----------------------------------------------------------------------------------------


def _stored_messages(parts: Parts, session: str, target_tokens: int) -> list[ContextMessage]:
    """The newest turns, oldest first: enough to fill the target, and one more read for coupled ones."""
    records: list[Record] = []
    tokens = 0
    enough = False
    while True:
        before = records[-1].seq if records else None
        read = parts.store.newest(session, before, _TURNS_A_READ)
        records += read
        if enough or len(read) < _TURNS_A_READ:
            return [_stored_message(record) for record in reversed(records)]
        tokens += sum(record.tokens for record in read)
        enough = tokens >= target_tokens and len(records) >= parts.config.tail_min_turns


def _stored_message(record: Record) -> ContextMessage:
    calls = record.metadata.get("toolCallIds", ())
    answered = record.metadata.get("toolCallId")
    return ContextMessage(
        role=(record.role or Role.USER).value,
        text=record.text,
        id=record.id,
        tool_call_ids=tuple(call for call in calls if isinstance(call, str)) if isinstance(calls, list) else (),
        tool_call_id=answered if isinstance(answered, str) else None,
    )


def _given_message(message: Message) -> ContextMessage:
    return ContextMessage(
        role=message.role,
        text=message.text,
        id=message.id,
        tool_call_ids=message.tool_call_ids,
        tool_call_id=message.tool_call_id,
    )


def _tail_turn(parts: Parts, message: ContextMessage) -> TailTurn:
    tokens = parts.counter.bound(message.text) + MESSAGE_OVERHEAD_TOKENS
    return TailTurn(role_of(message.role), tokens, message.tool_call_ids, message.tool_call_id)


# --- recall ----------------------------------------------------------------------------------------


def _recall_safely(parts: Parts, request: Assemble, kept: Sequence[ContextMessage], allowance: int) -> _Recalled:
    try:
        return _recall(parts, request, kept, allowance)
    except Exception as error:  # noqa: BLE001 — the conversation must go on without its memory
        _log.exception("recall failed")
        return _Recalled(degraded=(f"nothing was recalled: {type(error).__name__}: {error}",))


def _recall(parts: Parts, request: Assemble, kept: Sequence[ContextMessage], allowance: int) -> _Recalled:
    query = request.query or _last_question(kept)
    if not query:
        return _Recalled()
    ids = tuple(message.id for message in kept if message.id is not None)
    search = Search(
        text=query,
        k=parts.config.recall_candidates,
        user_id=request.user_id,
        session_id=request.session_id,
        exclude=_already_there(request, ids),
    )
    found, degraded = recall(parts, search, parts.config.recall_min_similarity)
    present = {message.text for message in kept}
    wanted = [item for item in found if item.record.text not in present]
    chosen, text, tokens = _fit(parts, wanted, allowance)
    _count_uses(parts, chosen)
    return _Recalled(tuple(chosen), text, tokens, degraded)


def _last_question(kept: Sequence[ContextMessage]) -> str:
    return next((message.text for message in reversed(kept) if role_of(message.role) is Role.USER), "")


def _already_there(request: Assemble, ids: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The tail, under the names it has in the collections that recall searches."""
    there = {identity.session(request.session_id): ids}
    if request.user_id is not None:
        there[identity.turns_of(request.user_id)] = tuple(identity.turn_name(request.session_id, id_) for id_ in ids)
    return there


def _fit(parts: Parts, wanted: Sequence[Found], allowance: int) -> tuple[list[Found], str, int]:
    """Best first, each that still fits beside those before it; lines count as they will be rendered."""
    newline = 1
    used = parts.counter.bound(FRAME_OPEN) + parts.counter.bound(FRAME_CLOSE) + MESSAGE_OVERHEAD_TOKENS + newline
    chosen: list[Found] = []
    quoted: list[Quoted] = []
    for found in wanted:
        if allowance - used < _SHORTEST_ITEM_TOKENS:
            break
        item = _quoted(found.record, max_chars=max(int(allowance * _ITEM_SHARE) * 4, 64))
        cost = parts.counter.bound(line(item)) + newline
        if used + cost <= allowance:
            chosen.append(found)
            quoted.append(item)
            used += cost
    return (chosen, frame(quoted), used) if chosen else ([], "", 0)


def _quoted(record: Record, max_chars: int) -> Quoted:
    speaker = record.metadata.get("speaker")
    return Quoted(
        ref=f"{record.collection}/{record.id}",
        when=datetime.fromtimestamp(record.ts_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ"),
        who=speaker if isinstance(speaker, str) else record.role or "note",
        trust=record.trust,
        text=clip(record.text, max_chars),
    )


def _count_uses(parts: Parts, chosen: Sequence[Found]) -> None:
    """Only what entered the context counts as used; what was merely considered does not."""
    uses: dict[str, list[str]] = {}
    for found in chosen:
        uses.setdefault(found.record.collection, []).append(found.record.id)
    if uses:
        parts.store.touch(uses, parts.clock.now_ms())


# --- receipt ---------------------------------------------------------------------------------------


def _context(kept: Sequence[ContextMessage], tail: Tail, allocation: Allocation, recalled: _Recalled) -> Context:
    whole = allocation.degraded is None
    tail_tokens = tail.tokens if whole else tail.base_tokens
    sections = (
        Section(
            name="tail",
            budget_tokens=allocation.base + allocation.extension.allowed,
            used_tokens=tail_tokens,
            items=len(kept),
        ),
        Section(
            name="recalled",
            budget_tokens=allocation.recall,
            used_tokens=recalled.tokens,
            items=len(recalled.found),
        ),
    )
    return Context(
        messages=tuple(kept),
        recalled_text=recalled.text,
        recalled=tuple(map(hit, recalled.found)),
        sections=sections,
        budget_tokens=allocation.total,
        used_tokens=sum(section.used_tokens for section in sections),
        degraded=recalled.degraded,
    )


def _shares(parts: Parts) -> Shares:
    return Shares(soft=0.0, tail=parts.config.tail_share, guidance=0.0)


def _checked_budget(parts: Parts, budget_tokens: int | None) -> int:
    total = parts.config.budget_tokens if budget_tokens is None else budget_tokens
    if not MIN_BUDGET_TOKENS <= total <= MAX_BUDGET_TOKENS:
        raise InvalidInput(f"budgetTokens must be from {MIN_BUDGET_TOKENS} to {MAX_BUDGET_TOKENS}, not {total}")
    return total

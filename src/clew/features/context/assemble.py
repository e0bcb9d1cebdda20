"""A context for the next model call: rules, the recent tail, guidance and recall, in budget, with a receipt.

Read `assemble` top-down: rules, turns, tail, question, plan, recall, receipt. Whatever fails of memory,
the conversation goes on: the rules that could be read and the turns stand, and the reason is in the result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from clew.core import identity
from clew.core.budget import Allocation, Shares, plan
from clew.core.model import Role, role_of
from clew.core.ranking import SIMILARITY_ALONE
from clew.features.authored.service import Library, Shelf, over_share
from clew.features.context.lines import lines_that_fit
from clew.features.context.observed import Mode, Observed, as_it_is, behind_observed, checked_mode, fitted, observed
from clew.features.context.operations import Assemble, Context, LeftOut
from clew.features.context.projection import project
from clew.features.context.receipt import Assembly, Recalled, frame_tokens
from clew.features.facts.truth import Truth
from clew.features.guidance import service as guidance
from clew.features.history.operations import ContextMessage
from clew.features.history.outline import behind_covered, outline
from clew.features.history.recent import recent_turns
from clew.features.history.tail import Tail, TailTurn
from clew.features.history.turns import (
    MESSAGE_OVERHEAD_TOKENS,
    checked_budget,
    tail_of,
    tail_target,
    tail_turn,
    within_limit,
)
from clew.features.observations.service import buffer_tail
from clew.index.search import Query
from clew.kernel.operations import Message
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, quoted
from clew.kernel.search import Found, best, origin, prepare, visible_collections
from clew.kernel.services import serves
from clew.text.framing import GUIDANCE_CLOSE, GUIDANCE_OPEN, line

T = TypeVar("T")

GUIDANCE_CANDIDATES = 50
IN_CONTEXT = "in the context already"
NO_ROOM = "no room in the budget"
UNRELATED = "not related to the question"

_log = logging.getLogger("clew.assemble")


@serves(Assemble)
def assemble(parts: Parts, request: Assemble) -> Context:
    with parts.indexes.once():
        return _assembled(parts, request)


def _assembled(parts: Parts, request: Assemble) -> Context:
    room = _Room.of(parts, request)
    mode = checked_mode(request.mode)
    troubles = _Troubles()
    latest = parts.state(Library).latest
    shelf = troubles.guard("authored text was not read anew", lambda: parts.state(Library).current(), latest)
    troubles.add(*shelf.troubles, over_share(parts, shelf.hard, room.limit))
    seen = None if mode is Mode.RECALL else _observed(parts, request, room.limit, troubles)
    given, turns = _turns(parts, request, room, seen)
    start = troubles.guard("summaries were not looked up", lambda: _uncovered(parts, request, given, turns, seen), 0)
    tail = _granted_tail(parts, room, shelf, turns[start:], tail_of if seen is None else buffer_tail)
    kept = given[start + tail.start :]
    asked = troubles.guard("nothing was recalled", lambda: _ask(parts, request, kept), None)
    guiding: list[Found] = []
    if asked is not None:
        troubles.add(*asked.troubles)
        guiding = troubles.guard("no guidance was recalled", lambda: _guidance(parts, request, asked, kept), guiding)
    now_ms = parts.clock.now_ms()
    lines = [line(quoted(item.record, now_ms), GUIDANCE_CANDIDATES) for item in guiding]
    shown = None
    if seen is not None:
        plain = _plan(parts, room, shelf, tail, ())
        shown = troubles.guard("nothing observed is shown", partial(fitted, parts, seen, plain), None)
    allocation = _plan(parts, room, shelf, tail, lines, observed_tokens=shown.tokens if shown else 0)
    unknown: frozenset[str] = frozenset()
    stored = troubles.guard("turns were not looked up", lambda: _stored_ids(parts, request, kept), unknown)
    context = Assembly(request.session_id, shelf, tuple(kept), stored, tail, allocation, tuple(guiding), now_ms)
    context = replace(context, observed=shown, recalled=None if mode is Mode.OBSERVATIONS else Recalled())
    if asked is not None and allocation.degraded is None and mode is not Mode.OBSERVATIONS:
        recalled = troubles.guard("nothing was recalled", lambda: _recall(parts, request, asked, context), Recalled())
        context = replace(context, recalled=recalled)
    if allocation.degraded is None:
        used = [*context.guidance, *(context.recalled.found if context.recalled else ())]
        troubles.guard("uses were not counted", lambda: _count_uses(parts, used), None)
    troubles.add(allocation.degraded)
    return context.answer(troubles.reasons)


def planned(parts: Parts, session_id: str) -> Allocation:
    """How a session's context would divide the usual budget, before memory is asked."""
    request = Assemble(session_id=session_id)
    room = _Room.of(parts, request)
    _, turns = _turns(parts, request, room, None)
    shelf = parts.state(Library).current()
    return _plan(parts, room, shelf, _granted_tail(parts, room, shelf, turns, tail_of), ())


@dataclass(frozen=True, slots=True)
class _Room:
    """What a context may take, and what its tail grows to: a passing limit takes from recall before the tail."""

    limit: int
    tail: int
    is_limited: bool

    @classmethod
    def of(cls, parts: Parts, request: Assemble) -> _Room:
        budget = checked_budget(parts, request.budget_tokens)
        limit = within_limit(budget, request.limit_tokens)
        return cls(limit, min(tail_target(parts, budget), limit), limit < budget)


@dataclass
class _Troubles:
    """Why the context is not as good as it could be. The conversation must go on without its memory."""

    reasons: list[str] = field(default_factory=list)

    def add(self, *reasons: str | None) -> None:
        self.reasons += [reason for reason in reasons if reason is not None and reason not in self.reasons]

    def guard(self, what: str, attempt: Callable[[], T], otherwise: T) -> T:
        try:
            return attempt()
        except Exception as error:  # noqa: BLE001 — whatever a memory part does, the turns still stand
            _log.exception("%s", what)
            self.add(f"{what}: {type(error).__name__}: {error}")
            return otherwise


# --- turns -----------------------------------------------------------------------------------------


def _observed(parts: Parts, request: Assemble, total: int, troubles: _Troubles) -> Observed | None:
    """The observation log and what stands behind it; None where it cannot be read."""
    made = troubles.guard("turns were not observed", lambda: observed(parts, request, total), None)
    return made or troubles.guard("the observation log was not read", lambda: as_it_is(parts, request), None)


def _turns(
    parts: Parts, request: Assemble, room: _Room, seen: Observed | None
) -> tuple[Sequence[ContextMessage], Sequence[TailTurn]]:
    """What was said last, oldest first: as the caller gives it, or as it is stored."""
    if request.messages is None and seen is not None:
        return seen.messages, seen.turns
    if request.messages is None:
        recent = recent_turns(parts, request.session_id, room.tail)
        return recent.messages, recent.turns
    identity.session(request.session_id)
    given = [_given_message(message) for message in request.messages]
    return given, [tail_turn(parts, message) for message in given]


def _uncovered(
    parts: Parts,
    request: Assemble,
    given: Sequence[ContextMessage],
    turns: Sequence[TailTurn],
    seen: Observed | None,
) -> int:
    """Where given messages begin that no summary, or no observation, stands for; further back only as far as the
    base needs.

    Stored turns that something stands for are not read in the first place.
    """
    if request.messages is None:
        return 0
    place = behind_covered(parts, request.session_id, given) if seen is None else behind_observed(parts, seen, given)
    return min(place, tail_of(parts, turns, 0).start)


def _stored_ids(parts: Parts, request: Assemble, tail: Sequence[ContextMessage]) -> frozenset[str]:
    """Those of the tail that a receipt can point at: a caller may give turns that were never stored."""
    ids = [message.id for message in tail if message.id is not None]
    if request.messages is None or not ids:
        return frozenset(ids)
    return frozenset(record.id for record in parts.store.get(identity.session_raw(request.session_id), ids))


def _given_message(message: Message) -> ContextMessage:
    return ContextMessage(
        role=message.role,
        text=message.text,
        id=message.id,
        tool_call_ids=message.tool_call_ids,
        tool_call_id=message.tool_call_id,
    )


# --- the question ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    query: Query
    exclude: dict[str, tuple[str, ...]]
    troubles: tuple[str, ...]


def _ask(parts: Parts, request: Assemble, tail: Sequence[ContextMessage]) -> _Asked | None:
    """What memory is asked for: the caller's query, else the newest question. None where there is neither."""
    text = request.query or _last_question(tail)
    if not text:
        return None
    query, troubles = prepare(parts, text, visible_collections(request.user_id, request.session_id))
    ids = tuple(message.id for message in tail if message.id is not None)
    return _Asked(query, _already_there(request, ids), troubles)


def _last_question(tail: Sequence[ContextMessage]) -> str:
    return next((message.text for message in reversed(tail) if _is_said_by_user(message)), "")


def _is_said_by_user(message: ContextMessage) -> bool:
    """Some hosts send tool results in the user's name."""
    return role_of(message.role) is Role.USER and message.tool_call_id is None


def _already_there(request: Assemble, ids: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The tail, under the names it has where it might be found: its replies are shown to no search in its session."""
    named = tuple(identity.turn_name(request.session_id, id_) for id_ in ids)
    there = dict.fromkeys(guidance.collections(request.user_id, request.session_id), named)
    there[identity.session(request.session_id)] = ids
    if request.user_id is not None:
        there[identity.turns_of(request.user_id)] = named
    return there


# --- the plan ----------------------------------------------------------------------------------------


def _granted_tail(
    parts: Parts,
    room: _Room,
    shelf: Shelf,
    turns: Sequence[TailTurn],
    cut: Callable[[Parts, Sequence[TailTurn], int], Tail],
) -> Tail:
    """The tail as far as rules leave room for it. Guidance and recall come after it, and cannot change it."""
    tail = cut(parts, turns, room.tail)
    allocation = _plan(parts, room, shelf, tail, ())
    if allocation.extension.used < tail.tokens - tail.base_tokens:
        tail = cut(parts, turns, allocation.base + allocation.extension.used)
    return tail


def _guidance(parts: Parts, request: Assemble, asked: _Asked, tail: Sequence[ContextMessage]) -> list[Found]:
    """What the user laid down that the question touches, nearest first; each sentence once."""
    names = guidance.collections(request.user_id, request.session_id)
    query = replace(asked.query, weights=SIMILARITY_ALONE)
    least = parts.config.recall_min_similarity
    with parts.store.reading():
        found = best(parts, query, names, GUIDANCE_CANDIDATES, exclude=asked.exclude, at_least=least)
    said = {message.text for message in tail if _is_said_by_user(message)}
    nearest: dict[str, Found] = {}
    for item in found:
        if item.candidate.similarity > least and guidance.may_guide(item.record) and item.record.text not in said:
            nearest.setdefault(item.record.text, item)
    return list(nearest.values())


def _plan(
    parts: Parts, room: _Room, shelf: Shelf, tail: Tail, guidance_lines: Sequence[str], *, observed_tokens: int = 0
) -> Allocation:
    """Observations have a room of their own that nothing else can claim, so they count as what is always there."""
    config = parts.config
    overhead = MESSAGE_OVERHEAD_TOKENS if shelf.hard or shelf.soft else 0
    return plan(
        room.limit,
        hard=sum(piece.tokens for piece in shelf.hard) + overhead + observed_tokens,
        base=tail.base_tokens,
        soft=[piece.tokens for piece in shelf.soft],
        extension=tail.extension,
        guidance=[line_tokens(parts, text) for text in guidance_lines],
        guidance_frame=frame_tokens(parts, GUIDANCE_OPEN, GUIDANCE_CLOSE),
        shares=Shares(soft=config.authored_soft_share, tail=config.tail_share, guidance=config.guidance_share),
        tail_target=room.tail if room.is_limited else None,
    )


# --- recall ----------------------------------------------------------------------------------------


def _recall(parts: Parts, request: Assemble, asked: _Asked, context: Assembly) -> Recalled:
    """What fits of what memory has to say that does not stand in the context already."""
    collections = visible_collections(request.user_id, request.session_id)
    texts = {message.text for message in context.messages} | {item.record.text for item in context.guidance}
    with parts.store.reading():
        found, unrelated = project(parts, asked.query, collections, asked.exclude, texts)
        behind = _outline(parts, request, {item.ref for item in found})
    origins = {origin(item.record) for item in context.guidance}
    there = [item.record.text in texts or (bool(origins) and origin(item.record) in origins) for item in found]
    wanted = [item for item, is_there in zip(found, there, strict=True) if not is_there]
    wanted += behind
    truth = Truth(parts, request.user_id, context.now_ms)
    chosen, text, tokens = lines_that_fit(parts, asked.query, wanted, context, truth)
    taken = {item.ref for item in chosen}
    left_out = [
        LeftOut(ref=item.ref, reason=IN_CONTEXT) for item, is_there in zip(found, there, strict=True) if is_there
    ]
    left_out += [LeftOut(ref=item.ref, reason=NO_ROOM) for item in wanted if item.ref not in taken]
    behind_refs = {item.ref for item in behind}
    left_out += [LeftOut(ref=item.ref, reason=UNRELATED) for item in unrelated if item.ref not in behind_refs]
    return Recalled(tuple(chosen), text, tokens, tuple(left_out))


def _outline(parts: Parts, request: Assemble, there: set[str]) -> list[Found]:
    """What the summaries of this conversation say. Given messages without a beginning are all there is of it."""
    since_ms = request.since if request.messages is not None else request.since or 0
    return [] if since_ms is None else outline(parts, request.session_id, since_ms, there)


def _count_uses(parts: Parts, chosen: Sequence[Found]) -> None:
    """Only what entered the context counts as used; what was merely considered does not."""
    uses: dict[str, list[str]] = {}
    for found in chosen:
        uses.setdefault(found.record.collection, []).append(found.record.id)
    if uses:
        parts.store.touch(uses, parts.clock.now_ms())

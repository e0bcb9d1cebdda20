"""A context with the observation log: the block of observations, then the turns that are not yet in it.

The same lines are in the block from one context to the next until the observer runs again, so that the prompt begins
with the same bytes. The room for the block is therefore the rest when the tail and guidance take all they ever may, not
the rest that one question happens to leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from clew.core.budget import Allocation, portion
from clew.core.collections import Collection
from clew.errors import InvalidInput
from clew.features.context.operations import Assemble, LeftOut
from clew.features.context.receipt import ObservedBlock, frame_tokens
from clew.features.history.operations import ContextMessage
from clew.features.history.tail import TailTurn
from clew.features.history.turns import stored_message, tail_of, tail_target, tail_turn
from clew.features.observations.block import block
from clew.features.observations.observer import within
from clew.features.observations.service import catch_up, costing, turns_behind
from clew.features.observations.store import Log, line_ref, read_log
from clew.kernel.parts import Parts
from clew.text.framing import LOG_CLOSE, LOG_OPEN

BESIDE_RECALL_SHARE = 0.25
"""The block's share of the room for both, where memories are recalled as well."""

NO_ROOM = "no room in the budget"


class Mode(StrEnum):
    """The past that a context knows beyond its tail."""

    RECALL = "recall"
    OBSERVATIONS = "observations"
    BOTH = "both"


def checked_mode(name: str) -> Mode:
    try:
        return Mode(name)
    except ValueError:
        raise InvalidInput(f"mode must be one of {', '.join(Mode)}") from None


@dataclass(frozen=True, slots=True)
class Observed:
    """The log of a session and the turns behind it."""

    session_id: str
    mode: Mode
    log: Log
    messages: tuple[ContextMessage, ...]
    turns: tuple[TailTurn, ...]


def observe(parts: Parts, request: Assemble, total: int) -> Observed:
    """Observes first the turns that the tail has no room for."""
    limit = min(parts.tuning.observe_buffer_tokens, tail_target(parts, total))
    return _with_buffer(parts, request, catch_up(parts, request.session_id, limit).after)


def read_observed(parts: Parts, request: Assemble) -> Observed:
    """The log as it is."""
    return _with_buffer(parts, request, read_log(parts, request.session_id))


def behind_observed(parts: Parts, seen: Observed, messages: Sequence[ContextMessage]) -> int:
    """The place behind the last of the given messages that the log covers."""
    until = seen.log.until
    ids = [message.id for message in messages if message.id is not None]
    known = parts.store.get(Collection.raw(seen.session_id), ids) if until and ids else []
    told = {turn.id for turn in known if turn.seq <= until}
    return max((place for place, message in enumerate(messages, start=1) if message.id in told), default=0)


def fit_block(parts: Parts, seen: Observed, plan: Allocation) -> ObservedBlock:
    """The block within its room; where that is too small, the oldest of the lines that matter least are left out."""
    total = plan.total
    authored = plan.hard + plan.soft.used
    tail = max(tail_target(parts, total), plan.base)
    room = max(total - authored - tail - portion(total, parts.config.guidance_share), 0)
    if seen.mode is Mode.BOTH:
        room = portion(room, BESIDE_RECALL_SHARE)
    frame = frame_tokens(parts, LOG_OPEN, LOG_CLOSE)
    cost = costing(parts)
    shown = within(seen.log.lines, room - frame, cost)
    there = set(shown)
    gone = [line for line in seen.log.lines if line not in there]
    return ObservedBlock(
        text=block(shown),
        tokens=frame + sum(map(cost, shown)) if shown else 0,
        allowed=room,
        refs=tuple(line_ref(seen.session_id, line) for line in shown),
        left_out=tuple(LeftOut(ref=line_ref(seen.session_id, line), reason=NO_ROOM) for line in gone),
    )


def _with_buffer(parts: Parts, request: Assemble, log: Log) -> Observed:
    """Turns that are in the log come back only where the base needs them."""
    messages = [stored_message(turn) for turn in turns_behind(parts, request.session_id, log.until)]
    if len(messages) < parts.config.tail_min_turns and log.until:
        newest = parts.store.newest(Collection.raw(request.session_id), None, 2 * parts.config.tail_min_turns)
        known = [stored_message(turn) for turn in reversed(newest)]
        messages = known[tail_of(parts, [tail_turn(parts, message) for message in known], 0).start :]
    turns = tuple(tail_turn(parts, message) for message in messages)
    return Observed(request.session_id, Mode(request.mode), log, tuple(messages), turns)

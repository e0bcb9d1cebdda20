"""A context for the next model call: rules, the recent tail, guidance and recall, in budget, with a receipt.

Read `assemble` top-down: rules, turns, tail, question, plan, recall, receipt. Any part of memory may fail: the context
then still holds the rules that could be read and the turns, and says why the rest is missing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps

from clew.core.budget import Allocation, Shares, plan
from clew.core.collections import Collection
from clew.core.ids import turn_name
from clew.core.model import Role, role_of
from clew.features.authored.service import Library, Shelf, over_share
from clew.features.context.guided import MAX_CANDIDATES, Guided, find_guidance
from clew.features.context.observed import (
    Mode,
    Observed,
    behind_observed,
    checked_mode,
    fit_block,
    observe,
    read_observed,
)
from clew.features.context.operations import Assemble, Context, LeftOut
from clew.features.context.recall import find_fitting, lines_that_fit
from clew.features.context.receipt import Assembly, ObservedBlock, Recalled, frame_tokens
from clew.features.facts.truth import Truth
from clew.features.guidance import service as guidance
from clew.features.history.operations import ContextMessage
from clew.features.history.outline import behind_covered, outline
from clew.features.history.tail import Tail, TailTurn
from clew.features.history.turns import (
    MESSAGE_OVERHEAD_TOKENS,
    checked_budget,
    recent_turns,
    tail_of,
    tail_target,
    tail_turn,
    within_limit,
)
from clew.features.observations.service import buffer_tail
from clew.index.search import Query
from clew.kernel.intake import check_project
from clew.kernel.operations import Message
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, quote_line
from clew.kernel.search import Found, origin, prepare, visible_collections
from clew.kernel.services import serves
from clew.text.framing import GUIDANCE_CLOSE, GUIDANCE_OPEN, line

IN_CONTEXT = "in the context already"
NO_ROOM = "no room in the budget"
UNRELATED = "not related to the question"
UNTRUSTED = "of a tool or from outside, and not of this session"

_log = logging.getLogger("clew.assemble")


@serves(Assemble)
def assemble(parts: Parts, request: Assemble) -> Context:
    with parts.indexes.once():
        draft = _Draft(parts, request)
        draft.read_rules()
        draft.read_observations()
        draft.read_turns()
        draft.skip_covered_turns()
        draft.cut_tail()
        draft.ask_memory()
        draft.find_guidance()
        draft.show_observations()
        draft.divide_budget()
        draft.find_stored_turns()
        draft.recall()
        draft.count_uses()
        return draft.answer()


def planned(parts: Parts, session_id: str) -> Allocation:
    """How a session's context would divide the usual budget, before memory is asked."""
    draft = _Draft(parts, Assemble(session_id=session_id))
    draft.shelf = parts.state(Library).current()
    draft.read_turns()
    draft.cut_tail()
    return draft.allocation


@dataclass(frozen=True, slots=True)
class _Room:
    """The bound of a context, and the target of its tail: a passing limit takes from recall before the tail."""

    limit: int
    tail: int
    is_limited: bool

    @classmethod
    def of(cls, parts: Parts, request: Assemble) -> _Room:
        budget = checked_budget(parts, request.budget_tokens)
        limit = within_limit(budget, request.limit_tokens)
        return cls(limit, min(tail_target(parts, budget), limit), limit < budget)


Step = Callable[["_Draft"], None]


def _optional(trouble: str) -> Callable[[Step], Step]:
    """Makes a step that may fail in any way: the context goes on without it and says so."""

    def guarded(step: Step) -> Step:
        @wraps(step)
        def attempt(draft: _Draft) -> None:
            try:
                step(draft)
            except Exception as error:  # noqa: BLE001 — whatever part of memory fails, the turns are still there
                _log.exception("%s", trouble)
                draft.note(f"{trouble}: {type(error).__name__}: {error}")

        return attempt

    return guarded


class _Draft:
    """A context under way. Each step adds its part; a step that fails leaves the earlier parts in place."""

    def __init__(self, parts: Parts, request: Assemble) -> None:
        self.parts = parts
        self.request = request
        self.room = _Room.of(parts, request)
        self.mode = checked_mode(request.mode)
        check_project(request.project)
        self.now_ms = parts.clock.now_ms()
        self.degraded: list[str] = []
        self.shelf: Shelf = parts.state(Library).latest
        self.seen: Observed | None = None
        self.given: Sequence[ContextMessage] = ()
        self.turns: Sequence[TailTurn] = ()
        self.tail = Tail(0, 0, 0, 0)
        self.asked: _Asked | None = None
        self.guided = Guided()
        self.observations: ObservedBlock | None = None
        self.stored_ids: frozenset[str] = frozenset()
        self.recalled: Recalled | None = None if self.mode is Mode.OBSERVATIONS else Recalled()
        self.allocation: Allocation

    def note(self, *reasons: str | None) -> None:
        """Says why the context is not as good as it could be."""
        self.degraded += [reason for reason in reasons if reason is not None and reason not in self.degraded]

    # --- rules and turns -------------------------------------------------------------------------------

    def read_rules(self) -> None:
        self._refresh_rules()
        self.note(*self.shelf.troubles, over_share(self.parts, self.shelf.hard, self.room.limit))

    @_optional("authored text was not read anew")
    def _refresh_rules(self) -> None:
        self.shelf = self.parts.state(Library).current()

    def read_observations(self) -> None:
        """Brings the observation log up to date; where that fails, takes it as it is."""
        if self.mode is not Mode.RECALL:
            self._observe()
            if self.seen is None:
                self._read_log()

    @_optional("turns were not observed")
    def _observe(self) -> None:
        self.seen = observe(self.parts, self.request, self.room.limit)

    @_optional("the observation log was not read")
    def _read_log(self) -> None:
        self.seen = read_observed(self.parts, self.request)

    def read_turns(self) -> None:
        """Reads the last turns, oldest first: as the caller gives them, or as they are stored."""
        if self.request.messages is not None:
            Collection.session(self.request.session_id)  # refuses a name that no session can have
            self.given = [_given_message(message) for message in self.request.messages]
            self.turns = [tail_turn(self.parts, message) for message in self.given]
        elif self.seen is not None:
            self.given, self.turns = self.seen.messages, self.seen.turns
        else:
            recent = recent_turns(self.parts, self.request.session_id, self.room.tail)
            self.given, self.turns = recent.messages, recent.turns

    @_optional("summaries were not looked up")
    def skip_covered_turns(self) -> None:
        """Drops given turns that a summary or an observation covers, but for those that the base needs.

        Stored turns that something covers are not read in the first place.
        """
        if self.request.messages is None:
            return
        if self.seen is None:
            place = behind_covered(self.parts, self.request.session_id, self.given)
        else:
            place = behind_observed(self.parts, self.seen, self.given)
        start = min(place, tail_of(self.parts, self.turns, 0).start)
        self.given, self.turns = self.given[start:], self.turns[start:]

    def cut_tail(self) -> None:
        """The tail as far as rules leave room for it. Guidance and recall come after it, and cannot change it."""
        cut = tail_of if self.seen is None else buffer_tail
        self.tail = cut(self.parts, self.turns, self.room.tail)
        self.divide_budget()
        if self.allocation.extension.used < self.tail.tokens - self.tail.base_tokens:
            self.tail = cut(self.parts, self.turns, self.allocation.base + self.allocation.extension.used)
            self.divide_budget()

    @property
    def messages(self) -> Sequence[ContextMessage]:
        """The turns of the tail."""
        return self.given[self.tail.start :]

    # --- the question ----------------------------------------------------------------------------------

    @_optional("nothing was recalled")
    def ask_memory(self) -> None:
        """Asks for the caller's query, else for the newest question. Asks nothing where there is neither."""
        text = self.request.query or _last_question(self.messages)
        if text:
            collections = visible_collections(self.request.user_id, self.request.session_id)
            query, troubles = prepare(self.parts, text, collections)
            ids = tuple(message.id for message in self.messages if message.id is not None)
            self.asked = _Asked(query, _already_there(self.request, ids))
            self.note(*troubles)

    @_optional("no guidance was recalled")
    def find_guidance(self) -> None:
        """The user's guidance that holds, the most fitting first; the tail's own words are not said again."""
        names = guidance.collections(self.request.user_id, self.request.session_id)
        ids = tuple(message.id for message in self.messages if message.id is not None)
        said = {message.text for message in self.messages if _is_said_by_user(message)}
        query = None if self.asked is None else self.asked.query
        self.guided = find_guidance(self.parts, query, names, _already_there(self.request, ids), said)

    # --- the plan --------------------------------------------------------------------------------------

    @_optional("nothing observed is shown")
    def show_observations(self) -> None:
        if self.seen is not None:
            self.observations = fit_block(self.parts, self.seen, self.allocation)

    def divide_budget(self) -> None:
        """Plans with the sections known so far."""
        config, shelf = self.parts.config, self.shelf
        overhead = MESSAGE_OVERHEAD_TOKENS if shelf.hard or shelf.soft else 0
        lines = (line(quote_line(item.record, self.now_ms), MAX_CANDIDATES) for item in self.guided.found)
        self.allocation = plan(
            self.room.limit,
            hard=sum(piece.tokens for piece in shelf.hard) + overhead,
            base=self.tail.base_tokens,
            observed=self.observations.tokens if self.observations else 0,
            soft=[piece.tokens for piece in shelf.soft],
            extension=self.tail.extension,
            guidance=[line_tokens(self.parts, text) for text in lines],
            guidance_frame=frame_tokens(self.parts, GUIDANCE_OPEN, GUIDANCE_CLOSE),
            shares=Shares(soft=config.authored_soft_share, tail=config.tail_share, guidance=config.guidance_share),
            tail_target=self.room.tail if self.room.is_limited else None,
        )

    @_optional("turns were not looked up")
    def find_stored_turns(self) -> None:
        """Finds those of the tail that a receipt can point at: a caller may give turns that were never stored."""
        ids = [message.id for message in self.messages if message.id is not None]
        if self.request.messages is not None and ids:
            raw = Collection.raw(self.request.session_id)
            ids = [record.id for record in self.parts.store.get(raw, ids)]
        self.stored_ids = frozenset(ids)

    # --- recall ----------------------------------------------------------------------------------------

    @_optional("nothing was recalled")
    def recall(self) -> None:
        if self.asked is not None and self.allocation.degraded is None and self.mode is not Mode.OBSERVATIONS:
            self.recalled = _recall(self.parts, self.request, self.asked, self.assembly())

    @_optional("uses were not counted")
    def count_uses(self) -> None:
        """Counts only records that entered the context."""
        if self.allocation.degraded is None:
            found = [*self.assembly().guidance, *(self.recalled.found if self.recalled else ())]
            uses: dict[str, list[str]] = {}
            for item in found:
                uses.setdefault(item.record.collection, []).append(item.record.id)
            if uses:
                self.parts.store.touch(uses, self.parts.clock.now_ms())

    def assembly(self) -> Assembly:
        return Assembly(
            self.request.session_id,
            self.shelf,
            tuple(self.messages),
            self.stored_ids,
            self.tail,
            self.allocation,
            self.guided,
            self.now_ms,
            self.recalled,
            self.observations,
        )

    def answer(self) -> Context:
        self.note(self.allocation.degraded)
        return self.assembly().answer(self.degraded)


def _given_message(message: Message) -> ContextMessage:
    return ContextMessage(
        role=message.role,
        text=message.text,
        id=message.id,
        tool_call_ids=message.tool_call_ids,
        tool_call_id=message.tool_call_id,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    query: Query
    exclude: dict[Collection, tuple[str, ...]]


def _last_question(tail: Sequence[ContextMessage]) -> str:
    return next((message.text for message in reversed(tail) if _is_said_by_user(message)), "")


def _is_said_by_user(message: ContextMessage) -> bool:
    """Some hosts send tool results in the user's name."""
    return role_of(message.role) is Role.USER and message.tool_call_id is None


def _already_there(request: Assemble, ids: tuple[str, ...]) -> dict[Collection, tuple[str, ...]]:
    """The tail's ids in each collection where a search might find it; a search in its session shows no replies."""
    named = tuple(turn_name(request.session_id, id_) for id_ in ids)
    there = dict.fromkeys(guidance.collections(request.user_id, request.session_id), named)
    there[Collection.session(request.session_id)] = ids
    if request.user_id is not None:
        there[Collection.turns(request.user_id)] = named
    return there


def _recall(parts: Parts, request: Assemble, asked: _Asked, context: Assembly) -> Recalled:
    """The memories that fit and are not in the context already."""
    collections = visible_collections(request.user_id, request.session_id)
    texts = {message.text for message in context.messages} | {item.record.text for item in context.guidance}
    with parts.store.reading():
        found, unrelated, untrusted = find_fitting(
            parts, asked.query, collections, asked.exclude, texts, project=request.project
        )
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
    left_out += [LeftOut(ref=item.ref, reason=UNTRUSTED) for item in untrusted if item.ref not in behind_refs]
    return Recalled(tuple(chosen), text, tokens, tuple(left_out))


def _outline(parts: Parts, request: Assemble, there: set[str]) -> list[Found]:
    """The summaries of this conversation. Given messages without a beginning are all there is of it."""
    since_ms = request.since if request.messages is not None else request.since or 0
    return [] if since_ms is None else outline(parts, request.session_id, since_ms, there)

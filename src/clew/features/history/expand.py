"""The way back from a summary to the turns it covers.

Nothing here happens by itself: ordinary recall shows summaries as they are, and only an explicit
request opens one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

import re2

from clew.core.collections import Collection
from clew.core.lineage import Lineage, lineage_of
from clew.core.model import Record
from clew.errors import InvalidInput, NotFound
from clew.features.history.operations import (
    Describe,
    Expand,
    Expansion,
    Grep,
    GrepMatch,
    GrepResult,
    Node,
    SessionView,
    ShowSession,
)
from clew.kernel.operations import Search
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, render_turn, when
from clew.kernel.records import checked_cursor, checked_limit, view
from clew.kernel.search import MAX_HITS, recall
from clew.kernel.services import serves
from clew.kernel.views import Summary, active_view, all_summaries
from clew.storage.paging import every_member
from clew.text.framing import OPENED_CLOSE, OPENED_OPEN, dated, frame

MAX_MATCHES = 10_000
MAX_PATTERN_CHARS = 1000
_LINE_CHARS = 240


@serves(Grep)
def grep(parts: Parts, request: Grep) -> GrepResult:
    """Reads the history page by page, until there are enough matches or it is at its end.

    The next call goes on behind the last turn, so the lines of one turn stay together; of a turn with more
    matches than were asked for, the first ones represent all.
    """
    limit = checked_limit(request.limit, MAX_MATCHES)
    find = _finder(request)
    if parts.store.size(Collection.raw(request.session_id)) == 0:
        raise NotFound(f"there is no session {request.session_id!r}")
    after = checked_cursor(request.cursor)
    matches: list[GrepMatch] = []
    for turn in every_member(parts.store, Collection.raw(request.session_id), after):
        found = list(islice(_matching_lines(turn, find), limit))
        if len(matches) + len(found) > limit:
            return GrepResult(matches=tuple(matches), cursor=after)
        matches += found
        after = turn.seq
        if len(matches) == limit:
            return GrepResult(matches=tuple(matches), cursor=after)
    return GrepResult(matches=tuple(matches))


def _finder(request: Grep) -> Callable[[str], int]:
    """Where the first match of a line begins, or -1. Expressions run in time linear in the line, whatever they say."""
    if not 0 < len(request.pattern) <= MAX_PATTERN_CHARS:
        raise InvalidInput(f"pattern must have 1 to {MAX_PATTERN_CHARS} characters, not {len(request.pattern)}")
    if not request.regex:
        wanted = request.pattern.lower() if request.ignore_case else request.pattern
        return lambda line: (line.lower() if request.ignore_case else line).find(wanted)
    options = re2.Options()
    options.case_sensitive = not request.ignore_case
    options.log_errors = False
    try:
        pattern = re2.compile(request.pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it cannot be read"
        raise InvalidInput(f"pattern is not a regular expression: {_as_text(reason)}") from None
    return lambda line: found.start() if (found := pattern.search(line)) else -1


def _matching_lines(turn: Record, find: Callable[[str], int]) -> Iterator[GrepMatch]:
    for number, line in enumerate(turn.text.split("\n"), 1):
        at = find(line)
        if at >= 0:
            yield GrepMatch(
                id=turn.id,
                ts=turn.ts_ms,
                role=turn.role.value if turn.role else None,
                line_number=number,
                line=_around(line, at),
                trust=turn.trust.value,
            )


def _around(line: str, at: int) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, min(at - _LINE_CHARS // 3, len(line) - _LINE_CHARS))
    end = start + _LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _as_text(reason: object) -> str:
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


MAX_DEPTH = 64
MAX_OPENED = 100
MAX_EXPANSION_TOKENS = 200_000
"""The most that one expansion gives; it names the rest, which can be opened next."""


@serves(Expand)
def expand(parts: Parts, request: Expand) -> Expansion:
    """The turns under the summaries, in order, as many as the bounds allow; a turn's id gives that turn."""
    if not 1 <= request.max_depth <= MAX_DEPTH:
        raise InvalidInput(f"maxDepth must be from 1 to {MAX_DEPTH}, not {request.max_depth}")
    if not 1 <= len(request.ids) <= MAX_OPENED:
        raise InvalidInput(f"one expansion opens from 1 to {MAX_OPENED} nodes, not {len(request.ids)}")
    budget, now_ms = _checked_tokens(request.budget_tokens), parts.clock.now_ms()
    opening = _Opening(parts, request.session_id, budget, frozenset(request.exclude), now_ms)
    for id_ in request.ids:
        opening.open(_node(parts, request.session_id, id_), request.max_depth)
    return opening.expansion(request.query)


@dataclass
class _Opening:
    """Walks down from a summary. Nodes below the depth bound stay closed."""

    parts: Parts
    session_id: str
    budget: int
    excluded: frozenset[str]
    now_ms: int
    turns: list[Record] = field(default_factory=list)
    closed: list[Node] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def open(self, record: Record, depth: int) -> None:
        if (record.collection, record.id) in self.seen:
            return
        self.seen.add((record.collection, record.id))
        lineage = lineage_of(record)
        if lineage is None:
            if record.id not in self.excluded:
                self.turns.append(record)
        elif depth == 0:
            self.closed.append(_summary_node(record, lineage))
        else:
            below = Collection.raw if lineage.level == 1 else Collection.summaries
            for child in self.parts.store.get(below(self.session_id), lineage.source_ids):
                self.open(child, depth - 1 if lineage.level > 1 else 0)

    def expansion(self, query: str | None) -> Expansion:
        self.turns.sort(key=lambda turn: turn.seq)
        chosen, text, tokens = self._choose(self.turns if query is None else self._by_relevance(query))
        shown = {turn.id for turn in chosen}
        return Expansion(
            turns=tuple(view(turn) for turn in self.turns if turn.id in shown),
            text=text,
            closed=(*self.closed, *(_turn_node(turn) for turn in self.turns if turn.id not in shown)),
            tokens=tokens,
        )

    def _choose(self, ranked: Sequence[Record]) -> tuple[list[Record], str, int]:
        """The turns that fit, and their text. Lines cost less together than one by one; further turns fill the rest."""
        costs = [(turn, *self._costs(turn)) for turn in ranked]
        chosen: list[Record] = []
        text, tokens = "", 0
        around = self.parts.counter.bound(f"{OPENED_OPEN}\n{OPENED_CLOSE}")
        while further := _fit(costs, chosen, self.budget - max(tokens, around)):
            chosen += further
            text, tokens = self._render(chosen)
        while tokens > self.budget:  # where times go back and forth, more of them are shown than were counted
            too_many = len(chosen) * (tokens - self.budget) // tokens
            del chosen[-max(too_many, 1) :]
            text, tokens = self._render(chosen)
        return chosen, text, tokens

    def _costs(self, turn: Record) -> tuple[str, int, int]:
        """A turn's time, the cost of the line with that time, and the cost of the turn's own line."""
        at = when(turn, self.now_ms)
        return at, line_tokens(self.parts, dated(at)), line_tokens(self.parts, render_turn(turn))

    def _render(self, chosen: Sequence[Record]) -> tuple[str, int]:
        """In the order they were said; each time is a line above its turns."""
        lines: list[str] = []
        for at, turns in groupby(sorted(chosen, key=lambda turn: turn.seq), lambda turn: when(turn, self.now_ms)):
            lines += [dated(at), *map(render_turn, turns)]
        text = frame(lines, OPENED_OPEN, OPENED_CLOSE)
        return text, self.parts.counter.bound(text)

    def _by_relevance(self, query: str) -> list[Record]:
        search = Search(text=query, k=MAX_HITS, collections=(Collection.raw(self.session_id),))
        found, _ = recall(self.parts, search)
        rank = {item.record.id: place for place, item in enumerate(found)}
        return sorted(self.turns, key=lambda turn: rank.get(turn.id, len(rank)))


def _fit(costs: Sequence[tuple[Record, str, int, int]], there: Sequence[Record], left: int) -> list[Record]:
    """The turns that fit into the rest of the budget, tried in order. Turns of one time share the cost of its line."""
    shown = {turn.id for turn in there}
    named = {at for turn, at, _, _ in costs if turn.id in shown}
    found: list[Record] = []
    for turn, at, of_time, of_turn in costs:
        cost = of_turn if at in named else of_turn + of_time
        if turn.id not in shown and cost <= left:
            found.append(turn)
            named.add(at)
            left -= cost
    return found


@serves(Describe)
def describe(parts: Parts, request: Describe) -> Node:
    """One node with its lineage, both ways."""
    record = _node(parts, request.session_id, request.id)
    lineage = lineage_of(record)
    level = 0 if lineage is None else lineage.level
    parents = tuple(
        summary.record.id
        for summary in all_summaries(parts, request.session_id)
        if summary.lineage.level == level + 1 and record.id in summary.lineage.source_ids
    )
    in_view = bool(parts.store.seqs(Collection.session(request.session_id), [record.id]))
    if lineage is None:
        return _turn_node(record, parents=parents, in_view=in_view, text=record.text)
    return _summary_node(record, lineage, parents=parents, in_view=in_view, text=record.text)


@serves(ShowSession)
def show_session(parts: Parts, request: ShowSession) -> SessionView:
    session_id = request.session_id
    names = (Collection.raw(session_id), Collection.dismissed(session_id))
    turn_count, dismissed_count = (parts.store.size(name) for name in names)
    if turn_count == 0:
        raise NotFound(f"there is no session {session_id!r}")
    shown = active_view(parts, session_id)
    on_top = [_node_of(item, in_view=True) for item in shown.summaries]
    on_top += [_turn_node(turn, in_view=True) for turn in shown.turns]
    in_view = {item.record.id for item in shown.summaries}
    summaries = [_node_of(item, in_view=item.record.id in in_view) for item in all_summaries(parts, session_id)]
    return SessionView(
        session_id=session_id,
        turn_count=turn_count,
        view=tuple(sorted(on_top, key=lambda node: node.first_ts)),
        summaries=tuple(summaries),
        dismissed_count=dismissed_count,
    )


def _node(parts: Parts, session_id: str, id_: str) -> Record:
    for name in (Collection.summaries(session_id), Collection.raw(session_id)):
        for record in parts.store.get(name, [id_]):
            return record
    raise NotFound(f"session {session_id!r} has neither a summary nor a turn {id_!r}")


def _node_of(item: Summary, *, in_view: bool) -> Node:
    return _summary_node(item.record, item.lineage, in_view=in_view, text=item.record.text)


def _summary_node(
    record: Record, lineage: Lineage, *, parents: tuple[str, ...] = (), in_view: bool = False, text: str = ""
) -> Node:
    return Node(
        id=record.id,
        kind="summary",
        level=lineage.level,
        tokens=record.tokens,
        source_ids=lineage.source_ids,
        parent_ids=parents,
        prior_ids=lineage.prior_ids,
        turn_count=lineage.turn_count,
        first_ts=lineage.first_ts_ms,
        last_ts=lineage.last_ts_ms,
        compacted_ts=lineage.compacted_ts_ms,
        method=lineage.method,
        confidence=lineage.confidence,
        trivial=lineage.trivial,
        in_view=in_view,
        trust=record.trust.value,
        text=text,
    )


def _turn_node(record: Record, *, parents: tuple[str, ...] = (), in_view: bool = False, text: str = "") -> Node:
    return Node(
        id=record.id,
        kind="turn",
        level=0,
        tokens=record.tokens,
        parent_ids=parents,
        first_ts=record.ts_ms,
        last_ts=record.ts_ms,
        in_view=in_view,
        trust=record.trust.value,
        role=record.role.value if record.role else None,
        text=text,
    )


def _checked_tokens(budget_tokens: int | None) -> int:
    if budget_tokens is None:
        return MAX_EXPANSION_TOKENS
    if not 1 <= budget_tokens <= MAX_EXPANSION_TOKENS:
        raise InvalidInput(f"budgetTokens must be from 1 to {MAX_EXPANSION_TOKENS}, not {budget_tokens}")
    return budget_tokens

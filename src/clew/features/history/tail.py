"""Where a session may be cut: its recent tail, which the prompt holds word for word, and the clusters before it.

Some turns only make sense together: a request and the reply to it, a tool call and its results.
The tail's edge falls only where it parts no such pair, so a model never sees an answer without its
question, nor a result without its call (which chat APIs refuse outright).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from clew.core.model import Role


@dataclass(frozen=True, slots=True)
class TailTurn:
    """The part of a turn that matters here: its role, its size, and the tool calls it makes or answers."""

    role: Role
    tokens: int
    tool_call_ids: tuple[str, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tail:
    """The turns from `start` on; those from `base_start` on must always be there."""

    base_start: int
    start: int
    base_tokens: int
    tokens: int
    extension: tuple[int, ...] = ()
    """Tokens of each indivisible group of turns that extends the base to the tail, newest first.

    Where a budget grants only some of them, `split_tail` with the granted tokens as its target cuts at
    the same place.
    """


def split_tail(turns: Sequence[TailTurn], min_turns: int, target_tokens: int, max_turns: int | None = None) -> Tail:
    """The base of a session, oldest turn first, and the tail grown back from it within the target.

    The base is the shortest suffix of at least `min_turns` turns that parts no coupled turns. It
    stays whatever it costs; only the turns added before it have to fit `target_tokens` and `max_turns`.
    """
    edges = boundaries(turns)
    base_start = next((edge for edge in reversed(edges) if len(turns) - edge >= min_turns), 0)
    base_tokens = _tokens(turns[base_start:])
    start, tokens = base_start, base_tokens
    extension: list[int] = []
    for edge in reversed([edge for edge in edges if edge < base_start]):
        group = _tokens(turns[edge:start])
        grown = tokens + group
        if grown > target_tokens or (max_turns is not None and len(turns) - edge > max_turns):
            break
        start, tokens = edge, grown
        extension.append(group)
    return Tail(base_start, start, base_tokens, tokens, tuple(extension))


def boundaries(turns: Sequence[TailTurn]) -> list[int]:
    """Every position, from 0 to the number of turns, at which the turns may be cut in two."""
    partners = _earliest_partners(turns)
    edges = [len(turns)]
    earliest = len(turns)
    for position in range(len(turns) - 1, -1, -1):
        earliest = min(earliest, partners[position])
        if earliest == position:
            edges.append(position)
    return edges[::-1]


def _is_request(turn: TailTurn) -> bool:
    """Some hosts send tool results in the user's name; those ask for nothing."""
    return turn.role is Role.USER and turn.tool_call_id is None


def _tokens(turns: Sequence[TailTurn]) -> int:
    return sum(turn.tokens for turn in turns)


def _earliest_partners(turns: Sequence[TailTurn]) -> list[int]:
    """For each turn, the position of the earliest turn it must stay with; its own when there is none."""
    requests, calls = _Requests(), _Calls()
    return [min(requests.partner(turn, position), calls.partner(turn, position)) for position, turn in enumerate(turns)]


class _Requests:
    """Pairs the first reply after a request with it.

    Of several user turns in a row, the last is the one that is answered: in a group, people may talk
    among themselves for hours, and that must not weld into one. Only the first reply is coupled: a
    request that starts a long run of tool calls must not weld that whole run together.
    """

    def __init__(self) -> None:
        self._open: int | None = None

    def partner(self, turn: TailTurn, position: int) -> int:
        if _is_request(turn):
            self._open = position
            return position
        if self._open is None or turn.role not in (Role.ASSISTANT, Role.TOOL_CALL):
            return position
        asked, self._open = self._open, None
        return asked


class _Calls:
    """Pairs tool results with the turn that made the call.

    Hosts reuse ids, so a result belongs to the newest call of its id. A call repeated under an id
    that has no result yet is taken as the same call, unless a new request came between: then the
    earlier one was given up. A result without an id, or with an id that a call without ids may have
    made, belongs to the nearest call; one whose call is missing belongs to nothing.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, int] = {}
        self._unanswered: set[str] = set()
        self._newest: int | None = None
        self._newest_named = False

    def partner(self, turn: TailTurn, position: int) -> int:
        if _is_request(turn):
            self._unanswered.clear()
        answered = self._call_answered_by(turn)
        if turn.tool_call_ids or turn.role is Role.TOOL_CALL:
            answered = min(answered if answered is not None else position, self._place(turn, position))
        return position if answered is None else answered

    def _call_answered_by(self, turn: TailTurn) -> int | None:
        if turn.tool_call_id is None:
            return self._newest if turn.role is Role.TOOL_RESULT else None
        self._unanswered.discard(turn.tool_call_id)
        unnamed = None if self._newest_named else self._newest
        return self._by_id.get(turn.tool_call_id, unnamed)

    def _place(self, turn: TailTurn, position: int) -> int:
        """Remember the calls of this turn; gives the earliest turn that made one of them."""
        self._newest, self._newest_named = position, bool(turn.tool_call_ids)
        for call_id in turn.tool_call_ids:
            if call_id not in self._unanswered:
                self._by_id[call_id] = position
        self._unanswered.update(turn.tool_call_ids)
        return min((self._by_id[call_id] for call_id in turn.tool_call_ids), default=position)


DEFAULT_SIZE = 20
"""Turns of one cluster where nothing else is asked for."""


def split_clusters(edges: Sequence[int], count: int, size: int) -> list[range]:
    """Positions 0 to `count` as ranges of about `size` turns, cut only at `edges`.

    `edges` rise from 0 to `count`; a `size` that is not positive means the default. The turns are first
    divided evenly, then each dividing line moves to the nearest edge, the earlier one where two are
    equally near. A cluster that loses all its turns by that vanishes.
    """
    size = size if size > 0 else DEFAULT_SIZE
    clusters = -(-max(count, 1) // size)
    even = (-(-number * count // clusters) for number in range(1, clusters))
    cuts = sorted({0, count, *(_nearest(edges, place) for place in even)})
    return [range(start, end) for start, end in pairwise(cuts)]


def _nearest(edges: Sequence[int], place: int) -> int:
    after = min(bisect_left(edges, place), len(edges) - 1)
    before = max(after - 1, 0)
    return edges[before] if place - edges[before] <= edges[after] - place else edges[after]

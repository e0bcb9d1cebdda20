"""The observer: makes dated lines of turns, in the words of the turns.

A line quotes the sentences of one turn that tell most, or says in short what a tool was asked and how it ended. It
names its turns, their day, a day that they speak of, and its priority. The user's words weigh more than those of tools
and assistants: weight comes from the speaker first, and then from the words.

Lines come by rules from the turns and the lines before them, and from nothing else: the same turns give the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from operator import itemgetter

from clew.core.model import Role, Trust, least
from clew.features.observations.tools import ObservedTurn, Outcome, outcomes
from clew.text import sanitise, sentences
from clew.text.dates import clamped_day, referenced
from clew.text.excerpts import one_line
from clew.text.grading import importance, salience
from clew.text.grading.importance import Label
from clew.text.grading.salience import Statement
from clew.text.own_text import without_own

OBSERVED_SHARE = 0.10
"""The share of the bytes of the turns that their lines may take."""

LONGEST_LINE_CHARS = 320
TOOLS_SHARE = 0.2
"""The share of that for outcomes of tools: they tell less than words do."""

_LEAST_ROOM_BYTES = 240
_LEAST_OF_TOOLS_BYTES = 120
_READ_CHARS = 24_000
"""How much of a turn is read; a longer one is a pasted document, whose beginning and end tell most."""

_WHO_CHARS = 40
_GAP = " … "
_OF_OUTPUT, _OF_FAILURE = 0.4, 0.8
"""The weight of the outcome of a tool."""

_OF_USER = 2.0
"""The weight of the user's words; an assistant says more about less."""


class Priority(IntEnum):
    HIGH = 1
    MEDIUM = 2
    LOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A line of the log. Its run, and its place there, give its order."""

    priority: Priority
    ts_ms: int
    who: str
    text: str
    sources: tuple[str, ...]
    """Ids of the turns that it quotes."""
    trust: Trust
    is_own: bool
    """Whether the user said it."""
    when: str = ""
    """The day or month it speaks of, where that is not the day it was said."""
    relative: str = ""
    """How far that is from the day it was said."""
    run: int = 0
    place: int = 0
    method: str = "rules"

    @property
    def observed(self) -> str:
        return clamped_day(self.ts_ms)


Costing = Callable[[Observation], int]
"""The tokens of a line in a prompt."""


def observe(turns: Sequence[ObservedTurn], cost: Costing, heard: Sequence[str] = ()) -> list[Observation]:
    """The lines of one run, in the order of their turns; together smaller than the turns.

    `heard` are the lines of the log so far: what is new comes before what they say already. Skips quarantined turns.
    """
    seen = [replace(turn, text=_readable(turn.text)) for turn in turns if turn.trust is not Trust.QUARANTINED]
    ended = outcomes(seen)
    size = sum(len(turn.text.encode("utf-8", "replace")) for turn in seen)
    room = max(int(size * OBSERVED_SHARE), _LEAST_ROOM_BYTES)
    of_tools = _statements_of_tools(seen, ended)
    run = salience.choose(of_tools, max(int(room * TOOLS_SHARE), _LEAST_OF_TOOLS_BYTES), heard)
    spoken = _statements(seen)
    said = salience.choose(spoken, room - sum(len(of_tools[place].text) for place in run), heard)
    placed = [*_lines(seen, spoken, said), *_lines_of_tools(seen, ended, (of_tools[place].turn for place in run))]
    lines = [line for _, line in sorted(placed, key=itemgetter(0))]
    smaller = within(lines, sum(turn.tokens for turn in turns) - 1, cost)
    return [replace(line, place=place) for place, line in enumerate(smaller)]


def within(lines: Sequence[Observation], budget: int, cost: Costing) -> list[Observation]:
    """Drops the lines that matter least, until the others fit the budget."""
    costs = [cost(line) for line in lines]
    over = sum(costs) - budget
    gone: set[int] = set()
    for place in expendable(lines):
        if over <= 0:
            break
        gone.add(place)
        over -= costs[place]
    return [line for place, line in enumerate(lines) if place not in gone]


def expendable(lines: Sequence[Observation]) -> list[int]:
    """The places of lines in the order in which they may go: those that matter least first, and of these the oldest.

    Of lines that matter as much, those of the user go last.
    """
    return sorted(range(len(lines)), key=lambda place: (-lines[place].priority, lines[place].is_own, place))


def who_of(name: str) -> str:
    """A speaker as a short label."""
    return one_line(name, _WHO_CHARS) or "someone"


def weigh(text: str, *, is_own: bool) -> Priority:
    """The priority of spoken words. Only the user's own can have the highest."""
    label = importance.grade(text).label
    if label is Label.MUST_REMEMBER and is_own:
        return Priority.HIGH
    if label is Label.IGNORE:
        return Priority.MEDIUM if is_own and _LAID_DOWN.search(text) else Priority.LOW
    return Priority.MEDIUM


_LAID_DOWN = re.compile(
    r"#[0-9a-f]{3,8}\b|\b(?=[a-f]{0,5}\d)[0-9a-f]{6}\b|`[^`\n]{1,80}`|\b\w{1,40}\.(?:py|ts|tsx|js|md|json|toml|ya?ml|go|rs)\b"
    r"|\b(?:is|are|to|at|=|:) \d"
    r"|\b(?:wrong|incorrect|broken|instead|undid|revert(?:ed)?|undo|try again|not what i|should(?:n't)? (?:be|have|use)"
    r"|fucked|messed up|doesn't work|does not work|missing|lacking)\b|^(?:no|nope|nah|wait|stop|actually)\b"
    r"|\b(?:i|we) (?:want|need|still need|prefer|decided)\b|\b(?:don't|do not|make sure|please|let's|never|always)\b"
    r"|(?:^|[.,;!…] )(?:(?:and|then|now|ok|okay|also|alright),? )?(?:add|remove|delete|change|fix|use|put|read|write"
    r"|make|set|move|rename|keep|drop|run|check|show|create|update|replace|revert|implement|test|port|commit|push|copy"
    r"|try|give me|look at)\b"
    r"(?! (?:is|was|are)\b)",
    re.IGNORECASE,
)
"""A value, a correction or an instruction in the user's words: the work rests on it."""


def _readable(text: str) -> str:
    shown = sanitise.projection(without_own(text))
    half = _READ_CHARS // 2
    return shown if len(shown) <= _READ_CHARS else f"{shown[:half]}\n{shown[-half:]}"


# --- lines ---------------------------------------------------------------------------------------------


def _statements(turns: Sequence[ObservedTurn]) -> list[Statement]:
    """Every sentence that a line could quote."""
    return [
        Statement(turn.who, turn.ts_ms, piece, place, _weight(turn, piece), turn.role is Role.ASSISTANT)
        for place, turn in enumerate(turns)
        for piece in sentences.split(turn.spoken)
    ]


def _weight(turn: ObservedTurn, piece: str) -> float:
    if salience.is_idle(piece) or (turn.role is Role.ASSISTANT and salience.is_narration(piece)):
        return 0.0
    return _OF_USER if turn.is_own else 1.0


def _statements_of_tools(turns: Sequence[ObservedTurn], ended: Mapping[int, Outcome]) -> list[Statement]:
    return [
        Statement(turns[place].who, turns[place].ts_ms, came.text, place, _OF_FAILURE if came.failed else _OF_OUTPUT)
        for place, came in ended.items()
        if came.text
    ]


def _lines(
    turns: Sequence[ObservedTurn], statements: Sequence[Statement], chosen: Sequence[int]
) -> Iterator[tuple[int, Observation]]:
    """One line for the chosen sentences of a turn, with the place of the turn."""
    by_turn: dict[int, list[int]] = {}
    for place in chosen:
        by_turn.setdefault(statements[place].turn, []).append(place)
    for turn, places in by_turn.items():
        said = turns[turn]
        yield turn, line_of([said], _join(statements, places), is_own=said.is_own)


def _lines_of_tools(
    turns: Sequence[ObservedTurn], ended: Mapping[int, Outcome], chosen: Iterable[int]
) -> Iterator[tuple[int, Observation]]:
    """One line for a call with its results, with the place of the call."""
    for place in chosen:
        came = ended[place]
        told = [turns[at] for at in came.places]
        line = line_of(
            told, came.text, is_own=told[0].is_own, priority=Priority.MEDIUM if came.failed else Priority.LOW
        )
        yield place, line


def line_of(turns: Sequence[ObservedTurn], text: str, *, is_own: bool, priority: Priority | None = None) -> Observation:
    """A line that rests on turns.

    Without a priority, the text is spoken: its wording gives the priority, and it may name a day.
    """
    text = sentences.shorten(text, LONGEST_LINE_CHARS)
    named = referenced(text, turns[0].ts_ms) if priority is None else None
    return Observation(
        priority=weigh(text, is_own=is_own) if priority is None else priority,
        ts_ms=turns[0].ts_ms,
        who=who_of(turns[0].who),
        text=text,
        sources=tuple(turn.id for turn in turns),
        trust=least(turn.trust for turn in turns),
        is_own=is_own,
        when=named.when if named else "",
        relative=named.relative if named else "",
    )


def _join(statements: Sequence[Statement], places: Sequence[int]) -> str:
    said = statements[places[0]].text
    for before, place in pairwise(places):
        said += (_GAP if place > before + 1 else " ") + statements[place].text
    return said

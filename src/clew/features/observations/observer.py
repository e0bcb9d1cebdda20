"""The observer: turns become dated lines that say what was said and done, in the words that were used.

A line quotes the sentences of one turn that tell most, or says in short what a tool was asked and how it ended. It
names its turns, the day they were said and a day they speak of, and how much it matters. What a tool or an assistant
said never weighs as much as what the user laid down: weight comes from who speaks, and only then from the words.

Made by rules from the turns and from what the log says already, and from nothing else: the same turns give the same
lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from operator import itemgetter

from clew.core.model import Trust, least
from clew.features.observations.tools import ObservedTurn, Outcome, outcomes
from clew.text import sanitise, sentences
from clew.text.dates import clamped_day, referenced
from clew.text.excerpts import one_line
from clew.text.grading import importance, salience
from clew.text.grading.importance import Label
from clew.text.grading.salience import Statement
from clew.text.own_text import without_own

OBSERVED_SHARE = 0.10
"""How much of what the turns take their lines may take."""

LONGEST_LINE_CHARS = 320
TOOLS_SHARE = 0.2
"""Of that, how much the outcomes of tools may take: what was run tells less than what was said."""

_LEAST_ROOM_BYTES = 240
_LEAST_OF_TOOLS_BYTES = 120
_READ_CHARS = 24_000
"""How much of one turn is read; a longer one is a pasted document, whose beginning and end tell most."""

_WHO_CHARS = 40
_GAP = " … "
_OF_OUTPUT, _OF_FAILURE = 0.4, 0.8
"""What the outcome of a tool counts for beside others."""

_OF_USER = 2.0
"""What the user's own words count for beside those of an assistant, who says more about less."""

_ATTACHED = re.compile(
    r"'/[^'\n]{1,300}\.(?:png|jpe?g|gif|webp|heic|pdf|mov|mp4)'"
    r"|(?<!\S)/(?:\\ |[^\s'\"`]){1,300}\.(?:png|jpe?g|gif|webp|heic|mov|mp4)(?!\S)"
    r"|\[(?:image|document|file|audio|video)(?:: [^\]\n]{0,120})?\]",
    re.IGNORECASE,
)
"""What stands for a picture or a file that was handed over."""

_PROMPT = re.compile(r"(?:➜|\$ |❯|%)\s?")
"""Of a shell, in what was pasted from one."""


class Priority(IntEnum):
    HIGH = 1
    MEDIUM = 2
    LOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A line of the log. Its place is its run's number and its number there."""

    priority: Priority
    ts_ms: int
    who: str
    text: str
    sources: tuple[str, ...]
    """Ids of the turns whose words it holds."""
    trust: Trust
    is_own: bool
    """Whether it is the user's own word."""
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
"""What a line takes in a prompt, in tokens."""


def observe(turns: Sequence[ObservedTurn], cost: Costing, heard: Sequence[str] = ()) -> list[Observation]:
    """The lines of one run, in the order in which things were said; together smaller than the turns.

    `heard` is what the log says already: it is not told again where there is something new to tell. Nothing is told
    of a turn that is quarantined.
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
    """The lines without those that matter least, until the others fit the budget."""
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

    The user's own words go after those of others that matter as much, and never before any that matter less.
    """
    return sorted(range(len(lines)), key=lambda place: (-lines[place].priority, lines[place].is_own, place))


def who_of(name: str) -> str:
    """A speaker as a short label."""
    return one_line(name, _WHO_CHARS) or "someone"


def weigh(text: str, *, is_own: bool) -> Priority:
    """How much spoken words matter. Only the user's own can matter most."""
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
"""A value, a correction or an instruction: of the user's own words, what the work rests on."""


def _readable(text: str) -> str:
    shown = sanitise.projection(without_own(text))
    half = _READ_CHARS // 2
    return shown if len(shown) <= _READ_CHARS else f"{shown[:half]}\n{shown[-half:]}"


# --- lines ---------------------------------------------------------------------------------------------


def _statements(turns: Sequence[ObservedTurn]) -> list[Statement]:
    """All that was said and could be told."""
    return [
        Statement(turn.who, turn.ts_ms, piece, place, _OF_USER if turn.is_own else 1.0)
        for place, turn in enumerate(turns)
        for piece in sentences.split(_ATTACHED.sub("", turn.spoken))
        if not _PROMPT.match(piece)
    ]


def _statements_of_tools(turns: Sequence[ObservedTurn], ended: Mapping[int, Outcome]) -> list[Statement]:
    return [
        Statement(turns[place].who, turns[place].ts_ms, came.text, place, _OF_FAILURE if came.failed else _OF_OUTPUT)
        for place, came in ended.items()
        if came.text
    ]


def _lines(
    turns: Sequence[ObservedTurn], statements: Sequence[Statement], chosen: Sequence[int]
) -> Iterator[tuple[int, Observation]]:
    """One line for what is told of one turn, with the place of that turn."""
    by_turn: dict[int, list[int]] = {}
    for place in chosen:
        by_turn.setdefault(statements[place].turn, []).append(place)
    for turn, places in by_turn.items():
        text = sentences.shorten(_joined(statements, places), LONGEST_LINE_CHARS)
        named = referenced(text, turns[turn].ts_ms)
        line = _line([turns[turn]], text, weigh(text, is_own=turns[turn].is_own))
        yield turn, replace(line, when=named.when, relative=named.relative) if named else line


def _lines_of_tools(
    turns: Sequence[ObservedTurn], ended: Mapping[int, Outcome], chosen: Iterable[int]
) -> Iterator[tuple[int, Observation]]:
    """One line for a call with its results, with the place of the call."""
    for place in chosen:
        came = ended[place]
        text = sentences.shorten(came.text, LONGEST_LINE_CHARS)
        yield place, _line([turns[at] for at in came.places], text, Priority.MEDIUM if came.failed else Priority.LOW)


def _line(told: Sequence[ObservedTurn], text: str, priority: Priority) -> Observation:
    turn = told[0]
    return Observation(
        priority=priority,
        ts_ms=turn.ts_ms,
        who=who_of(turn.who),
        text=text,
        sources=tuple(source.id for source in told),
        trust=least(source.trust for source in told),
        is_own=turn.is_own,
    )


def _joined(statements: Sequence[Statement], places: Sequence[int]) -> str:
    said = statements[places[0]].text
    for before, place in pairwise(places):
        said += (_GAP if place > before + 1 else " ") + statements[place].text
    return said

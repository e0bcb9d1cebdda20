"""The observer: turns become dated lines that say what was said and done, in the words that were used.

A line quotes the sentences of one turn that tell most, or says in short what a tool was asked and how it ended. It
names its turns, the day they were said and a day they speak of, and how much it matters. What a tool or an assistant
said never weighs as much as what the user laid down: weight comes from who speaks, and only then from the words.

Made by rules from the turns and from what the log says already, and from nothing else: the same turns give the same
lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

from clew.domain import importance, salience, sanitise, sentences
from clew.domain.importance import Label
from clew.domain.layers import one_line
from clew.domain.model import Role, Trust, least
from clew.domain.observation_dates import observed_day, referenced
from clew.domain.own_text import without_own
from clew.domain.salience import Statement

OBSERVED_SHARE = 0.10
"""How much of what the turns take their lines may take."""

LONGEST_LINE_CHARS = 320
MOST_SOURCES = 24
"""Of one line. A line goes with the first of its sources that is purged, so it must not rest on too many."""

_LEAST_ROOM_BYTES = 240
_READ_CHARS = 24_000
"""How much of one turn is read; a longer one is a pasted document, whose beginning and end tell most."""

_WHO_CHARS = 40
_GAP = " … "
_OF_OUTPUT, _OF_FAILURE = 0.4, 0.8
"""What the outcome of a tool counts for beside spoken words."""


class Priority(IntEnum):
    HIGH = 1
    MEDIUM = 2
    LOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTurn:
    """What the observer sees of a turn."""

    id: str
    who: str
    role: Role
    ts_ms: int
    text: str
    trust: Trust
    tokens: int
    tool_call_ids: tuple[str, ...] = ()
    tool_call_id: str | None = None

    @property
    def is_output(self) -> bool:
        """Some hosts send tool results in the user's name; the tool said them all the same."""
        return self.role is Role.TOOL_RESULT or self.tool_call_id is not None

    @property
    def is_own(self) -> bool:
        """Whether the user speaks."""
        return self.role is Role.USER and not self.is_output


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
        return observed_day(self.ts_ms)


Costing = Callable[[Observation], int]
"""What a line takes in a prompt, in tokens."""


def observe(turns: Sequence[ObservedTurn], cost: Costing, heard: Sequence[str] = ()) -> list[Observation]:
    """The lines of one run, in the order in which things were said; together smaller than the turns.

    `heard` is what the log says already: it is not told again where there is something new to tell. Nothing is told
    of a turn that is quarantined.
    """
    seen = [replace(turn, text=_readable(turn.text)) for turn in turns if turn.trust is not Trust.QUARANTINED]
    tools, answering = _outcomes(seen)
    statements, outcomes = _statements(seen, tools, answering)
    size = sum(len(turn.text.encode("utf-8", "replace")) for turn in seen)
    room = max(int(size * OBSERVED_SHARE), _LEAST_ROOM_BYTES)
    chosen = salience.choose(statements, room, heard)
    lines = list(_lines(seen, statements, chosen, outcomes))
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
    return Priority.LOW if label is Label.IGNORE else Priority.MEDIUM


def _readable(text: str) -> str:
    shown = sanitise.projection(without_own(text))
    half = _READ_CHARS // 2
    return shown if len(shown) <= _READ_CHARS else f"{shown[:half]}\n{shown[-half:]}"


# --- tools ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What was run, and how it ended as far as that is known."""

    text: str
    failed: bool
    places: tuple[int, ...]


def _outcomes(turns: Sequence[ObservedTurn]) -> tuple[dict[int, _Outcome], frozenset[int]]:
    """By the place of a call or of an unasked result, what came of it; and the places of results of known calls."""
    results = _results_of_calls(turns)
    answering = frozenset(place for places in results.values() for place in places)
    found: dict[int, _Outcome] = {}
    for place, turn in enumerate(turns):
        if turn.role is Role.TOOL_CALL:
            found[place] = _of_call(turns, place, results.get(place, ()))
        elif turn.is_output and place not in answering:
            ended, failed = sentences.of_result(turn.text)
            found[place] = _Outcome(f"gave {ended}" if ended else "", failed, (place,))
    return found, answering


def _results_of_calls(turns: Sequence[ObservedTurn]) -> dict[int, tuple[int, ...]]:
    """Results by the place of their call: by the name of the call, else the nearest call before it."""
    by_id: dict[str, int] = {}
    newest: int | None = None
    found: dict[int, tuple[int, ...]] = {}
    for place, turn in enumerate(turns):
        if turn.role is Role.TOOL_CALL:
            newest = place
            by_id.update(dict.fromkeys(turn.tool_call_ids, place))
        elif turn.is_output:
            call = newest if turn.tool_call_id is None else by_id.get(turn.tool_call_id)
            if call is not None and len(found.get(call, ())) < MOST_SOURCES - 1:
                found[call] = (*found.get(call, ()), place)
    return found


def _of_call(turns: Sequence[ObservedTurn], place: int, results: Sequence[int]) -> _Outcome:
    asked = sentences.of_call(turns[place].text)
    ends = [sentences.of_result(turns[result].text) for result in results]
    failed = any(went_wrong for _, went_wrong in ends)
    ended = next((text for text, went_wrong in reversed(ends) if text and went_wrong == failed), "")
    said = f"ran {asked}" if asked else "ran"
    if ended or failed:
        said += f": failed with {ended}" if failed else f": {ended}"
    return _Outcome(said, failed, (place, *results))


# --- lines ---------------------------------------------------------------------------------------------


def _statements(
    turns: Sequence[ObservedTurn], tools: dict[int, _Outcome], answering: frozenset[int]
) -> tuple[list[Statement], dict[int, _Outcome]]:
    """All that could be told, and which of the statements are outcomes of tools."""
    statements: list[Statement] = []
    outcomes: dict[int, _Outcome] = {}
    for place, turn in enumerate(turns):
        outcome = tools.get(place)
        if outcome is not None and outcome.text:
            outcomes[len(statements)] = outcome
            factor = _OF_FAILURE if outcome.failed else _OF_OUTPUT
            statements.append(Statement(turn.who, turn.ts_ms, outcome.text, place, factor))
        elif outcome is None and place not in answering:
            pieces = sentences.split(turn.text)
            statements += [Statement(turn.who, turn.ts_ms, piece, place) for piece in pieces]
    return statements, outcomes


def _lines(
    turns: Sequence[ObservedTurn],
    statements: Sequence[Statement],
    chosen: Sequence[int],
    outcomes: dict[int, _Outcome],
) -> Iterator[Observation]:
    """One line for what is told of one turn, or of one call with its results."""
    by_turn: dict[int, list[int]] = {}
    for place in chosen:
        by_turn.setdefault(statements[place].turn, []).append(place)
    for turn, places in by_turn.items():
        outcome = outcomes.get(places[0])
        said = statements[places[0]].text if outcome else _joined(statements, places)
        told = [turns[place] for place in (outcome.places if outcome else (turn,))]
        yield _line(told, sentences.shorten(said, LONGEST_LINE_CHARS), outcome)


def _line(told: Sequence[ObservedTurn], text: str, outcome: _Outcome | None) -> Observation:
    turn = told[0]
    named = referenced(text, turn.ts_ms) if outcome is None else None
    weight = Priority.MEDIUM if outcome and outcome.failed else Priority.LOW
    return Observation(
        priority=weigh(text, is_own=turn.is_own) if outcome is None else weight,
        ts_ms=turn.ts_ms,
        who=who_of(turn.who),
        text=text,
        sources=tuple(source.id for source in told),
        trust=least(source.trust for source in told),
        is_own=turn.is_own,
        when=named.when if named else "",
        relative=named.relative if named else "",
    )


def _joined(statements: Sequence[Statement], places: Sequence[int]) -> str:
    said = statements[places[0]].text
    for before, place in pairwise(places):
        said += (_GAP if place > before + 1 else " ") + statements[place].text
    return said

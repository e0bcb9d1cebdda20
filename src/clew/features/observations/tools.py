"""What of a session is the work of tools: which turns ask for it, which tell its outcome, and how it ended in short.

A host may send a call in a turn of its own, or behind the words of the assistant, as a block that names the tool and
one argument a line; in both cases a call and its results are one outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.core.model import Role, Trust
from clew.text import sentences

MOST_SOURCES = 24
"""Of one line. A line goes with the first of its sources that is purged, so it must not rest on too many."""

_CALL = re.compile(r"^\[calls ([^\]\n]{1,80})\]$", re.MULTILINE)
_NAMED = re.compile(r"^\w{1,40}: ")
_ASKED_CHARS = 120


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
    def is_call(self) -> bool:
        """Whether a tool is asked for something, by the whole turn or behind what is said in it."""
        described = self.role is Role.ASSISTANT and self.tool_call_ids and _CALL.search(self.text)
        return self.role is Role.TOOL_CALL or bool(described)

    @property
    def spoken(self) -> str:
        """What is said in it, without the calls behind it; nothing where a tool speaks."""
        if self.is_output or self.role is Role.TOOL_CALL:
            return ""
        return _CALL.split(self.text, maxsplit=1)[0] if self.is_call else self.text

    @property
    def is_own(self) -> bool:
        """Whether the user speaks."""
        return self.role is Role.USER and not self.is_output


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was run, and how it ended as far as that is known."""

    text: str
    failed: bool
    places: tuple[int, ...]


def outcomes(turns: Sequence[ObservedTurn]) -> dict[int, Outcome]:
    """By the place of a call, or of a result that no known call asked for, what came of it."""
    results = _results_of_calls(turns)
    answering = frozenset(place for places in results.values() for place in places)
    found: dict[int, Outcome] = {}
    for place, turn in enumerate(turns):
        if turn.is_call:
            found[place] = _of_call(turns, place, results.get(place, ()))
        elif turn.is_output and place not in answering:
            ended, failed = sentences.of_result(turn.text)
            found[place] = Outcome(f"gave {ended}" if ended else "", failed, (place,))
    return found


def _results_of_calls(turns: Sequence[ObservedTurn]) -> dict[int, tuple[int, ...]]:
    """Results by the place of their call: by the name of the call, else the nearest call before it."""
    by_id: dict[str, int] = {}
    newest: int | None = None
    found: dict[int, tuple[int, ...]] = {}
    for place, turn in enumerate(turns):
        if turn.is_call:
            newest = place
            by_id.update(dict.fromkeys(turn.tool_call_ids, place))
        elif turn.is_output:
            call = newest if turn.tool_call_id is None else by_id.get(turn.tool_call_id)
            if call is not None and len(found.get(call, ())) < MOST_SOURCES - 1:
                found[call] = (*found.get(call, ()), place)
    return found


def _of_call(turns: Sequence[ObservedTurn], place: int, results: Sequence[int]) -> Outcome:
    asked = _asked(turns[place])
    ends = [sentences.of_result(turns[result].text) for result in results]
    failed = any(went_wrong for _, went_wrong in ends)
    ended = next((text for text, went_wrong in reversed(ends) if text and went_wrong == failed), "")
    said = f"ran {asked}" if asked else "ran"
    if ended or failed:
        said += f": failed with {ended}" if failed else f": {ended}"
    return Outcome(said, failed, (place, *results))


def _asked(turn: ObservedTurn) -> str:
    if turn.role is Role.TOOL_CALL:
        return sentences.of_call(turn.text)
    return sentences.shorten("; ".join(_described(turn.text)), _ASKED_CHARS)


def _described(text: str) -> Iterator[str]:
    """Each call by its tool and its first argument."""
    for found in _CALL.finditer(text):
        start = found.end() + 1
        end = text.find("\n", start)
        argument = text[start : end if end >= 0 else None].strip()
        yield f"{found[1]} {_NAMED.sub('', argument, count=1)}".strip()

"""The turns of a session that call tools or hold their results, and the outcome of each call in short.

A host may send a call in a turn of its own, or behind the words of the assistant, as a block that names the tool and
one argument a line. In both cases a call and its results are one outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.core.model import Role, Trust
from clew.text import sentences

MOST_SOURCES = 24
"""Of one line. A purge of any source removes the line, so it must not rest on too many."""

_CALL = re.compile(r"^\[calls ([^\]\n]{1,80})\]$", re.MULTILINE)
_NAMED = re.compile(r"^\w{1,40}: ")
_ASKED_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTurn:
    """A turn as the observer sees it."""

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
        """Whether it is the result of a tool. Some hosts send results in the user's name."""
        return self.role is Role.TOOL_RESULT or self.tool_call_id is not None

    @property
    def is_call(self) -> bool:
        """Whether it calls a tool, with the whole turn or behind its words."""
        described = self.role is Role.ASSISTANT and self.tool_call_ids and _CALL.search(self.text)
        return self.role is Role.TOOL_CALL or bool(described)

    @property
    def spoken(self) -> str:
        """Its words, without the calls behind them; empty where a tool speaks."""
        if self.is_output or self.role is Role.TOOL_CALL:
            return ""
        return _CALL.split(self.text, maxsplit=1)[0] if self.is_call else self.text

    @property
    def is_own(self) -> bool:
        """Whether the user speaks."""
        return self.role is Role.USER and not self.is_output


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call or a lone result, and how it ended as far as that is known."""

    text: str
    failed: bool
    places: tuple[int, ...]


def outcomes(turns: Sequence[ObservedTurn]) -> dict[int, Outcome]:
    """Outcomes by the place of their call, or of a result without a known call."""
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
    asked = _describe_call(turns[place])
    ends = [sentences.of_result(turns[result].text) for result in results]
    failed = any(went_wrong for _, went_wrong in ends)
    ended = next((text for text, went_wrong in reversed(ends) if text and went_wrong == failed), "")
    said = f"ran {asked}" if asked else "ran"
    if ended or failed:
        said += f": failed with {ended}" if failed else f": {ended}"
    return Outcome(said, failed, (place, *results))


def _describe_call(turn: ObservedTurn) -> str:
    if turn.role is Role.TOOL_CALL:
        return sentences.of_call(turn.text)
    return sentences.shorten("; ".join(_described_calls(turn.text)), _ASKED_CHARS)


def _described_calls(text: str) -> Iterator[str]:
    """Each call by its tool and its first argument."""
    for found in _CALL.finditer(text):
        start = found.end() + 1
        end = text.find("\n", start)
        argument = text[start : end if end >= 0 else None].strip()
        yield f"{found[1]} {_NAMED.sub('', argument, count=1)}".strip()

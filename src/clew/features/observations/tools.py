"""The turns of a session that call tools or hold their results, and the outcome of each call in short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.core.model import Role, Trust
from clew.text import calls
from clew.text.calls import Call
from clew.text.speech import own_words

MOST_SOURCES = 24
"""Of one line. A purge of any source removes the line, so it must not rest on too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTurn:
    """A turn as the observer sees it. See `clew.text.calls.Turn`."""

    id: str
    who: str
    role: Role
    ts_ms: int
    text: str
    trust: Trust
    tokens: int
    tool_call_ids: tuple[str, ...] = ()
    tool_call_id: str | None = None
    has_failed: bool = False

    @property
    def is_result(self) -> bool:
        """Whether it is the result of a tool. Some hosts send results in the user's name."""
        return self.role is Role.TOOL_RESULT or (self.tool_call_id is not None and not self.made)

    @property
    def made(self) -> Sequence[Call]:
        """The calls that it makes, with the whole turn or behind its words."""
        if self.role is Role.TOOL_CALL:
            return [calls.call_of_turn(self.who, self.text)]
        return calls.calls(self.text) if self.role is Role.ASSISTANT else ()

    @property
    def call_ids(self) -> Sequence[str]:
        return self.tool_call_ids

    @property
    def answers(self) -> str | None:
        return self.tool_call_id

    @property
    def spoken(self) -> str:
        """Its words, without the calls behind them and without pasted text; empty where a tool speaks."""
        if self.is_result or self.role is Role.TOOL_CALL:
            return ""
        return calls.speech(self.text) if self.role is Role.ASSISTANT else own_words(self.text)

    @property
    def is_own(self) -> bool:
        """Whether the user speaks."""
        return self.role is Role.USER and not self.is_result


@dataclass(frozen=True, slots=True)
class Outcome:
    """The calls of a turn or a lone result, and how they ended as far as that is known."""

    text: str
    failed: bool
    places: tuple[int, ...]


def outcomes(turns: Sequence[ObservedTurn]) -> dict[int, Outcome]:
    """Outcomes by the place of the turn that made the calls, or of a result without a known call."""
    by_turn: dict[int, list[calls.Step]] = {}
    for step in calls.steps(turns):
        by_turn.setdefault(step.places[0], []).append(step)
    return {
        place: Outcome(
            calls.tell(steps),
            any(step.failed for step in steps),
            tuple(sorted({at for step in steps for at in step.places}))[:MOST_SOURCES],
        )
        for place, steps in by_turn.items()
    }

"""What is measured on: conversations with questions, and the turns that answer them.

Every name in a corpus is given here, in the order of the file, so that no name can give a label away.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    name: str
    session: str
    role: str
    speaker: str | None
    text: str
    ts_ms: int | None


@dataclass(frozen=True, slots=True)
class Question:
    name: str
    text: str
    kind: str
    """What the dataset calls its category."""
    evidence: frozenset[str]
    """Names of the turns that answer it."""
    audited: frozenset[str] | None = None
    """The evidence after an audit of the labels; empty where the question should not be counted, None without one."""
    asked_ms: int | None = None
    """When it was asked, where that is known: "last week" depends on it."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One memory to be filled, and the questions that are put to it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def session_of(self) -> dict[str, str]:
        return {turn.name: turn.session for turn in self.turns}

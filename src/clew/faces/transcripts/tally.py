"""The counts of a transcript that a receipt shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from clew.faces.transcripts.lines import BadLine

LISTED_BAD_LINES = 1000
"""The most bad lines with number and reason; further ones only count."""
OTHERS = "others"
"""The count of turns in the user's name that the user did not write."""


@dataclass(slots=True)
class Tally:
    roles: Counter[str] = field(default_factory=Counter)
    """Turns by who speaks: their role, or OTHERS."""
    sessions: Counter[str] = field(default_factory=Counter)
    """Turns by session."""
    calls: int = 0
    """Tool calls made."""
    coupled: int = 0
    """Tool results whose call was read before them."""
    uncoupled: int = 0
    """Tool results that answer no call of the file."""
    thinking: int = 0
    """Passages of thinking, which no turn keeps."""
    attachments: int = 0
    """Pictures and files, of which turns keep type and size."""
    cut: int = 0
    """Texts that were too long and lost their end."""
    passed_over: Counter[str] = field(default_factory=Counter)
    """Lines without a turn, by their kind."""
    first_ts: int | None = None
    last_ts: int | None = None
    bad: list[BadLine] = field(default_factory=list)
    bad_count: int = 0

    @property
    def turns(self) -> int:
        return self.roles.total()

    @property
    def unanswered(self) -> int:
        """Tool calls without a result: the last ones of a growing file, or interrupted ones."""
        return self.calls - self.coupled

    def add_turn(self, session_id: str, role: str, ts: int | None) -> None:
        self.roles[role] += 1
        self.sessions[session_id] += 1
        if ts is not None:
            self.first_ts = ts if self.first_ts is None else min(self.first_ts, ts)
            self.last_ts = ts if self.last_ts is None else max(self.last_ts, ts)

    def set_aside(self, line: int, reason: str) -> None:
        self.bad_count += 1
        if len(self.bad) < LISTED_BAD_LINES:
            self.bad.append(BadLine(line, reason))

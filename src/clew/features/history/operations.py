"""The operations on a session's history."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.kernel.operations import RecordView


class ContextMessage(Answer, frozen=True):
    role: str
    text: str
    id: str | None = None
    tool_call_ids: tuple[str, ...] = ()
    tool_call_id: str | None = None


class CompactReceipt(Answer, frozen=True):
    """What a compaction did to a session's active view. The raw history is never touched."""

    did_compact: bool
    clusters_formed: int = 0
    clusters_declined: int = 0
    """Clusters that no summary could make smaller; their turns stay in the view."""
    turns_removed: int = 0
    """Turns that left the active view because a summary stands for them now."""
    summary_method: str | None = None
    """How most of the summaries were made."""
    mean_confidence: float = 0.0
    tokens_before: int = 0
    tokens_after: int = 0
    shards_kept: int = 0
    summaries: tuple[str, ...] = ()
    """Ids of the new summaries, those of higher levels last."""
    degraded: tuple[str, ...] = ()


class Node(Answer, frozen=True):
    """A turn or a summary of a session, with its lineage."""

    id: str
    kind: str
    """`turn` or `summary`."""
    level: int
    """0 for a turn; a summary is one above what it stands for."""
    tokens: int
    source_ids: tuple[str, ...] = ()
    parent_ids: tuple[str, ...] = ()
    """The summaries that stand for it."""
    prior_ids: tuple[str, ...] = ()
    """Earlier summaries it was written in the light of."""
    turn_count: int = 1
    """Raw turns it reaches."""
    first_ts: int = 0
    last_ts: int = 0
    compacted_ts: int | None = None
    method: str | None = None
    confidence: float | None = None
    trivial: bool = False
    in_view: bool = False
    trust: str = ""
    role: str | None = None
    """Of a turn: who it is from."""
    text: str = ""


class Expansion(Answer, frozen=True):
    """What summaries stand for: turns, in order, and what was not opened."""

    turns: tuple[RecordView, ...]
    """Word for word, in the order they were said, which is that of the numbered lines of the text."""
    text: str = ""
    """The turns as quoted data, framed, ready for a prompt; its size is what the token bound is about."""
    closed: tuple[Node, ...] = ()
    """Summaries that were not opened, and turns left out, because of the depth or the token bound."""
    tokens: int = 0


class SessionView(Answer, frozen=True):
    """A session as a graph: the active view on top, every summary, and how many turns there are."""

    session_id: str
    turn_count: int
    view: tuple[Node, ...]
    """What the active view holds, oldest first."""
    summaries: tuple[Node, ...]
    """Every summary of the session, also those that higher ones stand for."""
    dismissed_count: int = 0


class GrepMatch(Answer, frozen=True):
    id: str
    ts: int
    role: str | None
    line_number: int
    line: str
    """The line that holds the match, cut around it where it is long."""
    trust: str = ""


class GrepResult(Answer, frozen=True):
    matches: tuple[GrepMatch, ...]
    cursor: int | None = None
    """Where to go on; absent when the whole history was read."""


class Compact(Request[CompactReceipt], frozen=True):
    """Let summaries stand for the turns outside the tail.

    Without `force`, nothing happens until a whole cluster of turns is outside the tail. With it, the tail
    is its base alone, and every turn outside it counts.
    """

    method: ClassVar[str] = "compact"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    session_id: str
    force: bool = False
    budget_tokens: int | None = None
    cluster_turns: int | None = None
    min_turns: int | None = None
    tail_tokens: int | None = None
    prior_tokens: int | None = None


class Expand(Request[Expansion], frozen=True):
    """The turns that summaries stand for. With a `query`, those that answer it best are within the token bound."""

    method: ClassVar[str] = "expand"
    spread: ClassVar[str] = "ids"
    session_id: str
    ids: tuple[str, ...]
    max_depth: int = 3
    budget_tokens: int | None = None
    query: str | None = None
    exclude: tuple[str, ...] = ()
    """Ids of turns to leave out, since whoever asks has them before him."""


class Describe(Request[Node], frozen=True):
    """The lineage of one turn or summary."""

    method: ClassVar[str] = "describe"
    session_id: str
    id: str


class ShowSession(Request[SessionView], frozen=True):
    """The active view and every summary of a session."""

    method: ClassVar[str] = "show_session"
    deadline_factor: ClassVar[int] = 4
    session_id: str


class Grep(Request[GrepResult], frozen=True):
    """Lines of the raw history that hold a string, or match a regular expression, oldest first."""

    method: ClassVar[str] = "grep"
    session_id: str
    pattern: str
    regex: bool = False
    ignore_case: bool = False
    limit: int = 100
    cursor: int = 0

"""The operations on a session's history."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.kernel.operations import RecordView


class ContextMessage(Answer, frozen=True):
    role: str
    """`user`, `assistant`, `system`, `tool_call` or `tool_result`; `tool` and `developer` are taken for such."""
    text: str
    """The text as it was given."""
    id: str | None = None
    """Id of the turn, where it has one."""
    tool_call_ids: tuple[str, ...] = ()
    """The tool calls this turn makes."""
    tool_call_id: str | None = None
    """The tool call this turn answers."""


class CompactReceipt(Answer, frozen=True):
    """What a compaction did to a session's active view. The raw history is never touched."""

    did_compact: bool
    """Whether the active view has become smaller."""
    clusters_formed: int = 0
    """Clusters of turns that a summary covers now."""
    clusters_declined: int = 0
    """Clusters that no summary could make smaller; their turns stay in the view."""
    turns_removed: int = 0
    """Turns that left the active view because a summary covers them now."""
    summary_method: str | None = None
    """How most of the summaries were made."""
    mean_confidence: float = 0.0
    """How well the summaries say what they cover, from 0 to 1."""
    tokens_before: int = 0
    """Size of the active view before."""
    tokens_after: int = 0
    """Size of the active view now."""
    shards_kept: int = 0
    """Turns kept word for word because they guide."""
    summaries: tuple[str, ...] = ()
    """Ids of the new summaries, those of higher levels last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Node(Answer, frozen=True):
    """A turn or a summary of a session, with its lineage."""

    id: str
    """Its id in the session."""
    kind: str
    """`turn` or `summary`."""
    level: int
    """0 for a turn; a summary is one above what it covers."""
    tokens: int
    """Likely number of tokens of the text."""
    source_ids: tuple[str, ...] = ()
    """What a summary covers: turns, or summaries of the level below."""
    parent_ids: tuple[str, ...] = ()
    """The summaries that cover it."""
    prior_ids: tuple[str, ...] = ()
    """Earlier summaries it was written in the light of."""
    turn_count: int = 1
    """Raw turns it reaches."""
    first_ts: int = 0
    """Time of the earliest turn it reaches."""
    last_ts: int = 0
    """Time of the latest turn it reaches."""
    compacted_ts: int | None = None
    """When the summary was made."""
    method: str | None = None
    """How a summary was made: `extractive`, `extractive-short`, `fallback` or `abstractive`."""
    confidence: float | None = None
    """How well a summary says what it covers, from 0 to 1."""
    trivial: bool = False
    """Whether a summary covers a single turn."""
    in_view: bool = False
    """Whether it is in the active view."""
    trust: str = ""
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    role: str | None = None
    """Of a turn: who it is from."""
    text: str = ""
    """The text; empty where nodes are only named."""


class Expansion(Answer, frozen=True):
    """The turns that summaries cover, in order, and what was not opened."""

    turns: tuple[RecordView, ...]
    """Word for word, in the order they were said, which is that of the numbered lines of the text."""
    text: str = ""
    """The turns as quoted data, framed, ready for a prompt; its size is what the token bound is about."""
    closed: tuple[Node, ...] = ()
    """Summaries that were not opened, and turns left out, because of the depth or the token bound."""
    tokens: int = 0
    """Tokens of the framed text, counted on the safe side."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class SessionView(Answer, frozen=True):
    """A session as a graph: the active view on top, every summary, and how many turns there are."""

    session_id: str
    """The session."""
    turn_count: int
    """Turns of the raw history."""
    view: tuple[Node, ...]
    """What the active view holds, oldest first."""
    summaries: tuple[Node, ...]
    """Every summary of the session, also those that higher ones cover."""
    dismissed_count: int = 0
    """Turns that were taken out of the active view by hand."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class GrepMatch(Answer, frozen=True):
    id: str
    """Id of the turn."""
    ts: int
    """Milliseconds since 1970."""
    role: str | None
    """`user`, `assistant`, `system`, `tool_call` or `tool_result`; `tool` and `developer` are taken for such."""
    line_number: int
    """Which line of the turn, from 1."""
    line: str
    """The line that holds the match, cut around it where it is long."""
    trust: str = ""
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""


class GrepResult(Answer, frozen=True):
    matches: tuple[GrepMatch, ...]
    """Oldest turn first."""
    cursor: int | None = None
    """Where to go on; absent when the whole history was read."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Compact(Request[CompactReceipt], frozen=True):
    """Replace the turns outside the tail by summaries, in the active view.

    Without `force`, nothing happens until a whole cluster of turns is outside the tail. With it, the tail
    is its base alone, and every turn outside it counts.
    """

    method: ClassVar[str] = "compact"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    session_id: str
    """The session to compact."""
    force: bool = False
    """Compact all but the newest turns, however few there are."""
    budget_tokens: int | None = None
    """Size of the context that the tail is cut for; else the setting `budget_tokens`."""
    cluster_turns: int | None = None
    """Turns a summary; else, or where not positive, the setting `compact_cluster_turns`."""
    min_turns: int | None = None
    """Turns to leave as they are; else the setting `tail_min_turns`."""
    tail_tokens: int | None = None
    """Size of the tail that is left as it is; else a share of the budget."""
    prior_tokens: int | None = None
    """How much of earlier summaries a summary is written in the light of; else 600."""


class Expand(Request[Expansion], frozen=True):
    """The turns that summaries cover. With a `query`, those that answer it best are within the token bound."""

    method: ClassVar[str] = "expand"
    spread: ClassVar[str] = "ids"
    session_id: str
    """The session of the summaries."""
    ids: tuple[str, ...]
    """Ids of summaries, 1 to 100; the id of a turn gives that turn."""
    max_depth: int = 3
    """Levels to go down, 1 to 64."""
    budget_tokens: int | None = None
    """Most tokens of the framed text, 1 to 200,000; else 200,000."""
    query: str | None = None
    """Where not all fit, take the turns that answer this best."""
    exclude: tuple[str, ...] = ()
    """Ids of turns to leave out, since whoever asks has them already."""


class Describe(Request[Node], frozen=True):
    """The lineage of one turn or summary."""

    method: ClassVar[str] = "describe"
    session_id: str
    """The session."""
    id: str
    """Id of a summary or of a turn."""


class ShowSession(Request[SessionView], frozen=True):
    """The active view and every summary of a session."""

    method: ClassVar[str] = "show_session"
    deadline_factor: ClassVar[int] = 4
    session_id: str
    """The session."""


class Grep(Request[GrepResult], frozen=True):
    """Lines of the raw history that hold a string, or match a regular expression, oldest first."""

    method: ClassVar[str] = "grep"
    session_id: str
    """The session to read."""
    pattern: str
    """What to look for, 1 to 1,000 characters."""
    regex: bool = False
    """The pattern is a regular expression, in the syntax of RE2."""
    ignore_case: bool = False
    """Take capital and small letters as the same."""
    limit: int = 100
    """Lines a page, 1 to 10,000."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""

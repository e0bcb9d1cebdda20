"""The observation log of a session: what happened, in dated lines, and how it is made."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request


class ObservationLine(Answer, frozen=True):
    ref: str
    """Where it is stored, as `collection/id`."""
    priority: str
    """`high`, `medium` or `low`."""
    observed: str
    """The day it was said."""
    referenced: str
    """The day or month it speaks of, where that is another; empty where it names none."""
    relative: str
    """How far that is from the day it was said."""
    who: str
    """The speaker, or the tool."""
    text: str
    """The sentences that tell most, as they were said; of a tool, what was run and how it ended."""
    trust: str
    """That of the least trusted of its turns."""
    sources: tuple[str, ...]
    """The turns whose words it holds, as `collection/id`."""
    method: str
    """`rules`, `merged`, or the name of the model that wrote it."""


class ObservationLog(Answer, frozen=True):
    session_id: str
    """The session."""
    text: str
    """The block as a context has it; the same bytes until the next run."""
    lines: tuple[ObservationLine, ...]
    """In the order of the block."""
    tokens: int
    """Tokens of the lines, counted on the safe side."""
    buffer_turns: int
    """Turns behind the last one that was observed."""
    buffer_tokens: int
    """Tokens of those turns, counted on the safe side."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ObserveReceipt(Answer, frozen=True):
    session_id: str
    """The session."""
    runs: int
    """How many runs of the observer there were; 0 where nothing was due."""
    reflections: int
    """How many of them the reflector followed."""
    added: int
    """Lines that are new."""
    dropped: int
    """Lines that were pruned, or gave way to one they were merged into."""
    lines: int
    """Lines of the log now."""
    tokens: int
    """Tokens of the lines, counted on the safe side."""
    buffer_turns: int
    """Turns behind the last one that was observed."""
    buffer_tokens: int
    """Tokens of those turns, counted on the safe side."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ObservationStats(Answer, frozen=True):
    session_id: str
    """The session."""
    runs: int
    """How many runs of the observer there were."""
    reflections: int
    """How many of them the reflector followed."""
    high: int
    """Lines of high priority."""
    medium: int
    """Lines of medium priority."""
    low: int
    """Lines of low priority."""
    tokens: int
    """Tokens of the lines, counted on the safe side."""
    observed_turns: int
    """Turns that were observed."""
    observed_tokens: int
    """Tokens of those turns."""
    share: float
    """Tokens of the log as a share of the tokens of the observed turns."""
    cited_turns: int
    """Turns that a line of the log holds words of."""
    buffer_turns: int
    """Turns behind the last one that was observed."""
    buffer_tokens: int
    """Tokens of those turns."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ObserveRun(Request[ObserveReceipt], frozen=True):
    """Turn the buffer into observations, where it has passed its bound, and prune the log, where that has.

    With `force`, all turns but the newest are observed, however few they are.
    """

    method: ClassVar[str] = "observe_run"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    session_id: str
    """The session to observe."""
    force: bool = False
    """Observe all but the newest turns, however few they are."""


class ObserveShow(Request[ObservationLog], frozen=True):
    """The observation log of a session, as a context has it and line by line."""

    method: ClassVar[str] = "observe_show"
    session_id: str
    """The session."""


class ObserveStats(Request[ObservationStats], frozen=True):
    """How long the observation log of a session is, and how much of the session it covers."""

    method: ClassVar[str] = "observe_stats"
    deadline_factor: ClassVar[int] = 4
    session_id: str
    """The session."""


class ObserveRebuild(Request[ObserveReceipt], frozen=True):
    """Make the log again from the raw history, run by run, by rules alone.

    The same turns, settings and token counter give the same bytes.
    """

    method: ClassVar[str] = "observe_rebuild"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    session_id: str
    """The session."""

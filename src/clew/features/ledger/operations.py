"""Capture and the ledger: what an agent did, written down, harvested, and looked up step by step."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct, field

from clew.core.operation import Answer, JsonObject, Request


class Event(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Something an agent did or met, as a host reports it: the outcome of a tool, a decision, a note."""

    text: str
    """What happened, in a line or a few."""
    kind: str = "observation"
    tool: str | None = None
    payload: Any = None
    """Arguments, output: any JSON. What is large goes to an artifact."""
    id: str | None = None
    """With an `id`, capturing the same event again keeps it once."""
    ts: int | None = None
    session_id: str | None = None
    user_id: str | None = None
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    metadata: JsonObject = field(default_factory=dict)


class Captured(Answer, frozen=True):
    id: str
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""
    artifact: str | None = None
    """Where a large payload is kept."""


class CaptureReceipt(Answer, frozen=True):
    captured: tuple[Captured, ...]
    file: str
    """The capture log they were written to, by name."""


class Capture(Request[CaptureReceipt], frozen=True):
    """Appends events to the capture log, redacted; `harvest` brings them into the ledger. All or none."""

    method: ClassVar[str] = "capture"
    spread: ClassVar[str] = "events"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    events: tuple[Event, ...]


class HarvestReceipt(Answer, frozen=True):
    """What one step of a harvest did."""

    lines: int
    stored: int
    unchanged: int
    set_aside: int
    """Lines that could not be read; they are kept beside the log, with the reason."""
    reasons: dict[str, int] = field(default_factory=dict)
    read_bytes: int = 0
    """How far the logs have been read, over all runs."""
    total_bytes: int = 0
    done: bool = True
    """Whether everything that is complete has been read."""


class Harvest(Request[HarvestReceipt], frozen=True):
    """Reads captured events into the ledger, from where the last harvest stopped."""

    method: ClassVar[str] = "harvest"
    positional: ClassVar[tuple[str, ...]] = ("path",)
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 10
    path: str | None = None
    """Another file in the format of the capture log; the log itself when absent."""
    max_lines: int = 1000


class Line(Answer, frozen=True):
    """A record in one line: enough to decide whether to look closer."""

    ref: str
    kind: str
    ts: int
    who: str
    trust: str
    importance: str | None
    text: str
    session_id: str | None = None
    score: float | None = None


class RecallResult(Answer, frozen=True):
    lines: tuple[Line, ...]
    degraded: tuple[str, ...] = ()


class Recall(Request[RecallResult], frozen=True):
    """The first step of looking something up: one line each. Then `timeline`, then `get`."""

    method: ClassVar[str] = "recall"
    text: str
    user_id: str | None = None
    session_id: str | None = None
    mode: str = "hybrid"
    """`lexical`, `vector` or `hybrid`."""
    episodes: bool = False
    """Search the raw evidence (turns and captured events) and not what was kept from it."""
    kinds: tuple[str, ...] = ()
    k: int = 10


class TimelineView(Answer, frozen=True):
    lines: tuple[Line, ...]
    """Oldest first."""
    cursor: int | None = None
    """Of a replay: where the next page starts; absent on the last."""


class Timeline(Request[TimelineView], frozen=True):
    """What was around a record: turns and captured events of the same session, or else of the same collection."""

    method: ClassVar[str] = "timeline"
    ref: str
    before: int = 5
    after: int = 5


class Replay(Request[TimelineView], frozen=True):
    """A session from its start: turns and captured events, in the order of their times."""

    method: ClassVar[str] = "replay"
    deadline_factor: ClassVar[int] = 4
    session_id: str
    cursor: int = 0
    limit: int = 200


class Artifact(Answer, frozen=True):
    name: str
    text: str
    """The payload as JSON, redacted, or its beginning with a mark at the cut."""


class ReadArtifact(Request[Artifact], frozen=True):
    """A payload that was too long for the ledger, as far as it is asked for."""

    method: ClassVar[str] = "read_artifact"
    name: str
    """The artifact, as the record it belongs to names it."""
    max_chars: int = 20_000

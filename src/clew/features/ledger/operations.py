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
    """`observation`, or `fact`, `preference`, `decision`, `task`, `plan`, `event`, `note`."""
    tool: str | None = None
    """The tool whose outcome it is."""
    payload: Any = None
    """Arguments, output: any JSON. What is large goes to an artifact."""
    id: str | None = None
    """Your id of the event; the same event again is kept once."""
    ts: int | None = None
    """When it happened, in milliseconds since 1970; else now."""
    session_id: str | None = None
    """The session it happened in."""
    user_id: str | None = None
    """The user it happened for."""
    source: str | None = None
    """The outside address the text came from; what has one is never trusted."""
    metadata: JsonObject = field(default_factory=dict)
    """Free JSON, given back as it came. Gives no authority."""


class Captured(Answer, frozen=True):
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""
    artifact: str | None = None
    """Where a large payload is kept."""


class CaptureReceipt(Answer, frozen=True):
    captured: tuple[Captured, ...]
    """One for each event."""
    file: str
    """The capture log they were written to, by name."""


class Capture(Request[CaptureReceipt], frozen=True):
    """Appends events to the capture log, redacted; `harvest` brings them into the ledger. All or none."""

    method: ClassVar[str] = "capture"
    spread: ClassVar[str] = "events"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    events: tuple[Event, ...]
    """What happened, in order."""


class HarvestReceipt(Answer, frozen=True):
    """What one step of a harvest did."""

    lines: int
    """Lines that an export gave, at most 5,000."""
    stored: int
    """Events that are new in the ledger."""
    unchanged: int
    """Events that were there already."""
    set_aside: int
    """Lines that could not be read; they are kept beside the log, with the reason."""
    reasons: dict[str, int] = field(default_factory=dict)
    """How many lines were set aside for which reason."""
    read_bytes: int = 0
    """How far the logs have been read, over all runs."""
    total_bytes: int = 0
    """How long the logs are."""
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
    """Lines of one step, 1 to 10,000."""


class SpoolReceipt(Answer, frozen=True):
    """What became of the events in the spool."""

    taken: int
    """Events that are kept now."""
    unchanged: int
    """Events that were there already."""
    set_aside: int
    """Lines that could not be taken in; they are kept beside the spool, with the reason."""
    waiting: int
    """Events that still wait."""
    dropped: int
    """Events that the spool had no room for, over all time."""


class TakeSpool(Request[SpoolReceipt], frozen=True):
    """Takes in the events that hooks wrote to disk because no daemon answered them, oldest first.

    A daemon does this at its start. What is there already, also from an import, is not stored again.
    """

    method: ClassVar[str] = "take_spool"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 10
    max_events: int = 200
    """Events of one step, 1 to 10,000."""


class Line(Answer, frozen=True):
    """A record in one line: enough to decide whether to look closer."""

    ref: str
    """The record, as `collection/id`."""
    kind: str
    """`fact`, `preference`, `decision`, `task`, `plan`, `observation`, `event` or `note`."""
    ts: int
    """Milliseconds since 1970."""
    who: str
    """Who it is from."""
    trust: str
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    importance: str | None
    """`must_remember`, `nice_to_have` or `ignore`; absent where it is not graded."""
    text: str
    """The text, at most `max_text_bytes`."""
    session_id: str | None = None
    """The session it belongs to."""
    score: float | None = None
    """Of a search: how well it fits."""


class RecallResult(Answer, frozen=True):
    lines: tuple[Line, ...]
    """Lines that an export gave, at most 5,000."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Recall(Request[RecallResult], frozen=True):
    """The first step of looking something up: one line each. Then `timeline`, then `get`."""

    method: ClassVar[str] = "recall"
    text: str
    """The question; its first 4,000 characters count."""
    user_id: str | None = None
    """Look in the memories of this user, and in events captured for them."""
    session_id: str | None = None
    """Look in events captured in this session."""
    mode: str = "hybrid"
    """`lexical` (by words), `vector` (by meaning) or `hybrid`."""
    episodes: bool = False
    """Search the evidence, raw turns and captured events, instead of what was kept from it."""
    kinds: tuple[str, ...] = ()
    """Only records of these kinds."""
    k: int = 10
    """How many, 1 to 1,000."""


class TimelineView(Answer, frozen=True):
    lines: tuple[Line, ...]
    """Oldest first."""
    cursor: int | None = None
    """Of a replay: where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Timeline(Request[TimelineView], frozen=True):
    """What was around a record: turns and captured events of the same session, or else of the same collection."""

    method: ClassVar[str] = "timeline"
    ref: str
    """The record, as `collection/id`."""
    before: int = 5
    """Lines before it, 0 to 1,000."""
    after: int = 5
    """Lines after it, 0 to 1,000."""


class Replay(Request[TimelineView], frozen=True):
    """A session from its start: turns and captured events, in the order of their times."""

    method: ClassVar[str] = "replay"
    deadline_factor: ClassVar[int] = 4
    session_id: str
    """The session to replay."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 200
    """Lines a page, 1 to 10,000."""


class Artifact(Answer, frozen=True):
    name: str
    """Its name."""
    text: str
    """The payload as JSON, redacted, or its beginning with a mark at the cut."""


class ReadArtifact(Request[Artifact], frozen=True):
    """A payload that was too long for the ledger, as far as it is asked for."""

    method: ClassVar[str] = "read_artifact"
    name: str
    """The artifact, as the record it belongs to names it."""
    max_chars: int = 20_000
    """How much of it, in characters."""

"""The operations of guidance."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.kernel.operations import RecordView


class GuidanceItem(Answer, frozen=True):
    record: RecordView
    """The turn, word for word."""
    cues: tuple[str, ...]
    """The words that make it guidance; empty where it was kept for what it means."""
    superseded_by: str = ""
    """The reference of the later piece that takes its place; empty where it holds."""


class GuidanceList(Answer, frozen=True):
    items: tuple[GuidanceItem, ...]
    """Oldest first; the user's, then the session's."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ListGuidance(Request[GuidanceList], frozen=True):
    """The turns of a user, and of a session, that are kept word for word because they guide."""

    method: ClassVar[str] = "list_guidance"
    python_name: ClassVar[str] = "guidance"
    user_id: str | None = None
    """Guidance that this user gave."""
    session_id: str | None = None
    """Guidance that was given in this session, where its user is not known."""
    limit: int = 1000
    """How many at most."""

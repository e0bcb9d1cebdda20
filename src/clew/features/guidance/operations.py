"""The operations of guidance."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.kernel.operations import RecordView


class GuidanceItem(Answer, frozen=True):
    record: RecordView
    cues: tuple[str, ...]
    """The words that make it guidance; empty where it was kept for what it means."""


class GuidanceList(Answer, frozen=True):
    items: tuple[GuidanceItem, ...]


class ListGuidance(Request[GuidanceList], frozen=True):
    """The turns of a user, and of a session, that are kept word for word because they guide."""

    method: ClassVar[str] = "list_guidance"
    python_name: ClassVar[str] = "guidance"
    user_id: str | None = None
    session_id: str | None = None
    limit: int = 1000

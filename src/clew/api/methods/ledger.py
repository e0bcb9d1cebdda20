"""The operations of `ledger` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.features.ledger.operations import (
    Artifact,
    Capture,
    CaptureReceipt,
    Event,
    Harvest,
    HarvestReceipt,
    ReadArtifact,
    Recall,
    RecallResult,
    Replay,
    SpoolReceipt,
    TakeSpool,
    Timeline,
    TimelineView,
)


class LedgerMethods(Calls):
    """The operations of `ledger`."""

    def capture(self, *events: Event) -> CaptureReceipt:
        """Appends events to the capture log, redacted; `harvest` brings them into the ledger. All or none."""
        return self.call(Capture(events=events))

    def harvest(self, path: str | None = None, *, max_lines: int = 1000) -> HarvestReceipt:
        """Reads captured events into the ledger, from where the last harvest stopped."""
        return self.call(Harvest(path=path, max_lines=max_lines))

    def take_spool(self, *, max_events: int = 200) -> SpoolReceipt:
        """Takes in the events that hooks wrote to disk because no daemon answered them, oldest first.

        A daemon does this at its start. What is there already, also from an import, is not stored again.
        """
        return self.call(TakeSpool(max_events=max_events))

    def recall(
        self, text: str, *, user_id: str | None = None, session_id: str | None = None, mode: str = "hybrid",
        episodes: bool = False, kinds: Sequence[str] = (), k: int = 10,
    ) -> RecallResult:  # fmt: skip
        """The first step of looking something up: one line each. Then `timeline`, then `get`."""
        return self.call(Recall(
            text=text, user_id=user_id, session_id=session_id, mode=mode, episodes=episodes, kinds=tuple(kinds), k=k,
        ))  # fmt: skip

    def timeline(self, ref: str, *, before: int = 5, after: int = 5) -> TimelineView:
        """What was around a record: turns and captured events of the same session, or else of the same collection."""
        return self.call(Timeline(ref=ref, before=before, after=after))

    def replay(self, session_id: str, *, cursor: int = 0, limit: int = 200) -> TimelineView:
        """A session from its start: turns and captured events, in the order of their times."""
        return self.call(Replay(session_id=session_id, cursor=cursor, limit=limit))

    def read_artifact(self, name: str, *, max_chars: int = 20000) -> Artifact:
        """A payload that was too long for the ledger, as far as it is asked for."""
        return self.call(ReadArtifact(name=name, max_chars=max_chars))


class AsyncLedgerMethods(AsyncCalls):
    """The operations of `ledger` to await."""

    async def capture(self, *events: Event) -> CaptureReceipt:
        """Appends events to the capture log, redacted; `harvest` brings them into the ledger. All or none."""
        return await self.call(Capture(events=events))

    async def harvest(self, path: str | None = None, *, max_lines: int = 1000) -> HarvestReceipt:
        """Reads captured events into the ledger, from where the last harvest stopped."""
        return await self.call(Harvest(path=path, max_lines=max_lines))

    async def take_spool(self, *, max_events: int = 200) -> SpoolReceipt:
        """Takes in the events that hooks wrote to disk because no daemon answered them, oldest first.

        A daemon does this at its start. What is there already, also from an import, is not stored again.
        """
        return await self.call(TakeSpool(max_events=max_events))

    async def recall(
        self, text: str, *, user_id: str | None = None, session_id: str | None = None, mode: str = "hybrid",
        episodes: bool = False, kinds: Sequence[str] = (), k: int = 10,
    ) -> RecallResult:  # fmt: skip
        """The first step of looking something up: one line each. Then `timeline`, then `get`."""
        return await self.call(Recall(
            text=text, user_id=user_id, session_id=session_id, mode=mode, episodes=episodes, kinds=tuple(kinds), k=k,
        ))  # fmt: skip

    async def timeline(self, ref: str, *, before: int = 5, after: int = 5) -> TimelineView:
        """What was around a record: turns and captured events of the same session, or else of the same collection."""
        return await self.call(Timeline(ref=ref, before=before, after=after))

    async def replay(self, session_id: str, *, cursor: int = 0, limit: int = 200) -> TimelineView:
        """A session from its start: turns and captured events, in the order of their times."""
        return await self.call(Replay(session_id=session_id, cursor=cursor, limit=limit))

    async def read_artifact(self, name: str, *, max_chars: int = 20000) -> Artifact:
        """A payload that was too long for the ledger, as far as it is asked for."""
        return await self.call(ReadArtifact(name=name, max_chars=max_chars))

"""The operations of `observations` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from clew.api.calls import AsyncCalls, Calls
from clew.features.observations.operations import (
    ObservationLog,
    ObservationStats,
    ObserveRebuild,
    ObserveReceipt,
    ObserveRun,
    ObserveShow,
    ObserveStats,
)


class ObservationsMethods(Calls):
    """The operations of `observations`."""

    def observe_run(self, session_id: str, *, force: bool = False) -> ObserveReceipt:
        """Turn the buffer into observations, where it has passed its bound, and prune the log, where that has.

        With `force`, all turns but the newest are observed, however few they are.
        """
        return self.call(ObserveRun(session_id=session_id, force=force))

    def observe_show(self, session_id: str) -> ObservationLog:
        """The observation log of a session, as a context has it and line by line."""
        return self.call(ObserveShow(session_id=session_id))

    def observe_stats(self, session_id: str) -> ObservationStats:
        """How long the observation log of a session is, and how much of the session it covers."""
        return self.call(ObserveStats(session_id=session_id))

    def observe_rebuild(self, session_id: str) -> ObserveReceipt:
        """Make the log again from the raw history, run by run, by rules alone.

        The same turns, settings and token counter give the same bytes.
        """
        return self.call(ObserveRebuild(session_id=session_id))


class AsyncObservationsMethods(AsyncCalls):
    """The operations of `observations` to await."""

    async def observe_run(self, session_id: str, *, force: bool = False) -> ObserveReceipt:
        """Turn the buffer into observations, where it has passed its bound, and prune the log, where that has.

        With `force`, all turns but the newest are observed, however few they are.
        """
        return await self.call(ObserveRun(session_id=session_id, force=force))

    async def observe_show(self, session_id: str) -> ObservationLog:
        """The observation log of a session, as a context has it and line by line."""
        return await self.call(ObserveShow(session_id=session_id))

    async def observe_stats(self, session_id: str) -> ObservationStats:
        """How long the observation log of a session is, and how much of the session it covers."""
        return await self.call(ObserveStats(session_id=session_id))

    async def observe_rebuild(self, session_id: str) -> ObserveReceipt:
        """Make the log again from the raw history, run by run, by rules alone.

        The same turns, settings and token counter give the same bytes.
        """
        return await self.call(ObserveRebuild(session_id=session_id))

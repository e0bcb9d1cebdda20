"""The operations on the observation log as methods of `MemoryApi`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from clew.core.operation import R, Request
from clew.features.observations.operations import (
    ObservationLog,
    ObservationStats,
    ObserveRebuild,
    ObserveReceipt,
    ObserveRun,
    ObserveShow,
    ObserveStats,
)


class ObservingApi(ABC):
    """The operations on the observation log as methods."""

    @abstractmethod
    def call(self, request: Request[R]) -> R: ...

    def observe_run(self, session_id: str, *, force: bool = False) -> ObserveReceipt:
        """Turn what the buffer has no room for into observations."""
        return self.call(ObserveRun(session_id=session_id, force=force))

    def observe_show(self, session_id: str) -> ObservationLog:
        """The observation log of a session, as it stands in a context and line by line."""
        return self.call(ObserveShow(session_id=session_id))

    def observe_stats(self, session_id: str) -> ObservationStats:
        """How long the log is, and how much of the session it stands for."""
        return self.call(ObserveStats(session_id=session_id))

    def observe_rebuild(self, session_id: str) -> ObserveReceipt:
        """Make the log again from the raw history."""
        return self.call(ObserveRebuild(session_id=session_id))

"""The operations of `guidance` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from clew.api.calls import AsyncCalls, Calls
from clew.features.guidance.operations import GuidanceList, ListGuidance


class GuidanceMethods(Calls):
    """The operations of `guidance`."""

    def guidance(self, *, user_id: str | None = None, session_id: str | None = None, limit: int = 1000) -> GuidanceList:
        """The turns of a user, and of a session, that are kept word for word because they guide."""
        return self.call(ListGuidance(user_id=user_id, session_id=session_id, limit=limit))


class AsyncGuidanceMethods(AsyncCalls):
    """The operations of `guidance` to await."""

    async def guidance(
        self, *, user_id: str | None = None, session_id: str | None = None, limit: int = 1000,
    ) -> GuidanceList:  # fmt: skip
        """The turns of a user, and of a session, that are kept word for word because they guide."""
        return await self.call(ListGuidance(user_id=user_id, session_id=session_id, limit=limit))

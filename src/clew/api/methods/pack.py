"""The operations of `pack` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.features.pack.operations import (
    Bundle,
    DiffTraces,
    Explanation,
    ListTraces,
    Pack,
    ShowTrace,
    Trace,
    TraceDiff,
    TraceList,
    Why,
)


class PackMethods(Calls):
    """The operations of `pack`."""

    def pack(
        self, query: str, *, budget_tokens: int | None = None, user_id: str | None = None,
        session_id: str | None = None, exclude_session: str | None = None, project: str | None = None,
        project_only: bool = False, limit: int | None = None, kinds: Sequence[str] = (), cold: bool = False,
        untrusted: bool = False, refs: bool = False, trace: bool = False,
    ) -> Bundle:  # fmt: skip
        """The bounded, cited bundle for one request."""
        return self.call(Pack(
            query=query, budget_tokens=budget_tokens, user_id=user_id, session_id=session_id,
            exclude_session=exclude_session, project=project, project_only=project_only, limit=limit,
            kinds=tuple(kinds), cold=cold, untrusted=untrusted, refs=refs, trace=trace,
        ))  # fmt: skip

    def list_traces(self, *, limit: int = 20) -> TraceList:
        """The traces of packs.

        Newest first.
        """
        return self.call(ListTraces(limit=limit))

    def show_trace(self, id: str) -> Trace:
        """Why a pack is what it is."""
        return self.call(ShowTrace(id=id))

    def diff_traces(self, before: str, after: str) -> TraceDiff:
        """What two packs took and left out differently."""
        return self.call(DiffTraces(before=before, after=after))

    def why(
        self, ref: str, query: str, *, budget_tokens: int | None = None, user_id: str | None = None,
        session_id: str | None = None, exclude_session: str | None = None, project: str | None = None,
        project_only: bool = False, limit: int | None = None, kinds: Sequence[str] = (), cold: bool = False,
        untrusted: bool = False, refs: bool = False,
    ) -> Explanation:  # fmt: skip
        """Why a record would be in the pack for a query, or would not.

        Packs for the query as `pack` would, without keeping or counting anything, and explains one record.
        """
        return self.call(Why(
            query=query, budget_tokens=budget_tokens, user_id=user_id, session_id=session_id,
            exclude_session=exclude_session, project=project, project_only=project_only, limit=limit,
            kinds=tuple(kinds), cold=cold, untrusted=untrusted, refs=refs, ref=ref,
        ))  # fmt: skip


class AsyncPackMethods(AsyncCalls):
    """The operations of `pack` to await."""

    async def pack(
        self, query: str, *, budget_tokens: int | None = None, user_id: str | None = None,
        session_id: str | None = None, exclude_session: str | None = None, project: str | None = None,
        project_only: bool = False, limit: int | None = None, kinds: Sequence[str] = (), cold: bool = False,
        untrusted: bool = False, refs: bool = False, trace: bool = False,
    ) -> Bundle:  # fmt: skip
        """The bounded, cited bundle for one request."""
        return await self.call(Pack(
            query=query, budget_tokens=budget_tokens, user_id=user_id, session_id=session_id,
            exclude_session=exclude_session, project=project, project_only=project_only, limit=limit,
            kinds=tuple(kinds), cold=cold, untrusted=untrusted, refs=refs, trace=trace,
        ))  # fmt: skip

    async def list_traces(self, *, limit: int = 20) -> TraceList:
        """The traces of packs.

        Newest first.
        """
        return await self.call(ListTraces(limit=limit))

    async def show_trace(self, id: str) -> Trace:
        """Why a pack is what it is."""
        return await self.call(ShowTrace(id=id))

    async def diff_traces(self, before: str, after: str) -> TraceDiff:
        """What two packs took and left out differently."""
        return await self.call(DiffTraces(before=before, after=after))

    async def why(
        self, ref: str, query: str, *, budget_tokens: int | None = None, user_id: str | None = None,
        session_id: str | None = None, exclude_session: str | None = None, project: str | None = None,
        project_only: bool = False, limit: int | None = None, kinds: Sequence[str] = (), cold: bool = False,
        untrusted: bool = False, refs: bool = False,
    ) -> Explanation:  # fmt: skip
        """Why a record would be in the pack for a query, or would not.

        Packs for the query as `pack` would, without keeping or counting anything, and explains one record.
        """
        return await self.call(Why(
            query=query, budget_tokens=budget_tokens, user_id=user_id, session_id=session_id,
            exclude_session=exclude_session, project=project, project_only=project_only, limit=limit,
            kinds=tuple(kinds), cold=cold, untrusted=untrusted, refs=refs, ref=ref,
        ))  # fmt: skip

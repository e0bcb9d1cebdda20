"""The operations of `history` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.features.history.operations import (
    Compact,
    CompactReceipt,
    Describe,
    Expand,
    Expansion,
    Grep,
    GrepResult,
    Node,
    SessionView,
    ShowSession,
)


class HistoryMethods(Calls):
    """The operations of `history`."""

    def compact(
        self, session_id: str, *, force: bool = False, budget_tokens: int | None = None,
        cluster_turns: int | None = None, min_turns: int | None = None, tail_tokens: int | None = None,
        prior_tokens: int | None = None,
    ) -> CompactReceipt:  # fmt: skip
        """Replace the turns outside the tail by summaries, in the active view.

        Without `force`, nothing happens until a whole cluster of turns is outside the tail. With it, the tail is
        its base alone, and every turn outside it counts.
        """
        return self.call(Compact(
            session_id=session_id, force=force, budget_tokens=budget_tokens, cluster_turns=cluster_turns,
            min_turns=min_turns, tail_tokens=tail_tokens, prior_tokens=prior_tokens,
        ))  # fmt: skip

    def expand(
        self, session_id: str, *ids: str, max_depth: int = 3, budget_tokens: int | None = None,
        query: str | None = None, exclude: Sequence[str] = (),
    ) -> Expansion:  # fmt: skip
        """The turns that summaries cover. With a `query`, those that answer it best are within the token bound."""
        return self.call(Expand(
            session_id=session_id, ids=ids, max_depth=max_depth, budget_tokens=budget_tokens, query=query,
            exclude=tuple(exclude),
        ))  # fmt: skip

    def describe(self, session_id: str, id: str) -> Node:
        """The lineage of one turn or summary."""
        return self.call(Describe(session_id=session_id, id=id))

    def show_session(self, session_id: str) -> SessionView:
        """The active view and every summary of a session."""
        return self.call(ShowSession(session_id=session_id))

    def grep(
        self, session_id: str, pattern: str, *, regex: bool = False, ignore_case: bool = False, limit: int = 100,
        cursor: int = 0,
    ) -> GrepResult:  # fmt: skip
        """Lines of the raw history that hold a string, or match a regular expression, oldest first."""
        return self.call(Grep(
            session_id=session_id, pattern=pattern, regex=regex, ignore_case=ignore_case, limit=limit, cursor=cursor,
        ))  # fmt: skip


class AsyncHistoryMethods(AsyncCalls):
    """The operations of `history` to await."""

    async def compact(
        self, session_id: str, *, force: bool = False, budget_tokens: int | None = None,
        cluster_turns: int | None = None, min_turns: int | None = None, tail_tokens: int | None = None,
        prior_tokens: int | None = None,
    ) -> CompactReceipt:  # fmt: skip
        """Replace the turns outside the tail by summaries, in the active view.

        Without `force`, nothing happens until a whole cluster of turns is outside the tail. With it, the tail is
        its base alone, and every turn outside it counts.
        """
        return await self.call(Compact(
            session_id=session_id, force=force, budget_tokens=budget_tokens, cluster_turns=cluster_turns,
            min_turns=min_turns, tail_tokens=tail_tokens, prior_tokens=prior_tokens,
        ))  # fmt: skip

    async def expand(
        self, session_id: str, *ids: str, max_depth: int = 3, budget_tokens: int | None = None,
        query: str | None = None, exclude: Sequence[str] = (),
    ) -> Expansion:  # fmt: skip
        """The turns that summaries cover. With a `query`, those that answer it best are within the token bound."""
        return await self.call(Expand(
            session_id=session_id, ids=ids, max_depth=max_depth, budget_tokens=budget_tokens, query=query,
            exclude=tuple(exclude),
        ))  # fmt: skip

    async def describe(self, session_id: str, id: str) -> Node:
        """The lineage of one turn or summary."""
        return await self.call(Describe(session_id=session_id, id=id))

    async def show_session(self, session_id: str) -> SessionView:
        """The active view and every summary of a session."""
        return await self.call(ShowSession(session_id=session_id))

    async def grep(
        self, session_id: str, pattern: str, *, regex: bool = False, ignore_case: bool = False, limit: int = 100,
        cursor: int = 0,
    ) -> GrepResult:  # fmt: skip
        """Lines of the raw history that hold a string, or match a regular expression, oldest first."""
        return await self.call(Grep(
            session_id=session_id, pattern=pattern, regex=regex, ignore_case=ignore_case, limit=limit, cursor=cursor,
        ))  # fmt: skip

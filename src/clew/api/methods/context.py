"""The operations of `context` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.features.context.operations import Assemble, Context
from clew.kernel.operations import Message


class ContextMethods(Calls):
    """The operations of `context`."""

    def assemble(
        self, session_id: str, *, query: str | None = None, messages: Sequence[Message] | None = None,
        budget_tokens: int | None = None, limit_tokens: int | None = None, user_id: str | None = None,
        project: str | None = None, since: int | None = None, mode: str = "recall",
    ) -> Context:  # fmt: skip
        """The context for the next model call, never over the budget.

        With `messages`, the tail is taken from them; otherwise from the stored session.

        Leaves out messages that a summary of the session covers, by their ids, beyond those the tail needs.
        """
        return self.call(Assemble(
            session_id=session_id, query=query, messages=None if messages is None else tuple(messages),
            budget_tokens=budget_tokens, limit_tokens=limit_tokens, user_id=user_id, project=project, since=since,
            mode=mode,
        ))  # fmt: skip


class AsyncContextMethods(AsyncCalls):
    """The operations of `context` to await."""

    async def assemble(
        self, session_id: str, *, query: str | None = None, messages: Sequence[Message] | None = None,
        budget_tokens: int | None = None, limit_tokens: int | None = None, user_id: str | None = None,
        project: str | None = None, since: int | None = None, mode: str = "recall",
    ) -> Context:  # fmt: skip
        """The context for the next model call, never over the budget.

        With `messages`, the tail is taken from them; otherwise from the stored session.

        Leaves out messages that a summary of the session covers, by their ids, beyond those the tail needs.
        """
        return await self.call(Assemble(
            session_id=session_id, query=query, messages=None if messages is None else tuple(messages),
            budget_tokens=budget_tokens, limit_tokens=limit_tokens, user_id=user_id, project=project, since=since,
            mode=mode,
        ))  # fmt: skip

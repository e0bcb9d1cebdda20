"""The operations of `plans` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.features.plans.operations import (
    PlanList,
    PlanProposals,
    PlansAdd,
    PlansClose,
    PlansDue,
    PlansList,
    PlansPropose,
    PlanView,
)


class PlansMethods(Calls):
    """The operations of `plans`."""

    def plans_add(
        self, what: str, *, user_id: str | None = None, date: str | None = None, condition: str = "",
        sources: Sequence[str] = (), proposal: str = "",
    ) -> PlanView:  # fmt: skip
        """Writes a plan down. The same plan again is the same record."""
        return self.call(PlansAdd(
            what=what, user_id=user_id, date=date, condition=condition, sources=tuple(sources), proposal=proposal,
        ))  # fmt: skip

    def plans_list(self, *, user_id: str | None = None, state: str = "open") -> PlanList:
        """The plans of a user, or without one those for all, in the order of their days."""
        return self.call(PlansList(user_id=user_id, state=state))

    def plans_due(self, *, user_id: str | None = None) -> PlanList:
        """The open plans whose day has come. One with a condition alone is never due by itself."""
        return self.call(PlansDue(user_id=user_id))

    def plans_close(self, ref: str, state: str) -> PlanView:
        """The operator's word on how a plan ended; `open` takes it back."""
        return self.call(PlansClose(ref=ref, state=state))

    def plans_propose(self, user_id: str, *, limit: int = 50) -> PlanProposals:
        """Plans that a user's turns speak of, and that were neither accepted nor declined. Writes nothing."""
        return self.call(PlansPropose(user_id=user_id, limit=limit))


class AsyncPlansMethods(AsyncCalls):
    """The operations of `plans` to await."""

    async def plans_add(
        self, what: str, *, user_id: str | None = None, date: str | None = None, condition: str = "",
        sources: Sequence[str] = (), proposal: str = "",
    ) -> PlanView:  # fmt: skip
        """Writes a plan down. The same plan again is the same record."""
        return await self.call(PlansAdd(
            what=what, user_id=user_id, date=date, condition=condition, sources=tuple(sources), proposal=proposal,
        ))  # fmt: skip

    async def plans_list(self, *, user_id: str | None = None, state: str = "open") -> PlanList:
        """The plans of a user, or without one those for all, in the order of their days."""
        return await self.call(PlansList(user_id=user_id, state=state))

    async def plans_due(self, *, user_id: str | None = None) -> PlanList:
        """The open plans whose day has come. One with a condition alone is never due by itself."""
        return await self.call(PlansDue(user_id=user_id))

    async def plans_close(self, ref: str, state: str) -> PlanView:
        """The operator's word on how a plan ended; `open` takes it back."""
        return await self.call(PlansClose(ref=ref, state=state))

    async def plans_propose(self, user_id: str, *, limit: int = 50) -> PlanProposals:
        """Plans that a user's turns speak of, and that were neither accepted nor declined. Writes nothing."""
        return await self.call(PlansPropose(user_id=user_id, limit=limit))

"""The operations on plans as methods of `MemoryApi`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from clew.core.operation import R, Request
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


class PlansApi(ABC):
    """The operations on plans as methods."""

    @abstractmethod
    def call(self, request: Request[R]) -> R: ...

    def plans_add(
        self,
        what: str,
        *,
        user_id: str | None = None,
        date: str | None = None,
        condition: str = "",
        sources: Sequence[str] = (),
    ) -> PlanView:
        """Write a plan down, with its day or its condition."""
        request = PlansAdd(what=what, user_id=user_id, date=date, condition=condition, sources=tuple(sources))
        return self.call(request)

    def plans_list(self, *, user_id: str | None = None, state: str = "open") -> PlanList:
        """Plans, in the order of their days."""
        return self.call(PlansList(user_id=user_id, state=state))

    def plans_due(self, *, user_id: str | None = None) -> PlanList:
        """The open plans whose day has come."""
        return self.call(PlansDue(user_id=user_id))

    def plans_close(self, ref: str, state: str) -> PlanView:
        """Say how a plan ended: `done`, `dropped`, or `open` again."""
        return self.call(PlansClose(ref=ref, state=state))

    def plans_propose(self, user_id: str, *, limit: int = 50) -> PlanProposals:
        """Plans that a user's turns speak of and nobody has written down."""
        return self.call(PlansPropose(user_id=user_id, limit=limit))

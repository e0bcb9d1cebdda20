"""Plans: what is meant to be done, when it is due, and how it ended."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from clew.core.operation import Answer, Request


class PlanState(StrEnum):
    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"


class PlanView(Answer, frozen=True):
    """A plan as it stands: future intent, and no fact."""

    ref: str
    what: str
    """What is meant to be done."""
    state: str
    """`open`, `done` or `dropped`."""
    due: bool
    """Whether it is open and its day has come."""
    date: str | None = None
    """The day it is for, as `YYYY-MM-DD`."""
    condition: str = ""
    """What has to happen first, in words."""
    sources: tuple[str, ...] = ()
    """The records it was read from."""
    trust: str = "unknown"
    ts: int = 0
    closed_by: str = ""
    """The turn that closed it; empty where the operator did, or nobody."""


class PlanList(Answer, frozen=True):
    plans: tuple[PlanView, ...]
    """Those with a day first, the nearest day first."""


class PlansAdd(Request[PlanView], frozen=True):
    """Writes a plan down. The same plan again is the same record."""

    method: ClassVar[str] = "plans_add"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    what: str
    """What is meant to be done, in at most 500 characters."""
    user_id: str | None = None
    date: str | None = None
    """The day it is for, as `YYYY-MM-DD`."""
    condition: str = ""
    """What has to happen first, in words."""
    sources: tuple[str, ...] = ()
    """References of the records that say so, of the same user or shared."""
    proposal: str = ""
    """The id of the proposal that is accepted with it, also where the words are others."""


class PlansList(Request[PlanList], frozen=True):
    """The plans of a user, or without one those for all, in the order of their days."""

    method: ClassVar[str] = "plans_list"
    user_id: str | None = None
    state: str = "open"
    """`open`, `done`, `dropped`, or `all`."""


class PlansDue(Request[PlanList], frozen=True):
    """The open plans whose day has come. One with a condition alone is never due by itself."""

    method: ClassVar[str] = "plans_due"
    user_id: str | None = None


class PlansClose(Request[PlanView], frozen=True):
    """The operator's word on how a plan ended; `open` takes it back."""

    method: ClassVar[str] = "plans_close"
    writes: ClassVar[bool] = True
    ref: str
    state: str
    """`done`, `dropped` or `open`."""


class PlanProposal(Answer, frozen=True):
    """What a turn says that could be a plan. Nothing is written before it is accepted."""

    id: str
    what: str
    """What the turn says is meant to be done."""
    source: str
    """The turn it was read from."""
    confidence: float
    ts: int
    date: str | None = None
    condition: str = ""


class PlanProposals(Answer, frozen=True):
    proposals: tuple[PlanProposal, ...]
    """Newest first."""
    looked_at: int
    """Turns that were read."""


class PlansPropose(Request[PlanProposals], frozen=True):
    """Plans that a user's turns speak of, and that were neither accepted nor declined. Writes nothing."""

    method: ClassVar[str] = "plans_propose"
    deadline_factor: ClassVar[int] = 4
    user_id: str
    limit: int = 50

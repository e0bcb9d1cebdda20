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
    """A plan in its present state: an intention, and no fact."""

    ref: str
    """The record, as `collection/id`."""
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
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    ts: int = 0
    """Milliseconds since 1970."""
    closed_by: str = ""
    """The turn that closed it; empty where the operator did, or nobody."""


class PlanList(Answer, frozen=True):
    plans: tuple[PlanView, ...]
    """Those with a day first, the nearest day first."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class PlansAdd(Request[PlanView], frozen=True):
    """Writes a plan down. The same plan again is the same record."""

    method: ClassVar[str] = "plans_add"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    what: str
    """What is meant to be done, in at most 500 characters."""
    user_id: str | None = None
    """Whose plans; without it, those for all."""
    date: str | None = None
    """The day it is for, as `YYYY-MM-DD`."""
    condition: str = ""
    """What has to happen first, in words."""
    sources: tuple[str, ...] = ()
    """Records that say so, as `collection/id`: of the same user, or shared."""
    proposal: str = ""
    """The id of the proposal that is accepted with it, also where the words are others."""


class PlansList(Request[PlanList], frozen=True):
    """The plans of a user, or without one those for all, in the order of their days."""

    method: ClassVar[str] = "plans_list"
    user_id: str | None = None
    """Whose plans; without it, those for all."""
    state: str = "open"
    """Which plans: `open`, `done`, `dropped`, or `all`."""


class PlansDue(Request[PlanList], frozen=True):
    """The open plans whose day has come. One with a condition alone is never due by itself."""

    method: ClassVar[str] = "plans_due"
    user_id: str | None = None
    """Whose plans; without it, those for all."""


class PlansClose(Request[PlanView], frozen=True):
    """The operator's word on how a plan ended; `open` takes it back."""

    method: ClassVar[str] = "plans_close"
    writes: ClassVar[bool] = True
    ref: str
    """The plan, as `collection/id`."""
    state: str
    """`done`, `dropped` or `open`."""


class PlanProposal(Answer, frozen=True):
    """An intention in a turn that could be a plan. Clew writes nothing before somebody accepts it."""

    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    what: str
    """What the turn says is meant to be done."""
    source: str
    """The turn it was read from."""
    confidence: float
    """How sure it is, from 0 to 1."""
    ts: int
    """Milliseconds since 1970."""
    date: str | None = None
    """The day it is for, as `YYYY-MM-DD`."""
    condition: str = ""
    """What has to happen first, in words."""


class PlanProposals(Answer, frozen=True):
    proposals: tuple[PlanProposal, ...]
    """Newest first."""
    looked_at: int
    """Turns that were read."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class PlansPropose(Request[PlanProposals], frozen=True):
    """Plans that a user's turns speak of, and that were neither accepted nor declined. Writes nothing."""

    method: ClassVar[str] = "plans_propose"
    deadline_factor: ClassVar[int] = 4
    user_id: str
    """Whose turns to read."""
    limit: int = 50
    """How many, newest first, 1 to 1,000."""

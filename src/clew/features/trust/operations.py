"""The operations of trust."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.kernel.operations import RecordView


class TrustItem(Answer, frozen=True):
    ref: str
    """The record, as `collection/id`."""
    trust: str
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    provenance: str
    """Where the text came from."""
    reason: str
    """Why its trust is what it is."""
    by: str
    """Who decided: `clew`, `operator`, or `provenance`."""
    ts: int
    """Milliseconds since 1970."""
    text: str
    """Its beginning, quoted as data."""


class TrustList(Answer, frozen=True):
    items: tuple[TrustItem, ...]
    """Oldest first."""
    cursor: int | None = None
    """Where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ListTrust(Request[TrustList], frozen=True):
    """The review queue: what is quarantined, or what is of another trust, oldest first."""

    method: ClassVar[str] = "list_trust"
    trust: str = "quarantined"
    """Which trust to list."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 100
    """Records a page, 1 to 1,000."""


class Inspection(Answer, frozen=True):
    """All there is to know about a record: what it says, where it is, what it was made from and into."""

    record: RecordView
    """The record."""
    reason: str
    """Why its trust is what it is."""
    places: tuple[str, ...]
    """Where it is, as `collection/id`."""
    made_from: tuple[str, ...] = ()
    """What it was made from."""
    made_into: tuple[str, ...] = ()
    """What was made from it."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class Inspect(Request[Inspection], frozen=True):
    """All there is to know about a record."""

    method: ClassVar[str] = "inspect"
    ref: str
    """The record, as `collection/id`."""


class ReviewReceipt(Answer, frozen=True):
    ref: str
    """The record, as `collection/id`."""
    before: str
    """Its trust before."""
    trust: str
    """Its trust now."""
    affected: tuple[str, ...] = ()
    """What was made from it and changed with it."""


class Review(Request[ReviewReceipt], frozen=True):
    """The operator's word on a record: `quarantine` it, `release` it to the trust its origin gives, or `confirm` it.

    What was made from it follows: it is never trusted more than what it was made from.
    """

    method: ClassVar[str] = "review"
    writes: ClassVar[bool] = True
    ref: str
    """The record, as `collection/id`."""
    verdict: str
    """`quarantine`, `release` or `confirm`."""
    reason: str = ""
    """Why, for whoever looks at it next."""

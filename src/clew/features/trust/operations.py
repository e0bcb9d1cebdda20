"""The operations of trust."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request
from clew.kernel.operations import RecordView


class TrustItem(Answer, frozen=True):
    ref: str
    trust: str
    provenance: str
    reason: str
    """Why its trust is what it is."""
    by: str
    """Who decided: `clew`, `operator`, or `provenance`."""
    ts: int
    text: str
    """Its beginning, quoted as data."""


class TrustList(Answer, frozen=True):
    items: tuple[TrustItem, ...]
    cursor: int | None = None


class ListTrust(Request[TrustList], frozen=True):
    """The review queue: what is quarantined, or what is of another trust, oldest first."""

    method: ClassVar[str] = "list_trust"
    trust: str = "quarantined"
    cursor: int = 0
    limit: int = 100


class Inspection(Answer, frozen=True):
    """All there is to know about a record: what it says, where it stands, what it was made from and into."""

    record: RecordView
    reason: str
    places: tuple[str, ...]
    made_from: tuple[str, ...] = ()
    made_into: tuple[str, ...] = ()


class Inspect(Request[Inspection], frozen=True):
    """All there is to know about a record."""

    method: ClassVar[str] = "inspect"
    ref: str


class ReviewReceipt(Answer, frozen=True):
    ref: str
    before: str
    trust: str
    affected: tuple[str, ...] = ()
    """What was made from it and changed with it."""


class Review(Request[ReviewReceipt], frozen=True):
    """The operator's word on a record: `quarantine` it, `release` it to the trust its origin gives, or `confirm` it.

    What was made from it follows: it is never trusted more than what it was made from.
    """

    method: ClassVar[str] = "review"
    writes: ClassVar[bool] = True
    ref: str
    verdict: str
    reason: str = ""

"""The operations of `trust` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from clew.api.calls import AsyncCalls, Calls
from clew.features.trust.operations import Inspect, Inspection, ListTrust, Review, ReviewReceipt, TrustList


class TrustMethods(Calls):
    """The operations of `trust`."""

    def list_trust(self, *, trust: str = "quarantined", cursor: int = 0, limit: int = 100) -> TrustList:
        """The review queue: what is quarantined, or what is of another trust, oldest first."""
        return self.call(ListTrust(trust=trust, cursor=cursor, limit=limit))

    def inspect(self, ref: str) -> Inspection:
        """All there is to know about a record."""
        return self.call(Inspect(ref=ref))

    def review(self, ref: str, verdict: str, *, reason: str = "") -> ReviewReceipt:
        """The operator's word on a record: `quarantine` it, `release` it to the trust its origin gives, or `confirm`
        it.

        What was made from it follows: it is never trusted more than what it was made from.
        """
        return self.call(Review(ref=ref, verdict=verdict, reason=reason))


class AsyncTrustMethods(AsyncCalls):
    """The operations of `trust` to await."""

    async def list_trust(self, *, trust: str = "quarantined", cursor: int = 0, limit: int = 100) -> TrustList:
        """The review queue: what is quarantined, or what is of another trust, oldest first."""
        return await self.call(ListTrust(trust=trust, cursor=cursor, limit=limit))

    async def inspect(self, ref: str) -> Inspection:
        """All there is to know about a record."""
        return await self.call(Inspect(ref=ref))

    async def review(self, ref: str, verdict: str, *, reason: str = "") -> ReviewReceipt:
        """The operator's word on a record: `quarantine` it, `release` it to the trust its origin gives, or `confirm`
        it.

        What was made from it follows: it is never trusted more than what it was made from.
        """
        return await self.call(Review(ref=ref, verdict=verdict, reason=reason))

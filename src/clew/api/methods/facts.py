"""The operations of `facts` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.features.facts.operations import (
    FactLint,
    FactList,
    FactPack,
    FactProposals,
    FactRebuild,
    FactReceipt,
    FactsAccept,
    FactsAsOf,
    FactsAssert,
    FactsCurrent,
    FactsDecline,
    FactsDeclined,
    FactsInvalidate,
    FactsLint,
    FactsPack,
    FactsPropose,
    FactsRebuild,
    FactsReview,
    FactsStale,
    FactsTimeline,
    FactTimeline,
)


class FactsMethods(Calls):
    """The operations of `facts`."""

    def facts_assert(
        self, subject: str, predicate: str, object: str, *, user_id: str | None = None, sources: Sequence[str] = (),
        statement: str = "", valid_from: int | None = None, valid_to: int | None = None,
        confidence: float | None = None, supersedes: Sequence[str] = (),
    ) -> FactReceipt:  # fmt: skip
        """Says that something is true, from some moment on, on the ground of records, of a statement, or both.

        Of a single-valued predicate, it ends the value before. The same value again is no change: it adds its
        sources.
        """
        return self.call(FactsAssert(
            user_id=user_id, subject=subject, predicate=predicate, object=object, sources=tuple(sources),
            statement=statement, valid_from=valid_from, valid_to=valid_to, confidence=confidence,
            supersedes=tuple(supersedes),
        ))  # fmt: skip

    def facts_invalidate(
        self, fact: str, *, user_id: str | None = None, at: int | None = None, reason: str = "",
    ) -> FactReceipt:  # fmt: skip
        """Takes a fact back: from some moment on it does not hold; from its beginning, it never did."""
        return self.call(FactsInvalidate(user_id=user_id, fact=fact, at=at, reason=reason))

    def facts_current(
        self, subject: str | None = None, predicate: str | None = None, *, user_id: str | None = None, cursor: int = 0,
        limit: int = 100,
    ) -> FactList:  # fmt: skip
        """What is true now, of a subject or of all, and apart from it the facts that have lost their sources."""
        return self.call(FactsCurrent(
            user_id=user_id, subject=subject, predicate=predicate, cursor=cursor, limit=limit,
        ))  # fmt: skip

    def facts_as_of(
        self, at: int, subject: str | None = None, predicate: str | None = None, *, user_id: str | None = None,
        cursor: int = 0, limit: int = 100, recorded: int | None = None,
    ) -> FactList:  # fmt: skip
        """What was true at a moment; with `recorded`, as far as it had been written down by that one."""
        return self.call(FactsAsOf(
            user_id=user_id, subject=subject, predicate=predicate, cursor=cursor, limit=limit, at=at, recorded=recorded,
        ))  # fmt: skip

    def facts_timeline(
        self, subject: str, predicate: str | None = None, *, user_id: str | None = None, limit: int = 200,
    ) -> FactTimeline:  # fmt: skip
        """All that ever was true of a subject."""
        return self.call(FactsTimeline(user_id=user_id, subject=subject, predicate=predicate, limit=limit))

    def facts_lint(self, *, user_id: str | None = None, limit: int = 1000) -> FactLint:
        """Looks for what is wrong with the facts of a user, or of all. Changes nothing."""
        return self.call(FactsLint(user_id=user_id, limit=limit))

    def facts_stale(self, *, user_id: str | None = None, cursor: int = 0, limit: int = 100) -> FactList:
        """The facts whose sources no longer support them, and what has become of those sources."""
        return self.call(FactsStale(user_id=user_id, cursor=cursor, limit=limit))

    def facts_rebuild(self, *, user_id: str | None = None) -> FactRebuild:
        """Replays the log of facts from the rows, compares that with what is kept, and keeps it."""
        return self.call(FactsRebuild(user_id=user_id))

    def facts_pack(
        self, query: str, *, user_id: str | None = None, budget_tokens: int = 400, limit: int = 12,
    ) -> FactPack:  # fmt: skip
        """The current facts that bear on a question, framed, dated and within a budget; none that is stale."""
        return self.call(FactsPack(user_id=user_id, query=query, budget_tokens=budget_tokens, limit=limit))

    def facts_propose(
        self, text: str, *, user_id: str | None = None, speaker: str = "", ts: int | None = None, role: str = "user",
    ) -> FactProposals:  # fmt: skip
        """The candidates for facts in a text. Writes nothing."""
        return self.call(FactsPropose(user_id=user_id, text=text, speaker=speaker, ts=ts, role=role))

    def facts_review(self, user_id: str, *, cursor: int = 0, limit: int = 50) -> FactProposals:
        """The review queue: what a user's stored turns propose, oldest first, and nobody has accepted or declined
        yet.
        """
        return self.call(FactsReview(user_id=user_id, cursor=cursor, limit=limit))

    def facts_accept(
        self, user_id: str, source: str, proposal: str = "", *, subject: str | None = None,
        predicate: str | None = None, object: str | None = None, valid_from: int | None = None,
        valid_to: int | None = None, confidence: float | None = None, supersedes: Sequence[str] = (),
    ) -> FactReceipt:  # fmt: skip
        """Makes a proposal a fact that cites its turn, as it is or with other words."""
        return self.call(FactsAccept(
            user_id=user_id, source=source, proposal=proposal, subject=subject, predicate=predicate, object=object,
            valid_from=valid_from, valid_to=valid_to, confidence=confidence, supersedes=tuple(supersedes),
        ))  # fmt: skip

    def facts_decline(self, user_id: str, source: str, *proposals: str) -> FactsDeclined:
        """Takes proposals of a turn off the queue for good. The turn stays as it is."""
        return self.call(FactsDecline(user_id=user_id, source=source, proposals=proposals))


class AsyncFactsMethods(AsyncCalls):
    """The operations of `facts` to await."""

    async def facts_assert(
        self, subject: str, predicate: str, object: str, *, user_id: str | None = None, sources: Sequence[str] = (),
        statement: str = "", valid_from: int | None = None, valid_to: int | None = None,
        confidence: float | None = None, supersedes: Sequence[str] = (),
    ) -> FactReceipt:  # fmt: skip
        """Says that something is true, from some moment on, on the ground of records, of a statement, or both.

        Of a single-valued predicate, it ends the value before. The same value again is no change: it adds its
        sources.
        """
        return await self.call(FactsAssert(
            user_id=user_id, subject=subject, predicate=predicate, object=object, sources=tuple(sources),
            statement=statement, valid_from=valid_from, valid_to=valid_to, confidence=confidence,
            supersedes=tuple(supersedes),
        ))  # fmt: skip

    async def facts_invalidate(
        self, fact: str, *, user_id: str | None = None, at: int | None = None, reason: str = "",
    ) -> FactReceipt:  # fmt: skip
        """Takes a fact back: from some moment on it does not hold; from its beginning, it never did."""
        return await self.call(FactsInvalidate(user_id=user_id, fact=fact, at=at, reason=reason))

    async def facts_current(
        self, subject: str | None = None, predicate: str | None = None, *, user_id: str | None = None, cursor: int = 0,
        limit: int = 100,
    ) -> FactList:  # fmt: skip
        """What is true now, of a subject or of all, and apart from it the facts that have lost their sources."""
        return await self.call(FactsCurrent(
            user_id=user_id, subject=subject, predicate=predicate, cursor=cursor, limit=limit,
        ))  # fmt: skip

    async def facts_as_of(
        self, at: int, subject: str | None = None, predicate: str | None = None, *, user_id: str | None = None,
        cursor: int = 0, limit: int = 100, recorded: int | None = None,
    ) -> FactList:  # fmt: skip
        """What was true at a moment; with `recorded`, as far as it had been written down by that one."""
        return await self.call(FactsAsOf(
            user_id=user_id, subject=subject, predicate=predicate, cursor=cursor, limit=limit, at=at, recorded=recorded,
        ))  # fmt: skip

    async def facts_timeline(
        self, subject: str, predicate: str | None = None, *, user_id: str | None = None, limit: int = 200,
    ) -> FactTimeline:  # fmt: skip
        """All that ever was true of a subject."""
        return await self.call(FactsTimeline(user_id=user_id, subject=subject, predicate=predicate, limit=limit))

    async def facts_lint(self, *, user_id: str | None = None, limit: int = 1000) -> FactLint:
        """Looks for what is wrong with the facts of a user, or of all. Changes nothing."""
        return await self.call(FactsLint(user_id=user_id, limit=limit))

    async def facts_stale(self, *, user_id: str | None = None, cursor: int = 0, limit: int = 100) -> FactList:
        """The facts whose sources no longer support them, and what has become of those sources."""
        return await self.call(FactsStale(user_id=user_id, cursor=cursor, limit=limit))

    async def facts_rebuild(self, *, user_id: str | None = None) -> FactRebuild:
        """Replays the log of facts from the rows, compares that with what is kept, and keeps it."""
        return await self.call(FactsRebuild(user_id=user_id))

    async def facts_pack(
        self, query: str, *, user_id: str | None = None, budget_tokens: int = 400, limit: int = 12,
    ) -> FactPack:  # fmt: skip
        """The current facts that bear on a question, framed, dated and within a budget; none that is stale."""
        return await self.call(FactsPack(user_id=user_id, query=query, budget_tokens=budget_tokens, limit=limit))

    async def facts_propose(
        self, text: str, *, user_id: str | None = None, speaker: str = "", ts: int | None = None, role: str = "user",
    ) -> FactProposals:  # fmt: skip
        """The candidates for facts in a text. Writes nothing."""
        return await self.call(FactsPropose(user_id=user_id, text=text, speaker=speaker, ts=ts, role=role))

    async def facts_review(self, user_id: str, *, cursor: int = 0, limit: int = 50) -> FactProposals:
        """The review queue: what a user's stored turns propose, oldest first, and nobody has accepted or declined
        yet.
        """
        return await self.call(FactsReview(user_id=user_id, cursor=cursor, limit=limit))

    async def facts_accept(
        self, user_id: str, source: str, proposal: str = "", *, subject: str | None = None,
        predicate: str | None = None, object: str | None = None, valid_from: int | None = None,
        valid_to: int | None = None, confidence: float | None = None, supersedes: Sequence[str] = (),
    ) -> FactReceipt:  # fmt: skip
        """Makes a proposal a fact that cites its turn, as it is or with other words."""
        return await self.call(FactsAccept(
            user_id=user_id, source=source, proposal=proposal, subject=subject, predicate=predicate, object=object,
            valid_from=valid_from, valid_to=valid_to, confidence=confidence, supersedes=tuple(supersedes),
        ))  # fmt: skip

    async def facts_decline(self, user_id: str, source: str, *proposals: str) -> FactsDeclined:
        """Takes proposals of a turn off the queue for good. The turn stays as it is."""
        return await self.call(FactsDecline(user_id=user_id, source=source, proposals=proposals))

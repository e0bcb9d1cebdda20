"""The operations on facts as methods of `MemoryApi`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from clew.core.operation import R, Request
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


class FactsApi(ABC):
    """The operations on facts as methods."""

    @abstractmethod
    def call(self, request: Request[R]) -> R: ...

    def facts_assert(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 — the third word of every fact
        *,
        user_id: str | None = None,
        sources: Sequence[str] = (),
        statement: str = "",
        valid_from: int | None = None,
        valid_to: int | None = None,
        confidence: float | None = None,
        supersedes: Sequence[str] = (),
    ) -> FactReceipt:
        """Say that something is true, and on what ground."""
        return self.call(
            FactsAssert(
                subject=subject, predicate=predicate, object=object, user_id=user_id, sources=tuple(sources),
                statement=statement, valid_from=valid_from, valid_to=valid_to, confidence=confidence,
                supersedes=tuple(supersedes),
            )
        )  # fmt: skip

    def facts_invalidate(
        self, fact: str, *, user_id: str | None = None, at: int | None = None, reason: str = ""
    ) -> FactReceipt:
        """Take a fact back, from some moment on."""
        return self.call(FactsInvalidate(fact=fact, user_id=user_id, at=at, reason=reason))

    def facts_current(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        *,
        user_id: str | None = None,
        cursor: int = 0,
        limit: int = 100,
    ) -> FactList:
        """What is true now."""
        return self.call(
            FactsCurrent(subject=subject, predicate=predicate, user_id=user_id, cursor=cursor, limit=limit)
        )

    def facts_as_of(
        self,
        at: int,
        subject: str | None = None,
        predicate: str | None = None,
        *,
        recorded: int | None = None,
        user_id: str | None = None,
        cursor: int = 0,
        limit: int = 100,
    ) -> FactList:
        """What was true at a moment, as far as it had been written down by another."""
        return self.call(
            FactsAsOf(
                at=at, recorded=recorded, subject=subject, predicate=predicate, user_id=user_id, cursor=cursor,
                limit=limit,
            )
        )  # fmt: skip

    def facts_timeline(
        self, subject: str, predicate: str | None = None, *, user_id: str | None = None, limit: int = 200
    ) -> FactTimeline:
        """All that ever was true of a subject."""
        return self.call(FactsTimeline(subject=subject, predicate=predicate, user_id=user_id, limit=limit))

    def facts_lint(self, *, user_id: str | None = None, limit: int = 1000) -> FactLint:
        """What is wrong with the facts."""
        return self.call(FactsLint(user_id=user_id, limit=limit))

    def facts_stale(self, *, user_id: str | None = None, cursor: int = 0, limit: int = 100) -> FactList:
        """The facts that have lost their sources."""
        return self.call(FactsStale(user_id=user_id, cursor=cursor, limit=limit))

    def facts_rebuild(self, *, user_id: str | None = None) -> FactRebuild:
        """Replay the facts from the rows."""
        return self.call(FactsRebuild(user_id=user_id))

    def facts_pack(
        self, query: str, *, user_id: str | None = None, budget_tokens: int = 400, limit: int = 12
    ) -> FactPack:
        """The current facts that bear on a question."""
        return self.call(FactsPack(query=query, user_id=user_id, budget_tokens=budget_tokens, limit=limit))

    def facts_propose(
        self,
        text: str,
        *,
        user_id: str | None = None,
        speaker: str = "",
        ts: int | None = None,
        role: str = "user",
    ) -> FactProposals:
        """The candidates for facts in a text. Writes nothing."""
        return self.call(FactsPropose(text=text, user_id=user_id, speaker=speaker, ts=ts, role=role))

    def facts_review(self, user_id: str, *, cursor: int = 0, limit: int = 50) -> FactProposals:
        """What a user's turns propose, and nobody has looked at yet."""
        return self.call(FactsReview(user_id=user_id, cursor=cursor, limit=limit))

    def facts_accept(
        self,
        user_id: str,
        source: str,
        proposal: str = "",
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        valid_from: int | None = None,
        valid_to: int | None = None,
        confidence: float | None = None,
        supersedes: Sequence[str] = (),
    ) -> FactReceipt:
        """Make a proposal a fact that cites its turn."""
        return self.call(
            FactsAccept(
                user_id=user_id, source=source, proposal=proposal, subject=subject, predicate=predicate, object=object,
                valid_from=valid_from, valid_to=valid_to, confidence=confidence, supersedes=tuple(supersedes),
            )
        )  # fmt: skip

    def facts_decline(self, user_id: str, source: str, *proposals: str) -> FactsDeclined:
        """Take proposals of a turn off the queue."""
        return self.call(FactsDecline(user_id=user_id, source=source, proposals=proposals))

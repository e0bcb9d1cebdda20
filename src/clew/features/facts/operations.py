"""Facts: what is true of a subject, since when, and on what evidence; and what texts propose as such."""

from __future__ import annotations

from typing import ClassVar, Generic

from clew.core.operation import Answer, R, Request


class FactView(Answer, frozen=True):
    """The value that a predicate of a subject has over one stretch of time."""

    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    ref: str
    """The record, as `collection/id`."""
    subject: str
    """Whom or what it is about."""
    predicate: str
    """What is said of the subject."""
    object: str
    """The value."""
    text: str
    """The same as a sentence."""
    valid_from: int
    """Since when it holds."""
    recorded: int
    """When it was first asserted."""
    confidence: float
    """How sure it is, from 0 to 1."""
    trust: str
    """`trusted`, `unknown`, `untrusted` or `quarantined`."""
    sources: tuple[str, ...]
    """References of the records it rests on."""
    valid_to: int | None = None
    """When it ended; absent where no end is known, equal to `valid_from` where it never held."""
    ended_by: str | None = None
    """The fact that ended it."""
    invalidated: bool = False
    """Whether it was taken back."""
    corroborated: int = 0
    """How often it was asserted again while it held."""
    stale: bool = False
    """Whether its sources no longer support it; then nobody should rely on it."""
    why: tuple[str, ...] = ()
    """Why it is stale: what has become of its sources."""


class FactList(Answer, frozen=True):
    facts: tuple[FactView, ...]
    """Facts to rely on, by predicate and time."""
    stale: tuple[FactView, ...]
    """Facts that have lost their sources, on which nobody should rely."""
    known: bool
    """Whether anything is known of what was asked."""
    message: str
    """The same in a sentence, where there is nothing to show."""
    at: int
    """The moment it is about."""
    cursor: int | None = None
    """Where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FactTimeline(Answer, frozen=True):
    facts: tuple[FactView, ...]
    """Oldest first, with what was asserted and never held."""
    known: bool
    """Whether anything is known of the subject."""
    message: str
    """The same in a sentence, where nothing is."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FactReceipt(Answer, frozen=True):
    fact: FactView
    """The fact as it is now."""
    new: bool
    """False where the same was written before."""
    ended: tuple[FactView, ...] = ()
    """Facts that it ended."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""


class FactsRequest(Request[R], Generic[R], frozen=True, kw_only=True):
    """Whose facts a request is about."""

    user_id: str | None = None
    """Whose facts; without it, those for all."""


class FactsAssert(FactsRequest[FactReceipt], frozen=True, kw_only=True):
    """Says that something is true, from some moment on, on the ground of records, of a statement, or both.

    Of a single-valued predicate, it ends the value before. The same value again is no change: it adds its sources.
    """

    method: ClassVar[str] = "facts_assert"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    subject: str
    """Whom or what it is about, 1 to 200 characters; compared without case and spacing."""
    predicate: str
    """One of the built-in predicates, or of the setting `fact_predicates`."""
    object: str
    """The value, 1 to 2,000 characters."""
    sources: tuple[str, ...] = ()
    """Records that say so, as `collection/id`: of the same user, or shared."""
    statement: str = ""
    """Words to keep as a memory and cite, where no record says it yet."""
    valid_from: int | None = None
    """Since when; else now."""
    valid_to: int | None = None
    """Until when, if that is known: the first moment at which it does not hold."""
    confidence: float | None = None
    """How sure it is, from 0 to 1; at most, and by default, what its most trusted source allows."""
    supersedes: tuple[str, ...] = ()
    """Facts that end where this one begins, whatever they say."""


class FactsInvalidate(FactsRequest[FactReceipt], frozen=True, kw_only=True):
    """Takes a fact back: from some moment on it does not hold; from its beginning, it never did."""

    method: ClassVar[str] = "facts_invalidate"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    fact: str
    """Its id or its reference."""
    at: int | None = None
    """From when on it does not hold; else now. Its beginning means that it never held."""
    reason: str = ""
    """Why, for whoever looks at it next."""


class FactsQuestion(FactsRequest[FactList], frozen=True, kw_only=True):
    """Which facts to list."""

    positional: ClassVar[tuple[str, ...]] = ("subject", "predicate")
    subject: str | None = None
    """Only what is about this one; else all subjects, page by page."""
    predicate: str | None = None
    """Only this predicate."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 100
    """Facts a page, 1 to 1,000."""


class FactsCurrent(FactsQuestion, frozen=True, kw_only=True):
    """What is true now, of a subject or of all, and apart from it the facts that have lost their sources."""

    method: ClassVar[str] = "facts_current"


class FactsAsOf(FactsQuestion, frozen=True, kw_only=True):
    """What was true at a moment; with `recorded`, as far as it had been written down by that one."""

    method: ClassVar[str] = "facts_as_of"
    at: int
    """The moment that is asked about."""
    recorded: int | None = None
    """As far as it had been written down by this moment; else by now."""


class FactsTimeline(FactsRequest[FactTimeline], frozen=True, kw_only=True):
    """All that ever was true of a subject."""

    method: ClassVar[str] = "facts_timeline"
    positional: ClassVar[tuple[str, ...]] = ("predicate",)
    subject: str
    """Whom or what it is about."""
    predicate: str | None = None
    """Only this predicate."""
    limit: int = 200
    """How many, the newest where there are more, 1 to 1,000."""


class FactProblem(Answer, frozen=True):
    kind: str
    """`malformed`, `dangling_source`, `stale_source`, `unknown_predicate`, `overlap`, `confidence`, `unknown_fact`."""
    ref: str
    """The record, as `collection/id`."""
    message: str
    """The turn."""


class FactLint(Answer, frozen=True):
    ok: bool
    """Whether all is well."""
    checked: int
    """Assertions and invalidations that were looked at."""
    problems: tuple[FactProblem, ...]
    """The first of them."""
    found: int
    """How many there are, listed or not."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FactsLint(FactsRequest[FactLint], frozen=True, kw_only=True):
    """Looks for what is wrong with the facts of a user, or of all. Changes nothing."""

    method: ClassVar[str] = "facts_lint"
    deadline_factor: ClassVar[int] = 20
    limit: int = 1000
    """Problems listed, 1 to 10,000."""


class FactsStale(FactsRequest[FactList], frozen=True, kw_only=True):
    """The facts whose sources no longer support them, and what has become of those sources."""

    method: ClassVar[str] = "facts_stale"
    deadline_factor: ClassVar[int] = 20
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 100
    """Facts a page, 1 to 1,000."""


class FactRebuild(Answer, frozen=True):
    identical: bool
    """Whether what was kept in memory was, byte for byte, what the rows say."""
    message: str
    """The turn."""
    facts: int
    """Facts that were replayed."""
    assertions: int
    """Entries of the log that say something."""
    invalidations: int
    """Entries that take something back."""
    malformed: int
    """Records that are no entries."""
    digest: str
    """Of the facts in their canonical form."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FactsRebuild(FactsRequest[FactRebuild], frozen=True, kw_only=True):
    """Replays the log of facts from the rows, compares that with what is kept, and keeps it."""

    method: ClassVar[str] = "facts_rebuild"
    deadline_factor: ClassVar[int] = 20


class FactPack(Answer, frozen=True):
    """The facts that bear on a question, as text for a prompt and as data."""

    text: str
    """The text, at most `max_text_bytes`."""
    facts: tuple[FactView, ...]
    """In the order of the text."""
    used_tokens: int
    """Tokens of the text, counted on the safe side."""
    budget_tokens: int
    """Size of the context, from 64; else the setting `budget_tokens`."""
    notes: tuple[str, ...] = ()
    """Remarks for a reader of the facts."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FactsPack(FactsRequest[FactPack], frozen=True, kw_only=True):
    """The current facts that bear on a question, framed, dated and within a budget; none that is stale."""

    method: ClassVar[str] = "facts_pack"
    query: str
    """The question."""
    budget_tokens: int = 400
    """Tokens of the text at most, from 64."""
    limit: int = 12
    """Facts at most, 1 to 100."""


# --- proposals ---------------------------------------------------------------------------------------


class FactProposal(Answer, frozen=True):
    """A sentence that could be a fact. Clew writes nothing before somebody accepts it."""

    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    source: str
    """The turn it was read from; empty for a text that is not stored."""
    subject: str
    """Whom or what it is about."""
    predicate: str
    """What is said of the subject."""
    object: str
    """The value."""
    quote: str
    """The words it was read from."""
    ts: int
    """Milliseconds since 1970."""
    valid_from: int
    """Since when it holds."""
    confidence: float
    """How sure it is, from 0 to 1."""
    speaker: str = ""
    """Who says it, where that is known."""
    contradicts: tuple[FactView, ...] = ()
    """Facts about the same matter that say otherwise, now or at the time of the text."""
    known: bool = False
    """Whether it is true already, and accepting it would only add a source."""
    ends: tuple[FactView, ...] = ()
    """The facts that the text says hold no longer; accepting it takes them back from then on. Empty for a new fact."""


class FactProposals(Answer, frozen=True):
    proposals: tuple[FactProposal, ...]
    """In the order of the texts they were read from."""
    message: str
    """That nothing was written."""
    looked_at: int = 0
    """Turns that were read."""
    cursor: int | None = None
    """Where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FactsPropose(FactsRequest[FactProposals], frozen=True, kw_only=True):
    """The candidates for facts in a text. Writes nothing."""

    method: ClassVar[str] = "facts_propose"
    text: str
    """The text, at most `max_text_bytes`."""
    speaker: str = ""
    """Who says "I" in it."""
    ts: int | None = None
    """When it was said; else now."""
    role: str = "user"
    """Who speaks; what a tool says proposes nothing."""


class FactsReview(Request[FactProposals], frozen=True):
    """The review queue: what a user's stored turns propose, oldest first, and nobody has accepted or declined yet."""

    method: ClassVar[str] = "facts_review"
    deadline_factor: ClassVar[int] = 4
    user_id: str
    """Whose turns."""
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 50
    """Proposals a page, 1 to 1,000."""


class FactsAccept(Request[FactReceipt], frozen=True):
    """Makes a proposal a fact that cites its turn, as it is or with other words."""

    method: ClassVar[str] = "facts_accept"
    positional: ClassVar[tuple[str, ...]] = ("proposal",)
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    user_id: str
    """Whose turns."""
    source: str
    """The turn."""
    proposal: str = ""
    """Its id; it may be left out where the turn has only one that is open."""
    subject: str | None = None
    """Another subject than the one that was proposed."""
    predicate: str | None = None
    """Another predicate."""
    object: str | None = None
    """Another object."""
    valid_from: int | None = None
    """Since when; else as the turn says."""
    valid_to: int | None = None
    """Until when, if that is known."""
    confidence: float | None = None
    """Less, or more, than was proposed; never more than the turn allows."""
    supersedes: tuple[str, ...] = ()
    """Facts that end where this one begins."""


class FactsDeclined(Answer, frozen=True):
    source: str
    """The turn."""
    declined: tuple[str, ...]
    """Ids of all declined proposals of the turn."""


class FactsDecline(Request[FactsDeclined], frozen=True):
    """Takes proposals of a turn off the queue for good. The turn stays as it is."""

    method: ClassVar[str] = "facts_decline"
    spread: ClassVar[str] = "proposals"
    writes: ClassVar[bool] = True
    user_id: str
    """Whose turns."""
    source: str
    """The turn."""
    proposals: tuple[str, ...]
    """Their ids, of facts or of plans."""

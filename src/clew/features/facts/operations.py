"""Facts: what is true of a subject, since when, and on what evidence; and what texts propose as such."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request


class FactView(Answer, frozen=True):
    """What a subject has as the value of a predicate, over one stretch of time."""

    id: str
    ref: str
    subject: str
    predicate: str
    object: str
    text: str
    """The same as a sentence."""
    valid_from: int
    recorded: int
    """When it was first asserted."""
    confidence: float
    trust: str
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
    """Whether it has lost the ground it stood on; then it is never to be relied on."""
    why: tuple[str, ...] = ()
    """What has become of its sources, where it is stale."""


class FactList(Answer, frozen=True):
    facts: tuple[FactView, ...]
    """What can be relied on, by predicate and time."""
    stale: tuple[FactView, ...]
    """What cannot, for want of sources that still say so."""
    known: bool
    """Whether anything is, of what was asked."""
    message: str
    """The same in a sentence, where there is nothing to show."""
    at: int
    """The moment it is about."""
    cursor: int | None = None


class FactTimeline(Answer, frozen=True):
    facts: tuple[FactView, ...]
    """Oldest first, with what was asserted and never held."""
    known: bool
    """Whether anything is known of the subject."""
    message: str
    """The same in a sentence, where nothing is."""


class FactReceipt(Answer, frozen=True):
    fact: FactView
    """As it stands now."""
    new: bool
    """False where the same was written before."""
    ended: tuple[FactView, ...] = ()
    """What it put an end to."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were cut out before anything was written."""


class FactsAssert(Request[FactReceipt], frozen=True):
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
    user_id: str | None = None
    """Whose fact it is; without one it is for all."""
    sources: tuple[str, ...] = ()
    """References of records of the same user, or shared ones."""
    statement: str = ""
    """Words to be kept as a memory and cited, where no record says it yet."""
    valid_from: int | None = None
    """Now, where it is not given."""
    valid_to: int | None = None
    """The first moment at which it does not hold any more, where that is known."""
    confidence: float | None = None
    """Never more than its most trusted source allows, and that where it is not given."""
    supersedes: tuple[str, ...] = ()
    """Ids of facts that end where this one begins, whatever they say."""


class FactsInvalidate(Request[FactReceipt], frozen=True):
    """Takes a fact back: from some moment on it does not hold; from its beginning, it never did."""

    method: ClassVar[str] = "facts_invalidate"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    fact: str
    """Its id or its reference."""
    user_id: str | None = None
    at: int | None = None
    """Now, where it is not given."""
    reason: str = ""
    """Why, in words; kept with it."""


class FactsCurrent(Request[FactList], frozen=True):
    """What is true now, of a subject or of all; what has lost its sources stands apart."""

    method: ClassVar[str] = "facts_current"
    positional: ClassVar[tuple[str, ...]] = ("subject", "predicate")
    subject: str | None = None
    """Only what is about this one; else all subjects, page by page."""
    predicate: str | None = None
    """Only this predicate."""
    user_id: str | None = None
    cursor: int = 0
    limit: int = 100


class FactsAsOf(Request[FactList], frozen=True):
    """What was true at a moment; with `recorded`, as far as it had been written down by that one."""

    method: ClassVar[str] = "facts_as_of"
    positional: ClassVar[tuple[str, ...]] = ("subject", "predicate")
    at: int
    """The moment that is asked about."""
    recorded: int | None = None
    """The moment by which it had been written down; else all counts that was, up to now."""
    subject: str | None = None
    """Only what is about this one; else all subjects, page by page."""
    predicate: str | None = None
    """Only this predicate."""
    user_id: str | None = None
    cursor: int = 0
    limit: int = 100


class FactsTimeline(Request[FactTimeline], frozen=True):
    """All that ever was true of a subject."""

    method: ClassVar[str] = "facts_timeline"
    positional: ClassVar[tuple[str, ...]] = ("predicate",)
    subject: str
    """Whom or what it is about."""
    predicate: str | None = None
    """Only this predicate."""
    user_id: str | None = None
    limit: int = 200
    """The newest are given where there are more."""


class FactProblem(Answer, frozen=True):
    kind: str
    """`malformed`, `dangling_source`, `stale_source`, `unknown_predicate`, `overlap`, `confidence`, `unknown_fact`."""
    ref: str
    message: str


class FactLint(Answer, frozen=True):
    ok: bool
    checked: int
    """Assertions and invalidations that were looked at."""
    problems: tuple[FactProblem, ...]
    """The first of them."""
    found: int
    """How many there are, listed or not."""


class FactsLint(Request[FactLint], frozen=True):
    """Looks for what is wrong with the facts of a user, or of all. Changes nothing."""

    method: ClassVar[str] = "facts_lint"
    deadline_factor: ClassVar[int] = 20
    user_id: str | None = None
    limit: int = 1000


class FactsStale(Request[FactList], frozen=True):
    """The facts that have lost the ground they stood on, with what has become of it."""

    method: ClassVar[str] = "facts_stale"
    deadline_factor: ClassVar[int] = 20
    user_id: str | None = None
    cursor: int = 0
    limit: int = 100


class FactRebuild(Answer, frozen=True):
    identical: bool
    """Whether what was kept in memory was, byte for byte, what the rows say."""
    message: str
    facts: int
    """What was replayed."""
    assertions: int
    """Entries of the log that say something."""
    invalidations: int
    """Entries that take something back."""
    malformed: int
    """Records that are no entries."""
    digest: str
    """Of the facts in their canonical form."""


class FactsRebuild(Request[FactRebuild], frozen=True):
    """Replays the log of facts from the rows, compares that with what is kept, and keeps it."""

    method: ClassVar[str] = "facts_rebuild"
    deadline_factor: ClassVar[int] = 20
    user_id: str | None = None


class FactPack(Answer, frozen=True):
    """The facts that bear on a question, as text for a prompt and as data."""

    text: str
    facts: tuple[FactView, ...]
    """In the order of the text."""
    used_tokens: int
    """What the text takes, counted on the safe side."""
    budget_tokens: int
    notes: tuple[str, ...] = ()
    """What a reader should know beside the facts."""
    degraded: tuple[str, ...] = ()


class FactsPack(Request[FactPack], frozen=True):
    """The current facts that bear on a question, framed, dated and within a budget; none that is stale."""

    method: ClassVar[str] = "facts_pack"
    query: str
    user_id: str | None = None
    budget_tokens: int = 400
    limit: int = 12


# --- proposals ---------------------------------------------------------------------------------------


class FactProposal(Answer, frozen=True):
    """What a text says that could be a fact. Nothing is written before it is accepted."""

    id: str
    source: str
    """The turn it was read from; empty for a text that is not stored."""
    subject: str
    predicate: str
    object: str
    quote: str
    """The words it was read from."""
    ts: int
    valid_from: int
    confidence: float
    speaker: str = ""
    contradicts: tuple[FactView, ...] = ()
    """What is true of the same matter, now or from when the text speaks, and says otherwise."""
    known: bool = False
    """Whether it is true already, and accepting it would only add a source."""


class FactProposals(Answer, frozen=True):
    proposals: tuple[FactProposal, ...]
    """In the order of the texts they were read from."""
    message: str
    """That nothing was written."""
    looked_at: int = 0
    """Turns that were read."""
    cursor: int | None = None


class FactsPropose(Request[FactProposals], frozen=True):
    """The candidates for facts in a text. Writes nothing."""

    method: ClassVar[str] = "facts_propose"
    text: str
    user_id: str | None = None
    speaker: str = ""
    """Who says "I" in it."""
    ts: int | None = None
    """When it was said; now, where it is not given."""
    role: str = "user"


class FactsReview(Request[FactProposals], frozen=True):
    """The review queue: what a user's stored turns propose, oldest first, and nobody has accepted or declined yet."""

    method: ClassVar[str] = "facts_review"
    deadline_factor: ClassVar[int] = 4
    user_id: str
    cursor: int = 0
    limit: int = 50


class FactsAccept(Request[FactReceipt], frozen=True):
    """Makes a proposal a fact that cites its turn, as it is or with other words."""

    method: ClassVar[str] = "facts_accept"
    positional: ClassVar[tuple[str, ...]] = ("proposal",)
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    user_id: str
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
    """Another beginning."""
    valid_to: int | None = None
    """An end, where one is known."""
    confidence: float | None = None
    """Less, or more, than was proposed; never more than the turn allows."""
    supersedes: tuple[str, ...] = ()
    """Ids of facts that end where this one begins."""


class FactsDeclined(Answer, frozen=True):
    source: str
    """The turn."""
    declined: tuple[str, ...]
    """All that was declined of the turn."""


class FactsDecline(Request[FactsDeclined], frozen=True):
    """Takes proposals of a turn off the queue for good. The turn stays as it is."""

    method: ClassVar[str] = "facts_decline"
    spread: ClassVar[str] = "proposals"
    writes: ClassVar[bool] = True
    user_id: str
    source: str
    """The turn."""
    proposals: tuple[str, ...]
    """Their ids, of facts or of plans."""

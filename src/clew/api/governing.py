"""Governing what is kept: trust and its review, ageing, duplicates, and purging for good."""

from __future__ import annotations

from typing import ClassVar

from clew.api.answers import Answer, Done, RecordView
from clew.api.requests import Request

# --- trust -------------------------------------------------------------------------------------------


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
    answer: ClassVar[type[Answer]] = TrustList
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
    method: ClassVar[str] = "inspect"
    answer: ClassVar[type[Answer]] = Inspection
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
    answer: ClassVar[type[Answer]] = ReviewReceipt
    ref: str
    verdict: str
    reason: str = ""


# --- lifecycle ---------------------------------------------------------------------------------------


class AgeReceipt(Answer, frozen=True):
    """What a lifecycle run did, or with `dry_run` would do; figures, and the first references."""

    dry_run: bool
    looked_at: int
    graded: dict[str, int]
    """How many received each label."""
    archived: dict[str, int]
    """How many of each retention class left ordinary recall."""
    archived_refs: tuple[str, ...]
    contradictions: int
    """Pairs that were marked because they contradict each other."""
    contradiction_refs: tuple[str, ...] = ()
    ts: int = 0


class Age(Request[AgeReceipt], frozen=True):
    """Grades what has no grade, archives what was not used for long, marks contradictions."""

    method: ClassVar[str] = "age"
    answer: ClassVar[type[Answer]] = AgeReceipt
    deadline_factor: ClassVar[int] = 60
    dry_run: bool = True
    last: bool = False
    """Give the figures of the last run instead, and look at nothing; `ts` is 0 where there was none."""
    if_due: bool = False
    """Only when the setting `lifecycle_hours` says that a run is due; otherwise as with `last`.

    Such a run spares what came in lately, however old it is.
    """


class Revive(Request[Done], frozen=True):
    """Brings archived records back; references as they were before or as they are in the archive."""

    method: ClassVar[str] = "revive"
    answer: ClassVar[type[Answer]] = Done
    refs: tuple[str, ...]


class Label(Request[RecordView], frozen=True):
    """What the operator says about a record; Clew never overwrites it. An empty string takes a word back."""

    method: ClassVar[str] = "label"
    answer: ClassVar[type[Answer]] = RecordView
    ref: str
    kind: str | None = None
    importance: str | None = None
    """`must_remember`, `nice_to_have` or `ignore`."""
    retention: str | None = None
    """`P0` is never archived, `P1` and `P2` after a while without use."""
    superseded_by: str | None = None
    """The reference of the record that holds in its place."""


class Duplicate(Answer, frozen=True):
    """A proposal: two records that say the same, or that contradict each other. Nothing is done about it."""

    keep: str
    drop: str
    similarity: float
    contradiction: bool
    evidence: tuple[str, ...]


class DuplicateList(Answer, frozen=True):
    proposals: tuple[Duplicate, ...]
    looked_at: int
    """Records that were compared."""
    compared_with_all: int = 0
    """The newest of them, which were compared with every other one."""


class FindDuplicates(Request[DuplicateList], frozen=True):
    method: ClassVar[str] = "find_duplicates"
    answer: ClassVar[type[Answer]] = DuplicateList
    deadline_factor: ClassVar[int] = 20
    collection: str
    min_similarity: float = 0.9
    limit: int = 100


class Merge(Request[Done], frozen=True):
    """The operator's word that records say the same: one stays, the others rest in the archive and lead to it."""

    method: ClassVar[str] = "merge"
    answer: ClassVar[type[Answer]] = Done
    keep: str
    drop: tuple[str, ...]


# --- purging -----------------------------------------------------------------------------------------


class PurgeReceipt(Answer, frozen=True):
    """What a purge removed, in figures; never content."""

    id: str
    ts: int
    kind: str
    dry_run: bool
    records: int
    turns: int
    summaries: int
    memories: int
    observations: int
    vectors: int
    artifacts: int
    capture_lines: int
    traces: int
    hints: int
    readmitted: int
    """Nodes that stand in an active view again, since the summary that stood for them is gone."""
    facts: int = 0
    """Entries of logs of facts."""
    plans: int = 0
    """Plans that rested on nothing else."""
    log_lines: int = 0
    """Lines of observation logs."""


class Purge(Request[PurgeReceipt], frozen=True):
    """Removes a user, a session, a record, or all that came from an outside address, and all made from it."""

    method: ClassVar[str] = "purge"
    answer: ClassVar[type[Answer]] = PurgeReceipt
    deadline_factor: ClassVar[int] = 60
    user_id: str | None = None
    session_id: str | None = None
    ref: str | None = None
    source: str | None = None
    dry_run: bool = False


class PurgeEntryView(Answer, frozen=True):
    id: str
    ts: int
    kind: str
    counts: dict[str, int]


class PurgeList(Answer, frozen=True):
    purges: tuple[PurgeEntryView, ...]


class ListPurges(Request[PurgeList], frozen=True):
    """The ledger of purges, oldest first: when, of what kind, how much; not what."""

    method: ClassVar[str] = "list_purges"
    answer: ClassVar[type[Answer]] = PurgeList


class TurnSessions(Answer, frozen=True):
    sessions: tuple[str, ...]
    """Ids of sessions, by name."""


class FindTurn(Request[TurnSessions], frozen=True):
    """In which sessions a user said a turn of this id: more than one where a host has copied a session."""

    method: ClassVar[str] = "find_turn"
    answer: ClassVar[type[Answer]] = TurnSessions
    user_id: str
    id: str


class SessionCopy(Answer, frozen=True):
    session_id: str
    turns: int
    """How many turns it holds."""
    reason: str
    """Why it is a copy."""


class CopyList(Answer, frozen=True):
    copies: tuple[SessionCopy, ...]
    """Those that could go without a loss."""


class ListCopies(Request[CopyList], frozen=True):
    """Sessions that hold nothing but turns of others: working copies of a host, and sessions under another name."""

    method: ClassVar[str] = "list_copies"
    answer: ClassVar[type[Answer]] = CopyList
    deadline_factor: ClassVar[int] = 60

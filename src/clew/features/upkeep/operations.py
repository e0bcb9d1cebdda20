"""The operations of upkeep."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Done, Request


class Check(Answer, frozen=True):
    name: str
    """What was checked."""
    ok: bool
    """Whether it holds."""
    proof: str
    """One line: what was compared, over how many."""
    problems: tuple[str, ...] = ()
    """What was found wrong, at most 20 of each kind."""


class VerifyReport(Answer, frozen=True):
    ok: bool
    """Whether all of them hold."""
    checks: tuple[Check, ...]
    """Every check, in order."""
    repaired: tuple[str, ...] = ()
    """What a repair did before the checks, a line each: rows that it set aside, vectors that it dropped, terms that it
    made again."""


class ExportPage(Answer, frozen=True):
    lines: tuple[str, ...]
    """JSONL without the line ends."""
    cursor: int | None = None
    """Where the next page starts; absent on the last."""
    degraded: tuple[str, ...] = ()
    """What is left out, and why; empty where nothing is."""


class ImportReceipt(Answer, frozen=True):
    stored: int
    """Records that are new."""
    unchanged: int
    """Records that were there already."""
    withheld: int = 0
    """Lines that claimed a rule, guidance or a word of the operator, and were not believed."""


class Verify(Request[VerifyReport], frozen=True):
    """Checks the store: rows, hashes, queue, vectors, search terms, indexes, histories.

    With `repair`, derived data is made again first, and turns that fell out of a view are put back. Texts never change:
    one that is damaged is set aside, and no longer served.
    """

    method: ClassVar[str] = "verify"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    repair: bool = False
    """Make derived data again before the checks."""


class Backup(Request[Done], frozen=True):
    """Writes a consistent copy of the store to a new file, while others read and write."""

    method: ClassVar[str] = "backup"
    deadline_factor: ClassVar[int] = 60
    path: str
    """An absolute path where no file is yet."""


class Export(Request[ExportPage], frozen=True):
    """Records as JSONL in the order they were written, a page a call."""

    method: ClassVar[str] = "export"
    cursor: int = 0
    """Where the page starts: 0, or the cursor that the page before gave."""
    limit: int = 500
    """Records a page."""


class Import(Request[ImportReceipt], frozen=True):
    """Takes in lines that an export gave.

    All of the lines are stored, or none.
    """

    method: ClassVar[str] = "import"
    python_name: ClassVar[str] = "import_records"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    lines: tuple[str, ...]
    """Lines that an export gave, at most 5,000."""
    trust_marks: bool = True
    """Whether the lines are believed where they claim rules, guidance or the operator's word; without, those are left
    out."""


class PurgeReceipt(Answer, frozen=True):
    """What a purge removed, in figures; never content."""

    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    ts: int
    """Milliseconds since 1970."""
    kind: str
    """`user`, `session`, `record` or `source`."""
    dry_run: bool
    """Say what would happen, and change nothing."""
    records: int
    """Records that went."""
    turns: int
    """Raw turns among them."""
    summaries: int
    """Summaries among them."""
    memories: int
    """Memories among them."""
    observations: int
    """Captured events among them."""
    vectors: int
    """Vectors."""
    artifacts: int
    """Artifacts of large payloads."""
    capture_lines: int
    """Lines of the capture log."""
    traces: int
    """Traces that cited what went."""
    hints: int
    """Entries of the journal."""
    readmitted: int
    """Nodes that are in an active view again, since the summary that covered them is gone."""
    facts: int = 0
    """Entries of logs of facts."""
    plans: int = 0
    """Plans that rested on nothing else."""
    log_lines: int = 0
    """Lines of observation logs."""


class Purge(Request[PurgeReceipt], frozen=True):
    """Removes a user, a session, a record, or all that came from an outside address, and all made from it."""

    method: ClassVar[str] = "purge"
    writes: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    user_id: str | None = None
    """Everything of this user, and the sessions in which nobody else spoke."""
    session_id: str | None = None
    """Everything of this session."""
    ref: str | None = None
    """One record, as `collection/id`."""
    source: str | None = None
    """Everything that came from this outside address."""
    dry_run: bool = False
    """Say what would go, and change nothing."""


class PurgeEntryView(Answer, frozen=True):
    id: str
    """Id of the record in its collection, 1 to 512 characters."""
    ts: int
    """Milliseconds since 1970."""
    kind: str
    """`user`, `session`, `record` or `source`."""
    counts: dict[str, int]
    """What went, in figures."""


class PurgeList(Answer, frozen=True):
    purges: tuple[PurgeEntryView, ...]
    """Oldest first."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ListPurges(Request[PurgeList], frozen=True):
    """The ledger of purges, oldest first: when, of what kind, how much; not what."""

    method: ClassVar[str] = "list_purges"


class TurnSessions(Answer, frozen=True):
    sessions: tuple[str, ...]
    """Ids of sessions, by name."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FindTurn(Request[TurnSessions], frozen=True):
    """In which sessions a user said a turn of this id: more than one where a host has copied a session."""

    method: ClassVar[str] = "find_turn"
    user_id: str
    """Who said the turn."""
    id: str
    """Id of the turn."""


class SessionCopy(Answer, frozen=True):
    session_id: str
    """The session."""
    turns: int
    """How many turns it holds."""
    reason: str
    """Why it is a copy."""


class CopyList(Answer, frozen=True):
    copies: tuple[SessionCopy, ...]
    """Those that could go without a loss."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class ListCopies(Request[CopyList], frozen=True):
    """Sessions that hold nothing but turns of others: working copies of a host, and sessions under another name."""

    method: ClassVar[str] = "list_copies"
    deadline_factor: ClassVar[int] = 60

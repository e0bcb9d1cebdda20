"""The operations of upkeep."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Done, Request


class Check(Answer, frozen=True):
    name: str
    ok: bool
    proof: str
    """One line: what was compared, over how many."""
    problems: tuple[str, ...] = ()


class VerifyReport(Answer, frozen=True):
    ok: bool
    checks: tuple[Check, ...]


class ExportPage(Answer, frozen=True):
    lines: tuple[str, ...]
    """JSONL without the line ends."""
    cursor: int | None = None


class ImportReceipt(Answer, frozen=True):
    stored: int
    unchanged: int


class Verify(Request[VerifyReport], frozen=True):
    """Checks the store: rows, hashes, queue, vectors, search terms, indexes, histories.

    With `repair`, derived data is made again first, and turns that fell out of a view are put back. Texts never change.
    """

    method: ClassVar[str] = "verify"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    repair: bool = False


class Backup(Request[Done], frozen=True):
    """Writes a consistent copy of the store to a new file, while others read and write."""

    method: ClassVar[str] = "backup"
    deadline_factor: ClassVar[int] = 60
    path: str


class Export(Request[ExportPage], frozen=True):
    """Records as JSONL in the order they were written, a page a call."""

    method: ClassVar[str] = "export"
    cursor: int = 0
    limit: int = 500


class Import(Request[ImportReceipt], frozen=True):
    """Takes in lines that an export gave.

    All of the lines are stored, or none.
    """

    method: ClassVar[str] = "import"
    python_name: ClassVar[str] = "import_records"
    writes: ClassVar[bool] = True
    leaves_work: ClassVar[bool] = True
    lines: tuple[str, ...]


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
    writes: ClassVar[bool] = True
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


class TurnSessions(Answer, frozen=True):
    sessions: tuple[str, ...]
    """Ids of sessions, by name."""


class FindTurn(Request[TurnSessions], frozen=True):
    """In which sessions a user said a turn of this id: more than one where a host has copied a session."""

    method: ClassVar[str] = "find_turn"
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
    deadline_factor: ClassVar[int] = 60

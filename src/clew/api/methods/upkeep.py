"""The operations of `upkeep` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.core.operation import Done
from clew.features.upkeep.operations import (
    Backup,
    CopyList,
    Export,
    ExportPage,
    FindTurn,
    Import,
    ImportReceipt,
    ListCopies,
    ListPurges,
    Purge,
    PurgeList,
    PurgeReceipt,
    TurnSessions,
    Verify,
    VerifyReport,
)


class UpkeepMethods(Calls):
    """The operations of `upkeep`."""

    def verify(self, *, repair: bool = False) -> VerifyReport:
        """Checks the store: rows, hashes, queue, vectors, search terms, indexes, histories.

        With `repair`, derived data is made again first, and turns that fell out of a view are put back. Texts
        never change: one that is damaged is set aside, and no longer served.
        """
        return self.call(Verify(repair=repair))

    def backup(self, path: str) -> Done:
        """Writes a consistent copy of the store to a new file, while others read and write."""
        return self.call(Backup(path=path))

    def export(self, *, cursor: int = 0, limit: int = 500) -> ExportPage:
        """Records as JSONL in the order they were written, a page a call."""
        return self.call(Export(cursor=cursor, limit=limit))

    def import_records(self, lines: Sequence[str], *, trust_marks: bool = True) -> ImportReceipt:
        """Takes in lines that an export gave.

        All of the lines are stored, or none.
        """
        return self.call(Import(lines=tuple(lines), trust_marks=trust_marks))

    def purge(
        self, *, user_id: str | None = None, session_id: str | None = None, ref: str | None = None,
        source: str | None = None, dry_run: bool = False,
    ) -> PurgeReceipt:  # fmt: skip
        """Removes a user, a session, a record, or all that came from an outside address, and all made from it."""
        return self.call(Purge(user_id=user_id, session_id=session_id, ref=ref, source=source, dry_run=dry_run))

    def list_purges(self) -> PurgeList:
        """The ledger of purges, oldest first: when, of what kind, how much; not what."""
        return self.call(ListPurges())

    def find_turn(self, user_id: str, id: str) -> TurnSessions:
        """In which sessions a user said a turn of this id: more than one where a host has copied a session."""
        return self.call(FindTurn(user_id=user_id, id=id))

    def list_copies(self) -> CopyList:
        """Sessions that hold nothing but turns of others: working copies of a host, and sessions under another name."""
        return self.call(ListCopies())


class AsyncUpkeepMethods(AsyncCalls):
    """The operations of `upkeep` to await."""

    async def verify(self, *, repair: bool = False) -> VerifyReport:
        """Checks the store: rows, hashes, queue, vectors, search terms, indexes, histories.

        With `repair`, derived data is made again first, and turns that fell out of a view are put back. Texts
        never change: one that is damaged is set aside, and no longer served.
        """
        return await self.call(Verify(repair=repair))

    async def backup(self, path: str) -> Done:
        """Writes a consistent copy of the store to a new file, while others read and write."""
        return await self.call(Backup(path=path))

    async def export(self, *, cursor: int = 0, limit: int = 500) -> ExportPage:
        """Records as JSONL in the order they were written, a page a call."""
        return await self.call(Export(cursor=cursor, limit=limit))

    async def import_records(self, lines: Sequence[str], *, trust_marks: bool = True) -> ImportReceipt:
        """Takes in lines that an export gave.

        All of the lines are stored, or none.
        """
        return await self.call(Import(lines=tuple(lines), trust_marks=trust_marks))

    async def purge(
        self, *, user_id: str | None = None, session_id: str | None = None, ref: str | None = None,
        source: str | None = None, dry_run: bool = False,
    ) -> PurgeReceipt:  # fmt: skip
        """Removes a user, a session, a record, or all that came from an outside address, and all made from it."""
        return await self.call(Purge(user_id=user_id, session_id=session_id, ref=ref, source=source, dry_run=dry_run))

    async def list_purges(self) -> PurgeList:
        """The ledger of purges, oldest first: when, of what kind, how much; not what."""
        return await self.call(ListPurges())

    async def find_turn(self, user_id: str, id: str) -> TurnSessions:
        """In which sessions a user said a turn of this id: more than one where a host has copied a session."""
        return await self.call(FindTurn(user_id=user_id, id=id))

    async def list_copies(self) -> CopyList:
        """Sessions that hold nothing but turns of others: working copies of a host, and sessions under another name."""
        return await self.call(ListCopies())

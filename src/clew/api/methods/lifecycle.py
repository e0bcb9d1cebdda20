"""The operations of `lifecycle` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.api.calls import AsyncCalls, Calls
from clew.core.operation import Done
from clew.features.lifecycle.operations import (
    Age,
    AgeReceipt,
    DuplicateList,
    FindDuplicates,
    Label,
    Merge,
    Revive,
    Touch,
)
from clew.kernel.operations import RecordView


class LifecycleMethods(Calls):
    """The operations of `lifecycle`."""

    def age(self, *, dry_run: bool = True, last: bool = False, if_due: bool = False) -> AgeReceipt:
        """Grades what has no grade, archives what was not used for long, marks contradictions."""
        return self.call(Age(dry_run=dry_run, last=last, if_due=if_due))

    def revive(self, *refs: str) -> Done:
        """Brings archived records back; references as they were before or as they are in the archive."""
        return self.call(Revive(refs=refs))

    def label(
        self, ref: str, *, kind: str | None = None, importance: str | None = None, retention: str | None = None,
        superseded_by: str | None = None,
    ) -> RecordView:  # fmt: skip
        """What the operator says about a record; Clew never overwrites it. An empty string takes a word back."""
        return self.call(Label(
            ref=ref, kind=kind, importance=importance, retention=retention, superseded_by=superseded_by,
        ))  # fmt: skip

    def find_duplicates(self, collection: str, *, min_similarity: float = 0.9, limit: int = 100) -> DuplicateList:
        """Proposes records of a collection that say the same, or contradict each other. Writes nothing."""
        return self.call(FindDuplicates(collection=collection, min_similarity=min_similarity, limit=limit))

    def merge(self, keep: str, drop: Sequence[str]) -> Done:
        """The operator's word that records say the same: one stays, the others rest in the archive and lead to it."""
        return self.call(Merge(keep=keep, drop=tuple(drop)))

    def touch(self, uses: Mapping[str, Sequence[str]]) -> Done:
        """Counts one use of each named record."""
        return self.call(Touch(uses={key: tuple(value) for key, value in uses.items()}))


class AsyncLifecycleMethods(AsyncCalls):
    """The operations of `lifecycle` to await."""

    async def age(self, *, dry_run: bool = True, last: bool = False, if_due: bool = False) -> AgeReceipt:
        """Grades what has no grade, archives what was not used for long, marks contradictions."""
        return await self.call(Age(dry_run=dry_run, last=last, if_due=if_due))

    async def revive(self, *refs: str) -> Done:
        """Brings archived records back; references as they were before or as they are in the archive."""
        return await self.call(Revive(refs=refs))

    async def label(
        self, ref: str, *, kind: str | None = None, importance: str | None = None, retention: str | None = None,
        superseded_by: str | None = None,
    ) -> RecordView:  # fmt: skip
        """What the operator says about a record; Clew never overwrites it. An empty string takes a word back."""
        return await self.call(Label(
            ref=ref, kind=kind, importance=importance, retention=retention, superseded_by=superseded_by,
        ))  # fmt: skip

    async def find_duplicates(self, collection: str, *, min_similarity: float = 0.9, limit: int = 100) -> DuplicateList:
        """Proposes records of a collection that say the same, or contradict each other. Writes nothing."""
        return await self.call(FindDuplicates(collection=collection, min_similarity=min_similarity, limit=limit))

    async def merge(self, keep: str, drop: Sequence[str]) -> Done:
        """The operator's word that records say the same: one stays, the others rest in the archive and lead to it."""
        return await self.call(Merge(keep=keep, drop=tuple(drop)))

    async def touch(self, uses: Mapping[str, Sequence[str]]) -> Done:
        """Counts one use of each named record."""
        return await self.call(Touch(uses={key: tuple(value) for key, value in uses.items()}))

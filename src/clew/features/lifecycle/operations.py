"""The operations of the lifecycle."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Done, Request
from clew.kernel.operations import RecordView


class AgeReceipt(Answer, frozen=True):
    """What a lifecycle run did, or with `dry_run` would do; figures, and the first references."""

    dry_run: bool
    """Say what would happen, and change nothing."""
    looked_at: int
    """Records that were looked at."""
    graded: dict[str, int]
    """How many received each label."""
    archived: dict[str, int]
    """How many of each retention class left ordinary recall."""
    archived_refs: tuple[str, ...]
    """The first of them."""
    contradictions: int
    """Pairs that were marked because they contradict each other."""
    contradiction_refs: tuple[str, ...] = ()
    """The first of the records that contradict each other."""
    ts: int = 0
    """Milliseconds since 1970."""


class Age(Request[AgeReceipt], frozen=True):
    """Grades what has no grade, archives what was not used for long, marks contradictions."""

    method: ClassVar[str] = "age"
    writes: ClassVar[bool] = True
    lets_writes_pass: ClassVar[bool] = True
    deadline_factor: ClassVar[int] = 60
    dry_run: bool = True
    """Say what would happen, and change nothing; on unless it is turned off."""
    last: bool = False
    """Give the figures of the last run instead, and look at nothing; `ts` is 0 where there was none."""
    if_due: bool = False
    """Only when the setting `lifecycle_hours` says that a run is due; otherwise as with `last`.

    Such a run spares what came in lately, however old it is.
    """


class Revive(Request[Done], frozen=True):
    """Brings archived records back; references as they were before or as they are in the archive."""

    method: ClassVar[str] = "revive"
    spread: ClassVar[str] = "refs"
    writes: ClassVar[bool] = True
    refs: tuple[str, ...]
    """Records, as `collection/id`."""


class Label(Request[RecordView], frozen=True):
    """What the operator says about a record; Clew never overwrites it. An empty string takes a word back."""

    method: ClassVar[str] = "label"
    writes: ClassVar[bool] = True
    ref: str
    """The record, as `collection/id`."""
    kind: str | None = None
    """`fact`, `preference`, `decision`, `task`, `plan`, `observation`, `event` or `note`."""
    importance: str | None = None
    """`must_remember`, `nice_to_have` or `ignore`."""
    retention: str | None = None
    """`P0` is never archived, `P1` and `P2` after a while without use."""
    superseded_by: str | None = None
    """The reference of the record that holds in its place."""


class Duplicate(Answer, frozen=True):
    """A proposal: two records that say the same, or that contradict each other. Nothing is done about it."""

    keep: str
    """The record that would stay."""
    drop: str
    """The record that would give way."""
    similarity: float
    """How similar they are."""
    contradiction: bool
    """Whether they contradict each other; then they should not be merged."""
    evidence: tuple[str, ...]
    """Why, without quoting either."""


class DuplicateList(Answer, frozen=True):
    proposals: tuple[Duplicate, ...]
    """Most similar first."""
    looked_at: int
    """Records that were compared."""
    compared_with_all: int = 0
    """The newest of them, which were compared with every other one."""
    degraded: tuple[str, ...] = ()
    """Why this answer is not as good as it could be; empty when it is."""


class FindDuplicates(Request[DuplicateList], frozen=True):
    """Proposes records of a collection that say the same, or contradict each other. Writes nothing."""

    method: ClassVar[str] = "find_duplicates"
    deadline_factor: ClassVar[int] = 20
    collection: str
    """Name of the collection."""
    min_similarity: float = 0.9
    """How similar two records must be to be proposed, from 0.5 to 1."""
    limit: int = 100
    """How many, most similar first, 1 to 1,000."""


class Merge(Request[Done], frozen=True):
    """The operator's word that records say the same: one stays, the others rest in the archive and lead to it."""

    method: ClassVar[str] = "merge"
    writes: ClassVar[bool] = True
    keep: str
    """The record that stays."""
    drop: tuple[str, ...]
    """Records that give way to it."""


class Touch(Request[Done], frozen=True):
    """Counts one use of each named record."""

    method: ClassVar[str] = "touch"
    writes: ClassVar[bool] = True
    uses: dict[str, tuple[str, ...]]
    """Ids by collection."""

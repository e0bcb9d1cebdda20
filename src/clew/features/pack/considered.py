"""A record that may enter a pack, and what its marks say of it."""

from __future__ import annotations

from dataclasses import dataclass

from clew.core.identity import LEDGER_ORIGIN, archive_of, session_of
from clew.core.marks import Mark, value_of
from clew.core.model import Kind, Provenance, Record
from clew.core.relevance import BY_NAME, Shared
from clew.features.claims.rules import Lapse
from clew.text.grading.kinds import kind_of_text

_KIND_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Considered:
    """A record that may enter a pack. `origin` is the same for all places of one turn."""

    record: Record
    origin: str
    score: float
    similarity: float
    shared: Shared = BY_NAME
    """What it, or what led to it, has in common with the question by itself."""
    lapse: Lapse | None = None
    replaced_by: str | None = None
    """Of evidence for what holds no longer: the reference of the fact that holds instead, empty where none does."""
    due: bool = False
    """Whether it is a plan whose day has come."""

    @property
    def ref(self) -> str:
        return self.record.ref

    def is_of(self, session_id: str) -> bool:
        """Whether it was said or done in a session, or is the memory kept from something that was."""
        return session_of(self.origin.removeprefix(LEDGER_ORIGIN)) == session_id

    @property
    def cited(self) -> str:
        """How marks of other records name it, whether it rests in the archive or not."""
        return self.record.ref.removeprefix(archive_of(""))


def kind_of(record: Record) -> str:
    """What sort of thing a record says: as it was marked, else as it reads."""
    marked = value_of(record.marks, Mark.KIND)
    if isinstance(marked, str):
        return marked
    if record.provenance is Provenance.SUMMARY:
        return Kind.NOTE
    return kind_of_text(record.text[:_KIND_CHARS], record.role)


def importance_of(record: Record) -> str | None:
    """The label of its grade; None where it has none."""
    grade = value_of(record.marks, Mark.GRADE)
    label = grade.get("label") if isinstance(grade, dict) else None
    return label if isinstance(label, str) else None


def superseded_by(record: Record) -> str | None:
    """The reference of what replaces a record."""
    ref = value_of(record.marks, Mark.SUPERSEDED_BY)
    return ref if isinstance(ref, str) else None


def refs_in(record: Record, mark: Mark) -> list[str]:
    """The references a mark lists."""
    listed = value_of(record.marks, mark)
    return [ref for ref in listed if isinstance(ref, str)] if isinstance(listed, list) else []

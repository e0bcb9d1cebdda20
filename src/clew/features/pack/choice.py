"""A record that may enter a pack, and everything the pack decides about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from clew.core.collections import CollectionKind
from clew.core.ids import LEDGER_ORIGIN, session_of
from clew.core.marks import Mark, value_of
from clew.core.model import Kind, Provenance, Record, Trust
from clew.core.projects import is_elsewhere
from clew.core.relevance import BY_NAME, Shared
from clew.features.claims.rules import Lapse
from clew.text.excerpts import Layer
from clew.text.framing import Quoted
from clew.text.grading.kinds import kind_of_text

if TYPE_CHECKING:  # rules work on choices and stay pure
    from clew.kernel.search import Found

_KIND_CHARS = 2000


class Lane(StrEnum):
    """Where a pack looks."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    FACTS = "facts"
    PLANS = "plans"
    GRAPH = "graph"
    STATE = "state"


class Reason(StrEnum):
    """Why a record is in a pack, or is not."""

    RELEVANT = "relevant"
    DISSENT = "dissent"
    SCORE = "score"
    UNRELATED = "unrelated"
    TRUST = "trust"
    IMPORTANCE = "importance"
    SCOPE = "scope"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    KIND = "kind"
    BUDGET = "budget"
    CAP = "cap"
    PRESENT = "present"
    PROJECT = "project"
    DUE = "due"
    STALE = "stale"
    ENDED = "ended"
    QUESTION = "question"
    PAYLOAD = "payload"


INCLUDED = frozenset({Reason.RELEVANT, Reason.DISSENT, Reason.DUE})


@dataclass(slots=True, eq=False)
class Choice:
    """A record that may enter a pack. Each step of a pack writes down what it decides, from top to bottom."""

    found: Found
    lane: Lane
    origin: str
    """The same for all places of one turn."""
    score: float
    similarity: float
    shared: Shared = BY_NAME
    """What the record, or what led to it, has in common with the question by itself."""
    linked_from: str | None = None
    path: tuple[str, ...] = ()
    """References of the records that lead to it through the graph, edge by edge."""

    # Truth: does it hold now?
    lapse: Lapse | None = None
    replaced_by: str | None = None
    """Of evidence for what holds no longer: the reference of the fact that holds instead, empty where none does."""
    due: bool = False
    """Whether it is a plan whose day has come."""

    # Rules: may it enter?
    reason: Reason | None = None
    contradicts: str = ""
    """The reference of the item that it contradicts."""

    # Layout: how is it shown?
    quoted: Quoted | None = None
    """The line that shows all of it."""
    layer: Layer | None = None
    text: str = ""
    """What is shown at that depth."""
    tokens: int = 0
    _kind: str = ""

    @property
    def record(self) -> Record:
        return self.found.record

    @property
    def ref(self) -> str:
        return self.record.ref

    @property
    def cited(self) -> str:
        """How marks of other records name it, also while it rests in the archive."""
        return self.record.collection.home.ref(self.record.id)

    @property
    def kind(self) -> str:
        """Read from its words once, where no mark gives it: reading is the costly part of laying out a pack."""
        self._kind = self._kind or kind_of(self.record)
        return self._kind

    @property
    def is_untrusted(self) -> bool:
        return self.record.trust is Trust.UNTRUSTED

    def is_asked_for(self, *, untrusted: bool) -> bool:
        """Whether the request wants words that nobody vouches for. A session has seen its own already."""
        return untrusted or self.record.collection.kind is CollectionKind.SESSION

    @property
    def is_summary(self) -> bool:
        return self.record.provenance is Provenance.SUMMARY

    def is_of(self, session_id: str) -> bool:
        """Whether it was said or done in a session, or is the memory kept from something that was."""
        return session_of(self.origin.removeprefix(LEDGER_ORIGIN)) == session_id

    def is_elsewhere(self, project: str) -> bool:
        """Whether it is known to be of another project."""
        return is_elsewhere(self.record.metadata, project)

    def lift(self, parent: Choice) -> None:
        """Raises it to the similarity of a record that leads to it, which bears on the same question."""
        if self.similarity < parent.similarity:
            self.similarity, self.score = parent.similarity, max(self.score, parent.score)
            self.shared, self.linked_from = parent.shared, parent.ref

    def show(self, layer: Layer, text: str) -> None:
        self.layer, self.text = layer, text


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
    """The reference of the record that replaces it."""
    ref = value_of(record.marks, Mark.SUPERSEDED_BY)
    return ref if isinstance(ref, str) else None


def refs_in(record: Record, mark: Mark) -> list[str]:
    """The references that a mark lists."""
    listed = value_of(record.marks, mark)
    return [ref for ref in listed if isinstance(ref, str)] if isinstance(listed, list) else []

"""The entries of the log of facts, as records keep them: assertions and invalidations.

The log only grows, and `clew.features.facts.replay` derives from it which facts hold and when. A record of a collection
of facts that does not read as an entry counts for nothing, and the linter names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from clew.core.citing import SOURCES, sources_in
from clew.core.collections import Collection
from clew.core.ids import ID_BYTES, MAX_ID_LENGTH, digest
from clew.core.model import Record
from clew.features.claims.log import MAX_SOURCES
from clew.text.terms import fold

FACT = "fact"
INVALIDATION = "invalidation"
"""The keys of a record's metadata that hold its entry."""

MAX_SUBJECT_CHARS = 200
MAX_OBJECT_CHARS = 2000
MAX_REASON_CHARS = 2000
MAX_NAMED = 10_000
"""The most assertions that one entry can end: all that were ever made of some facts."""

_MAX_TS_MS = 253_402_300_799_999

ValueKey = tuple[str, str, str]
"""Subject, predicate and object in the forms in which Clew compares them."""


class Assertion(Struct, frozen=True, kw_only=True, gc=False):
    """The statement that something is true. A struct: a dataclass is too slow to read a hundred thousand at once."""

    collection: str
    id: str
    subject: str
    predicate: str
    object: str
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_ms: int
    sources: tuple[str, ...]
    hashes: tuple[str, ...]
    """Of the texts of the sources, in their order, as of the assertion."""
    confidence: float
    supersedes: tuple[str, ...] = ()
    """Assertions that end where this one begins, whatever their value."""
    by: str = ""
    """Where it comes from: `assert` or `review`."""
    proposal: str = ""
    """The id of the proposal that the operator accepted."""
    many: bool = False
    """Whether its predicate took many values at the time."""
    key: ValueKey = ("", "", "")
    """Computed."""

    def __post_init__(self) -> None:
        force_setattr(self, "key", (fold(self.subject), self.predicate, fold(self.object)))

    @property
    def ref(self) -> str:
        return f"{self.collection}/{self.id}"


class Invalidation(Struct, frozen=True, gc=False):
    """The statement that a fact ends at some moment; at its beginning, that it never held.

    It names all assertions of the fact so far: each would keep the fact alive by itself.
    """

    collection: str
    id: str
    fact_ids: tuple[str, ...]
    at_ms: int
    recorded_ms: int
    reason: str = ""


Entry = Assertion | Invalidation


def assertion_id(assertion: Assertion, named: Sequence[str], after: str) -> str:
    """The same words with the same sources are one assertion.

    `named` are the facts it shall supersede, `after` is the invalidation that took it back in between.
    """
    grounds = (part for pair in sorted(zip(assertion.sources, assertion.hashes, strict=True)) for part in pair)
    interval = (str(assertion.valid_from_ms), str(assertion.valid_to_ms))
    parts = (*assertion.key, *interval, after, *grounds, "", *sorted(named))
    return f"f_{digest(*parts, size_bytes=ID_BYTES).hex()}"


def invalidation_id(fact_ids: Sequence[str], at_ms: int) -> str:
    return f"i_{digest(str(at_ms), *sorted(fact_ids), size_bytes=ID_BYTES).hex()}"


def metadata_of(entry: Entry) -> dict[str, Any]:
    """An entry as its record keeps it. An invalidation cites the assertions it ends, and goes with them."""
    if isinstance(entry, Invalidation):
        about = _InvalidationShape(facts=list(entry.fact_ids), at=entry.at_ms, reason=entry.reason)
        return {
            INVALIDATION: msgspec.to_builtins(about),
            SOURCES: [f"{entry.collection}/{id_}" for id_ in entry.fact_ids],
        }
    said = _AssertionShape(
        subject=entry.subject,
        predicate=entry.predicate,
        object=entry.object,
        valid_from=entry.valid_from_ms,
        valid_to=entry.valid_to_ms,
        confidence=entry.confidence,
        supersedes=list(entry.supersedes),
        by=entry.by,
        proposal=entry.proposal,
        many=entry.many,
        hashes=list(entry.hashes),
    )
    return {FACT: msgspec.to_builtins(said), SOURCES: list(entry.sources)}


def entry_in(record: Record) -> Entry | None:
    """The entry that a record keeps; None where Clew would not have written it."""
    try:
        if FACT in record.metadata:
            return _assertion(record)
        about = msgspec.convert(record.metadata.get(INVALIDATION), _InvalidationShape)
        return Invalidation(record.collection, record.id, tuple(about.facts), about.at, record.ts_ms, about.reason)
    except msgspec.ValidationError:
        return None


def owner_in(collection: str) -> str | None:
    """The owner of a collection of facts; None where they are for all."""
    return Collection(collection).user_id


def _assertion(record: Record) -> Assertion | None:
    said = msgspec.convert(record.metadata[FACT], _AssertionShape)
    sources = sources_in(record.metadata)
    if len(said.hashes) != len(sources) or not said.subject.strip() or not said.object.strip():
        return None
    return Assertion(
        collection=str(record.collection),
        id=record.id,
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        valid_from_ms=said.valid_from,
        valid_to_ms=said.valid_to,
        recorded_ms=record.ts_ms,
        sources=sources,
        hashes=tuple(said.hashes),
        confidence=said.confidence,
        supersedes=tuple(said.supersedes),
        by=said.by,
        proposal=said.proposal,
        many=said.many,
    )


_Ms = Annotated[int, Meta(ge=0, le=_MAX_TS_MS)]
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)]
_Word = Annotated[str, Meta(max_length=64)]


class _AssertionShape(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    subject: Annotated[str, Meta(min_length=1, max_length=MAX_SUBJECT_CHARS)]
    predicate: Annotated[str, Meta(min_length=1, max_length=64)]
    object: Annotated[str, Meta(min_length=1, max_length=MAX_OBJECT_CHARS)]
    valid_from: _Ms
    valid_to: _Ms | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)]
    supersedes: Annotated[Sequence[_Name], Meta(max_length=MAX_NAMED)] = ()
    by: _Word = ""
    proposal: _Word = ""
    many: bool = False
    hashes: Annotated[Sequence[_Word], Meta(max_length=MAX_SOURCES)] = ()


class _InvalidationShape(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    facts: Annotated[Sequence[_Name], Meta(min_length=1, max_length=MAX_NAMED)]
    at: _Ms
    reason: Annotated[str, Meta(max_length=MAX_REASON_CHARS)] = ""

"""The log of facts: what was asserted and what was taken back, as records keep it.

The log only grows. What holds, and when it held, is replayed from it (`clew.features.facts.replay`). A record of a
collection of facts that does not read as an entry of the log counts for nothing, and is named by the linter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from clew.core import identity
from clew.core.citing import SOURCES, sources_in
from clew.core.model import Record, Trust
from clew.text.terms import fold

FACT = "fact"
INVALIDATION = "invalidation"
"""Where a record's metadata holds its entry."""

MAX_SUBJECT_CHARS = 200
MAX_OBJECT_CHARS = 2000
MAX_REASON_CHARS = 2000
MAX_SOURCES = 32
MAX_NAMED = 10_000
"""Assertions that one entry can end: all that were ever made of some facts."""

CONFIDENCE_OF_TRUST: Mapping[Trust, float] = {
    Trust.TRUSTED: 1.0,
    Trust.UNKNOWN: 0.8,
    Trust.UNTRUSTED: 0.4,
    Trust.QUARANTINED: 0.0,
}
"""The most that can be made of a fact by the trust of its best source; what it has where nobody says less."""

_MAX_TS_MS = 253_402_300_799_999
_HASH_BYTES = 8

ValueKey = tuple[str, str, str]
"""Subject, predicate and object in the forms in which they are compared."""


_PREFIX_OF_USERS = identity.facts_of("_")[:-1]


class Assertion(Struct, frozen=True, kw_only=True, gc=False):
    """That something is true. A hundred thousand may be read at once, for which a dataclass is too slow."""

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
    """Of the texts of the sources, in their order, as they were then."""
    confidence: float
    supersedes: tuple[str, ...] = ()
    """Assertions that end where this one begins, whatever they say."""
    by: str = ""
    """How it came about: `assert` or `review`."""
    proposal: str = ""
    """The proposal that was accepted."""
    many: bool = False
    """Whether its predicate took many values when it was asserted."""
    key: ValueKey = ("", "", "")
    """Made from what it says."""

    def __post_init__(self) -> None:
        force_setattr(self, "key", (fold(self.subject), self.predicate, fold(self.object)))

    @property
    def ref(self) -> str:
        return f"{self.collection}/{self.id}"


class Invalidation(Struct, frozen=True, gc=False):
    """That a fact does not hold from some moment on; from its beginning, that it never did.

    It names all assertions of the fact that had been made by then: each would keep it alive by itself.
    """

    collection: str
    id: str
    fact_ids: tuple[str, ...]
    at_ms: int
    recorded_ms: int
    reason: str = ""


Entry = Assertion | Invalidation


def text_hash(ref: str, text: str) -> str:
    """What tells that a source still says what it said."""
    return identity.digest(ref, text, size_bytes=_HASH_BYTES).hex()


def assertion_id(assertion: Assertion, named: Sequence[str], after: str) -> str:
    """The same words on the same grounds are one assertion.

    `named` are the facts it is to supersede, `after` is what took it back in between.
    """
    grounds = (part for pair in sorted(zip(assertion.sources, assertion.hashes, strict=True)) for part in pair)
    interval = (str(assertion.valid_from_ms), str(assertion.valid_to_ms))
    parts = (*assertion.key, *interval, after, *grounds, "", *sorted(named))
    return f"f_{identity.digest(*parts, size_bytes=identity.ID_BYTES).hex()}"


def invalidation_id(fact_ids: Sequence[str], at_ms: int) -> str:
    return f"i_{identity.digest(str(at_ms), *sorted(fact_ids), size_bytes=identity.ID_BYTES).hex()}"


def metadata_of(entry: Entry) -> dict[str, Any]:
    """An entry as its record keeps it. An invalidation rests on what it is about, and goes with it."""
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
    """The entry that a record keeps; None where it is none that Clew would write."""
    try:
        if FACT in record.metadata:
            return _assertion(record)
        about = msgspec.convert(record.metadata.get(INVALIDATION), _InvalidationShape)
        return Invalidation(record.collection, record.id, tuple(about.facts), about.at, record.ts_ms, about.reason)
    except msgspec.ValidationError:
        return None


def owner_in(collection: str) -> str | None:
    """Whose facts a collection of them holds; None where they are for all."""
    return collection.removeprefix(_PREFIX_OF_USERS) if collection.startswith(_PREFIX_OF_USERS) else None


def _assertion(record: Record) -> Assertion | None:
    said = msgspec.convert(record.metadata[FACT], _AssertionShape)
    sources = sources_in(record.metadata)
    if len(said.hashes) != len(sources) or not said.subject.strip() or not said.object.strip():
        return None
    return Assertion(
        collection=record.collection,
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
_Name = Annotated[str, Meta(min_length=1, max_length=identity.MAX_ID_LENGTH)]
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

"""Entries of the log of facts, made by hand."""

from __future__ import annotations

from clew.features.facts.log import Assertion, Invalidation

COLLECTION = "facts:user:ann"


def said(
    id_: str,
    object_: str,
    start: int,
    end: int | None = None,
    *,
    recorded: int = 0,
    subject: str = "billing",
    predicate: str = "status",
    sources: tuple[str, ...] = ("user:ann/m1",),
    supersedes: tuple[str, ...] = (),
    many: bool = False,
) -> Assertion:
    return Assertion(
        collection=COLLECTION,
        id=id_,
        subject=subject,
        predicate=predicate,
        object=object_,
        valid_from_ms=start,
        valid_to_ms=end,
        recorded_ms=recorded,
        sources=sources,
        hashes=("",) * len(sources),
        confidence=0.8,
        supersedes=supersedes,
        many=many,
    )


def taken_back(id_: str, *facts: str, at: int, recorded: int = 0) -> Invalidation:
    return Invalidation(COLLECTION, id_, facts, at, recorded)

"""The log of claims: facts, plans and observations are records that rest on records they cite.

A claim of a user may rest on records of that user and on shared ones; a claim for all rests on shared records alone.
Clew answers a reference to anything else as if that record did not exist. A claim has no more trust than the least
trusted of its sources. Whether its sources still support it is looked up at every read (`source_flaws`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace as with_other
from functools import lru_cache
from typing import TypeVar

from msgspec.structs import replace

from clew.core.collections import GLOBAL, HARD, LORE, SOFT, Collection, readings_of
from clew.core.model import Draft, Record, Trust, least
from clew.errors import InvalidInput, NotFound
from clew.features.lifecycle.archive import home_of
from clew.kernel.derivation import at_home
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.storage.paging import every_member
from clew.storage.protocol import NewRecord, Place, Task

MAX_SOURCES = 32
MAX_SLASHES = 16
"""Of a reference: each allows another reading, and Clew looks each reading up."""

_SHARED = frozenset({GLOBAL, HARD, SOFT, LORE, Collection.facts(None)})

_Claim = TypeVar("_Claim")


# --- writing and reading -------------------------------------------------------------------------------


def claim_record(
    parts: Parts, draft: Draft, place: Place, trusts: Iterable[Trust], *, is_linked: bool = False
) -> NewRecord:
    """A claim to write. `trusts` are those of its sources; the graph links what `is_linked`."""
    tasks = ((Task.EMBED,) if parts.meaning.wanted else ()) + ((Task.LINK,) if is_linked else ())
    return NewRecord(with_other(draft, trust=least(trusts)), place, tasks)


def claims_in(
    parts: Parts, collection: str, read: Callable[[Record], _Claim | None]
) -> Iterator[tuple[_Claim, Record]]:
    """The claims of a collection in the order they were written, each with its record. Skips what does not read."""
    for record in every_member(parts.store, collection):
        claim = read(record)
        if claim is not None:
            yield claim, record


# --- sources -------------------------------------------------------------------------------------------


def cite(parts: Parts, user_id: str | None, refs: Sequence[str]) -> list[Record]:
    """The records that references name, each once and at home, also from the archive.

    Raises NotFound or InvalidInput.
    """
    if len(refs) > MAX_SOURCES:
        raise InvalidInput(f"at most {MAX_SOURCES} sources can be cited at once, not {len(refs)}")
    found = [_citable(parts, user_id, ref) for ref in refs]
    return list({record.ref: record for record in found}.values())


def resolve(parts: Parts, user_id: str | None, refs: Iterable[str]) -> dict[str, Record | None]:
    """The records that sources name now, also from the archive; None for one that is gone or out of reach."""
    found: dict[str, Record | None] = dict.fromkeys(refs)
    by_collection: dict[str, list[str]] = {}
    for ref in found:
        collection, slash, id_ = ref.partition("/")
        if slash and "/" not in id_:
            by_collection.setdefault(collection, []).append(id_)
    for collection, ids in by_collection.items():
        for record in parts.store.get(collection, ids):
            found[record.ref] = record if _is_open(parts, user_id, record) else None
    for ref in [ref for ref, record in found.items() if record is None]:
        with suppress(InvalidInput):
            found[ref] = _find(parts, user_id, ref)
    return found


def _find(parts: Parts, user_id: str | None, ref: str) -> Record | None:
    return next((record for record in _readings(parts, ref) if _is_open(parts, user_id, record)), None)


def _citable(parts: Parts, user_id: str | None, ref: str) -> Record:
    check_unicode("source", ref)
    record = _find(parts, user_id, ref)
    if record is None:
        raise NotFound(f"there is no record {ref[:200]!r}")
    if record.trust is Trust.QUARANTINED:
        raise InvalidInput(f"{ref[:200]!r} is quarantined; what it says cannot be made into anything before review")
    found = at_home(parts, record)
    return replace(found, collection=home_of(found.collection))


def _readings(parts: Parts, ref: str) -> Iterator[Record]:
    readings = readings_of(ref)
    if len(readings) > MAX_SLASHES:
        raise InvalidInput(f"a reference holds at most {MAX_SLASHES} slashes")
    for collection, id_ in readings:
        for name in (collection, collection.archive):
            yield from parts.store.get(name, [id_])


def _is_open(parts: Parts, user_id: str | None, record: Record) -> bool:
    """Whether one of its places is shared or the user's own."""
    allowed = _SHARED if user_id is None else _own(user_id)
    if home_of(record.collection) in allowed:
        return True
    return any(home_of(place.collection) in allowed for place in parts.store.places(record.collection, record.id))


@lru_cache(maxsize=256)
def _own(user_id: str) -> frozenset[str]:
    """The collections of the user, and the shared ones."""
    of_user = (
        Collection.memories,
        Collection.turns,
        Collection.replies,
        Collection.owned,
        Collection.guidance,
        Collection.ledger,
        Collection.facts,
        Collection.plans,
    )
    return _SHARED.union(name(user_id) for name in of_user)

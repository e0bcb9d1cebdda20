"""What may be cited: the records that a fact or a plan of a user, or of all, can rest on.

A user's may rest on what is that user's and on what is shared; what is for all rests on what is shared, and on nothing
else. Whatever is somebody else's is answered as what does not exist: with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from msgspec.structs import replace

from clew.core import identity
from clew.core.model import Record, Trust
from clew.errors import InvalidInput, NotFound
from clew.features.lifecycle.archive import home_of
from clew.kernel.derivation import at_home
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts

MAX_SOURCES = 32
MAX_SLASHES = 16
"""Of a reference: each gives another reading, and each reading is looked up."""

_SHARED = frozenset({identity.GLOBAL, identity.HARD, identity.SOFT, identity.LORE, identity.facts_of(None)})


def cited(parts: Parts, user_id: str | None, refs: Sequence[str]) -> list[Record]:
    """The records that references name, each once and at home, also where they rest in the archive by now.

    Raises NotFound or InvalidInput.
    """
    if len(refs) > MAX_SOURCES:
        raise InvalidInput(f"at most {MAX_SOURCES} sources can be cited at once, not {len(refs)}")
    found = [_citable(parts, user_id, ref) for ref in refs]
    return list({record.ref: record for record in found}.values())


def resolved(parts: Parts, user_id: str | None, refs: Iterable[str]) -> dict[str, Record | None]:
    """The records that sources name now, also where they rest in the archive.

    None for what is gone, is out of reach, or never was a reference.
    """
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
            found[ref] = _one(parts, user_id, ref)
    return found


def _one(parts: Parts, user_id: str | None, ref: str) -> Record | None:
    return next((record for record in _readings(parts, ref) if _is_open(parts, user_id, record)), None)


def _citable(parts: Parts, user_id: str | None, ref: str) -> Record:
    check_unicode("source", ref)
    record = _one(parts, user_id, ref)
    if record is None:
        raise NotFound(f"there is no record {ref[:200]!r}")
    if record.trust is Trust.QUARANTINED:
        raise InvalidInput(f"{ref[:200]!r} is quarantined; what it says cannot be made into anything before review")
    found = at_home(parts, record)
    return replace(found, collection=home_of(found.collection))


def _readings(parts: Parts, ref: str) -> Iterator[Record]:
    readings = identity.readings_of(ref)
    if len(readings) > MAX_SLASHES:
        raise InvalidInput(f"a reference holds at most {MAX_SLASHES} slashes")
    for collection, id_ in readings:
        for name in (collection, identity.archive_of(collection)):
            yield from parts.store.get(name, [id_])


def _is_open(parts: Parts, user_id: str | None, record: Record) -> bool:
    """Whether it is shared or the user's own, wherever else it is shown."""
    allowed = _SHARED if user_id is None else _own(user_id)
    if home_of(record.collection) in allowed:
        return True
    return any(home_of(place.collection) in allowed for place in parts.store.places(record.collection, record.id))


@lru_cache(maxsize=256)
def _own(user_id: str) -> frozenset[str]:
    """The user's collections, with those of all."""
    of_user = (
        identity.memories_of,
        identity.turns_of,
        identity.replies_to,
        identity.owned_by,
        identity.guidance_of_user,
        identity.ledger_of_user,
        identity.facts_of,
        identity.plans_of,
    )
    return _SHARED.union(name(user_id) for name in of_user)

"""The archive: where records rest that nobody used for long, out of ordinary recall, until they are brought back.

A record moves from `user:x` to `archive:user:x` under the same id, and back. The name of the collection says
where it belongs; the mark says since when it rests. They are written one after the other, and the order is
such that a crash in between leaves at worst a record in the archive without its mark, which is as good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from clew.core.collections import Collection, CollectionKind
from clew.core.marks import By, Mark, made, value_of
from clew.core.model import Metadata, Provenance, Record
from clew.core.operation import Done
from clew.features.lifecycle.operations import Touch
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.storage.protocol import Marking, Place

_KINDS = frozenset({CollectionKind.MEMORIES, CollectionKind.GLOBAL, CollectionKind.LEDGER})


def may_rest(collection: str) -> bool:
    """Whether its records are ever archived: memories and what was captured are, turns and summaries are not."""
    return Collection(collection).kind in _KINDS


def home_of(collection: str) -> Collection:
    """The collection that an archive belongs to; of any other, itself."""
    return Collection(collection).home


def home_ref(record: Record) -> str:
    """How a record is cited whether it rests or not."""
    return f"{home_of(record.collection)}/{record.id}"


def is_own(record: Record, places: Iterable[Place]) -> bool:
    """Whether a record is one of its own, and no turn or summary that is shown in these places."""
    return record.provenance is not Provenance.SUMMARY and all(may_rest(home_of(place.collection)) for place in places)


def movable_places(parts: Parts, record: Record) -> tuple[Place, ...]:
    """The places that a record would leave for the archive; none where it must stay.

    It stays, too, where an older record of the same id rests there already.
    """
    shown = parts.store.places(record.collection, record.id)
    places = tuple(place for place in shown if home_of(place.collection) == place.collection)
    taken = any(parts.store.seqs(place.collection.archive, [place.id]) for place in places)
    return places if is_own(record, shown) and not taken else ()


def put_away(parts: Parts, places: Iterable[Place]) -> int:
    """Moves members to the archives of their collections; gives how many."""
    now_ms = parts.clock.now_ms()
    moved = 0
    for collection, group in groupby(sorted(places), key=lambda place: place.collection):
        members = list(group)
        moved += parts.store.move(members, collection.archive)
        mark: Metadata = {Mark.ARCHIVED: made(collection, By.CLEW, now_ms)}
        parts.store.mark([Marking(Place(collection.archive, member.id), mark) for member in members])
    return moved


def bring_back(parts: Parts, records: Iterable[Record]) -> list[str]:
    """Moves archived records that are used back to where they were; gives their references there.

    One whose id has been taken again stays, and so does one that another record replaced: an old reference
    that finds it does not make it hold again.
    """
    held = [record for record in records if value_of(record.marks, Mark.SUPERSEDED_BY) is None]
    return [home_ref(record) for record in held if _bring_back(parts, record, None)]


def restore(parts: Parts, record: Record) -> bool:
    """The operator's word that a record is wanted again, superseded or not: its rest counts from now."""
    return _bring_back(parts, record, made(None, By.CLEW, parts.clock.now_ms()))


def wake(parts: Parts, uses: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Brings the used records back from the archive; gives the uses by where the records are then."""
    used: dict[str, list[str]] = {}
    for collection, ids in uses.items():
        home = home_of(collection)
        resting = parts.store.get(home.archive, ids) if may_rest(home) else []
        back = set(bring_back(parts, resting))
        stay = {record.id for record in resting if home_ref(record) not in back}
        for id_ in ids:
            used.setdefault(collection if id_ in stay else home, []).append(id_)
    return used


def _bring_back(parts: Parts, record: Record, mark: Metadata | None) -> bool:
    resting = [
        place
        for place in parts.store.places(record.collection, record.id)
        if place.collection != home_of(place.collection) and not parts.store.seqs(home_of(place.collection), [place.id])
    ]
    parts.store.mark([Marking(place, {Mark.ARCHIVED: mark}) for place in resting[:1]])
    moved = [parts.store.move([place], home_of(place.collection)) for place in resting]
    return any(moved)


@serves(Touch)
def touch(parts: Parts, request: Touch) -> Done:
    return Done(count=parts.store.touch(wake(parts, request.uses), parts.clock.now_ms()))

"""Names of a turn where those of several sessions stand together, and two of them can come out the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from clew.core.collections import CollectionKind
from clew.errors import Conflict
from clew.storage.protocol import Place


def names_of(place: Place) -> Iterator[str]:
    """What a turn may be called there, the name it was to have first.

    In its own session a turn has one name only. Raises Conflict where that one does not do.
    """
    yield place.id
    if place.collection.is_raw or place.collection.kind is CollectionKind.SESSION:
        raise Conflict(f"{place.collection} already holds something else as {place.id!r}")
    yield from (f"{place.id}~{number}" for number in count(2))

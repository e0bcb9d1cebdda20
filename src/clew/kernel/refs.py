"""Finding a record by the reference it is cited with."""

from __future__ import annotations

from clew.core.identity import archive_of, readings_of
from clew.core.model import Record
from clew.errors import NotFound
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.storage.protocol import Place


def located(parts: Parts, ref: str) -> Record:
    """The record at `collection/id`, also where it rests in the archive by now. Raises NotFound."""
    check_unicode("ref", ref)
    for collection, id_ in readings_of(ref):
        for name in (collection, archive_of(collection)):
            found = parts.store.get(name, [id_])
            if found:
                return found[0]
    raise NotFound(f"there is no record {ref[:200]!r}")


def place_of(record: Record) -> Place:
    return Place(record.collection, record.id)

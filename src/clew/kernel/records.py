"""Records by name: reading, listing, taking out of a collection, counting uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from clew.core.collections import Collection, CollectionKind, readings_of
from clew.core.ids import checked_id
from clew.core.model import Provenance, Record
from clew.core.operation import Done
from clew.errors import InvalidInput, NotFound, RawHistoryProtected
from clew.kernel.intake import check_json, check_names, check_size, check_unicode, checked_ts, redact_value
from clew.kernel.operations import (
    AddHint,
    Clear,
    CollectionList,
    CollectionView,
    Delete,
    EnsureCollections,
    Get,
    Journal,
    JournalEntry,
    ListCollections,
    ListRecords,
    ReadJournal,
    Records,
    RecordView,
)
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.storage.paging import every_member
from clew.storage.protocol import Place
from clew.text.framing import clip

MAX_PAGE = 10_000
MAX_HINT_BYTES = 64 * 1024
"""Bounds the size of a host's note in the journal, which is bounded in number, too."""
MAX_CHARS = 1 << 30


@serves(Get)
def get(parts: Parts, request: Get) -> Records:
    found = tuple(map(view, parts.store.get(request.collection, request.ids, strict=True)))
    if request.max_chars is None:
        return Records(records=found)
    max_chars = checked_limit(request.max_chars, MAX_CHARS, "maxChars")
    return Records(records=tuple(_bound_view(record, max_chars) for record in found))


def _bound_view(record: RecordView, max_chars: int) -> RecordView:
    """Clip the text and the values of the metadata to that length; a longer value becomes a text with a cut."""
    metadata = {name: _clip_value(value, max_chars) for name, value in record.metadata.items()}
    return replace(record, text=clip(record.text, max_chars), metadata=metadata)


def _clip_value(value: Any, max_chars: int) -> Any:
    if isinstance(value, str):
        return clip(value, max_chars)
    written = msgspec.json.encode(value).decode("utf-8") if isinstance(value, dict | list) else ""
    return clip(written, max_chars) if len(written) > max_chars else value


@serves(ListRecords)
def list_records(parts: Parts, request: ListRecords) -> Records:
    limit = checked_limit(request.limit, MAX_PAGE)
    page = parts.store.page(request.collection, checked_cursor(request.cursor), limit)
    wanted = page if request.key is None else _where(page, request.key, request.value)
    cursor = page[-1].seq if len(page) == limit else None
    return Records(records=tuple(map(view, wanted)), cursor=cursor)


@serves(ListCollections)
def list_collections(parts: Parts, _: ListCollections) -> CollectionList:
    found = parts.store.collections()
    return CollectionList(collections=tuple(CollectionView(name=str(name), count=count) for name, count in found))


@serves(Delete)
def delete(parts: Parts, request: Delete) -> Done:
    _refuse_to_break(parts, Collection(request.collection), request.ids)
    return Done(count=parts.store.remove(request.collection, request.ids))


@serves(Clear)
def clear(parts: Parts, request: Clear) -> Done:
    _refuse_to_break(parts, Collection(request.collection), None)
    return Done(count=parts.store.clear(request.collection))


@serves(EnsureCollections)
def ensure_collections(parts: Parts, request: EnsureCollections) -> Done:
    names = [Collection.named(name) for name in request.collections]
    for name in names:
        check_names(parts, None, None, collection=name)
    parts.store.ensure(names)
    return Done(count=len(request.collections))


@serves(AddHint)
def add_hint(parts: Parts, request: AddHint) -> Done:
    check_json("details", request.details, MAX_HINT_BYTES)
    check_size("hook", request.hook.encode, MAX_HINT_BYTES)
    check_names(parts, None, request.session_id, id=request.id)
    scope = () if request.session_id is None else (Collection.session(request.session_id),)
    given = request.details if request.id is None else {**request.details, "id": checked_id(request.id, "id")}
    hook, details = redact_value(parts, [request.hook, given], *scope)
    noted = parts.store.hints(request.session_id, MAX_PAGE) if request.id is not None else ()
    if any(hint.hook == hook and hint.details.get("id") == details["id"] for hint in noted):
        return Done(count=0)
    ts_ms = parts.clock.now_ms() if request.ts is None else checked_ts(request.ts)
    parts.store.add_hint(ts_ms, hook, request.session_id, details)
    return Done(count=1)


@serves(ReadJournal)
def read_journal(parts: Parts, request: ReadJournal) -> Journal:
    hints = parts.store.hints(request.session_id, checked_limit(request.limit, MAX_PAGE))
    return Journal(
        entries=tuple(
            JournalEntry(
                seq=hint.seq, ts=hint.ts_ms, hook=hint.hook, session_id=hint.session_id, details=dict(hint.details)
            )
            for hint in hints
        )
    )


def view(record: Record) -> RecordView:
    """A record as callers see it."""
    return RecordView(
        collection=str(record.collection),
        id=record.id,
        text=record.text,
        ts=record.ts_ms,
        role=record.role.value if record.role else None,
        provenance=record.provenance.value,
        trust=record.trust.value,
        stability=record.stability,
        tokens=record.tokens,
        version=record.version,
        access_count=record.access_count,
        metadata=dict(record.metadata),
        marks=dict(record.marks),
        last_used=record.last_used_ms,
    )


def find_record(parts: Parts, ref: str) -> Record:
    """The record at `collection/id`, also while it rests in the archive. Raises NotFound."""
    check_unicode("ref", ref)
    for collection, id_ in readings_of(ref):
        for name in (collection, collection.archive):
            found = parts.store.get(name, [id_], strict=True)
            if found:
                return found[0]
    raise NotFound(f"there is no record {ref[:200]!r}")


def place_of(record: Record) -> Place:
    return Place(record.collection, record.id)


def checked_cursor(cursor: int) -> int:
    if not 0 <= cursor < 2**32:
        raise InvalidInput(f"{cursor} is not a cursor that a page gave")
    return cursor


def checked_limit(limit: int, highest: int, what: str = "limit") -> int:
    if not 1 <= limit <= highest:
        raise InvalidInput(f"{what} must be from 1 to {highest}, not {limit}")
    return limit


def _refuse_to_break(parts: Parts, collection: Collection, ids: Sequence[str] | None) -> None:
    """Summaries are the way back to the turns they cover, and authored nodes follow their files.

    Guidance may go: its author may take it back.
    """
    if collection.is_derived and collection.kind is not CollectionKind.GUIDANCE:
        raise RawHistoryProtected(f"{collection} is kept by Clew; its records cannot be deleted one by one")
    if collection.kind is CollectionKind.SESSION:
        if ids is None and collection.owner:
            ids = [record.id for record in every_member(parts.store, Collection.summaries(collection.owner))]
        shown = parts.store.get(collection, ids or ())
        if any(record.provenance is Provenance.SUMMARY for record in shown):
            raise RawHistoryProtected(f"{collection} holds summaries, which lead back to turns; they cannot be deleted")


def _where(records: Sequence[Record], key: str, value: object) -> list[Record]:
    """JSON equality: 1 and true are different values."""
    return [
        record
        for record in records
        if key in record.metadata and type(record.metadata[key]) is type(value) and record.metadata[key] == value
    ]

"""Export and import: every record as one line of JSON, the same bytes however often it moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.api import Backup, Done, Export, ExportPage, Import, ImportReceipt
from clew.domain.identity import checked_collection, checked_id, is_raw, kind_of
from clew.domain.marks import By, Mark, set_by
from clew.domain.model import Draft, Provenance, Role, Trust
from clew.domain.redaction import redact, redact_json
from clew.errors import InvalidInput
from clew.services.intake import check_size, checked_ts, judged, policy_of, search_terms, speaker_in
from clew.services.parts import Parts
from clew.services.records import checked_cursor, checked_limit
from clew.storage.protocol import Place, StoredRecord, Task

FORMAT = 1
MAX_LINES = 5000


class PlaceLine(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    collection: str
    id: str


class RecordLine(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One record. Search terms and vectors are left out: they are made again from the text."""

    clew: int
    raw: bool
    places: tuple[PlaceLine, ...]
    ts: int
    role: str | None
    provenance: str
    trust: str
    stability: float
    tokens: int
    version: int
    access_count: int
    last_used: int | None
    text: str
    metadata: dict[str, Any]
    marks: dict[str, dict[str, Any]] = {}


_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(RecordLine)


def export(parts: Parts, request: Export) -> ExportPage:
    limit = checked_limit(request.limit, MAX_LINES)
    stored = parts.store.export(checked_cursor(request.cursor), limit)
    cursor = stored[-1].key if len(stored) == limit else None
    return ExportPage(lines=tuple(map(_line, stored)), cursor=cursor)


def import_lines(parts: Parts, request: Import) -> ImportReceipt:
    if len(request.lines) > MAX_LINES:
        raise InvalidInput(f"one import takes at most {MAX_LINES} lines, not {len(request.lines)}")
    records = [_record(parts, number, text) for number, text in enumerate(request.lines, 1) if text.strip()]
    tasks = (Task.EMBED,) if parts.meaning.wanted else ()
    stored, unchanged = parts.store.restore(records, tasks)
    return ImportReceipt(stored=stored, unchanged=unchanged)


def backup(parts: Parts, request: Backup) -> Done:
    target = Path(request.path)
    if not target.is_absolute():
        raise InvalidInput("a backup's path must be absolute")
    if target.exists():
        raise InvalidInput(f"{target} exists; a backup never replaces a file")
    if not target.parent.is_dir():
        raise InvalidInput(f"{target.parent} is not a folder")
    parts.store.backup(target)
    return Done(count=1)


def _line(stored: StoredRecord) -> str:
    draft = stored.draft
    written = RecordLine(
        clew=FORMAT,
        raw=stored.raw,
        places=tuple(PlaceLine(place.collection, place.id) for place in stored.places),
        ts=draft.ts_ms,
        role=draft.role,
        provenance=draft.provenance,
        trust=draft.trust,
        stability=draft.stability,
        tokens=draft.tokens,
        version=stored.version,
        access_count=stored.access_count,
        last_used=stored.last_used_ms,
        text=draft.text,
        metadata=dict(draft.metadata),
        marks={name: dict(mark) for name, mark in draft.marks.items()},
    )
    return _encoder.encode(written).decode("utf-8")


def _record(parts: Parts, number: int, text: str) -> StoredRecord:
    try:
        read = _decoder.decode(text)
        if read.clew != FORMAT:
            raise InvalidInput(f"format {read.clew} is not known; this Clew reads format {FORMAT}")
        return _stored(parts, read)
    except (msgspec.MsgspecError, InvalidInput, ValueError) as error:
        raise InvalidInput(f"line {number}: {error}") from error


def _stored(parts: Parts, read: RecordLine) -> StoredRecord:
    places = tuple(sorted(Place(checked_collection(p.collection), checked_id(p.id, "id")) for p in read.places))
    if not places or read.raw != any(is_raw(place.collection) for place in places):
        raise InvalidInput("a raw turn stands in a raw history, and nothing else does")
    role = None if read.role is None else Role(read.role)
    if (read.raw and role is None) or (read.provenance == Provenance.USER_TURN and role is not Role.USER):
        raise InvalidInput(f"a turn with the role {read.role} cannot be {read.provenance}")
    if any(kind_of(place.collection) == "elevated" for place in places) and (
        not read.raw or read.provenance != Provenance.USER_TURN
    ):
        raise InvalidInput("only a turn of a user can be guidance")
    check_size("text", read.text.encode, parts.config.max_text_bytes)
    check_size("metadata", lambda: msgspec.json.encode(read.metadata), parts.config.max_text_bytes)
    policy = policy_of(parts, *(place.collection for place in places))
    text, (metadata, _) = redact(read.text, policy).text, redact_json(read.metadata, policy)
    draft = Draft(
        text=text,
        ts_ms=checked_ts(read.ts),
        role=role,
        provenance=Provenance(read.provenance),
        trust=Trust(read.trust),
        stability=min(max(read.stability, 0.0), 1.0),
        tokens=max(read.tokens, 0),
        terms=search_terms(text, speaker_in(metadata), read.ts),
        metadata=metadata,
        marks=_known_marks(read.marks),
    )
    if set_by(draft.marks, Mark.TRUST) != By.OPERATOR:
        draft = judged(draft, draft.ts_ms)
    version, count = max(read.version, 1), max(read.access_count, 0)
    return StoredRecord(0, draft, read.raw, places, version, count, read.last_used if count else None)


def _known_marks(marks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Marks in the shape Clew writes them; anything else is refused rather than kept to surprise later."""
    for name, mark in marks.items():
        if name not in set(Mark) or mark.keys() != {"value", "by", "ts"} or mark["by"] not in set(By):
            raise InvalidInput(f"{name[:40]!r} is not a mark")
    return dict(marks)

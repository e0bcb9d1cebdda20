"""Export and import: every record as one line of JSON, the same bytes however often it moves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from clew.core.collections import CATALOGUE, HARD, Collection, CollectionKind
from clew.core.ids import MAX_NAME_LENGTH, checked_id
from clew.core.marks import By, Mark, set_by, value_of
from clew.core.model import TRUST_OF_PROVENANCE, Draft, Metadata, Provenance, Role, Trust, least
from clew.core.operation import Done
from clew.core.structs import plain
from clew.errors import InvalidInput, StoreCorrupt
from clew.features.lifecycle.mark_shapes import known_marks
from clew.features.upkeep.operations import Backup, Export, ExportPage, Import, ImportReceipt
from clew.kernel.echoes import Replies, judge_record
from clew.kernel.intake import (
    MAX_TS_MS,
    check_json,
    check_size,
    checked_ts,
    judge_draft,
    policy_of,
    search_terms,
    speaker_in,
)
from clew.kernel.parts import Parts
from clew.kernel.records import checked_cursor, checked_limit
from clew.kernel.services import serves
from clew.storage.protocol import NewTurn, Place, StoredRecord, Task
from clew.text.excerpts import one_line
from clew.text.redaction import Policy, redact, redact_json

FORMAT = 1
_GUIDANCE = f"{CollectionKind.GUIDANCE}:"
_OF_MODELS = frozenset({Provenance.MODEL, Provenance.ASSISTANT_TURN})
"""What these repeat is found anew: a mark may say that they repeat something harmless."""
_FROM_FILES = frozenset({Provenance.AUTHORED, Provenance.NOTE})
MAX_LINES = 5000

E = TypeVar("E", bound=StrEnum)
Count = Annotated[int, Meta(ge=0, le=2**53)]
"""Small enough to be counted on for ever."""

_AUTHORED_KINDS = frozenset({HARD.kind, CATALOGUE.kind})
_TROUBLE_CHARS = 200


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
    tokens: Count
    version: Annotated[int, Meta(ge=1, le=2**53)]
    access_count: Count
    last_used: Annotated[int, Meta(ge=0, le=MAX_TS_MS)] | None
    text: str
    metadata: dict[str, Any]
    marks: dict[str, dict[str, Any]] = {}


_encoder = msgspec.json.Encoder(order="sorted", enc_hook=plain)
_decoder = msgspec.json.Decoder(RecordLine)


@serves(Export)
def export(parts: Parts, request: Export) -> ExportPage:
    limit = checked_limit(request.limit, MAX_LINES)
    stored = parts.store.export(checked_cursor(request.cursor), limit)
    if damage := parts.store.damage():  # a copy that lacks something must not pass for a whole one
        raise StoreCorrupt(f"{damage[0]}; `clew verify --repair` sets it aside, and the rest can be exported")
    cursor = stored[-1].key if len(stored) == limit else None
    return ExportPage(
        lines=tuple(_line(each) for each in stored if each.places),
        cursor=cursor,
        degraded=tuple(f"record {each.key} is left out: no collection shows it" for each in stored if not each.places),
    )


@serves(Import)
def import_lines(parts: Parts, request: Import) -> ImportReceipt:
    if len(request.lines) > MAX_LINES:
        raise InvalidInput(f"one import takes at most {MAX_LINES} lines, not {len(request.lines)}")
    lines = [_read_line(number, text) for number, text in enumerate(request.lines, 1) if text.strip()]
    believed = lines if request.trust_marks else [_disbelieve(line) for line in lines]
    records = [_record(parts, line) for line in believed if line is not None]
    if not request.trust_marks:
        records = list(_judge(parts, records))
    tasks = (Task.EMBED, Task.LINK) if parts.meaning.wanted else (Task.LINK,)
    stored, unchanged = parts.store.restore(records, tasks)
    withheld = sum(before is not after for before, after in zip(lines, believed, strict=True))
    return ImportReceipt(stored=stored, unchanged=unchanged, withheld=withheld)


@serves(Backup)
def backup(parts: Parts, request: Backup) -> Done:
    target = Path(request.path)
    if not target.is_absolute():
        raise InvalidInput("a backup's path must be absolute")
    try:
        is_taken, is_in_folder = os.path.lexists(target), target.parent.is_dir()
        is_inside = target.resolve().is_relative_to(parts.config.data_dir.resolve())
    except (OSError, ValueError):
        raise InvalidInput("a backup's path must be one that a file can have") from None
    if is_taken:
        raise InvalidInput(f"{target} exists; a backup never replaces a file")
    if not is_in_folder:
        raise InvalidInput(f"{target.parent} is not a folder")
    if is_inside:
        raise InvalidInput(
            f"{target} is inside the data folder, where no copy may outlive a purge; choose another place"
        )
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


class _Line(NamedTuple):
    """A line that was read, with its number."""

    number: int
    read: RecordLine


def _read_line(number: int, text: str) -> _Line:
    with _refusing(number):
        read = _decoder.decode(text)
        if read.clew != FORMAT:
            raise InvalidInput(f"format {read.clew} is not known; this Clew reads format {FORMAT}")
        return _Line(number, read)


def _record(parts: Parts, line: _Line) -> StoredRecord:
    with _refusing(line.number):
        return _make_record(parts, line.read)


@contextmanager
def _refusing(number: int) -> Iterator[None]:
    """Names the line in an error, which never quotes it: it is not redacted yet."""
    try:
        yield
    except UnicodeEncodeError:
        raise InvalidInput(f"line {number}: it must be valid Unicode") from None
    except (msgspec.MsgspecError, InvalidInput) as error:
        trouble = one_line(redact(str(error), Policy.SECRETS).text, _TROUBLE_CHARS)
        raise InvalidInput(f"line {number}: {trouble}") from None


def _disbelieve(line: _Line) -> _Line | None:
    """The line without what only the operator, or Clew's own judgement, may say; None for a rule or a note.

    Any file may call itself an export. Its turns and records are taken in as those of any other.
    """
    read = line.read
    if read.provenance in _FROM_FILES:
        return None
    kept = {
        name: mark
        for name, mark in read.marks.items()
        if mark.get("by") != By.OPERATOR.value
        and name != Mark.GUIDANCE.value
        and not (name == Mark.TRUST.value and read.provenance in _OF_MODELS)
    }
    places = tuple(place for place in read.places if not place.collection.startswith(_GUIDANCE))
    if kept == read.marks and places == read.places:
        return line
    return _Line(line.number, msgspec.structs.replace(read, marks=kept, places=places))


def _judge(parts: Parts, records: Iterable[StoredRecord]) -> Iterator[StoredRecord]:
    """Records and replies with no more trust than the untrusted texts that they repeat, as if they came in today."""
    replies: dict[Collection, Replies] = {}
    for record in records:
        raw = next((place for place in record.places if place.collection.is_raw), None)
        if raw is None:
            yield replace(record, draft=judge_record(parts, record.places[0], record.draft))
            continue
        session = raw.collection
        user_id = next((place.collection.user_id for place in record.places if place.collection.user_id), None)
        heard = replies.setdefault(session, Replies(parts, session.session_id or "", user_id))
        judged = replace(record, draft=heard.judge(record.draft))
        heard.hear(NewTurn(judged.draft, (raw,), ()))
        yield judged


def _make_record(parts: Parts, read: RecordLine) -> StoredRecord:
    places = tuple(
        sorted({Place(Collection.named(p.collection), checked_id(p.id, "id", MAX_NAME_LENGTH)) for p in read.places})
    )
    role = None if read.role is None else _one_of(Role, "role", read.role)
    provenance = _one_of(Provenance, "provenance", read.provenance)
    _check_places(places, read.raw, role, provenance)
    for what, value in (("metadata", read.metadata), ("marks", read.marks)):
        check_json(what, value, parts.config.max_text_bytes)
    check_size("text", read.text.encode, parts.config.max_text_bytes)
    policy = policy_of(parts, *(place.collection for place in places))
    text, (metadata, _) = redact(read.text, policy).text, redact_json(read.metadata, policy)
    marks = known_marks(read.marks, policy)
    draft = Draft(
        text=text,
        ts_ms=checked_ts(read.ts),
        role=role,
        provenance=provenance,
        trust=_trust(_one_of(Trust, "trust", read.trust), provenance, marks),
        stability=min(max(read.stability, 0.0), 1.0),
        tokens=read.tokens,
        terms=search_terms(text, speaker_in(metadata), read.ts),
        metadata=metadata,
        marks=marks,
    )
    is_held_back = draft.trust is Trust.QUARANTINED and Mark.TRUST in marks
    if not is_held_back and set_by(marks, Mark.TRUST) != By.OPERATOR:
        draft = judge_draft(draft, draft.ts_ms)
    last_used_ms = read.last_used if read.access_count else None
    return StoredRecord(0, draft, read.raw, places, read.version, read.access_count, last_used_ms)


def _check_places(places: Sequence[Place], raw: bool, role: Role | None, provenance: Provenance) -> None:
    """Raises InvalidInput where a record of this origin cannot have these places."""
    if not places or raw != any(place.collection.is_raw for place in places):
        raise InvalidInput("a raw history holds raw turns, and nothing else does")
    if (raw and role is None) or (provenance is Provenance.USER_TURN and role is not Role.USER):
        raise InvalidInput(f"a turn with the role {role} cannot be {provenance}")
    kinds = {place.collection.kind for place in places}
    if "elevated" in kinds and not (raw and provenance is Provenance.USER_TURN):
        raise InvalidInput("only a turn of a user can be guidance")
    if {kind in _AUTHORED_KINDS for kind in kinds} != {provenance in _FROM_FILES}:
        raise InvalidInput("authored collections hold what the operator wrote, and nothing else does")


def _trust(given: Trust, provenance: Provenance, marks: Metadata) -> Trust:
    """No more than where it came from gives, or the operator's word on it, or the user's on a model's statement."""
    said = value_of(marks, Mark.TRUST) if set_by(marks, Mark.TRUST) == By.OPERATOR else None
    is_confirmed = provenance is Provenance.MODEL and Mark.TRUST in marks
    most = Trust.UNKNOWN if is_confirmed else TRUST_OF_PROVENANCE[provenance]
    return least((given, most if said is None else Trust(said["trust"])))


def _one_of(kind: type[E], what: str, name: str) -> E:
    found = next((member for member in kind if member.value == name), None)
    if found is None:
        raise InvalidInput(f"{what} must be one of {', '.join(kind)}")
    return found

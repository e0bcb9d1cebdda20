"""From the capture log into the ledger: resumable, and never stopped by a bad line.

How far the log has been read, and how long the file of lines set aside is, move in the same step as the records. So
a harvest that dies has either done a step or not begun it; what it set aside beyond that is taken back first.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.core.collections import Collection
from clew.core.ids import digest
from clew.core.model import Draft, Kind, Provenance, Role
from clew.core.structs import make_known
from clew.errors import InvalidInput, NotFound, StoreError, TooLarge
from clew.features.ledger import artifacts
from clew.features.ledger.capture import Written, bound
from clew.features.ledger.lines import (
    HARVESTING,
    SET_ASIDE,
    VERSION,
    Aside,
    BadLine,
    Entry,
    RawLine,
    decode,
    encode,
    folder_of,
    hold,
    log_files,
    number_of,
    object_of,
    owners_of,
    places_of,
    read_lines,
)
from clew.features.ledger.operations import Harvest, HarvestReceipt
from clew.kernel.intake import checked_ts, draft_of, policy_of
from clew.kernel.parts import Parts
from clew.kernel.queue import Pace, Worker
from clew.kernel.records import checked_limit
from clew.kernel.services import serves
from clew.storage.protocol import NewRecord, Place, Task
from clew.text.redaction import redact, redact_json

MAX_LINES = 10_000
BACKGROUND_LINES = 20
"""Lines of one step behind other work: what a caller who comes meanwhile may have to wait for."""

_STEP_BYTES = 8 * 1024 * 1024
_ASIDE_CHARS = 64 * 1024
_UNSURE_CHARS = 32 * 1024
"""At the end of a line that was not read whole, a secret may be cut in two and not be known as one."""

_HEAD_CHECKED_BYTES = 4096
_LINE_FACTOR = 8
"""A text takes up to six times its length as JSON, and metadata comes with it."""

_SET_ASIDE_MARK = "harvest:set-aside"
_REPORTED = frozenset({Kind.DECISION, Kind.TASK, Kind.PLAN, Kind.NOTE, Kind.PREFERENCE, Kind.FACT})
"""Kinds of event that an agent states itself, where no tool did."""

_KINDS = frozenset(kind.value for kind in Kind)


@serves(Harvest)
def harvest(parts: Parts, request: Harvest) -> HarvestReceipt:
    limit = checked_limit(request.max_lines, MAX_LINES, "maxLines")
    try:
        with hold(folder_of(parts.config), HARVESTING):
            source = _Log(parts) if request.path is None else _OtherFile(parts, request.path)
            return _step(parts, source, limit)
    except OSError as error:
        raise StoreError(f"the capture log cannot be harvested: {error.strerror or error}") from error


def some(parts: Parts) -> bool:
    """One small step, where the log holds anything that was not read; whether there may be more."""
    files = log_files(folder_of(parts.config))
    if not files:
        return False
    mark = _read_mark(parts, _Log.bookmark)
    if mark.file == files[-1].name and mark.offset >= files[-1].stat().st_size:
        return False
    return not harvest(parts, Harvest(max_lines=BACKGROUND_LINES)).done


def _harvest_some(parts: Parts, pace: Pace) -> bool:
    pace.begin_step()
    return some(parts)


WORKER = Worker(_harvest_some)
"""Takes what was captured into the ledger; then it waits for its vectors like anything else."""


class _Mark(Struct, frozen=True):
    """How far a source has been read."""

    file: str = ""
    offset: int = 0
    line: int = 0
    head: str = ""
    """Of another file than the log: tells whether it still is the one that was read."""


@dataclass(slots=True)
class _Step:
    """What one step has found so far, to be stored at its end."""

    mark: _Mark
    lines: int = 0
    read_bytes: int = 0
    done: bool = True
    records: list[NewRecord] = field(default_factory=list)
    aside: list[Aside] = field(default_factory=list)
    marks: list[Path] = field(default_factory=list)
    """Of artifacts that nothing refers to before the records do."""


# --- sources ---------------------------------------------------------------------------------------------


class _Log:
    """The capture log of the data folder."""

    bookmark = "harvest"
    takes_last = False
    """A line that is not ended is still being written."""

    def __init__(self, parts: Parts) -> None:
        self._files = log_files(folder_of(parts.config))
        mark = _read_mark(parts, self.bookmark)
        self.start = mark if self._holds(mark) else _Mark()

    def unread(self) -> Iterator[tuple[Path, str, _Mark, bool]]:
        """Each file that is not read to its end, its name, where to go on, and whether it is closed."""
        for path in self._files:
            if number_of(path.name) >= number_of(self.start.file):
                begun = path.name == self.start.file
                mark = self.start if begun else _Mark(file=path.name)
                yield path, path.name, mark, path != self._files[-1]

    def complete(self, mark: _Mark) -> _Mark:
        return mark

    def _holds(self, mark: _Mark) -> bool:
        """Whether the log reaches as far as it was read; one that does not was begun anew."""
        if not self._files or number_of(self._files[-1].name) < number_of(mark.file):
            return False
        return self._files[-1].name != mark.file or mark.offset <= self._files[-1].stat().st_size

    def progress(self, mark: _Mark) -> tuple[int, int]:
        """Bytes read of how many, over all files."""
        sizes = {path.name: path.stat().st_size for path in self._files}
        before = sum(size for name, size in sizes.items() if number_of(name) < number_of(mark.file))
        return before + min(mark.offset, sizes.get(mark.file, 0)), sum(sizes.values())


class _OtherFile:
    """A file that someone else wrote in the format of the log."""

    takes_last = True
    """Nobody says that its last line will be ended; where it is a whole event, nothing is missing of it."""

    def __init__(self, parts: Parts, path: str) -> None:
        self._path = Path(path)
        if not self._path.is_absolute():
            raise InvalidInput("path must be absolute")
        try:
            regular = S_ISREG(self._path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise NotFound(f"there is no file {path!r}") from None
        if not regular:
            raise InvalidInput(f"{path!r} is no regular file")
        self.bookmark = f"harvest:{digest(path, size_bytes=16).hex()}"
        mark = _read_mark(parts, self.bookmark)
        self.start = mark if mark.head == self._head(mark.offset) else _Mark()

    def unread(self) -> Iterator[tuple[Path, str, _Mark, bool]]:
        yield self._path, str(self._path), self.start, False

    def complete(self, mark: _Mark) -> _Mark:
        return replace(mark, head=self._head(mark.offset))

    def progress(self, mark: _Mark) -> tuple[int, int]:
        return mark.offset, self._path.stat().st_size

    def _head(self, offset: int) -> str:
        """Of what was read, the beginning, and how long it is; another file of that name differs in it."""
        with self._path.open("rb") as stream:
            start = stream.read(min(offset, _HEAD_CHECKED_BYTES))
            long_enough = stream.seek(0, os.SEEK_END) >= offset
        return hashlib.blake2b(start, digest_size=16).hexdigest() if long_enough and offset else ""


# --- one step --------------------------------------------------------------------------------------------


def _step(parts: Parts, source: _Log | _OtherFile, limit: int) -> HarvestReceipt:
    step = _Step(source.start)
    for path, name, mark, closed in source.unread():
        step.mark = mark
        if not _read_file(parts, step, path, name, limit, closed=closed, takes_last=source.takes_last):
            break
    stored, unchanged = _store(parts, step, source)
    read_bytes, total_bytes = source.progress(step.mark)
    return HarvestReceipt(
        lines=step.lines,
        stored=stored,
        unchanged=unchanged,
        set_aside=len(step.aside),
        reasons=dict(sorted(Counter(line.reason for line in step.aside).items())),
        read_bytes=read_bytes,
        total_bytes=total_bytes,
        done=step.done,
    )


def _read_file(parts: Parts, step: _Step, path: Path, name: str, limit: int, *, closed: bool, takes_last: bool) -> bool:
    """Read on in a file as far as the step goes; whether it was read to its end."""
    max_bytes = parts.config.max_text_bytes * _LINE_FACTOR + parts.config.capture_inline_bytes
    for line in read_lines(path, step.mark.offset, step.mark.line, max_bytes):
        if step.lines >= limit or step.read_bytes >= _STEP_BYTES:
            step.done = False
            return False
        if not (line.whole or closed) and not (takes_last and _is_event(line)):
            return True
        if line.content.strip():
            _take(parts, step, line, name)
        step.read_bytes += line.end - step.mark.offset
        step.mark = replace(step.mark, offset=line.end, line=line.number if line.whole else line.number - 1)
    return True


def _take(parts: Parts, step: _Step, line: RawLine, name: str) -> None:
    """A line becomes a record, or is set aside."""
    step.lines += 1
    try:
        if line.too_long:
            raise BadLine("too large")
        step.records.append(_record(parts, step, decode(line.content)))
    except BadLine as bad:
        reason = bad.reason if line.whole else "cut short"
        text = _excerpt(parts, line)
        step.aside.append(Aside(clew=VERSION, file=name, line=line.number, reason=reason, text=text))


def _is_event(line: RawLine) -> bool:
    try:
        decode(line.content)
    except BadLine:
        return False
    return not line.too_long


def _store(parts: Parts, step: _Step, source: _Log | _OtherFile) -> tuple[int, int]:
    """Write what a step found, and how far it came; how many records are new or changed, and how many were there."""
    mark = source.complete(step.mark)
    if mark == source.start and not step.lines:
        return 0, 0
    bookmarks = {source.bookmark: msgspec.json.encode(mark).decode("utf-8")}
    if step.aside:
        bookmarks[_SET_ASIDE_MARK] = str(_set_aside(parts, step.aside))
    resting = _archived_places(parts, step.records)
    active = [record for record in step.records if record.place not in resting]
    changed = [changed for _, changed in parts.store.put(active, bookmarks)]
    artifacts.remove_marks(step.marks)
    return sum(changed), len(step.records) - sum(changed)


def _archived_places(parts: Parts, records: Sequence[NewRecord]) -> set[Place]:
    """The places of records that were archived from one of theirs: reading them again is no use of them."""
    by_name: dict[Collection, dict[str, Place]] = {}
    for record in records:
        for place in (record.place, *record.also):
            by_name.setdefault(place.collection, {})[place.id] = record.place
    return {ids[found.id] for name, ids in by_name.items() for found in parts.store.get(name.archive, list(ids))}


def _set_aside(parts: Parts, lines: Sequence[Aside]) -> int:
    """Append to the file of lines set aside, behind what finished steps have written; how long it is then."""
    path = folder_of(parts.config) / SET_ASIDE
    known = int(parts.store.bookmark(_SET_ASIDE_MARK) or 0)
    data = b"".join(map(encode, lines))
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        start = min(known, os.fstat(descriptor).st_size)
        os.ftruncate(descriptor, start)
        if os.pwrite(descriptor, data, start) != len(data):
            raise StoreError("lines cannot be set aside: the disk is full")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return start + len(data)


def _read_mark(parts: Parts, bookmark: str) -> _Mark:
    written = parts.store.bookmark(bookmark)
    return _Mark() if written is None else msgspec.json.decode(written, type=_Mark)


# --- one line --------------------------------------------------------------------------------------------


def _record(parts: Parts, step: _Step, entry: Entry) -> NewRecord:
    """The record of an event. Raises BadLine."""
    if entry.kind not in _KINDS:
        raise BadLine("unknown kind")
    if entry.session_id is None and entry.user_id is None:
        raise BadLine("no owner")
    places = places_of({"id": entry.id, "sessionId": entry.session_id, "userId": entry.user_id})
    if not places:
        raise BadLine("not an event")
    first, *others = places
    try:
        written = _bound_payload(parts, entry)
        draft = _draft(parts, written.entry, first, others)
    except TooLarge:
        raise BadLine("too large") from None
    except InvalidInput:
        raise BadLine("not an event") from None
    if written.content is not None:
        step.marks += artifacts.keep(parts, written.content)
    tasks = (Task.EMBED, Task.LINK) if parts.meaning.wanted else (Task.LINK,)
    return NewRecord(draft, first, tasks, also=tuple(others))


def _bound_payload(parts: Parts, entry: Entry) -> Written:
    """The log holds no long payloads, but another file may."""
    short = len(msgspec.json.encode(entry.payload)) <= parts.config.capture_inline_bytes
    return Written(entry) if short else bound(parts, entry, policy_of(parts, *owners_of(entry)))


def _draft(parts: Parts, entry: Entry, first: Place, others: Sequence[Place]) -> Draft:
    reported = entry.tool is None and Kind(entry.kind) in _REPORTED
    beside = {
        "toolName": entry.tool,
        "payload": entry.payload,
        "artifact": entry.artifact,
        "payloadBytes": entry.size_bytes,
        "preview": entry.preview,
    }
    given = {name: value for name, value in entry.metadata.items() if name not in beside}
    return draft_of(
        parts,
        entry.text,
        collection=first.collection,
        also=[place.collection for place in others],
        role=Role.ASSISTANT if reported else Role.TOOL_RESULT,
        provenance=Provenance.ASSISTANT_TURN if reported else Provenance.TOOL_OUTPUT,
        ts_ms=checked_ts(entry.ts),
        metadata=given | {name: value for name, value in beside.items() if value is not None},
        kind=Kind(entry.kind),
        tool=entry.tool,
        source=entry.source,
    ).draft


def _excerpt(parts: Parts, line: RawLine) -> str:
    """What is kept of a bad line: redacted by the policy of its owner, as far as it names one, and bounded."""
    found = None if line.too_long else object_of(line.content)
    if found is not None:
        clean, _ = redact_json(found, policy_of(parts, *_ledgers_in(found)))
        return msgspec.json.encode(clean).decode("utf-8")[:_ASIDE_CHARS]
    text = redact(line.content.decode("utf-8", "replace"), policy_of(parts)).text
    return (text[:-_UNSURE_CHARS] if line.too_long else text)[:_ASIDE_CHARS]


def _ledgers_in(event: Mapping[str, Any]) -> list[Collection]:
    owners = (("session", event.get("sessionId")), ("user", event.get("userId")))
    return [Collection(f"ledger:{kind}:{owner}") for kind, owner in owners if isinstance(owner, str)]


make_known([_Mark])

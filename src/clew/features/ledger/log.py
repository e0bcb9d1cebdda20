"""The capture log: appended line by line, closed and indexed file by file, and forgotten where a purge asks for it.

The files are the truth; their index only describes those that are closed, and is made again where it does not fit
them. Places in a file stay valid for good, since a line that is forgotten gives way to blanks: how far a harvest has
read needs no correction, whenever the process may die.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.core.structs import make_known
from clew.errors import StoreError
from clew.features.ledger import artifacts
from clew.features.ledger.artifacts import UNFINISHED, append_whole, sync_folder, write_whole
from clew.features.ledger.lines import (
    APPENDING,
    HARVESTING,
    SET_ASIDE,
    Entry,
    artifact_in,
    encode,
    file_name,
    folder_of,
    hold,
    log_files,
    number_of,
    object_of,
)
from clew.kernel.parts import Parts

INDEX = "index.json"

_HASH_BYTES = 32

Gone = Callable[[Mapping[str, Any]], bool]
"""Whether an event, as its line has it, is to be forgotten."""


class ClosedFile(Struct, frozen=True, rename="camel"):
    """A file of the log that will not grow any more."""

    name: str
    lines: int
    bytes: int
    first_ts: int | None
    last_ts: int | None
    hash: str


class _Index(Struct, frozen=True):
    clew: int
    files: tuple[ClosedFile, ...]


def append(parts: Parts, entries: Sequence[Entry], contents: Sequence[bytes]) -> str:
    """Write down events, with the contents of the artifacts they name; the name of the file, once all is durable."""
    folder = folder_of(parts.config)
    data = b"".join(map(encode, entries))
    try:
        with hold(folder, APPENDING):
            marks = [mark for content in contents for mark in artifacts.keep(parts, content)]
            path = _file_for(folder, len(data), parts.tuning.capture_file_bytes)
            append_whole(path, data, "the capture log")
            artifacts.remove_marks(marks)
            return path.name
    except OSError as error:
        raise StoreError(f"the capture log cannot be written: {error.strerror or error}") from error


def closed_files(parts: Parts) -> tuple[ClosedFile, ...]:
    """The index of the log, made again where it is missing or does not fit the files."""
    folder = folder_of(parts.config)
    with hold(folder, APPENDING):
        return _update_index(folder, log_files(folder)[:-1])


def count(parts: Parts, gone: Gone) -> int:
    """How many lines `forget` would take away."""
    folder = folder_of(parts.config)
    try:
        return sum(len(scan.gone) for scan in _scan_all(folder, gone))
    except OSError as error:
        raise StoreError(f"the capture log cannot be read: {error.strerror or error}") from error


def forget(parts: Parts, gone: Gone) -> int:
    """Leave nothing of the events that are gone in the log, beside it, or in artifacts; how many lines went.

    With them goes every line that cannot be read, since nobody can say whose it is.
    """
    folder = folder_of(parts.config)
    if not folder.exists():
        return 0
    try:
        with hold(folder, HARVESTING), hold(folder, APPENDING):
            for leftover in folder.glob(f"*{UNFINISHED}"):
                leftover.unlink()
            scans = _scan_all(folder, gone)
            _rewrite(folder, [scan for scan in scans if scan.gone])
            artifacts.sweep(parts, {name for scan in scans for name in scan.artifacts})
            return sum(len(scan.gone) for scan in scans)
    except OSError as error:
        raise StoreError(f"the capture log cannot be rewritten: {error.strerror or error}") from error


# --- appending -------------------------------------------------------------------------------------------


def _file_for(folder: Path, size_bytes: int, limit_bytes: int) -> Path:
    """The file that takes the next lines: the newest one, or a new one where that is full."""
    files = log_files(folder)
    if not files:
        return folder / file_name(1)
    held_bytes = files[-1].stat().st_size
    if held_bytes == 0 or held_bytes + size_bytes <= limit_bytes:
        return files[-1]
    _update_index(folder, files)
    return folder / file_name(number_of(files[-1].name) + 1)


# --- the index -------------------------------------------------------------------------------------------


def _update_index(folder: Path, files: Sequence[Path]) -> tuple[ClosedFile, ...]:
    """The index of these files; only what it does not have, or has wrong, is read."""
    kept = {entry.name: entry for entry in _read_index(folder / INDEX)}
    entries = []
    for path in files:
        entry = kept.get(path.name)
        fits = entry is not None and entry.bytes == path.stat().st_size
        entries.append(entry if entry is not None and fits else _describe(path))
    if list(kept.values()) != entries:
        _write_index(folder, entries)
    return tuple(entries)


def _read_index(path: Path) -> tuple[ClosedFile, ...]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Index).files
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return ()


def _write_index(folder: Path, entries: Sequence[ClosedFile]) -> None:
    write_whole(folder / INDEX, msgspec.json.format(msgspec.json.encode(_Index(1, tuple(entries))), indent=1))


def _describe(path: Path) -> ClosedFile:
    hasher = hashlib.blake2b(digest_size=_HASH_BYTES)
    lines = size = 0
    first = last = b""
    with path.open("rb") as stream:
        for line in stream:
            hasher.update(line)
            size += len(line)
            if line.strip():
                lines += 1
                first, last = first or line, line
    return ClosedFile(path.name, lines, size, _time_of(first), _time_of(last), hasher.hexdigest())


def _time_of(line: bytes) -> int | None:
    ts = (object_of(line) or {}).get("ts")
    return ts if isinstance(ts, int) else None


# --- forgetting ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Scan:
    """What one reading of a file has found."""

    path: Path
    gone: list[tuple[int, int]] = field(default_factory=list)
    """Where lines begin that are to be forgotten, and how long they are without their line feeds."""
    left: int = 0
    """Lines that stay."""
    artifacts: set[str] = field(default_factory=set)
    """What those name. In the log it is there; of a line set aside, nobody knows that."""


def _scan_all(folder: Path, gone: Gone) -> list[_Scan]:
    log = [_scan(path, object_of, gone) for path in log_files(folder)]
    aside = [_scan(path, _event_in, gone) for path in (folder / SET_ASIDE,) if path.exists()]
    for scan in aside:
        scan.artifacts.clear()
    return log + aside


def _scan(path: Path, event_in: Callable[[bytes], Mapping[str, Any] | None], gone: Gone) -> _Scan:
    scan = _Scan(path)
    start = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.strip():
                event = event_in(line)
                if event is None or gone(event):
                    scan.gone.append((start, len(line.removesuffix(b"\n"))))
                else:
                    scan.left += 1
                    scan.artifacts |= artifact_in(event)
            start += len(line)
    return scan


def _event_in(line: bytes) -> Mapping[str, Any] | None:
    """The event that a line set aside tells of."""
    text = (object_of(line) or {}).get("text")
    return object_of(text) if isinstance(text, str) else None


def _rewrite(folder: Path, scans: Sequence[_Scan]) -> None:
    """Blank what is gone. The index lets go of these files first: their sizes would not tell that they changed."""
    closed = log_files(folder)[:-1]
    changed = {scan.path.name for scan in scans if scan.path in closed}
    if changed:
        _write_index(folder, [entry for entry in _read_index(folder / INDEX) if entry.name not in changed])
    for scan in scans:
        _blank(scan, shrinks=scan.path in closed)
    if changed:
        _update_index(folder, closed)


def _blank(scan: _Scan, *, shrinks: bool) -> None:
    """Let a file have blanks for the lines that are gone, in one step.

    One that `shrinks` is emptied where nothing else is left in it. Places of lines are kept everywhere else.
    """
    unfinished = scan.path.with_name(scan.path.name + UNFINISHED)
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as new:
        if scan.left or not shrinks:
            with scan.path.open("rb") as old:
                shutil.copyfileobj(old, new)
            for start, size in scan.gone:
                new.seek(start)
                new.write(b" " * size)
        new.flush()
        os.fsync(descriptor)
    os.replace(unfinished, scan.path)
    sync_folder(scan.path.parent)


make_known([ClosedFile, _Index])

"""The capture log: appended line by line, closed and indexed file by file, and forgotten where a purge asks for it.

The files are the truth; their index only describes those that are closed, and is made again where it does not fit
them. Places in a file stay valid for good, since a line that is forgotten gives way to blanks: how far a harvest has
read needs no correction, whenever the process may die.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from clew.errors import StoreError
from clew.services import artifacts
from clew.services.artifacts import UNFINISHED, sync_folder, write_whole
from clew.services.ledger_lines import (
    APPENDING,
    HARVESTING,
    SET_ASIDE,
    Entry,
    encode,
    file_name,
    folder_of,
    held,
    log_files,
    named_artifacts,
    number_of,
    object_of,
)
from clew.services.parts import Parts
from clew.structs import make_known

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
        with held(folder, APPENDING):
            for content in contents:
                artifacts.keep(parts, content)
            path = _file_for(folder, len(data), parts.config.capture_file_bytes)
            _append(path, data)
            return path.name
    except OSError as error:
        raise StoreError(f"the capture log cannot be written: {error.strerror or error}") from error


def closed_files(parts: Parts) -> tuple[ClosedFile, ...]:
    """The index of the log, made again where it is missing or does not fit the files."""
    folder = folder_of(parts.config)
    with held(folder, APPENDING):
        return _indexed(folder, log_files(folder)[:-1])


def forget(parts: Parts, gone: Gone) -> int:
    """Leave nothing of the events that are gone in the log, beside it, or in artifacts; how many lines went.

    With them goes every line that cannot be read, since nobody can say whose it is.
    """
    folder = folder_of(parts.config)
    if not folder.exists():
        return 0
    try:
        with held(folder, HARVESTING), held(folder, APPENDING):
            count = _forget(folder, gone)
            artifacts.sweep(parts, named_artifacts(folder))
            return count
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
    _indexed(folder, files)
    return folder / file_name(number_of(files[-1].name) + 1)


def _append(path: Path, data: bytes) -> None:
    """All of it in one write, or nothing. What a crash cut short before becomes a line of its own."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        try:
            if os.write(descriptor, data) != len(data):
                raise StoreError("the capture log cannot be written: the disk is full")
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if size == 0:
        sync_folder(path.parent)


# --- the index -------------------------------------------------------------------------------------------


def _indexed(folder: Path, files: Sequence[Path]) -> tuple[ClosedFile, ...]:
    """The index of these files; only what it does not have, or has wrong, is read."""
    kept = {entry.name: entry for entry in _read_index(folder / INDEX)}
    entries = []
    for path in files:
        entry = kept.get(path.name)
        fits = entry is not None and entry.bytes == path.stat().st_size
        entries.append(entry if entry is not None and fits else _described(path))
    if list(kept.values()) != entries:
        write_whole(folder / INDEX, msgspec.json.format(msgspec.json.encode(_Index(1, tuple(entries))), indent=1))
    return tuple(entries)


def _read_index(path: Path) -> tuple[ClosedFile, ...]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Index).files
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return ()


def _described(path: Path) -> ClosedFile:
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


def _forget(folder: Path, gone: Gone) -> int:
    for leftover in folder.glob(f"*{UNFINISHED}"):
        leftover.unlink()
    files = log_files(folder)
    count = 0
    for path in files:
        count += _blank(folder, path, lambda line: _is_gone(object_of(line), gone), shrinks=path != files[-1])
    if (folder / SET_ASIDE).exists():
        count += _blank(folder, folder / SET_ASIDE, lambda line: _is_gone(_event_in(line), gone), shrinks=False)
    if count and len(files) > 1:
        _indexed(folder, files[:-1])
    return count


def _is_gone(event: Mapping[str, Any] | None, gone: Gone) -> bool:
    return event is None or gone(event)


def _event_in(line: bytes) -> Mapping[str, Any] | None:
    """The event that a line set aside tells of."""
    text = (object_of(line) or {}).get("text")
    return object_of(text) if isinstance(text, str) else None


def _blank(folder: Path, path: Path, is_gone: Callable[[bytes], bool], *, shrinks: bool) -> int:
    """Rewrite a file with blanks for the lines that are gone; how many. One that has none is not touched.

    One that `shrinks` is emptied where nothing else is left in it. Places of lines are kept everywhere else.
    """
    count = left = 0
    unfinished = path.with_name(path.name + UNFINISHED)
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with path.open("rb") as old, os.fdopen(descriptor, "wb") as new:
        for line in old:
            goes = bool(line.strip()) and is_gone(line)
            count += goes
            left += bool(line.strip()) and not goes
            new.write(_blanks(line) if goes else line)
        if shrinks and left == 0:
            new.truncate(0)
        new.flush()
        os.fsync(descriptor)
    if count == 0:
        unfinished.unlink()
        return 0
    with suppress(FileNotFoundError):
        (folder / INDEX).unlink()
    os.replace(unfinished, path)
    sync_folder(folder)
    return count


def _blanks(line: bytes) -> bytes:
    return b" " * (len(line) - 1) + (b"\n" if line.endswith(b"\n") else b" ")


make_known([ClosedFile, _Index])

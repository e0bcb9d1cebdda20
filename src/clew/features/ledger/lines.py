"""The capture log as files: what they are called, who may touch them, and what a line of them is.

One JSON object a line, with its version, in one order of keys. Whoever writes such lines can have them harvested.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from clew.config import Config
from clew.core.collections import Collection
from clew.core.ids import checked_id, turn_name
from clew.core.operation import JsonObject
from clew.core.structs import make_known
from clew.errors import InvalidInput
from clew.storage.protocol import Place

VERSION = 1
FOLDER = "captures"
SET_ASIDE = "set-aside.jsonl"

APPENDING = "lock"
"""Held while lines are appended, and while files are begun or rewritten."""

HARVESTING = "harvest.lock"
"""Held from reading lines to storing them, and while files are rewritten; whoever needs both takes this one first."""

HEAD_BYTES = 128 * 1024
"""What is kept in memory of a line that is too long to be read: enough to see what it was."""

_NAME = re.compile(r"log-([0-9]{8,})\.jsonl")
_CHUNK_BYTES = 1024 * 1024


class Entry(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A captured event as a line of the log, redacted and bounded."""

    clew: int
    id: str
    ts: int
    kind: str
    text: str
    tool: str | None = None
    payload: Any = None
    artifact: str | None = None
    """Where a payload that is too long for the line is kept."""
    size_bytes: int | None = field(default=None, name="bytes")
    """How long it is there."""
    preview: str | None = None
    """How it begins."""
    session_id: str | None = None
    user_id: str | None = None
    source: str | None = None
    metadata: JsonObject = field(default_factory=dict)


class Aside(Struct, frozen=True, kw_only=True):
    """A line that could not be harvested, and why."""

    clew: int
    file: str
    line: int
    reason: str
    text: str


class _Versioned(Struct):
    clew: int


class BadLine(Exception):
    """A line that cannot be harvested. The reason holds nothing of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line as a file has it, without its line feed."""

    number: int
    end: int
    """Where in the file the next one begins."""
    content: bytes
    whole: bool
    """Whether a line feed ends it."""
    too_long: bool = False
    """Then `content` is its beginning."""


def folder_of(config: Config) -> Path:
    return config.data_dir / FOLDER


@contextmanager
def hold(folder: Path, lock: str) -> Iterator[None]:
    """Holds a lock of the log, alone among threads and processes. It ends with its process, so none is stale."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def log_files(folder: Path) -> list[Path]:
    """The files of the log, oldest first. The last one is being written; the others are closed."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    numbered = sorted((int(match[1]), name) for name in names if (match := _NAME.fullmatch(name)))
    return [folder / name for _, name in numbered]


def file_name(number: int) -> str:
    return f"log-{number:08d}.jsonl"


def number_of(name: str) -> int:
    """The place of a file in the log; 0 comes before all."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else 0


def encode(line: Entry | Aside) -> bytes:
    return msgspec.json.encode(line, order="deterministic") + b"\n"


def decode(content: bytes) -> Entry:
    """The event of a line. Raises BadLine."""
    try:
        entry = msgspec.json.decode(content, type=Entry)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise BadLine(_trouble_with(content)) from None
    if entry.clew != VERSION:
        raise BadLine("unknown version")
    return entry


def owners_of(entry: Entry) -> list[Collection]:
    """The ledgers an event belongs to, that of its session first. Raises InvalidInput where it has none."""
    ledgers = []
    if entry.session_id is not None:
        ledgers.append(Collection.ledger(None, entry.session_id))
    if entry.user_id is not None:
        ledgers.append(Collection.ledger(entry.user_id))
    if not ledgers:
        raise InvalidInput("an event needs a sessionId or a userId")
    return ledgers


def places_of(event: Mapping[str, Any]) -> list[Place]:
    """The places an event, as its line has it, takes in the ledgers, that of its session first; none if it is no event.

    Its id is the caller's and tells it from others of its session. In the ledger of a user, which holds events of many
    sessions, the session's name comes before it.
    """
    id_, session_id, user_id = event.get("id"), event.get("sessionId"), event.get("userId")
    if not isinstance(id_, str) or not all(isinstance(owner, str | None) for owner in (session_id, user_id)):
        return []
    places = []
    try:
        checked_id(id_, "id")
        if session_id is not None:
            places.append(Place(Collection.ledger(None, session_id), id_))
        if user_id is not None:
            name = id_ if session_id is None else turn_name(session_id, id_)
            places.append(Place(Collection.ledger(user_id), name))
    except InvalidInput:
        return []
    return places


def read_lines(path: Path, offset: int, number: int, max_bytes: int) -> Iterator[RawLine]:
    """The lines of a file from a place on, the one at that place having the number after `number`."""
    with path.open("rb") as stream:
        stream.seek(offset)
        while content := stream.readline(max_bytes + 1):
            number += 1
            whole = content.endswith(b"\n")
            too_long = not whole and len(content) > max_bytes
            if too_long:
                content = content[:HEAD_BYTES]
                whole = _skip_line(stream.readline)
            yield RawLine(number, stream.tell(), content.removesuffix(b"\n"), whole, too_long)


def object_of(content: bytes | str) -> Mapping[str, Any] | None:
    """The JSON object a line is; None where it is none."""
    try:
        found = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def named_artifacts(folder: Path) -> set[str]:
    """The artifacts that lines of the log refer to."""
    found: set[str] = set()
    for path in log_files(folder):
        with path.open("rb") as stream:
            found.update(*(artifact_in(object_of(line) or {}) for line in stream if b'"artifact"' in line))
    return found


def artifact_in(event: Mapping[str, Any]) -> set[str]:
    """The artifact that an event, as its line has it, refers to, if it does."""
    name = event.get("artifact")
    return {name} if isinstance(name, str) else set()


def _skip_line(readline: Any) -> bool:
    """Go to the next line; False where the file ends before it."""
    while rest := readline(_CHUNK_BYTES):
        if rest.endswith(b"\n"):
            return True
    return False


def _trouble_with(content: bytes) -> str:
    try:
        version = msgspec.json.decode(content, type=_Versioned).clew
    except msgspec.ValidationError:
        return "not an event"
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "not JSON"
    return "not an event" if version == VERSION else "unknown version"


make_known([Entry, Aside, _Versioned])

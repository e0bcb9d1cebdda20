"""Makes a turn from a line: its id, its time, its bounded text, its place in the counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec

from clew.api import JsonObject, Message
from clew.core.ids import ID_BYTES, MAX_ID_LENGTH, checked_id, digest
from clew.core.projects import PROJECT, project_at
from clew.errors import InvalidInput
from clew.faces.transcripts.tally import OTHERS, Tally
from clew.text.cutting import cut_end
from clew.text.framing import FRAMES

MAX_TS_MS = 253_402_300_799_999  # the last millisecond of the year 9999
OWN_TOOLS = ("mcp__clew__", "mcp_clew_", "clew_")
"""How the names of Clew's own tools begin."""
RECALLED = "[recalled from Clew]"
OPEN_CALLS = 10_000
"""The most tool calls that wait for their result; the oldest are forgotten first."""

_FRAME_OPENINGS = tuple(opening for opening, _ in FRAMES)
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, its session, and its line in the file."""

    session_id: str
    line: int
    message: Message
    is_dated: bool = False
    """Whether the file itself says when this was said, so that its time tells it from other turns."""
    aliases: tuple[str, ...] = ()
    """Ids under which the session may hold this turn already, in whatever form."""
    part_of: str | None = None
    """The id under which the session may hold the whole message, of which this turn is a part."""


class Reader(Protocol):
    """Reads one format, and remembers from one line to the next."""

    def read(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        """The turns of one line, which may be none. Raises InvalidInput where the line makes no sense."""


class TurnMaker:
    """Makes the turns of one file. Cuts a text that is longer than `limit_bytes` as JSON, with a mark."""

    def __init__(self, host: str, tally: Tally, limit_bytes: int) -> None:
        self.tally = tally
        self.limit_bytes = limit_bytes
        self._host = host
        self._occurrences: Counter[bytes] = Counter()
        self._open_calls: dict[str, str] = {}
        self._ts: int | None = None
        self._folder = ""
        self._project = ""

    def enter_folder(self, folder: Any) -> None:
        """Remembers the working folder. A folder inside it is a part of the same project."""
        if isinstance(folder, str):
            folder = folder.replace("\\", "/").rstrip("/")
            if not self._project or not f"{folder}/".startswith(f"{self._folder}/"):
                self._folder, self._project = folder, project_at(folder)

    def moment(self, *times: Any) -> int | None:
        """The first value that is a time; the time of the line before where none is."""
        self._ts = next((ts for ts in map(time_ms, times) if ts is not None), self._ts)
        return self._ts

    def id_of(self, given: Any, session_id: str, role: str, ts: int | None, also: str = "") -> str:
        """The file's own id; else one from the speaker, the time, and the number of like turns before.

        The text is no part of it: its hash would tell something of a secret that redaction removes.
        """
        if isinstance(given, str) and 0 < len(given) <= MAX_ID_LENGTH // 2 and given.isprintable():
            return given
        key = digest(session_id, role, str(ts), also, str(given or ""), size_bytes=ID_BYTES)
        self._occurrences[key] += 1
        return f"t_{digest(key.hex(), str(self._occurrences[key]), size_bytes=ID_BYTES).hex()}"

    def open_calls(self, calls: Mapping[str, str]) -> None:
        """Remembers tool calls until their results come."""
        self.tally.calls += len(calls)
        self._open_calls.update(calls)
        while len(self._open_calls) > OPEN_CALLS:
            del self._open_calls[next(iter(self._open_calls))]

    def close_call(self, call_id: str | None) -> str | None:
        """Forgets an answered call and gives its tool; None where the file holds no such call."""
        name = None if call_id is None else self._open_calls.pop(call_id, None)
        if name is None:
            self.tally.uncoupled += 1
        else:
            self.tally.coupled += 1
        return name

    def turn(
        self,
        session_id: str,
        line: int,
        role: str,
        text: str,
        *,
        id_: str,
        ts: int | None,
        call_ids: Iterable[str] = (),
        call_id: str | None = None,
        source: str | None = None,
        metadata: JsonObject | None = None,
        aliases: tuple[str, ...] = (),
        part_of: str | None = None,
    ) -> Turn:
        message = Message(
            role=role,
            text=text,
            id=id_,
            ts=ts,
            tool_call_ids=tuple(call_ids),
            tool_call_id=call_id,
            source=source,
            metadata={"host": self._host} | ({PROJECT: self._project} if self._project else {}) | (metadata or {}),
        )
        turn = self.admit(message, session_id, line)
        return replace(turn, is_dated=ts is not None, aliases=aliases, part_of=part_of)

    def admit(self, message: Message, session_id: str, line: int) -> Turn:
        """Cuts the text of a message to the limit and counts the turn."""
        text = cut_end(message.text, self.limit_bytes)
        self.tally.cut += text is not message.text
        self.tally.add_turn(session_id, message.role if message.source is None else OTHERS, message.ts)
        return Turn(session_id, line, msgspec.structs.replace(message, text=text))


def choose_session(name: Any, otherwise: str) -> str:
    """The session that a line names; the other where it names none."""
    return checked_id(name, "session id") if isinstance(name, str) and name else otherwise


def kind_of(origin: Any) -> str | None:
    """A short name for the origin of a line; None where the line names none."""
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    if kind is None:
        return None
    return kind if isinstance(kind, str) and _KIND.fullmatch(kind) else "other"


def describe_outcome(tool: str, *, failed: bool) -> JsonObject:
    return {"toolName": tool, "isError": True} if failed else {"toolName": tool}


def outcome_text(tool: str, text: str) -> str:
    """The text that Clew keeps of a tool's outcome: none from its own tools, since it must not learn its own recall."""
    if tool.startswith(OWN_TOOLS) or text.lstrip().startswith(_FRAME_OPENINGS):
        return RECALLED
    return text if text.strip() else "[no output]"


def time_ms(value: Any) -> int | None:
    """Milliseconds since 1970, from such a number or an ISO 8601 time; None for anything else."""
    if isinstance(value, str):
        try:
            return iso_ms(value)
        except InvalidInput:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TS_MS:
        return None
    return int(value)


def iso_ms(text: str) -> int:
    """An ISO 8601 time, in UTC where it names no zone. Raises InvalidInput."""
    try:
        moment = datetime.fromisoformat(text)
        ms = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"ts is neither milliseconds nor an ISO 8601 time: {text!r}") from error
    if not 0 <= ms <= MAX_TS_MS:
        raise InvalidInput(f"ts is before 1970: {text!r}")
    return ms

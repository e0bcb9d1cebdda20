"""Conversations as plain JSONL: one `{"role": ..., "text": ...}` object a line.

`content` may replace `text`; `id`, `ts` (milliseconds or ISO 8601), `speaker`, `toolCallId`,
`toolCallIds` and `metadata` are optional; other fields of a line become metadata. A line without an
id gets one from its place and content, so that reading a file again stores nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from clew.api import Message
from clew.core.ids import ID_BYTES, checked_id, digest, turn_id
from clew.core.model import Role, role_of
from clew.errors import InvalidInput
from clew.faces.transcripts.lines import BadLine, decode_line, number_lines
from clew.faces.transcripts.turns import Turn, TurnMaker, iso_ms
from clew.faces.transcripts.words import split_writers

_HOST = "host"
"""The beginning of a source where no host is known."""


@dataclass(frozen=True, slots=True)
class Transcript:
    messages: list[Message]
    bad: list[BadLine]


def read_transcript(lines: Iterable[bytes], session_id: str, max_text_bytes: int) -> Transcript:
    """Every line as a message or as a bad line with its number; passes over blank lines."""
    transcript = Transcript([], [])
    seen: dict[str, bytes] = {}
    for number, line in number_lines(lines):
        try:
            message = _message(decode_line(line), number, session_id)
            if len(message.text.encode("utf-8")) > max_text_bytes:
                raise InvalidInput(f"text is longer than {max_text_bytes:,} bytes")
            _refuse_other_content(message, seen)
        except InvalidInput as error:
            transcript.bad.append(BadLine(number, error.message))
        else:
            transcript.messages.extend(split_writers(message, _HOST))
    return transcript


class PlainReader:
    """Reads the turns of one session, which the file does not name."""

    def __init__(self, maker: TurnMaker, session_id: str) -> None:
        self._maker = maker
        self._session_id = session_id
        self._seen: dict[str, bytes] = {}

    def read(self, entry: dict[str, Any], line: int) -> Iterable[Turn]:
        message = _message(entry, line, self._session_id)
        _refuse_other_content(message, self._seen)
        self._maker.open_calls(dict.fromkeys(message.tool_call_ids, ""))
        if role_of(message.role) is Role.TOOL_RESULT:
            self._maker.close_call(message.tool_call_id)
        return [self._maker.admit(part, self._session_id, line) for part in split_writers(message, _HOST)]


class _Line(msgspec.Struct, kw_only=True):
    """The fields of a line that Clew knows."""

    role: str
    text: str | None = None
    content: str | None = None
    id: str | None = None
    ts: int | str | None = None
    speaker: str | None = None
    tool_call_ids: tuple[str, ...] = msgspec.field(default=(), name="toolCallIds")
    tool_call_id: str | None = msgspec.field(default=None, name="toolCallId")
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


def _message(fields: dict[str, Any], number: int, session_id: str) -> Message:
    try:
        line = msgspec.convert(fields, _Line)
    except msgspec.MsgspecError as error:
        raise InvalidInput(str(error)) from error
    role = role_of(line.role)
    text = line.content if line.text is None else line.text
    if text is None:
        raise InvalidInput("has neither `text` nor `content`")
    ts = iso_ms(line.ts) if isinstance(line.ts, str) else line.ts
    return Message(
        role=role,
        text=text,
        id=turn_id(session_id, role, ts or 0, text, number) if line.id is None else checked_id(line.id, "id"),
        ts=ts,
        speaker=line.speaker,
        tool_call_ids=line.tool_call_ids,
        tool_call_id=line.tool_call_id,
        metadata=line.metadata | _unknown(fields),
    )


def _unknown(fields: dict[str, Any]) -> dict[str, Any]:
    known = {field.encode_name for field in msgspec.structs.fields(_Line)}
    return {name: value for name, value in fields.items() if name not in known}


def _refuse_other_content(message: Message, seen: dict[str, bytes]) -> None:
    """Raises InvalidInput where two texts of one file have one id, because a turn never changes."""
    assert message.id is not None  # every message read here has been given one
    content = digest(message.role, message.text, size_bytes=ID_BYTES)
    if seen.setdefault(message.id, content) != content:
        raise InvalidInput(f"id {message.id!r} was used above for another turn")

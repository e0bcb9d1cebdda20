"""Conversations as JSONL: one `{"role": ..., "text": ...}` object a line.

`content` may stand for `text`; `id`, `ts` (milliseconds or ISO 8601), `speaker`, `toolCallId`,
`toolCallIds` and `metadata` are optional; whatever else a line holds is kept as metadata. A line
without an id gets one from its place and content, so that reading a file again stores nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from clew.api import Message
from clew.domain.identity import checked_id, turn_id
from clew.domain.model import role_of
from clew.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class BadLine:
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    messages: list[Message]
    bad: list[BadLine]


def read_transcript(lines: Iterable[bytes], session_id: str, max_text_bytes: int) -> Transcript:
    """Every line as a message or as a bad line with its number; blank lines are passed over."""
    transcript = Transcript([], [])
    seen: dict[str, Message] = {}
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if not content:
            continue
        try:
            message = _message(content, number, session_id, max_text_bytes)
            _refuse_other_content(message, seen)
        except InvalidInput as error:
            transcript.bad.append(BadLine(number, error.message))
        else:
            transcript.messages.append(message)
    return transcript


class _Line(msgspec.Struct, kw_only=True):
    """The fields of a line that mean something here."""

    role: str
    text: str | None = None
    content: str | None = None
    id: str | None = None
    ts: int | str | None = None
    speaker: str | None = None
    tool_call_ids: tuple[str, ...] = msgspec.field(default=(), name="toolCallIds")
    tool_call_id: str | None = msgspec.field(default=None, name="toolCallId")
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


def _message(content: bytes, number: int, session_id: str, max_text_bytes: int) -> Message:
    try:
        fields = msgspec.json.decode(content, type=dict[str, Any])
        line = msgspec.convert(fields, _Line)
    except msgspec.MsgspecError as error:
        raise InvalidInput(str(error)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("not valid UTF-8") from error
    role = role_of(line.role)
    text = _text(line, max_text_bytes)
    ts = _time_ms(line.ts)
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


def _text(line: _Line, max_text_bytes: int) -> str:
    text = line.content if line.text is None else line.text
    if text is None:
        raise InvalidInput("has neither `text` nor `content`")
    if len(text.encode("utf-8")) > max_text_bytes:
        raise InvalidInput(f"text is longer than {max_text_bytes:,} bytes")
    return text


def _time_ms(ts: int | str | None) -> int | None:
    if not isinstance(ts, str):
        return ts
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError as error:
        raise InvalidInput(f"ts is neither milliseconds nor an ISO 8601 time: {ts!r}") from error
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _unknown(fields: dict[str, Any]) -> dict[str, Any]:
    known = {field.encode_name for field in msgspec.structs.fields(_Line)}
    return {name: value for name, value in fields.items() if name not in known}


def _refuse_other_content(message: Message, seen: dict[str, Message]) -> None:
    """A turn is never changed, so one id cannot stand for two texts of one file."""
    assert message.id is not None  # every message read here has been given one
    earlier = seen.setdefault(message.id, message)
    if (earlier.role, earlier.text) != (message.role, message.text):
        raise InvalidInput(f"id {message.id!r} was used above for another turn")

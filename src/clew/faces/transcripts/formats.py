"""Detects the format of a file and reads its turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from clew.errors import InvalidInput
from clew.faces.transcripts.claude_code import ClaudeCodeReader
from clew.faces.transcripts.lines import NESTED, decode_line, number_lines
from clew.faces.transcripts.openclaw import OpenClawReader
from clew.faces.transcripts.order import order_calls_first, read_entries
from clew.faces.transcripts.plain import PlainReader
from clew.faces.transcripts.tally import Tally
from clew.faces.transcripts.turns import Reader, Turn, TurnMaker


class Format(StrEnum):
    CLEW = "clew"
    """Clew's own export, which holds all kinds of records."""
    OPENCLAW = "openclaw"
    CLAUDE_CODE = "claude-code"
    PLAIN = "plain"


_OPENCLAW_ENTRIES = frozenset({"message", "custom", "custom_message", "model_change", "thinking_level_change"})
_CLAUDE_CODE_NOTES = ("leafUuid", "messageId", "parentUuid", "sessionId")


def detect(lines: Iterable[bytes]) -> Format | None:
    """The format of the first line that has a known one; None where no line has."""
    for _, line in number_lines(lines):
        try:
            found = _format_of(decode_line(line))
        except InvalidInput:
            continue
        if found is not None:
            return found
    return None


def read_turns(
    lines: Iterable[bytes],
    form: Format,
    *,
    session_id: str | None,
    file_session: str,
    limit_bytes: int,
    tally: Tally,
) -> Iterator[Turn]:
    """The turns of a transcript in order. Counts them in `tally`, and sets a line aside there that it cannot read.

    Turns go to `session_id`; without one, to the session that the file names, or else to `file_session`.
    """
    reader = _reader(form, TurnMaker(form.value, tally, limit_bytes), session_id, file_session)
    for entry in order_calls_first(lines) if form is Format.CLAUDE_CODE else read_entries(lines):
        try:
            if isinstance(entry.value, InvalidInput):
                raise entry.value
            yield from reader.read(entry.value, entry.line)
        except InvalidInput as error:
            tally.set_aside(entry.line, error.message)
        except RecursionError:
            tally.set_aside(entry.line, NESTED)


def _reader(form: Format, maker: TurnMaker, session_id: str | None, file_session: str) -> Reader:
    match form:
        case Format.OPENCLAW:
            return OpenClawReader(maker, session_id, file_session)
        case Format.CLAUDE_CODE:
            return ClaudeCodeReader(maker, session_id, file_session)
        case Format.PLAIN:
            return PlainReader(maker, session_id or file_session)
        case Format.CLEW:
            raise InvalidInput("an export of Clew is no transcript")


def _format_of(entry: dict[str, Any]) -> Format | None:
    kind = entry.get("type")
    if isinstance(entry.get("clew"), int) and "places" in entry:
        return Format.CLEW
    if isinstance(kind, str):
        if any(note in entry for note in _CLAUDE_CODE_NOTES):
            return Format.CLAUDE_CODE
        if kind in _OPENCLAW_ENTRIES or (kind == "session" and "id" in entry):
            return Format.OPENCLAW
    if isinstance(entry.get("role"), str) and ("text" in entry or "content" in entry):
        return Format.PLAIN
    return None

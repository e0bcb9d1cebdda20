"""One line of a transcript as a JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from clew.errors import InvalidInput

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is set aside unread; one with several pictures stays far below."""

NESTED = "nested too deeply"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    line: int
    reason: str


def numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, each with its number from 1."""
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(_BYTE_ORDER_MARK).strip() if number == 1 else line.strip()
        if content:
            yield number, content


def decoded(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises InvalidInput with what is wrong with it."""
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"longer than {MAX_LINE_BYTES:,} bytes")
    try:
        return _object(line)
    except InvalidInput:
        whole = _with_whole_characters(line) if b"\\u" in line else None
        if whole is None:
            raise
    return _object(whole)


def _object(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise InvalidInput(str(error)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("not valid UTF-8") from error
    except RecursionError as error:
        raise InvalidInput(NESTED) from error


def _with_whole_characters(line: bytes) -> bytes | None:
    """The line with half characters replaced: programs that cut texts by UTF-16 units write such halves down."""
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return None

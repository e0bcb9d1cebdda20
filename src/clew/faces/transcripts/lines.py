"""One line of a transcript as a JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from clew.errors import InvalidInput

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Readers set a longer line aside unread; one with several pictures is far shorter."""

NESTED = "nested too deeply"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    line: int
    reason: str


def number_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number from 1."""
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(_BYTE_ORDER_MARK).strip() if number == 1 else line.strip()
        if content:
            yield number, content


def decode_line(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises InvalidInput with the reason."""
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"longer than {MAX_LINE_BYTES:,} bytes")
    try:
        return _object(line)
    except InvalidInput:
        whole = _replace_halves(line) if b"\\u" in line else None
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


def _replace_halves(line: bytes) -> bytes | None:
    """Replaces half characters, which programs write that cut texts by UTF-16 units."""
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return None

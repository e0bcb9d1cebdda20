"""Puts the result of a tool behind its call.

A host may write a result before the call that it answers. Clew holds such a line back until it has read the call. It
looks a bounded number of lines ahead, and the others keep their places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from clew.errors import InvalidInput
from clew.faces.transcripts.blocks import CALLS, RESULTS
from clew.faces.transcripts.lines import decode_line, number_lines

AHEAD_LINES = 64
AHEAD_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """A decoded line, or the reason why there is none."""

    line: int
    value: dict[str, Any] | InvalidInput
    size_bytes: int = 0
    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def read_entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Every line that is not blank, in the order of the file."""
    for number, line in number_lines(lines):
        try:
            value = decode_line(line)
        except InvalidInput as error:
            yield Entry(number, error)
        else:
            yield Entry(number, value, len(line), _ids(value, CALLS, "id"), _ids(value, RESULTS, "tool_use_id"))


def order_calls_first(lines: Iterable[bytes]) -> Iterator[Entry]:
    """The same, with results behind their calls where a call is not far ahead."""
    ahead: deque[Entry] = deque()
    held: dict[str, list[Entry]] = {}
    size_bytes = 0
    for entry in read_entries(lines):
        ahead.append(entry)
        size_bytes += entry.size_bytes
        while len(ahead) > AHEAD_LINES or (size_bytes > AHEAD_BYTES and len(ahead) > 1):
            size_bytes -= ahead[0].size_bytes
            yield from _next(ahead, held)
    while ahead:
        yield from _next(ahead, held)


def _next(ahead: deque[Entry], held: dict[str, list[Entry]]) -> Iterator[Entry]:
    """The first line ahead and the lines that waited for it; none where it has to wait itself."""
    entry = ahead.popleft()
    nothing: frozenset[str] = frozenset()
    found = (other.calls & entry.answers for other in ahead) if entry.answers else ()
    awaited = next(filter(None, found), nothing)
    if awaited:
        held.setdefault(min(awaited), []).append(entry)
        return
    yield entry
    for call in entry.calls:
        yield from held.pop(call, ())


def _ids(entry: dict[str, Any], kinds: frozenset[str], key: str) -> frozenset[str]:
    """The ids of the calls that a line makes, or answers; none where it is no message."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    named = (block.get(key) for block in blocks if isinstance(block.get("type"), str) and block["type"] in kinds)
    return frozenset(name for name in named if isinstance(name, str))

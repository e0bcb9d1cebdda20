"""Lines in the order in which they were said: the result of a tool behind its call.

A host that writes down what happened as it happens can write a result before the call it answers. Such a line is held
back until the one with the call has been read. Only so many lines are looked ahead, and the others keep their places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from clew.errors import InvalidInput
from clew.faces.transcripts.blocks import CALLS, RESULTS
from clew.faces.transcripts.lines import decoded, numbered

AHEAD_LINES = 64
AHEAD_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """A line, decoded, or why it could not be."""

    line: int
    value: dict[str, Any] | InvalidInput
    size_bytes: int = 0
    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Every line that holds something, as it stands."""
    for number, line in numbered(lines):
        try:
            value = decoded(line)
        except InvalidInput as error:
            yield Entry(number, error)
        else:
            yield Entry(number, value, len(line), _ids(value, CALLS, "id"), _ids(value, RESULTS, "tool_use_id"))


def calls_first(lines: Iterable[bytes]) -> Iterator[Entry]:
    """The same, with results behind their calls where these are not far ahead."""
    ahead: deque[Entry] = deque()
    held: dict[str, list[Entry]] = {}
    size_bytes = 0
    for entry in entries(lines):
        ahead.append(entry)
        size_bytes += entry.size_bytes
        while len(ahead) > AHEAD_LINES or (size_bytes > AHEAD_BYTES and len(ahead) > 1):
            size_bytes -= ahead[0].size_bytes
            yield from _next(ahead, held)
    while ahead:
        yield from _next(ahead, held)


def _next(ahead: deque[Entry], held: dict[str, list[Entry]]) -> Iterator[Entry]:
    """The first line ahead, and what waited for it; none where it has to wait itself."""
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
    """Of the calls that a line makes, or answers; none where it is no message."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    named = (block.get(key) for block in blocks if isinstance(block.get("type"), str) and block["type"] in kinds)
    return frozenset(name for name in named if isinstance(name, str))

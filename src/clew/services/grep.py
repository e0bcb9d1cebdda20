"""Search of a session's raw history by its letters: a string, or a regular expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import re2

from clew.api import Grep, GrepMatch, GrepResult
from clew.domain import identity
from clew.domain.model import Record
from clew.errors import InvalidInput, NotFound
from clew.services.parts import Parts
from clew.services.records import checked_cursor, checked_limit

MAX_MATCHES = 10_000
MAX_PATTERN_CHARS = 1000
_LINE_CHARS = 240
_TURNS_A_READ = 500


def grep(parts: Parts, request: Grep) -> GrepResult:
    """Reads the history page by page, until there are enough matches or it is at its end.

    The next call goes on behind the last turn, so the lines of one turn stay together; of a turn with more
    matches than were asked for, the first ones stand for all.
    """
    limit = checked_limit(request.limit, MAX_MATCHES)
    find = _finder(request)
    if parts.store.size(identity.session_raw(request.session_id)) == 0:
        raise NotFound(f"there is no session {request.session_id!r}")
    after = checked_cursor(request.cursor)
    matches: list[GrepMatch] = []
    while page := parts.store.page(identity.session_raw(request.session_id), after, _TURNS_A_READ):
        for turn in page:
            found = list(islice(_matching_lines(turn, find), limit))
            if len(matches) + len(found) > limit:
                return GrepResult(matches=tuple(matches), cursor=after)
            matches += found
            after = turn.seq
            if len(matches) == limit:
                return GrepResult(matches=tuple(matches), cursor=after)
    return GrepResult(matches=tuple(matches))


def _finder(request: Grep) -> Callable[[str], int]:
    """Where the first match of a line begins, or -1. Expressions run in time linear in the line, whatever they say."""
    if not 0 < len(request.pattern) <= MAX_PATTERN_CHARS:
        raise InvalidInput(f"pattern must have 1 to {MAX_PATTERN_CHARS} characters, not {len(request.pattern)}")
    if not request.regex:
        wanted = request.pattern.lower() if request.ignore_case else request.pattern
        return lambda line: (line.lower() if request.ignore_case else line).find(wanted)
    options = re2.Options()
    options.case_sensitive = not request.ignore_case
    options.log_errors = False
    try:
        pattern = re2.compile(request.pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it cannot be read"
        raise InvalidInput(f"pattern is not a regular expression: {_as_text(reason)}") from None
    return lambda line: found.start() if (found := pattern.search(line)) else -1


def _matching_lines(turn: Record, find: Callable[[str], int]) -> Iterator[GrepMatch]:
    for number, line in enumerate(turn.text.split("\n"), 1):
        at = find(line)
        if at >= 0:
            yield GrepMatch(
                id=turn.id,
                ts=turn.ts_ms,
                role=turn.role.value if turn.role else None,
                line_number=number,
                line=_around(line, at),
                trust=turn.trust.value,
            )


def _around(line: str, at: int) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, min(at - _LINE_CHARS // 3, len(line) - _LINE_CHARS))
    end = start + _LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _as_text(reason: object) -> str:
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)

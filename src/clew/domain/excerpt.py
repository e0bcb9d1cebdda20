"""A summary cut to what a question asks of it: a pointer that can be opened, not the whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

from clew.domain.framing import CUT_MARK, clip
from clew.domain.terms import analyse

_SPAN_OF_DAYS = re.compile(r"(\d{4}-\d\d-\d\d) \d\d:\d\d( to \d{4}-\d\d-\d\d) \d\d:\d\d UTC(, [\d,]{1,12} turns)\b.*")

_FEW_LINES = 4
"""Among fewer lines, a term that most hold may be just what was asked for."""

_REMEMBERED_CHARS = 8192
"""Of one text whose terms are remembered; with their number, that keeps them to a few megabytes."""


def pointer(summary: str, wanted: Collection[str], max_chars: int) -> str:
    """An excerpt of a summary, which of a span of days names no more than the days and how many turns there are."""
    if len(summary) <= max_chars:
        return summary
    first, _, others = summary.partition("\n")
    return excerpt("\n".join((_SPAN_OF_DAYS.sub(r"\1\2\3", first), others)), wanted, max_chars)


def excerpt(text: str, wanted: Collection[str], max_chars: int) -> str:
    """The first line, and of the others, in their order, those that hold most of the wanted terms.

    Lines that were left out show as a cut. Never more than `max_chars` characters.
    """
    if len(text) <= max_chars:
        return text
    first, *others = text.split("\n")
    terms = _remembered_terms if len(text) <= _REMEMBERED_CHARS else _terms
    told = _told(terms(tuple(others)), set(wanted))
    room = max_chars - len(first) - len(CUT_MARK)
    kept: set[int] = set()
    for place in sorted(range(len(others)), key=lambda place: (-told[place], place)):
        if told[place] > 0 and len(others[place]) + 1 <= room:
            kept.add(place)
            room -= len(others[place]) + 1
    lines = [first, *(line for place, line in enumerate(others) if place in kept)]
    return clip("\n".join(lines) + CUT_MARK, max_chars)


def _told(lines: Sequence[frozenset[str]], wanted: set[str]) -> list[int]:
    """How many wanted terms each line holds. One that most lines hold, such as who speaks, sets none apart."""
    held = [wanted & terms for terms in lines]
    in_lines = Counter(term for terms in held for term in terms)
    telling = {term for term, count in in_lines.items() if len(lines) < _FEW_LINES or 2 * count <= len(lines)}
    return [len(terms & telling) for terms in held]


def _terms(lines: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(analyse(line)) for line in lines)


_remembered_terms = lru_cache(maxsize=256)(_terms)
"""The summaries of a session stand in one context after the other."""

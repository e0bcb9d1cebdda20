"""Cuts a summary to the part that a question asks about: a pointer that can be opened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from enum import StrEnum
from functools import lru_cache

from clew.text.framing import CUT_MARK, clip
from clew.text.terms import analyse

LINE_CHARS = 160
OVERVIEW_CHARS = 400

SHORT_CHARS = 640
"""A text of up to so many characters is its own overview: cutting it would save little and lose the rest."""

_BLANKS = re.compile(r"\s+")


class Layer(StrEnum):
    LINE = "L0"
    OVERVIEW = "L1"
    WHOLE = "L2"


def one_line(text: str, max_chars: int = LINE_CHARS) -> str:
    """The beginning of a text on one line."""
    flat = _BLANKS.sub(" ", text[: max_chars * 4]).strip()
    return (
        flat if len(flat) <= max_chars and len(text) <= max_chars * 4 else flat[: max_chars - len(CUT_MARK)] + CUT_MARK
    )


def overview(text: str, words: Sequence[str]) -> str:
    """The text itself where it is short; otherwise the part of it that the words ask about."""
    return text if len(text) <= SHORT_CHARS else excerpt(text, words, OVERVIEW_CHARS)


_SPAN_OF_DAYS = re.compile(r"(\d{4}-\d\d-\d\d) \d\d:\d\d( to \d{4}-\d\d-\d\d) \d\d:\d\d UTC(, [\d,]{1,12} turns)\b.*")

_FEW_LINES = 4
"""Among fewer lines, a term that most hold may be just what was asked for."""

_REMEMBERED_CHARS = 8192
"""The longest text whose terms are remembered; with their number, that keeps them to a few megabytes."""


def pointer(summary: str, wanted: Collection[str], max_chars: int) -> str:
    """An excerpt of a summary. Of a span of days, it names the days and the number of turns alone."""
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
    told = _count_told(terms(tuple(others)), set(wanted))
    room = max_chars - len(first) - len(CUT_MARK)
    kept: set[int] = set()
    for place in sorted(range(len(others)), key=lambda place: (-told[place], place)):
        if told[place] > 0 and len(others[place]) + 1 <= room:
            kept.add(place)
            room -= len(others[place]) + 1
    lines = [first, *(line for place, line in enumerate(others) if place in kept)]
    return clip("\n".join(lines) + CUT_MARK, max_chars)


def _count_told(lines: Sequence[frozenset[str]], wanted: set[str]) -> list[int]:
    """How many wanted terms each line holds. One that most lines hold, such as who speaks, sets none apart."""
    held = [wanted & terms for terms in lines]
    in_lines = Counter(term for terms in held for term in terms)
    telling = {term for term, count in in_lines.items() if len(lines) < _FEW_LINES or 2 * count <= len(lines)}
    return [len(terms & telling) for terms in held]


def _terms(lines: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(analyse(line)) for line in lines)


_remembered_terms = lru_cache(maxsize=256)(_terms)
"""One context after the other shows the summaries of a session."""

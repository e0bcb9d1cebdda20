"""Cuts a text into sentences of words and marks, for the deontic lexer.

One pass from left to right takes out everything but the writer's own prose: code blocks
vanish; code spans, quotations, addresses and identifiers become one opaque word each. Emphasis, tags
and the targets of links are skipped. Every look ahead is bounded, so time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator, Iterator
from typing import NamedTuple

OPAQUE = "\N{REPLACEMENT CHARACTER}"
"""Replaces a code span, a quotation, an address or an identifier; no table of words contains it."""


class Word(NamedTuple):
    """A word in lower case, `OPAQUE`, or one mark out of `,:()`; offsets are in characters."""

    text: str
    start: int
    end: int
    written: str
    """The original characters of an `OPAQUE` word; else the same as `text`."""


class Sentence(NamedTuple):
    words: list[Word]
    asks: bool
    """Whether it ends in a question mark."""


_SPAN_CHARS = 2000
_QUOTE_CHARS = 600
_INDENT_CHARS = 120
_SHORT_LINE_CHARS = 60
"""A line shorter than this was not wrapped by an editor: the next one starts a new sentence."""

# The alternatives differ in their first character, and a word's joints are no letters: no backtracking.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’_-][^\W_{_UNSPACED}]+)*|`+|~{{3,}}|[\r\n]+|[^\w\s]|_")
_TICKS = re.compile(r"`+|~{3,}")
_SPACE = re.compile(r"\s")
_TAG = re.compile(r"<[/!]?[A-Za-z][^<>\n]{0,300}>")
_LINE_START = re.compile(r"[ \t]{0,40}(?:>[ \t]{0,4}){0,20}(?:[-*+•][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|)")
_MARGIN = re.compile(r"[\r\n][ \t>]{0,120}\Z")
_EMPTY_LINE = re.compile(r"[ \t]{0,200}(?:[\r\n]|$)")
_BLANK_LINE = re.compile(r"\n[ \t]{0,200}[\r\n]|\r[ \t]{0,200}\r")
_CLOSING_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "‘": "’", "'": "'"}
_CLOSINGS = {mark: re.compile(rf"{mark}(?![^\W_])") for mark in _CLOSING_QUOTES.values()}
_ENDS = frozenset(".!?;。！？；…")
_ASKS = frozenset("?？")
_KEPT_MARKS = {",": ",", "，": ",", "、": ",", ":": ":", "：": ":", "(": "(", ")": ")", "—": ":", "–": ":", "→": ":"}
_SHORT_FORMS = frozenset({"etc", "vs", "cf", "eg", "ie", "approx", "resp", "dr", "mr", "mrs", "ms", "st"})


def sentences(text: str) -> Iterator[Sentence]:
    """Every sentence of the prose in `text`, in order; sentences without a word are left out."""
    scanner = _Scanner(text)
    words: list[Word] = []
    for item in scanner.items():
        if isinstance(item, Word):
            words.append(item)
        elif words:
            yield Sentence(words, item in _ASKS)
            words = []
    if words:
        yield Sentence(words, False)


_Items = Generator[Word | str, None, int]
"""What a part of the text gives, and where the next part starts."""


class _Scanner:
    """Yields words, and strings where a sentence ends: the mark that ends it, or a line feed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ticks = [(found.start(), found.end()) for found in _TICKS.finditer(text)]
        self._tick_starts = [start for start, _ in self._ticks]
        self._spans_by_ticks: dict[str, list[int]] = {}
        for start, end in self._ticks:
            self._spans_by_ticks.setdefault(text[start:end], []).append(start)
        self._next_closings: dict[str, int] = {}
        self._line_start = 0

    def items(self) -> Iterator[Word | str]:
        text, position = self._text, 0
        if self._opens_line(0):
            position = self._after_line_mark(0)
        while found := _TOKEN.search(text, position):
            start, position = found.span()
            first = text[start]
            if first in "\r\n":
                position = yield from self._line_break(start, position)
            elif first in "`~":
                position = yield from self._ticked(start, position)
            elif first.isalnum():
                position = yield from self._word(start, position)
            else:
                position = yield from self._mark(first, start, position)

    def _word(self, start: int, end: int) -> _Items:
        text = self._text
        if text.startswith("://", end):
            space = _SPACE.search(text, end, end + _SPAN_CHARS)
            end = space.start() if space else min(end + _SPAN_CHARS, len(text))
            yield self._opaque(start, end)
        else:
            found = text[start:end]
            word = found.lower().replace("’", "'")
            yield self._opaque(start, end) if _is_identifier(found) else Word(word, start, end, word)
        return end

    def _opaque(self, start: int, end: int) -> Word:
        return Word(OPAQUE, start, end, self._text[start:end])

    def _ticked(self, start: int, end: int) -> _Items:
        """A fence hides everything to its end; a code span is one opaque word; else the run is skipped."""
        if end - start >= 3 and self._opens_its_line(start):
            yield "\n"
            return self._end_of_fence(start, end)
        close = self._same_ticks(start, end) if self._text[start] == "`" else None
        if close is None:
            return end
        yield self._opaque(start, close)
        return close

    def _end_of_fence(self, start: int, end: int) -> int:
        text = self._text
        for place in range(bisect_left(self._tick_starts, end), len(self._ticks)):
            opened, closed = self._ticks[place]
            long_enough = text[opened] == text[start] and closed - opened >= end - start
            if long_enough and self._opens_its_line(opened):
                return closed
        return len(text)

    def _opens_its_line(self, position: int) -> bool:
        before = self._text[max(position - _INDENT_CHARS, 0) : position]
        return _MARGIN.search(before) is not None or (position <= _INDENT_CHARS and not before.strip(" \t>"))

    def _same_ticks(self, start: int, end: int) -> int | None:
        """Where the code span that opens here ends; spans are short and stay in their paragraph."""
        starts = self._spans_by_ticks[self._text[start:end]]
        place = bisect_left(starts, end)
        if place == len(starts) or starts[place] - end > _SPAN_CHARS:
            return None
        closing = starts[place]
        return None if _BLANK_LINE.search(self._text, end, closing) else closing + end - start

    def _line_break(self, start: int, end: int) -> _Items:
        text = self._text
        was_short = start - self._line_start < _SHORT_LINE_CHARS
        self._line_start = end
        blank = text[start:end] not in ("\n", "\r", "\r\n") or _EMPTY_LINE.match(text, end) is not None
        if blank or self._opens_line(end) or (was_short and text[end : end + 1].isupper()):
            yield "\n"
            return self._after_line_mark(end)
        return end

    def _opens_line(self, position: int) -> bool:
        return _LINE_START.match(self._text, position) is not None

    def _after_line_mark(self, position: int) -> int:
        found = _LINE_START.match(self._text, position)
        return found.end() if found else position

    def _mark(self, mark: str, start: int, end: int) -> _Items:
        text = self._text
        if mark in _ENDS:
            if self._ends_sentence(start, end):
                yield mark
        elif mark == "<" and (tag := _TAG.match(text, start)):
            return tag.end()
        elif mark == "]" and text.startswith("(", end):
            close = text.find(")", end, end + _SPAN_CHARS)
            return close + 1 if close > 0 else end
        elif mark in _CLOSING_QUOTES and (after := self._end_of_quotation(mark, start, end)):
            yield self._opaque(start, after)
            return after
        elif mark == "|":
            yield "\n"
        elif mark == "-" and text[start - 1 : start].isspace() and text[end : end + 1].isspace():
            yield Word(":", start, end, ":")
        elif mark in _KEPT_MARKS:
            yield Word(_KEPT_MARKS[mark], start, end, mark)
        return end

    def _ends_sentence(self, start: int, end: int) -> bool:
        text = self._text
        if text[start] != ".":
            return True
        if end < len(text) and not (text[end].isspace() or text[end] in "\"'”’)]*_`"):
            return False
        before = re.split(r"[\W\d_]", text[max(start - 8, 0) : start].lower())[-1]
        return not (before in _SHORT_FORMS or (len(before) == 1 and before != "i"))

    def _end_of_quotation(self, mark: str, start: int, end: int) -> int | None:
        text = self._text
        if mark in "'‘\"" and (start > 0 and text[start - 1].isalnum()):
            return None
        closing = self._next_closing(_CLOSING_QUOTES[mark], end)
        far = closing - end > _QUOTE_CHARS
        return None if far or _BLANK_LINE.search(text, end, closing) else closing + 1

    def _next_closing(self, mark: str, position: int) -> int:
        """The next closing mark, looked for once; an apostrophe inside a word closes nothing."""
        if self._next_closings.get(mark, -1) < position:
            found = _CLOSINGS[mark].search(self._text, position)
            self._next_closings[mark] = found.start() if found else len(self._text) + _QUOTE_CHARS
        return self._next_closings[mark]


def _is_identifier(word: str) -> bool:
    """`snake_case`, `camelCase` and `v2` name things; words in capitals and hyphened ones are words."""
    if "_" in word or any(character.isdigit() for character in word):
        return True
    parts = word.replace("’", "-").replace("'", "-").split("-")
    return any(not (part[1:].islower() or part.isupper() or part[1:] == part[1:].lower()) for part in parts)

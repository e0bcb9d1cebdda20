"""Recognises a turn that comes in by a second way: the same speaker and words, at about the same time.

Hooks and transcripts name the same turn differently, so its id does not tell. Each turn that is there answers for one
that comes in, so two people who both say "yes", or one who says it twice, stay two turns.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from clew.text.redaction import Policy, redact

READ_CHARS = 20_000
COMPARED_CHARS = 4_000
"""One of the ways may have cut a long text. Two long texts that begin alike within minutes are one."""


@dataclass(slots=True, order=True)
class _Said:
    ts_ms: int
    id: str
    text: str = field(compare=False)
    words: str | None = field(default=None, compare=False)
    """The text in the form for comparison, once somebody has asked for it."""


class Utterances:
    """Turns of one session that are there, by who said them."""

    def __init__(self, window_ms: int) -> None:
        self._window_ms = window_ms
        self._said: dict[str, list[_Said]] = {}

    def add(self, speaker: str, ts_ms: int, id_: str, text: str) -> None:
        insort(self._said.setdefault(speaker, []), _Said(ts_ms, id_, text[:READ_CHARS]))

    def remove(self, speaker: str, ts_ms: int, id_: str) -> None:
        """Takes out a turn that came by the same way: it answers for itself."""
        said = self._said.get(speaker, [])
        place = bisect_left(said, _Said(ts_ms, id_, ""))
        if place < len(said) and said[place].id == id_:
            del said[place]

    def claim(self, speaker: str, ts_ms: int, text: str) -> str | None:
        """The id of the turn nearest in time with the same words, which no other turn can claim then; None without."""
        said = self._said.get(speaker, [])
        start = bisect_left(said, _Said(ts_ms - self._window_ms, "", ""))
        end = bisect_left(said, _Said(ts_ms + self._window_ms + 1, "", ""))
        if start == end:
            return None
        words = comparable(text)
        alike = [place for place in range(start, end) if _words_of(said[place]) == words]
        if not alike:
            return None
        return said.pop(min(alike, key=lambda place: abs(said[place].ts_ms - ts_ms))).id


def comparable(text: str) -> str:
    """The words of a text, whatever its blanks, and whatever redaction has cut out of one of its copies."""
    clean = redact(text[:READ_CHARS], Policy.PII).text
    return " ".join(clean.split())[:COMPARED_CHARS]


def _words_of(said: _Said) -> str:
    if said.words is None:
        said.words = comparable(said.text)
    return said.words

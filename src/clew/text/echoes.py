"""Whether one text says what another one said.

A model that has read a page may say its words again in a reply: a run of words in common tells, single words do not,
because two texts about the same thing share those anyway. A model that keeps what the user said puts it in words of its
own: nearly all that it says must then be in the user's words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.text.terms import analyse

_Numbers = NDArray[np.int64]
"""Runs of words as sorted numbers, each once. They mean nothing outside this process."""

RUN_WORDS = 4
CHANCE_RUNS, MOST_CHANCE = 50, 4
REPEATED_RUNS = 8
"""One run of plain words in common tells; in a long reply, one in so many may be chance. Where the words are code, more
must be the same: whoever works on a file names its parts. `bench.echoes` measures what that finds, and which honest
replies it finds."""
READ_CHARS = 64_000
"""Of each end of a text; who answers about a longer one has read its beginning or its end."""
SAME_SHARE = 0.75
"""The share of a statement's words that whoever said the same must have used."""

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}](?:[\w./:@#-]*\w)?")
"""A word, or a path or name as one; each character counts where a script puts no spaces between words."""
_CODE = re.compile(r"[{}()\[\]=<>;|\\`]+")
_LETTER = re.compile(r"\w+")
_NOT = re.compile(
    r"\b(?:no|not|never|none|nothing|without|cannot|kein\w{0,2}|nicht|nie|jamais|pas|nunca|sin)\b|n['’]t\b|不|没|ない|않",
    re.IGNORECASE,
)
_PARTIES = frozenset(analyse("The user and the assistant said and says that they want, wants, prefer and prefers"))
"""Words with which somebody reports what another one said."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of words that a text holds, and those of them that no sign of code divides."""

    all: _Numbers
    plain: _Numbers

    def __len__(self) -> int:
        return len(self.all) + len(self.plain)


def runs_of(text: str) -> Runs:
    """The runs of words of a text; none where it is shorter than one."""
    read = text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
    read = read.casefold()
    return Runs(_numbers([read]), _numbers(_CODE.split(read)))


def _numbers(parts: Iterable[str]) -> _Numbers:
    spoken = map(_WORD.findall, parts)
    runs = (run for words in spoken for run in zip(*(words[at:] for at in range(RUN_WORDS)), strict=False))
    return np.unique(np.fromiter(map(hash, runs), np.int64))


def repeats(reply: Runs, source: Runs) -> bool:
    """Whether a reply says words of its source again, or the whole of it."""
    chance = min(len(reply.plain) // CHANCE_RUNS, MOST_CHANCE)
    return _holds(reply.plain, source.plain, max(chance, 1)) or _holds(reply.all, source.all, REPEATED_RUNS)


def _holds(reply: _Numbers, source: _Numbers, needed: int) -> bool:
    shared = _shared(reply, source)
    return shared > 0 and shared >= min(needed, len(source))


def _shared(some: _Numbers, others: _Numbers) -> int:
    if not len(others):
        return 0
    return int(np.count_nonzero(others[others.searchsorted(some).clip(max=len(others) - 1)] == some))


def says_same(statement: str, said: str) -> bool:
    """Whether these words say what a statement reports: most of its words, all its figures, and no other sense."""
    wanted = analyse(statement).keys() - _PARTIES
    shared = wanted & analyse(said).keys()
    figures = {term for term in wanted if any(letter.isdigit() for letter in term)}
    is_denied = bool(_NOT.search(statement)) is not bool(_NOT.search(said))
    return bool(wanted) and not is_denied and figures <= shared and len(shared) >= SAME_SHARE * len(wanted)


def is_same_text(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but blanks, marks, the case and the form of letters."""
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(_LETTER.findall(unicodedata.normalize("NFKC", text).casefold()))

"""Signs of a text that steers its reader: how they are written, and how they are found.

A sign is a list of phrases for text in lower case: a blank stands for the few characters that part two words, and
` ~3 ` for the same with up to three more words between. Every repetition is bounded, so that a try takes bounded
time. A phrase begins with one of its openers, and is tried only where one stands; the openers of all signs are
looked for in one pass, which makes up nearly all of the time that an ordinary text takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ruse:
    """One way to steer a reader. `weight` is how far it is proof by itself, in (0, 1)."""

    name: str
    weight: float
    does: str
    """What a text with this ruse does, to follow `The text`."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What shows a ruse. One without openers is a companion."""

    ruse: Ruse
    openers: frozenset[str]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Hit:
    ruse: Ruse
    place: int


TOGETHER_CHARS = 600
"""How far apart signs may stand that count as one attempt."""

_GAP = r"\W{1,8}"
_MORE_WORDS = re.compile(r" ~(\d) ")
_FIRST_UNSPACED = "\u3040"
_NEGATED = re.compile(r"(?:\bnot|\bnever|n't|不要|不会|请勿) ?$")
_NEGATION_CHARS = 8

_FREE_TRIES, _CHARS_PER_TRY, _TRIED_OF_FLOOD = 1_000, 24, 16
"""Prose has fewer openers than this; a text with more is a flood, of which every so many-th is tried."""


def sign(name: str, weight: float, does: str, *phrases: tuple[str, str]) -> Sign:
    """Each phrase is its openers, parted by blanks, and what follows them. An opener in letters is a whole word, or
    the beginning of one where a star follows it."""
    openers = frozenset(opener for start, _ in phrases for opener in start.split())
    pattern = "|".join(rf"(?:{'|'.join(map(_literal, start.split()))}){_expanded(rest)}" for start, rest in phrases)
    return Sign(Ruse(name, weight, does), openers, re.compile(pattern))


def companion(name: str, weight: float, does: str, *phrases: str) -> Sign:
    """A sign that tells nothing by itself, and is looked for only close to others."""
    return Sign(Ruse(name, weight, does), frozenset(), re.compile("|".join(map(_expanded, phrases))))


def _expanded(phrase: str) -> str:
    more = _MORE_WORDS.sub(lambda found: rf" (?:\w{{1,24}} ){{0,{found[1]}}}?", phrase)
    return more.replace(" ", _GAP)


class Signs:
    """Finds a set of signs in a text."""

    def __init__(self, signs: Sequence[Sign]) -> None:
        openers = frozenset().union(*(sign.openers for sign in signs))
        words = frozenset(filter(_is_word, openers))
        self._companions = [sign for sign in signs if not sign.openers]
        self._word = _any_word(words)
        self._mark = _any_mark(openers - words)
        self._opened_by = {_stem(opener): _opened_by(opener, signs) for opener in openers}

    def find(self, plain: str) -> list[Hit]:
        """The signs of a text in lower case, with their companions."""
        hits = list(self._leading(plain))
        near = ((max(hit.place - TOGETHER_CHARS, 0), hit.place + TOGETHER_CHARS) for hit in hits)
        found = (
            (sign.ruse, sign.pattern.search(plain, start, end))
            for start, end in _merged(near)
            for sign in self._companions
        )
        return [*hits, *(Hit(ruse, match.start()) for ruse, match in found if match)]

    def _leading(self, plain: str) -> Iterator[Hit]:
        """A sign that was just found is not looked for again at once, so that repetition costs no time."""
        next_try: dict[Ruse, int] = {}
        for place, signs in self._opened(plain):
            for sign in signs:
                if place >= next_try.get(sign.ruse, 0) and _stands_at(sign, plain, place):
                    yield Hit(sign.ruse, place)
                    next_try[sign.ruse] = place + TOGETHER_CHARS // 4

    def _opened(self, plain: str) -> Iterator[tuple[int, list[Sign]]]:
        """Where an opener stands, and the signs that it opens; past all measure of prose, only some of the places."""
        most = _FREE_TRIES + len(plain) // _CHARS_PER_TRY
        words = ((found.start(), found[0][1:]) for found in self._word.finditer(f" {plain}"))
        marks = ((found.start(), found[0]) for found in self._mark.finditer(plain))
        for openers in (words, marks):
            for number, (place, opener) in enumerate(openers):
                if number < most or number % _TRIED_OF_FLOOD == 0:
                    yield place, self._opened_by[opener]


def _stands_at(sign: Sign, plain: str, place: int) -> bool:
    """Whether a text says it there; one that warns of it does not."""
    if sign.pattern.match(plain, place) is None:
        return False
    return _NEGATED.search(plain, max(place - _NEGATION_CHARS, 0), place) is None


def _is_word(opener: str) -> bool:
    return opener[0].isalpha() and opener[0] < _FIRST_UNSPACED and not opener.endswith("*")


def _stem(opener: str) -> str:
    return opener.rstrip("*")


def _literal(opener: str) -> str:
    return re.escape(_stem(opener))


def _opened_by(opener: str, signs: Sequence[Sign]) -> list[Sign]:
    """The signs that this opener opens, or a mark that it begins with."""
    if _is_word(opener):
        return [sign for sign in signs if opener in sign.openers]
    return [sign for sign in signs if any(_stem(opener).startswith(_stem(mark)) for mark in sign.openers)]


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    """A word with the character before it. That one is found fast, and then the words are tried by their first
    letter: several times faster than testing at every character for each word in turn."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words):
        rests.setdefault(word[0], []).append(re.escape(word[1:]))
    grouped = "|".join(f"{first}(?:{'|'.join(group)})" for first, group in rests.items())
    return re.compile(rf"[^\w](?:{grouped})\b")


def _any_mark(marks: Iterable[str]) -> re.Pattern[str]:
    """Marks, unspaced script and beginnings of words, wherever they stand; the longest of those at one place."""
    return re.compile("|".join(map(_literal, sorted(marks, key=len, reverse=True))))


def _merged(stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Stretches that overlap as one, in order."""
    last: tuple[int, int] | None = None
    for start, end in sorted(stretches):
        if last and start <= last[1]:
            last = (last[0], max(end, last[1]))
        else:
            if last:
                yield last
            last = (start, end)
    if last:
        yield last

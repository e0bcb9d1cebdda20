"""Likeness of texts by their words: which two say nearly the same, and whether their figures agree.

Words are compared as search compares them, stemmed and without stop-words. Numbers, identifiers, paths and
codes are held apart: two texts that differ in one of them do not say the same, however alike they sound.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.text.terms import analyse

MAX_CHARS = 16_000
"""Longer texts are documents rather than statements; they are not compared."""

MAX_COMPARISONS = 1_000_000
"""Pairs whose words are counted in one search, some seconds' work."""

_ROUNDING = 1e-9
"""A product that should be a whole number may come out a little above it."""

_HYPHENATED = re.compile(r"=[^\W\d_]+(?:-+[^\W\d_]+)+")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, as sets: its words, and the names and numbers that must match as they are."""

    words: frozenset[str]
    exact: frozenset[str]


class Pair(NamedTuple):
    """Two texts by their places in a list, the earlier place first."""

    one: int
    other: int
    likeness: float


def wording(text: str) -> Wording:
    """A compound of plain words counts by its parts: one writes it with a hyphen, another without."""
    terms = analyse(text[:MAX_CHARS])
    words = frozenset(term for term in terms if term[0] != "=" and not term[0].isdigit())
    exact = frozenset(term for term in terms if term not in words and _HYPHENATED.fullmatch(term) is None)
    return Wording(words, exact)


def likeness(one: Wording, other: Wording) -> float:
    """How much of their words two texts share, in [0, 1]; 1 where the words are the same.

    The geometric mean of what they share of all their words and of the shorter one's. Texts without any word
    are alike where their numbers and names are the same.
    """
    if not one.words or not other.words:
        return float(one.words == other.words and one.exact == other.exact and bool(one.exact))
    shared = len(one.words & other.words)
    together = len(one.words) + len(other.words) - shared
    return math.sqrt(shared / together * (shared / min(len(one.words), len(other.words))))


def agree(one: Wording, other: Wording) -> bool:
    """Whether both name the same numbers, identifiers, paths and codes."""
    return one.exact == other.exact


def like_pairs(wordings: Sequence[Wording], at_least: float, limit: int) -> list[Pair]:
    """Pairs that are at least so much alike, found from the front of the list, up to a limit.

    Two sets that share a given part of their words share one of the rarest few of each; only pairs that do
    are compared, so texts on different subjects cost nothing. `at_least` is above 0.
    """
    found: list[Pair] = []
    for one, other in _contenders(wordings, at_least * at_least):
        alike = likeness(wordings[one], wordings[other])
        if alike >= at_least:
            found.append(Pair(one, other, alike))
            if len(found) >= limit:
                break
    return sorted(found)


def _contenders(wordings: Sequence[Wording], shared_part: float) -> Iterator[tuple[int, int]]:
    """Pairs that may share so large a part of all their words, each once, a bounded number."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    compared = 0
    for place, rarest in enumerate(_rarest_first(wordings, shared_part)):
        earlier = sorted({other for term in rarest for other in holders[term]})
        for other in earlier:
            yield other, place
        compared += len(earlier)
        if compared > MAX_COMPARISONS:
            return
        for term in rarest:
            holders[term].append(place)


def _rarest_first(wordings: Sequence[Wording], shared_part: float) -> Iterator[list[str]]:
    """Of each text, as many of its rarest terms as another one must share one of to be so much alike."""
    known = Counter(term for item in wordings for term in item.words or item.exact)
    for item in wordings:
        terms = sorted(item.words or item.exact, key=lambda term: (known[term], term))
        yield terms[: len(terms) - math.ceil(shared_part * len(terms) - _ROUNDING) + 1]

"""The number a question asks for, and which number a text gives as the answer.

Two texts may word the same matter too differently to be compared with one another: "5 hours so far" and "I have put in
12". But a question names what it wants, and both can be held against that. Where each speaks of nearly all the
question does, and they give other numbers of what was asked for, they disagree. By rules, and rather silent than wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clew.domain.dissent import claim
from clew.domain.sentences import split
from clew.domain.terms import analyse, fold

READ_CHARS = 4_000
"""Of a text; an answer that stands further back was not what it was about."""

SPEAKS_OF_IT = 0.5
"""The share of the question's words that a text must hold beside the number."""

FEWEST_WORDS = 2
"""Of the question, beside what is counted; fewer do not tell one matter from another."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question wants the number of."""

    units: frozenset[str]
    """Stems of what is counted; empty where any number of the matter is meant."""
    about: frozenset[str]
    """Stems of the rest of the question."""


def asked_value(question: str) -> Asked | None:
    """The number that a question asks for; None where it asks for none, or for one that has to be added up."""
    plain = fold(question[:READ_CHARS])
    match = _HOW_MANY.search(plain) or _HOW_LONG.search(plain) or _HOW_MUCH.search(plain)
    if match is None or _ADDED_UP.search(plain):
        return None
    units = _units(match)
    about = frozenset(analyse(plain)) - units - _IDLE
    return Asked(units, about) if len(about) >= FEWEST_WORDS else None


def values_in(text: str, asked: Asked) -> frozenset[str]:
    """The numbers that a text gives of what was asked for; none where it speaks of something else."""
    values: set[str] = set()
    before: frozenset[str] = frozenset()
    for sentence in split(text[:READ_CHARS]):
        said = claim(sentence)
        if said is None:
            before = frozenset(analyse(sentence))
            continue
        content = said.content | frozenset(analyse(sentence))
        if len(asked.about & (content | before)) >= SPEAKS_OF_IT * len(asked.about):
            values.update(_counted(said.numbers, asked), _counted(said.named, asked))
        before = content
    return frozenset(values)


def _units(match: re.Match[str]) -> frozenset[str]:
    if match.re is _HOW_MANY:
        return frozenset(analyse(match["what"]))
    return _TIMES if match.re is _HOW_LONG else frozenset()


def _counted(numbers: Mapping[str, frozenset[str]], asked: Asked) -> Iterator[str]:
    for word, values in numbers.items():
        if not asked.units or asked.units & frozenset(analyse(word)):
            yield from (f"{value} {word}" if asked.units is _TIMES else value for value in values)


_HOW_MANY = re.compile(
    r"\bhow many (?:of (?:my|the|our) )?(?:\w{1,20} (?=\w{1,20} (?:of|have|did|do|are|is|will)\b))?(?P<what>\w{2,30})"
)
_HOW_LONG = re.compile(r"\bhow (?:long|much time|many times)\b")
_HOW_MUCH = re.compile(
    r"\bwhat (?:is|was|are|'s) (?:my|our|the) (?:\w{1,20} ){0,4}"
    r"(?:score|limit|goal|level|record|best|price|salary|rent|weight|height|age|count|number|size|budget|target|total)\b"
)
_ADDED_UP = re.compile(
    r"\b(?:total|altogether|in all|combined|sum|overall|both|before|previous|previously|initially|first|how long had)\b"
)
_TIMES = frozenset(analyse("seconds minutes hours days weeks months years"))
_IDLE = frozenset(
    analyse("how many much long time currently current now so far already past recent recently have did do my")
)

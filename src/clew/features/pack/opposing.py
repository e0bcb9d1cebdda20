"""The pair of a pack's candidates that disagrees: marked so, in what they say, or in what they answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from clew.core.marks import Mark
from clew.core.model import Provenance, Role, Trust
from clew.features.pack.considered import Considered, refs_in
from clew.text.dissent import Claim, claim, disagreement, may_disagree, rough_words
from clew.text.sentences import split
from clew.text.terms import analyse, fold

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


COMPARED = 24
"""Candidates beyond the items of a pack that are looked through for one that contradicts them."""


@dataclass(frozen=True, slots=True)
class Dissent:
    """A record that contradicts another one of the pack."""

    ref: str
    against: str


def with_dissent(
    kept: list[Considered], spare: Sequence[Considered], items: int, question: str = ""
) -> tuple[list[Considered], Dissent | None]:
    """The best pair that disagrees stands together: what is better founded or newer first, the other marked."""
    found = _opposed(kept, spare, asked_value(question)) if items > 1 else None
    if found is None:
        return kept, None
    one, other = found
    held, against = (one, other) if _standing(one) >= _standing(other) else (other, one)
    chosen = []
    for item in kept:
        if item is one:
            chosen += [held, against]
        elif item is not other:
            chosen.append(item)
    if len(chosen) > items:
        last = max(place for place, item in enumerate(chosen) if item is not held and item is not against)
        del chosen[last]
    return chosen, Dissent(against.ref, held.ref)


def _opposed(
    kept: Sequence[Considered], spare: Sequence[Considered], asked: Asked | None
) -> tuple[Considered, Considered] | None:
    """The first that was kept and the best other candidate that contradicts it, of what is not overtaken anyway."""
    standing = [item for item in kept if item.replaced_by is None]
    others = [item for item in spare[:COMPARED] if item.replaced_by is None]
    stances = [_Stance(item, asked) for item in (*standing, *others)]
    for place, one in enumerate(stances[: len(standing)]):
        for other in stances[place + 1 :]:
            if _contradict(one, other):
                return one.item, other.item
    return None


class _Stance:
    """What a candidate says, taken apart only where another speaks in much the same words."""

    def __init__(self, item: Considered, asked: Asked | None) -> None:
        self.item = item
        self.asked = asked
        self.cited = item.cited
        self.words = rough_words(item.record.text)
        self.marked = frozenset(refs_in(item.record, Mark.CONTRADICTS))
        """References of what it was marked as contradicting."""

    @cached_property
    def claim(self) -> Claim | None:
        return claim(self.item.record.text)

    @cached_property
    def answers(self) -> frozenset[str]:
        """The numbers it gives of what was asked for. What an assistant or a tool says is seldom about the asker."""
        record = self.item.record
        if self.asked is None or record.role not in (Role.USER, None) or record.provenance is Provenance.SUMMARY:
            return frozenset()
        return values_in(record.text, self.asked)


def _contradict(one: _Stance, other: _Stance) -> bool:
    """Whether one was marked as contradicting the other, or their words do."""
    if other.cited in one.marked or one.cited in other.marked:
        return True
    if one.answers and other.answers and not one.answers & other.answers:
        return True
    if not may_disagree(one.words, other.words):
        return False
    return one.claim is not None and other.claim is not None and disagreement(one.claim, other.claim) is not None


_BY_TRUST = (Trust.QUARANTINED, Trust.UNTRUSTED, Trust.UNKNOWN, Trust.TRUSTED)


def _standing(item: Considered) -> tuple[int, int]:
    """Of two that disagree, which is the one to go by: the more trusted, then the newer."""
    return _BY_TRUST.index(item.record.trust), item.record.ts_ms

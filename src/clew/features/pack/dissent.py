"""Two choices of a pack that disagree: by a mark, in what they say, or in the number they give for an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from clew.core.marks import Mark
from clew.core.model import Provenance, Role, Trust
from clew.features.pack.choice import Choice, refs_in
from clew.text.dissent import Claim, claim, disagreement, may_disagree, rough_words
from clew.text.sentences import split
from clew.text.terms import analyse, fold

READ_CHARS = 4_000
"""Of a text; a text is not about an answer that comes further back."""

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
"""Choices beyond the items of a pack that are compared with them."""


def place_dissent(kept: Sequence[Choice], spare: Sequence[Choice], items: int, question: str = "") -> list[Choice]:
    """The choices with the best pair that disagrees side by side: the more trusted or newer first, the other marked."""
    found = _opposed(kept, spare, asked_value(question)) if items > 1 else None
    if found is None:
        return list(kept)
    one, other = found
    held, against = (one, other) if _authority(one) >= _authority(other) else (other, one)
    against.contradicts = held.ref
    chosen = []
    for choice in kept:
        if choice is one:
            chosen += [held, against]
        elif choice is not other:
            chosen.append(choice)
    if len(chosen) > items:
        last = max(place for place, choice in enumerate(chosen) if choice is not held and choice is not against)
        del chosen[last]
    return chosen


def _opposed(kept: Sequence[Choice], spare: Sequence[Choice], asked: Asked | None) -> tuple[Choice, Choice] | None:
    """The first kept choice and the best other one that contradicts it, of those that nothing has replaced."""
    holding = [item for item in kept if item.replaced_by is None]
    others = [item for item in spare[:COMPARED] if item.replaced_by is None]
    stances = [_Stance(item, asked) for item in (*holding, *others)]
    for place, one in enumerate(stances[: len(holding)]):
        for other in stances[place + 1 :]:
            if _contradict(one, other):
                return one.item, other.item
    return None


class _Stance:
    """What a choice says, parsed only where another one speaks in much the same words."""

    def __init__(self, item: Choice, asked: Asked | None) -> None:
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


def _authority(item: Choice) -> tuple[int, int]:
    """Of two that disagree, the greater is the one to go by: the more trusted, then the newer."""
    return _BY_TRUST.index(item.record.trust), item.record.ts_ms

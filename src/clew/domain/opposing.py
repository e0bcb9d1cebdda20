"""The pair of a pack's candidates that disagrees: marked so, in what they say, or in what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from clew.domain.asked_values import Asked, asked_value, values_in
from clew.domain.considered import Considered, refs_in
from clew.domain.dissent import Claim, claim, disagreement, may_disagree, rough_words
from clew.domain.marks import Mark
from clew.domain.model import Provenance, Role, Trust

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

"""The pair of a pack's candidates that disagrees: marked so, or in what their words say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from clew.domain.considered import Considered, refs_in
from clew.domain.dissent import Claim, claim, disagreement, may_disagree, rough_words
from clew.domain.marks import Mark
from clew.domain.model import Trust

COMPARED = 24
"""Candidates beyond the items of a pack that are looked through for one that contradicts them."""


@dataclass(frozen=True, slots=True)
class Dissent:
    """A record that contradicts another one of the pack."""

    ref: str
    against: str


def with_dissent(
    kept: list[Considered], spare: Sequence[Considered], items: int
) -> tuple[list[Considered], Dissent | None]:
    """The best pair that disagrees stands together: what is better founded or newer first, the other marked."""
    found = _opposed(kept, spare) if items > 1 else None
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


def _opposed(kept: Sequence[Considered], spare: Sequence[Considered]) -> tuple[Considered, Considered] | None:
    """The first that was kept and the best other candidate that contradicts it."""
    stances = [_Stance(item) for item in (*kept, *spare[:COMPARED])]
    for place, one in enumerate(stances[: len(kept)]):
        for other in stances[place + 1 :]:
            if _contradict(one, other):
                return one.item, other.item
    return None


class _Stance:
    """What a candidate says, taken apart only where another speaks in much the same words."""

    def __init__(self, item: Considered) -> None:
        self.item = item
        self.cited = item.cited
        self.words = rough_words(item.record.text)
        self.marked = frozenset(refs_in(item.record, Mark.CONTRADICTS))
        """References of what it was marked as contradicting."""

    @cached_property
    def claim(self) -> Claim | None:
        return claim(self.item.record.text)


def _contradict(one: _Stance, other: _Stance) -> bool:
    """Whether one was marked as contradicting the other, or their words do."""
    if other.cited in one.marked or one.cited in other.marked:
        return True
    if not may_disagree(one.words, other.words):
        return False
    return one.claim is not None and other.claim is not None and disagreement(one.claim, other.claim) is not None


_BY_TRUST = (Trust.QUARANTINED, Trust.UNTRUSTED, Trust.UNKNOWN, Trust.TRUSTED)


def _standing(item: Considered) -> tuple[int, int]:
    """Of two that disagree, which is the one to go by: the more trusted, then the newer."""
    return _BY_TRUST.index(item.record.trust), item.record.ts_ms

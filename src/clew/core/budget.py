"""Divides the tokens of a context among its sections.

Sections are served in a fixed order: hard authored text, the base of the tail, observations, soft authored text, the
rest of the tail, elevated guidance, recall. Each section gets all it asks for, up to its own limit, before the next one
gets anything, and together they never pass the total. There is one exception, and the plan says so: hard text and base
are never cut, even where they alone are over the total. All arithmetic is in whole tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_PARTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The largest share of the total each bounded section may take, from 0 to 1."""

    soft: float
    tail: float
    guidance: float


@dataclass(frozen=True, slots=True)
class Grant:
    """The tokens one section was allowed and took, and the pieces it spent them on."""

    allowed: int
    used: int
    taken: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The whole plan. `recall` has the tokens left over; `degraded` says why there are none."""

    total: int
    hard: int
    base: int
    soft: Grant
    extension: Grant
    guidance: Grant
    recall: int
    observed: int = 0
    degraded: str | None = None

    @property
    def committed(self) -> int:
        """Tokens granted before recall."""
        return self.hard + self.base + self.observed + self.soft.used + self.extension.used + self.guidance.used


def plan(
    total: int,
    *,
    base: int,
    shares: Shares,
    hard: int = 0,
    observed: int = 0,
    soft: Sequence[int] = (),
    extension: Sequence[int] = (),
    guidance: Sequence[int] = (),
    guidance_frame: int = 0,
    tail_target: int | None = None,
) -> Allocation:
    """Divide `total` tokens. Pieces are token counts of things that are taken whole or not at all.

    `tail_target` takes the place of the tail's share where the tail may keep the size it has in a larger total. It
    then leaves guidance its share, so that recall is all it takes from.

    `observed` is the block of the observation log, whose room does not depend on the question.

    `soft` is in source order and `extension` newest first: both are cut as a prefix, because a gap
    would change what they say. `guidance` is best first, and one piece that is too long does not
    keep out the shorter ones behind it; their frame is paid once, where there are any.
    """
    if hard + base + observed > total:
        return _over_budget(total, hard, base)
    left = total - hard - base - observed
    soft_grant = _prefix_grant(soft, min(portion(total, shares.soft), left))
    left -= soft_grant.used
    if tail_target is None:
        room = min(portion(total, shares.tail) - base, left)
    else:
        room = min(tail_target - base, left - portion(total, shares.guidance))
    extension_grant = _prefix_grant(extension, max(room, 0))
    left -= extension_grant.used
    guidance_grant = _fitting_grant(guidance, min(portion(total, shares.guidance), left), guidance_frame)
    return Allocation(
        total=total,
        hard=hard,
        base=base,
        soft=soft_grant,
        extension=extension_grant,
        guidance=guidance_grant,
        recall=left - guidance_grant.used,
        observed=observed,
    )


def portion(total: int, share: float) -> int:
    """A share of the total in whole tokens, rounded down; exact where a float product is not."""
    return total * round(share * _PARTS) // _PARTS


def longest_prefix(sizes: Sequence[int], allowance: int) -> tuple[int, int]:
    """How many leading pieces fit the allowance, and their sum."""
    used = 0
    for count, size in enumerate(sizes):
        if used + size > allowance:
            return count, used
        used += size
    return len(sizes), used


def fitting(sizes: Sequence[int], allowance: int) -> tuple[tuple[int, ...], int]:
    """The places of the pieces that fit, each tried in order beside those before it, and their sum."""
    taken: list[int] = []
    used = 0
    for place, size in enumerate(sizes):
        if used + size <= allowance:
            taken.append(place)
            used += size
    return tuple(taken), used


def _prefix_grant(sizes: Sequence[int], allowed: int) -> Grant:
    count, used = longest_prefix(sizes, allowed)
    return Grant(allowed, used, tuple(range(count)))


def _fitting_grant(sizes: Sequence[int], allowed: int, frame: int) -> Grant:
    taken, used = fitting(sizes, allowed - frame)
    return Grant(allowed, used + frame if taken else 0, taken)


def _over_budget(total: int, hard: int, base: int) -> Allocation:
    nothing = Grant(0, 0, ())
    return Allocation(
        total=total,
        hard=hard,
        base=base,
        soft=nothing,
        extension=nothing,
        guidance=nothing,
        recall=0,
        degraded=(
            f"hard authored text ({hard} tokens) and the newest turns ({base} tokens) "
            f"are over the budget of {total} tokens"
        ),
    )

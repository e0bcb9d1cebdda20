"""What a claim is worth by its sources: why it may not hold, how sure it can be, what is wrong with a source."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from clew.core.ids import digest
from clew.core.marks import Mark, value_of
from clew.core.model import Record, Trust

_HASH_BYTES = 8

RELIED_ON = (Trust.TRUSTED, Trust.UNKNOWN)
"""The trust of what Clew takes somebody's word for."""

CONFIDENCE_OF_TRUST: Mapping[Trust, float] = {
    Trust.TRUSTED: 1.0,
    Trust.UNKNOWN: 0.8,
    Trust.UNTRUSTED: 0.4,
    Trust.QUARANTINED: 0.0,
}
"""The highest confidence of a claim, by the trust of its best source."""


class Lapse(StrEnum):
    """Why a fact or a plan does not hold."""

    SUPERSEDED = "superseded"
    STALE = "stale"
    """Its sources are gone, or have changed."""
    ENDED = "ended"
    """Somebody took it back, its time is over or has not come, or it was done."""


def text_hash(ref: str, text: str) -> str:
    """Tells whether a source still says what it said when a claim cited it."""
    return digest(ref, text, size_bytes=_HASH_BYTES).hex()


def source_flaws(ref: str, source: Record | None, hash_: str) -> list[str]:
    """What is wrong with a source by now; it had this hash when a claim cited it."""
    if source is None:
        return [f"{ref} is gone"]
    flaws = []
    if value_of(source.marks, Mark.SUPERSEDED_BY) is not None:
        flaws.append(f"{ref} is superseded")
    if text_hash(ref, source.text) != hash_:
        flaws.append(f"{ref} has changed")
    if source.trust is Trust.QUARANTINED:
        flaws.append(f"{ref} is quarantined")
    return flaws

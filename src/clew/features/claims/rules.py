"""How a claim can fail to hold."""

from __future__ import annotations

from enum import StrEnum


class Lapse(StrEnum):
    """Why a fact or a plan does not hold."""

    SUPERSEDED = "superseded"
    STALE = "stale"
    """What it rests on is gone, or has changed."""
    ENDED = "ended"
    """It was taken back, its time is over or has not come, or it was done."""

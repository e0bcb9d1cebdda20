"""The operations of the gate."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request


class GateScore(Answer, frozen=True):
    """How worth keeping a text is, with every part of the sum. All in [0, 1]."""

    gate: float
    """The score: both views, mixed by `technical`."""
    technical: float
    """How technical the text is."""
    novelty: float
    """How unlike it is to what is remembered."""
    repetition: float
    """Said before, and not yet remembered."""
    input_frequency: float
    """How often the user said something like it."""
    memory_saturation: float
    """How well it is remembered already."""
    natural_density: float
    """How much it says about wishes, people, dates, quantities, facts."""
    artefacts: float
    """How many concrete things it names for its length."""
    actions: float
    """How much it says was decided, fixed, reached or set up."""
    technical_density: float
    """How much it defines."""
    conversational_score: float
    """0.35 novelty + 0.40 repetition + 0.25 natural density."""
    technical_score: float
    """0.40 artefacts + 0.35 actions + 0.25 technical density."""
    threshold: float
    """The setting `gate_threshold`."""
    keep: bool
    """Whether the gate is at or above the threshold, and nothing refuses the text."""
    refusal: str | None = None
    """Why such a text is never kept, whatever its score: it is a command, a single word or an acknowledgement, it only
    asks, it is only new, or a memory has its words already."""


class Gate(Request[GateScore], frozen=True):
    """Grades a text as if this user said it now. Keeps nothing."""

    method: ClassVar[str] = "gate"
    text: str
    """The text, at most `max_text_bytes`."""
    user_id: str | None = None
    """Compare with what is known of this user."""

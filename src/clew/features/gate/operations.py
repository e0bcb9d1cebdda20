"""The operations of the gate."""

from __future__ import annotations

from typing import ClassVar

from clew.core.operation import Answer, Request


class GateScore(Answer, frozen=True):
    """How worth keeping a text is, with every part of the sum. All in [0, 1]."""

    gate: float
    technical: float
    novelty: float
    repetition: float
    input_frequency: float
    memory_saturation: float
    natural_density: float
    artefacts: float
    actions: float
    technical_density: float
    conversational_score: float
    technical_score: float
    threshold: float
    keep: bool


class Gate(Request[GateScore], frozen=True):
    """Grades a text as if this user said it now. Keeps nothing."""

    method: ClassVar[str] = "gate"
    text: str
    user_id: str | None = None

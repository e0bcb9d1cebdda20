"""Is a user's turn worth keeping for good?

The gate blends two views of a text by how technical it is. As conversation, a text counts by its
news for memory, by how often its subject comes back, and by how much it says about a person's
life and wishes. As technical work, it counts by the concrete things it names, the actions it
reports, and the definitions it gives. Everything is a number in [0, 1], whatever the input.

Wishes, facts and actions are read from what the user says in the turn; a log that they paste, a text that
they quote and a question that they ask say nothing about them. Concrete things and definitions count wherever
they stand. Some turns are never kept, whatever their score: commands, single words, acknowledgements, questions, and
turns that are only new.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.text.grading.idle import idle
from clew.text.grading.natural import STATEMENT_SIGNS
from clew.text.grading.signs import (
    ACTION_SIGNS,
    ARTEFACT_SIGNS,
    TECHNICAL_DENSITY_SIGNS,
    TECHNICAL_SATURATION,
    TECHNICAL_SIGNS,
    Sign,
)
from clew.text.grading.statements import prose, stated
from clew.text.sentences import split
from clew.text.speech import own_words

MEMORY_NEIGHBOURS = 5
"""How many of the nearest memories are looked at."""
TURN_NEIGHBOURS = 10
"""How many of the nearest turns of the user are looked at."""

SAME_SUBJECT = 0.80
"""Similarity from which an earlier turn speaks of the same thing."""
ALREADY_KEPT = 0.85
"""Similarity from which a memory already says it."""

_TURNS_FOR_FREQUENT = 5
_MEMORIES_FOR_SATURATED = 3

_NOVELTY_WEIGHT, _REPETITION_WEIGHT, _NATURAL_WEIGHT = 0.35, 0.40, 0.25
_ARTEFACT_WEIGHT, _ACTION_WEIGHT, _TECHNICAL_DENSITY_WEIGHT = 0.40, 0.35, 0.25

ONLY_NEW = "only new"
"""Of a text that is unlike all memories and in which no other part of the score finds anything."""
ONLY_ASKS = "only asks"
"""Of a text in which its writer asks and greets, and states nothing, whatever they paste."""
ONLY_HANDS_OVER = "only hands over"
"""Of a text in which its writer leads up to what somebody else wrote, and says nothing more."""
ALREADY_SAID = "already kept"
"""Of a text whose words a memory has."""
_ROUNDING = 1e-9

_WORD = re.compile(r"\w+")

_CHARS_PER_ARTEFACT_UNIT = 400
"""Artefacts are counted per hundred tokens, at four characters a token."""

_FULL_READ_CHARS = 6_000
"""A longer text is judged by this much of it. A turn that long is a paste, and its character shows in any part of
it; reading all of a megabyte would hold up the turns behind it."""
_SPOKEN_CHARS = 3_000
"""And for what its writer says about it, by this much: half from its beginning and half from its end."""
_WINDOWS = 4
"""How many pieces that much is taken in, evenly spread from the first character to the last."""


@dataclass(frozen=True, slots=True)
class GateParts:
    """The gate's value and every part of the sum, all in [0, 1]."""

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


def grade(text: str, memory_similarities: Sequence[float], turn_similarities: Sequence[float]) -> GateParts:
    """Grade a text, given how similar the nearest memories and the nearest turns of its user are.

    Similarities are calibrated to [0, 1]; values outside are clamped, and NaN counts as unrelated.
    """
    memories = _nearest(memory_similarities, MEMORY_NEIGHBOURS)
    turns = _nearest(turn_similarities, TURN_NEIGHBOURS)
    novelty = 1.0 - math.fsum(memories) / len(memories) if memories else 1.0
    input_frequency = min(_count_from(turns, SAME_SUBJECT) / _TURNS_FOR_FREQUENT, 1.0)
    memory_saturation = min(_count_from(memories, ALREADY_KEPT) / _MEMORIES_FOR_SATURATED, 1.0)
    repetition = input_frequency * (1.0 - memory_saturation)

    own = _own(text)
    natural, done = _natural_density(own), _actions(own)
    named, defined = artefacts(text), technical_density(text)
    conversational = _NOVELTY_WEIGHT * novelty + _REPETITION_WEIGHT * repetition + _NATURAL_WEIGHT * natural
    technical = _ARTEFACT_WEIGHT * named + _ACTION_WEIGHT * done + _TECHNICAL_DENSITY_WEIGHT * defined
    share = technical_share(text)
    return GateParts(
        gate=_blend(conversational, technical, share),
        technical=share,
        novelty=novelty,
        repetition=repetition,
        input_frequency=input_frequency,
        memory_saturation=memory_saturation,
        natural_density=natural,
        artefacts=named,
        actions=done,
        technical_density=defined,
        conversational_score=conversational,
        technical_score=technical,
    )


def refusal(text: str, parts: GateParts, held: Iterable[str] = ()) -> str | None:
    """Why a text is never kept, whatever its score; None where the score decides.

    Everything is new to an empty memory. So a text needs something else to be kept for than that it is new. `held`
    are memories that may say the same; one with other words may be what the text changes, so only the same words count.
    """
    reason = idle(text)
    if reason is not None:
        return reason.value
    said = _own(text)
    if said.endswith((":", "：")) and len(split(said)) == 1:
        return ONLY_HANDS_OVER
    own = prose(said)
    if own.strip() and not stated(own):
        return ONLY_ASKS
    words = _words(text)
    if any(_words(memory) == words for memory in held):
        return ALREADY_SAID
    news = (1.0 - parts.technical) * _NOVELTY_WEIGHT * parts.novelty
    return ONLY_NEW if parts.gate <= news + _ROUNDING else None


def technical_share(text: str) -> float:
    """How far a text is technical: code, paths, commands, addresses, traces, hashes."""
    return min(_weight_present(TECHNICAL_SIGNS, _representative(text)) / TECHNICAL_SATURATION, 1.0)


def natural_density(text: str) -> float:
    """How much a text states about wishes, people, dates, quantities and facts; code and questions state nothing."""
    return _natural_density(_own(text))


def artefacts(text: str) -> float:
    """How many concrete things a text names for its length: files, functions, errors, commits, endpoints."""
    text = _representative(text)
    found = math.fsum(sign.weight * sum(1 for _ in sign.pattern.finditer(text)) for sign in ARTEFACT_SIGNS)
    return min(found / max(len(text) / _CHARS_PER_ARTEFACT_UNIT, 1.0), 1.0)


def actions(text: str) -> float:
    """How much its writer says was decided, fixed, reached or set up."""
    return _actions(_own(text))


def technical_density(text: str) -> float:
    """How much a text defines: types, structures, dependencies, tests, documentation."""
    return min(_weight_present(TECHNICAL_DENSITY_SIGNS, _representative(text)), 1.0)


def _natural_density(own: str) -> float:
    return min(_weight_present(STATEMENT_SIGNS, stated(own)), 1.0)


def _actions(own: str) -> float:
    return min(_weight_present(ACTION_SIGNS, own), 1.0)


def _own(text: str) -> str:
    """What the writer says. Of a long text, its beginning and its end are read: there people speak about a paste."""
    if len(text) > _SPOKEN_CHARS:
        half = _SPOKEN_CHARS // 2
        text = f"{text[:half]}\n\n{text[-half:]}"
    return own_words(text)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _nearest(similarities: Iterable[float], count: int) -> list[float]:
    known = (0.0 if math.isnan(value) else min(max(float(value), 0.0), 1.0) for value in similarities)
    return sorted(known, reverse=True)[:count]


def _count_from(similarities: Iterable[float], threshold: float) -> int:
    return sum(value >= threshold for value in similarities)


def _blend(conversational: float, technical: float, share: float) -> float:
    """A convex mixture, kept between its ends against rounding."""
    low, high = sorted((conversational, technical))
    return min(max((1.0 - share) * conversational + share * technical, low), high)


def _weight_present(signs: Iterable[Sign], text: str) -> float:
    lower = text.lower()
    return math.fsum(sign.weight for sign in signs if sign.pattern.search(lower if sign.lower_case else text))


def _representative(text: str) -> str:
    if len(text) <= _FULL_READ_CHARS:
        return text
    size = _FULL_READ_CHARS // _WINDOWS - 1
    starts = [(len(text) - size) * window // (_WINDOWS - 1) for window in range(_WINDOWS)]
    return "\n".join(text[start : start + size] for start in starts)

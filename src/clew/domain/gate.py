"""Is a user's turn worth keeping for good?

The gate blends two views of a text by how technical it is. As conversation, a text counts by what
it adds to memory, by how often its subject comes back, and by how much it says about a person's
life and wishes. As technical work, it counts by the concrete things it names, by what it says was
done, and by what it defines. Everything is a number in [0, 1], whatever the input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.domain.gate_patterns import (
    ACTION_SIGNS,
    ARTEFACT_SIGNS,
    NATURAL_SIGNS,
    TECHNICAL_DENSITY_SIGNS,
    TECHNICAL_SATURATION,
    TECHNICAL_SIGNS,
    Sign,
)

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

_CHARS_PER_ARTEFACT_UNIT = 400
"""Artefacts are counted per hundred tokens, at four characters a token."""

_FULL_READ_CHARS = 6_000
"""A longer text is judged by this much of it. A turn that long is a paste, and its character shows in any part of
it; reading all of a megabyte would hold up the turns behind it."""
_WINDOWS = 4
"""How many pieces that much is taken in, evenly spread from the first character to the last."""

_CODE_SPANS = re.compile(
    r"^[ \t]{0,12}(?P<fence>```|~~~)(?s:.*?)(?:^[ \t]{0,12}(?P=fence)[^\n]{0,80}$|\Z)|`[^`\n]{1,300}`",
    re.MULTILINE,
)
"""Fenced blocks, to the end of the text where the fence is left open, and inline code."""

_CODE_SHAPES = re.compile(
    r"(?:(?:export |async |pub |public |private |static |abstract |final ){0,4}"
    r"(?:def|class|fn|func|function|interface|struct|enum|impl|trait|module|namespace|package)\b"
    r".{0,200}[:{(;]\s{0,8}$"
    r"|(?:if|elif|else|for|while|with|try|except|finally|switch|case|catch|match|do|unless|foreach)\b"
    r".{0,200}(?::|\{|\bthen|\bdo)\s{0,8}$"
    r"|from\s{1,4}[\w.]{1,120}\s{1,4}import\b"
    r"|import\s{1,4}[\w.]{1,120}(?: as \w{1,64})?(?:,\s?[\w.]{1,120}){0,20};?\s{0,8}$"
    r"|#include|#define|#!|//|/\*|\*/|@\w[\w.]{0,80}(?:\(.{0,200}\))?\s{0,8}$|\$ |>>> |</?[A-Za-z!]"
    r"|[\"'][\w.-]{1,80}[\"']\s{0,4}:"
    r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|FROM|WHERE|JOIN|GROUP BY|ORDER BY) )"
)
"""Beginnings of lines, after the indent, that are code whatever words they hold."""

_QUOTES_AND_COMMENTS = re.compile(r"\"[^\"]{0,300}\"|(?<!\w)'[^']{0,300}'(?!\w)|(?<!\S)(?://|#|--)\s.{0,400}")

_CODE_HINTS = re.compile(
    r"[;{}(\[\\]\s{0,8}$|[\])\d],\s{0,8}$"
    r"|[\w\])\s](?:[=!<>+*/-]?=|:=|=>|->|&&|\|\||::|\*\*)(?:[\s\w(\[{-]|$)"
    r"|[\w\])]\((?!s\)|es\))"
    r"|^\s{0,80}(?:return|raise|yield|throw|await|break|continue|pass|end|fi|done|esac|goto|begin|let|const|var)\b"
    r"|^(?: {4}|\t)"
)
"""Marks of code that also turn up in a sentence about code."""

_SENTENCE = re.compile(
    r"\b(?:[^\W\d_]{1,24}(?:['’][a-z]{1,2})?,? {1,3}){5}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}"
)

_IDENTIFIERS = re.compile(
    r"\bhttps?://\S{1,400}"
    r"|\b(?:[a-z]{1,32}[A-Z]\w{0,64}|[A-Z][a-z]{1,32}[A-Z]\w{0,64}|\w{0,64}_\w{0,64}"
    r"|[A-Za-z]\w{0,64}(?:\.[A-Za-z]\w{1,64}){1,6})(?:\(\))?"
    r"|(?<!\S)(?!\d{1,4}/\d)[\w.~-]{0,64}[/\\][\w.~/\\-]{1,400}"
)
"""Addresses, paths and names of code that stand in a sentence."""


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

    Similarities are calibrated to [0, 1]; what is outside is clamped, and what is not a number counts as
    unrelated.
    """
    memories = _nearest(memory_similarities, MEMORY_NEIGHBOURS)
    turns = _nearest(turn_similarities, TURN_NEIGHBOURS)
    novelty = 1.0 - math.fsum(memories) / len(memories) if memories else 1.0
    input_frequency = min(_count_from(turns, SAME_SUBJECT) / _TURNS_FOR_FREQUENT, 1.0)
    memory_saturation = min(_count_from(memories, ALREADY_KEPT) / _MEMORIES_FOR_SATURATED, 1.0)
    repetition = input_frequency * (1.0 - memory_saturation)

    text = _representative(text)
    natural = natural_density(text)
    named, done, defined = artefacts(text), actions(text), technical_density(text)
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


def technical_share(text: str) -> float:
    """How far a text is technical: code, paths, commands, addresses, traces, hashes."""
    return min(_weight_present(TECHNICAL_SIGNS, _representative(text)) / TECHNICAL_SATURATION, 1.0)


def natural_density(text: str) -> float:
    """How much a text says about wishes, people, dates, quantities and facts; code says nothing."""
    return min(_weight_present(NATURAL_SIGNS, prose(_representative(text))), 1.0)


def artefacts(text: str) -> float:
    """How many concrete things a text names for its length: files, functions, errors, commits, endpoints."""
    text = _representative(text)
    found = math.fsum(sign.weight * sum(1 for _ in sign.pattern.finditer(text)) for sign in ARTEFACT_SIGNS)
    return min(found / max(len(text) / _CHARS_PER_ARTEFACT_UNIT, 1.0), 1.0)


def actions(text: str) -> float:
    """How much a text says was decided, fixed, reached or set up."""
    return min(_weight_present(ACTION_SIGNS, _representative(text)), 1.0)


def technical_density(text: str) -> float:
    """How much a text defines: types, structures, dependencies, tests, documentation."""
    return min(_weight_present(TECHNICAL_DENSITY_SIGNS, _representative(text)), 1.0)


def prose(text: str) -> str:
    """What remains of a text without its code; empty where at least half of its lines are code."""
    lines = [line for line in _CODE_SPANS.sub(" ", text).splitlines() if line.strip()]
    spoken = [line for line in lines if not _is_code(line)]
    if 2 * len(spoken) <= len(lines):
        return ""
    if len(spoken) < len(lines):
        spoken = [line for line in spoken if not line.lstrip().startswith("#")]
    return _IDENTIFIERS.sub(" ", "\n".join(spoken))


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


def _is_code(line: str) -> bool:
    """Whether a line reads as code: by its shape, or by its operators unless a sentence stands around them."""
    if _CODE_SHAPES.match(line.lstrip()):
        return True
    bare = _QUOTES_AND_COMMENTS.sub(" ", line)
    return bool(_CODE_HINTS.search(bare)) and not _SENTENCE.search(_IDENTIFIERS.sub("", bare))

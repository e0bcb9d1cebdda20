"""Is a text written to steer the agent that reads it?

This is a marker and not the line of defence: authority comes from provenance, so that a text which goes unnoticed
here still gains nothing by its wording. What is noticed stays out of recall until someone has looked at it, so a
false alarm costs a good record. One strong sign is enough; weaker ones count where several stand close together.

Text is read as a model would read it: without characters that show nothing, in one form of each letter, with
letters of other alphabets and digits that stand in for Latin letters put back.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from clew.text.injection.patterns import OVERRIDE, SIGNS
from clew.text.injection.signs import TOGETHER_CHARS, Hit, Ruse, Signs
from clew.text.letters import one_form

THRESHOLD = 0.65
"""The score from which a text is suspicious."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why a text is taken for an attempt to steer its reader. Holds nothing of the text."""

    reason: str
    """One sentence about the strongest sign."""
    signals: tuple[str, ...]
    """The names of all signs that made the score, strongest first."""
    score: float


_ALL_SIGNS = Signs(SIGNS)
_OVERRIDE_ALONE = Signs([OVERRIDE])


def suspect(text: str) -> Suspicion | None:
    """What speaks for an injection, or None where too little does."""
    characters = frozenset() if text.isascii() else frozenset(text)
    hidden = list(_hidden_characters(text)) if characters & _UNSEEN else []
    plain = _plain(text, characters)
    hits = [*hidden, *_ALL_SIGNS.find(plain), *_disguised(plain), *_encoded(text, plain)]
    ruses = _strongest_group(sorted(hits, key=lambda hit: hit.place))
    score = _score(ruses)
    if score < THRESHOLD:
        return None
    return Suspicion(f"The text {ruses[0].does}.", tuple(ruse.name for ruse in ruses), score)


def _strongest_group(hits: Sequence[Hit]) -> list[Ruse]:
    """The ruses of the hits that stand close together and weigh most, heaviest first."""
    best: list[Ruse] = []
    first = 0
    near: dict[Ruse, int] = {}
    for hit in hits:
        near[hit.ruse] = near.get(hit.ruse, 0) + 1
        while hit.place - hits[first].place > TOGETHER_CHARS:
            near[hits[first].ruse] -= 1
            first += 1
        group = [ruse for ruse, count in near.items() if count]
        if _score(group) > _score(best):
            best = group
    return sorted(best, key=lambda ruse: (-ruse.weight, ruse.name))


def _score(ruses: Sequence[Ruse]) -> float:
    """The share of doubt that the ruses leave, taken from 1."""
    return 1.0 - math.prod(1.0 - ruse.weight for ruse in ruses)


# --- how it is written -----------------------------------------------------------------------------------

_UNSEEN_RANGES = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xE0000, 0xE01EF),
)  # fmt: skip
"""Characters that show nothing or only change how others show."""
_UNSEEN = frozenset(chr(code) for first, last in _UNSEEN_RANGES for code in range(first, last + 1))
_UNSEEN_CHARACTER = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _UNSEEN_RANGES) + "]")
_LONGEST_LIGATURE = "\ufdfa"
"""Stands for eighteen letters; no other character for more than eight."""
_ENTITY = re.compile(r"&(?:#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))|(lt|gt|amp|quot|nbsp|apos));", re.IGNORECASE)
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "nbsp": " ", "apos": "'"}
_CYRILLIC_OR_GREEK = frozenset(map(chr, range(0x370, 0x530)))
_STAND_INS = str.maketrans("аеорсухіјѕԁһӏкмтвнԛԝαορνικτυ", "aeopcyxijsdhlkmtbhqwaopviktu")
_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-z]")
_DIGITS_FOR_LETTERS = bytes.maketrans(b"0134578@$", b"oieastbas")
_SPACED_LETTERS = re.compile(r"[\s.*_-][a-z](?:[\s.*_-]{1,3}[a-z](?![a-z])){11,400}")
_SPACED_OVERRIDE = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|my)*(?:previous|prior|above|earlier|system)"
)


def _plain(text: str, characters: frozenset[str]) -> str:
    """The text in lower case, in the letters that a reader takes it for. `characters` are those of it, if not ASCII."""
    if "&" in text:
        text = _ENTITY.sub(_character, text)
    if not characters:
        return text.lower()
    if characters & _UNSEEN:
        text = _UNSEEN_CHARACTER.sub("", text)
    text = text.replace(_LONGEST_LIGATURE, " ")
    folded = one_form(text).lower().replace("’", "'")
    return folded.translate(_STAND_INS) if characters & _CYRILLIC_OR_GREEK and _MIXED.search(folded) else folded


def _character(entity: re.Match[str]) -> str:
    if entity[3]:
        return _ENTITIES[entity[3].lower()]
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(code) if code <= 0x10FFFF else ""


def _disguised(plain: str) -> Iterator[Hit]:
    """The oldest trick, with digits for letters or blanks between them."""
    undigited = plain.encode("latin-1", "replace").translate(_DIGITS_FOR_LETTERS).decode("latin-1")
    if any(
        undigited.count(verb) > plain.count(verb) for verb in ("ignore", "disregard", "forget", "override", "bypass")
    ):
        yield from _OVERRIDE_ALONE.find(undigited)
    for run in _SPACED_LETTERS.finditer(f" {plain}"):
        if _SPACED_OVERRIDE.search(re.sub(r"[\W_]+", "", run[0])):
            yield Hit(OVERRIDE.ruse, run.start())


# --- what is hidden --------------------------------------------------------------------------------------

_HIDDEN_TEXT = Ruse("hidden_text", 0.9, "carries text in characters that show nothing")
_SPLIT_WORDS = Ruse("split_words", 0.5, "parts the letters of its words by characters that show nothing")
_REVERSED = Ruse("reversed_text", 0.5, "turns round the order in which its letters show")
_ENCODED_TEXT = Ruse("encoded_text", 0.5, "holds orders in encoded form")

_TAG_LETTERS = re.compile(
    "[\U000e0020-\U000e007f](?<![\U0001f3f4\U000e0020-\U000e007f].)[\U000e0020-\U000e007f]{3}"
    "|[\U000e0020-\U000e007f][\U000e0020-\U000e007f]{11}",
    re.DOTALL,
)
"""Letters that only machines see. A few of them after a black flag are the flag of a region."""
_VARIATION_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef][\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}")
_ZERO_WIDTH_RUN = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff][\u200b-\u200f\u2060-\u2064\ufeff]{15,1023}")
_ZERO_WIDTH_SPLIT = re.compile("[\u200b-\u200d\u2060\ufeff][A-Za-z](?:[\u200b-\u200d\u2060\ufeff]{1,3}[A-Za-z]){3}")
_ORDER_OVERRIDE = re.compile("[\u202d\u202e][^\u202c\n]{2,200}")
_BASE64_RUN = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{24,4096}={0,2}")
_DECODING_WORDS = ("decod", "base64", "base 64", "解码")
_MOST_RUNS = 16


_HIDDEN = (
    (_HIDDEN_TEXT, _TAG_LETTERS),
    (_HIDDEN_TEXT, _VARIATION_RUN),
    (_SPLIT_WORDS, _ZERO_WIDTH_SPLIT),
    (_REVERSED, _ORDER_OVERRIDE),
)


def _hidden_characters(text: str) -> Iterator[Hit]:
    for ruse, pattern in _HIDDEN:
        if found := pattern.search(text):
            yield Hit(ruse, found.start())
    for run in _ZERO_WIDTH_RUN.finditer(text):
        if len(set(run[0])) > 1:
            yield Hit(_HIDDEN_TEXT, run.start())
            return


def _encoded(text: str, plain: str) -> Iterator[Hit]:
    """Orders in base64, in a text that speaks of decoding."""
    if not any(word in plain for word in _DECODING_WORDS):
        return
    for run in islice(_BASE64_RUN.finditer(text), _MOST_RUNS):
        inside = {hit.ruse for hit in _ALL_SIGNS.find(_decoded(run[0]).lower())}
        yield from (Hit(ruse, run.start()) for ruse in (inside and inside | {_ENCODED_TEXT}))


def _decoded(run: str) -> str:
    bare = run.rstrip("=")
    try:
        return base64.b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "==").decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""

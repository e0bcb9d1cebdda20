"""Chooses the statements of a stretch of history that are worth their room.

A statement is worth what it tells that nothing chosen before it told. Rare terms tell most;
identifiers, paths, numbers and names more than other words; decisions, dates, preferences and
questions raise the whole statement. Statements are taken by worth for their length until the room is
used up. Terms heard often enough stop counting, which keeps repetition out.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from clew.text import sentences
from clew.text.grading import signs as gate_patterns
from clew.text.terms import analyse

_DECISION = re.compile(
    r"\b(?:decid(?:e|ed|es|ing)|decision|agreed|agreement|chose|chosen|settled on|opted|approved|concluded?|instead of"
    r"|switch(?:ed|ing) (?:to|from)|no longer|root cause|turns? out|let's (?:use|go|keep|take|do)|deadline|promised?"
    r"|(?:we|you|i) (?:must|should always|will (?:use|keep|take|go))|from now on)\b"
    r"|决定|決定|同意|选择了|選擇了|改用|改为|必须|不再|決め|合意|変更|必ず|결정|합의|변경|반드시",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,;:'’] )[A-ZÀ-ÖØ-ÞА-Я][\w'’-]{1,40}")
_QUESTION = re.compile(r"[?？][!！?？\"'”’」』*_]{0,4}$|(?:吗|呢|ですか|ますか|습니까|나요)[。.!！]?$")
_FILLER = re.compile(
    r"(?:oh|ah|wow|hey|hi|hello|thanks|thank you|ok|okay|yes|yeah|yep|no|sure|great|nice|cool|awesome|perfect|good"
    r"|right|hm+|mm|uh|um|well|lol|haha|sounds good|of course|bye|got it|you're welcome|absolutely|totally|exactly"
    r"|definitely)\b",
    re.IGNORECASE,
)

_NARRATION = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|alright|right|now|then|next|first|finally|so|and|but|also|wait|actually)"
    r"[,!. ]{1,3}){0,3}(?:(?:now )?let(?:'s| me| us)\b|i(?:'ll| will| need to| should|'m going to)\b|now\b)",
    re.IGNORECASE,
)
"""How an assistant begins to say what it is about to do. What it did is told from its calls."""
_REACTION = re.compile(
    r"(?:wow|aw+|oh|ah|yay|woo|congrats?|thanks?|thank you|that(?:'s| is| sounds?| looks?| must)|(?:it |this )?sounds?"
    r"|looks?|so (?:happy|glad|cool|great|sorry)|what a|how (?:cool|nice|great|lovely)|glad|good (?:luck|job|for you)"
    r"|nice|no prob"
    r"|you(?:'re| are) (?:right|welcome|absolutely|so)|i(?:'m| am) (?:so |really )?(?:glad|happy|sorry|proud)"
    r"|it(?:'s| was| is) (?:so |really |such |pretty |very |quite )?"
    r"(?:a |an )?(?:great|awesome|amazing|cool|nice|fun|good|wonderful|lovely|blast|incredible)|keep (?:it )?up"
    r"|can't wait)\b",
    re.IGNORECASE,
)
"""How a reaction to what somebody else said begins."""
_OF_SPEAKER = re.compile(
    r"\b(?:i|we|my|our|i'm|i've|i'll|we're|we've|we'll|me)\b|我|私|僕|俺|우리|내가|나는|저는", re.IGNORECASE
)
"""A person tells of themselves, or of a group they belong to."""
_TELLS_FIRST = re.compile(r"(?:i|we|my|our|i'm|i've|i'll|we're|we've|we'll)\b[^,;]{4,200}[,;]", re.IGNORECASE)
"""A question behind something that the speaker tells."""
_WORD = re.compile(r"\w+")
_EXACT = re.compile(r"[\d_/#`]|\w\.\w")
_FEW_WORDS = 2
_REACTION_WORDS = 14

_SIGNS = {sign.name: sign for sign in (*gate_patterns.NATURAL_SIGNS, *gate_patterns.ACTION_SIGNS)}
_EXACT_WEIGHT, _NAME_WEIGHT = 1.5, 1.6
_USED_LATER = 1.2
_RAISED_BY_DECISION = 1.25
_RAISED_BY_SIGN = 1.1
_RAISED_BY_SPEAKER = 1.3
_LOWERED_BY_FILLER = 0.5
_LOWERED_BY_REACTION = 0.35
_HEARD_AGAIN = 0.5
"""What a term still counts for when it was told before."""


_LINE_BYTES = 4
_BREATH_BYTES = 40
"""Added to every length when worths are compared: a scrap of two words is no statement, however rare they are."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One quotable piece of history."""

    who: str
    ts_ms: int
    text: str
    turn: int
    """The place of its source."""
    factor: float = 1.0
    """What its kind makes of its worth: an error counts more than other output of tools."""
    is_reply: bool = False
    """Whether the assistant said it."""


def is_idle(text: str) -> bool:
    """Whether a statement says nothing by itself: a word or two, with no name, number or question in them."""
    words = _WORD.findall(text)
    if _EXACT.search(text) or is_question(text) or not text.isascii():
        return False
    return len(words) <= _FEW_WORDS or (len(words) <= 2 * _FEW_WORDS and _FILLER.match(text) is not None)


def only_asks(text: str) -> bool:
    """Whether a text is made of questions, and of idle words around them.

    "I don't mind, but why there?" says something before it asks, and "Great, except I don't like beer" is not idle.
    """
    pieces = sentences.split(text)
    asked = [piece for piece in pieces if is_question(piece)]
    rest = [piece for piece in pieces if not is_question(piece)]
    return bool(asked) and all(map(_is_empty, rest)) and not any(map(_TELLS_FIRST.match, asked))


def _is_empty(piece: str) -> bool:
    """Whether a piece says nothing but that somebody listens."""
    if is_idle(piece):
        return True
    is_courtesy = _REACTION.match(piece) or _FILLER.match(piece)
    return is_courtesy is not None and not _OF_SPEAKER.search(piece, is_courtesy.end())


def is_narration(text: str) -> bool:
    """Whether an assistant only says what it is about to do."""
    return _NARRATION.match(text) is not None


def is_question(text: str) -> bool:
    return _QUESTION.search(text) is not None


@lru_cache(maxsize=4096)
def terms_of(text: str) -> tuple[str, ...]:
    """The distinct terms of a text, in a fixed order. A statement is looked at several times, so they are kept."""
    return tuple(analyse(text))


def choose(
    statements: Sequence[Statement],
    room: int,
    heard: Sequence[str] = (),
    used_later: AbstractSet[str] = frozenset(),
) -> list[int]:
    """Places of the statements to keep within that many bytes of text, in order.

    `heard` is what the reader has been told before: its terms count as told. `used_later` are terms that come up again
    afterwards: exact ones among them count more.
    """
    told = {term for text in heard for term in terms_of(text)}
    worths = [_Worth(terms_of(statement.text), _raise(statement)) for statement in statements]
    return _greedy(statements, worths, _term_weights(statements, used_later), told, room)


@dataclass(frozen=True, slots=True)
class _Worth:
    terms: tuple[str, ...]
    factor: float


def size(statement: Statement) -> int:
    """Bytes of a statement on a line of its own, with who said it."""
    return len(statement.text.encode("utf-8", "replace")) + len(statement.who) + _LINE_BYTES


def _greedy(
    statements: Sequence[Statement], worths: list[_Worth], weights: dict[str, float], told: set[str], room: int
) -> list[int]:
    """Best worth for its size first. A worth only falls as more is told, so a stale one is an upper bound."""
    sizes = [size(statement) for statement in statements]
    queue = [(-math.inf, place, -1) for place in range(len(statements))]
    chosen: list[int] = []
    left = room
    while queue:
        _, place, seen = heapq.heappop(queue)
        if sizes[place] > left:
            continue
        if seen != len(chosen):
            gain = _gain(worths[place], weights, told) / (sizes[place] + _BREATH_BYTES)
            if gain > 0:
                heapq.heappush(queue, (-gain, place, len(chosen)))
            continue
        chosen.append(place)
        left -= sizes[place]
        told.update(worths[place].terms)
    return sorted(chosen)


def _gain(worth: _Worth, weights: dict[str, float], told: set[str]) -> float:
    return worth.factor * sum(weights[term] * (_HEARD_AGAIN if term in told else 1.0) for term in worth.terms)


def _term_weights(statements: Sequence[Statement], used_later: AbstractSet[str]) -> dict[str, float]:
    """Rarity over the turns, raised for what is exact."""
    turns: dict[str, set[int]] = {}
    for statement in statements:
        for term in terms_of(statement.text):
            turns.setdefault(term, set()).add(statement.turn)
    names = {name.casefold() for statement in statements for name in _NAME.findall(statement.text)}
    stems = {term for name in names for term in terms_of(name)}
    total = 1 + len({statement.turn for statement in statements})
    return {
        term: math.log(1 + total / len(found)) * _kind_weight(term, stems, used_later) for term, found in turns.items()
    }


def _kind_weight(term: str, names: set[str], used_later: AbstractSet[str]) -> float:
    if term[0] == "=" or term[0].isdigit():
        return _EXACT_WEIGHT * (_USED_LATER if term in used_later else 1.0)
    return _NAME_WEIGHT if term in names else 1.0


def _raise(statement: Statement) -> float:
    factor = statement.factor
    lowered = statement.text.lower()
    if _DECISION.search(statement.text):
        factor *= _RAISED_BY_DECISION
    for sign in _SIGNS.values():
        if sign.pattern.search(lowered if sign.lower_case else statement.text):
            factor *= _RAISED_BY_SIGN
    if not statement.is_reply and _OF_SPEAKER.search(statement.text) and not is_question(statement.text):
        factor *= _RAISED_BY_SPEAKER
    if _REACTION.match(statement.text) and len(_WORD.findall(statement.text)) <= _REACTION_WORDS:
        factor *= _LOWERED_BY_REACTION
    elif _FILLER.match(statement.text) or statement.text.endswith((":", "：")):
        factor *= _LOWERED_BY_FILLER
    return factor

"""Rules that people lay down in passing, among other talk: `Deploys go through staging first, always.`

The deontic lexer reads instruction files, whose sentences are rules more often than not. In talk most are none, and
those that are seldom say `must`. So this reader looks for signs, each with points for or against a rule, and for words
that are frequent in rules or in other talk; a sentence that scores above zero is a rule. Near that line the words leave
it open, and whoever can compare meanings settles it. Each language has its own words; the signs are the same for all.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from clew.text.deontic.scan import Sentence, sentences
from clew.text.own_text import without_own
from clew.text.rules.asian import CHINESE, JAPANESE, KOREAN
from clew.text.rules.english import ENGLISH
from clew.text.rules.european import FRENCH, GERMAN, SPANISH
from clew.text.rules.features import features_of
from clew.text.rules.reader import signs_of
from clew.text.rules.replacing import RuleText, replaces
from clew.text.rules.signs import THRESHOLD, Sign
from clew.text.rules.weights import weights
from clew.text.speech import own_words

__all__ = [
    "CLEAR_POINTS",
    "HINT_SCORE",
    "MAX_HINTS",
    "SURE_SCORE",
    "Reading",
    "Said",
    "Sign",
    "Turn",
    "is_sure",
    "readings",
    "replaces_turn",
]

HINT_SCORE = -3.0
"""A sentence below this does not even hint at a rule."""

SURE_SCORE = 2.5
"""From here on the words leave no doubt."""

CLEAR_POINTS = 0.0
"""Where the signs have so many points above those of a rule, a score above zero leaves no doubt."""

MAX_HINTS = 8
"""Sentences of one turn that are worth a comparison of meanings."""

_SHORT_TURN_WORDS = 80
"""In a turn of at most so many words, the sentences around a rule belong to it."""

_ENGLISH = "en"
_LATIN = {_ENGLISH: ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}
_SCRIPTS = (
    ("ko", re.compile("[\uac00-\ud7af]"), KOREAN),
    ("ja", re.compile("[\u3040-\u30ff]"), JAPANESE),
    ("zh", re.compile("[\u3400-\u9fff]"), CHINESE),
)
_WORDS_READ = 200
_PATTERN_CHARS = 600
"""Of a sentence in a script without spaces; a longer one is hardly one rule."""

_OF_OTHERS = frozenset({Sign.PAST, Sign.REPORT})

_LIMITING = frozenset({Sign.OCCASION, Sign.OURS})
"""Signs of a rule that holds for some occasion, or at some place."""


def is_sure(points: float, score: float) -> bool:
    return score >= (0.0 if points >= CLEAR_POINTS else SURE_SCORE)


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, and how much it is a rule."""

    text: str
    signs: frozenset[Sign]
    points: float
    """Of its signs, above those that a rule needs."""
    score: float
    """Above zero for a rule, by its words alone."""
    is_english: bool

    @property
    def is_rule(self) -> bool:
        """Whether the words alone make it a rule."""
        return self.score >= 0 and not self._is_told

    @property
    def is_sure(self) -> bool:
        """Whether the words leave no doubt that it is one."""
        return is_sure(self.points, self.score) and not self._is_told

    @property
    def _is_told(self) -> bool:
        """Whether it tells what was, or what others say, and no sign is strong enough to make a rule of that."""
        return self.points < CLEAR_POINTS and not self.signs.isdisjoint(_OF_OTHERS)

    @property
    def hints(self) -> bool:
        """Whether the words leave it open, for somebody who can compare meanings; they are known for English alone."""
        is_open = self.score >= HINT_SCORE and not self.is_sure and not self._is_told
        return self.is_english and Sign.ASKS not in self.signs and is_open

    @property
    def is_general(self) -> bool:
        """Whether it holds whatever the task: it is about how an assistant speaks, and names no occasion."""
        return Sign.FORM in self.signs and self.signs.isdisjoint(_LIMITING)

    @property
    def forbids(self) -> bool:
        return Sign.BAN in self.signs


@dataclass(frozen=True, slots=True)
class Turn:
    """A user's own words, sentence by sentence: without pastes, quotes, and what Clew itself put there."""

    words: str
    sentences: tuple[Said, ...]

    @classmethod
    def read(cls, text: str) -> Turn:
        own = own_words(without_own(text))
        return cls(own, tuple(map(_judge, readings(own))))

    @property
    def rules(self) -> list[Said]:
        """The sentences that are rules by their words alone."""
        return [said for said in self.sentences if said.is_rule]

    @property
    def hints(self) -> list[Said]:
        """The sentences that may be rules, the likeliest first."""
        found = [said for said in self.sentences if said.hints]
        return sorted(found, key=lambda said: -said.score)[:MAX_HINTS]


def replaces_turn(later: Turn, earlier: Turn) -> bool:
    """Whether each rule of the earlier turn gives way to one of the later turn."""
    new, old = _rule_texts(later), _rule_texts(earlier)
    return bool(old) and all(any(replaces(rule, given) for rule in new) for given in old)


def _rule_texts(turn: Turn) -> list[RuleText]:
    around = turn.words if len(turn.words.split()) <= _SHORT_TURN_WORDS else ""
    rules = turn.rules or turn.hints or turn.sentences
    return [RuleText(said.text, around or said.text, said.forbids) for said in rules]


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence as it was read: what the weights are applied to."""

    sentence: Sentence
    text: str
    mark: str
    """The character behind it."""
    signs: frozenset[Sign]
    language: str

    @property
    def points(self) -> float:
        return sum(sign.points for sign in self.signs) - THRESHOLD

    def features(self, known: Container[str]) -> set[str]:
        return features_of(self.sentence, self.mark, self.language, known)


def readings(own: str) -> Iterator[Reading]:
    """Each sentence of somebody's own words."""
    found = list(sentences(own))
    language = _language_of(found)
    for sentence in found:
        start, end = sentence.words[0].start, sentence.words[-1].end
        said = own[start : end + 1][:_PATTERN_CHARS]
        script = next(((name, patterns) for name, script, patterns in _SCRIPTS if script.search(said)), None)
        if script is None:
            signs = signs_of(sentence, _LATIN[language])
        else:
            signs = {sign for sign, pattern in script[1].items() if pattern.search(said)}
        name = language if script is None else script[0]
        yield Reading(sentence, own[start:end], own[end : end + 1], frozenset(signs), name)


def _judge(reading: Reading) -> Said:
    known = weights()
    score = known.score(reading.points, reading.features(known.words), reading.language)
    return Said(reading.text, reading.signs, reading.points, score, reading.language == _ENGLISH)


def _language_of(found: Sequence[Sentence]) -> str:
    """The one that knows most of the words; English where none does."""
    words = [word.text for sentence in found for word in sentence.words][:_WORDS_READ]
    return max(_LATIN, key=lambda name: sum(word in _LATIN[name].vocabulary for word in words))

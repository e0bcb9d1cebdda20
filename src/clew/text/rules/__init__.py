"""Rules that people lay down in passing, among other talk: `Deploys go through staging first, always.`

The deontic lexer reads instruction files, whose sentences are rules more often than not. In talk most are none, and
those that are seldom say `must`. So this reader counts points: some signs speak for a rule, others against one, and a
sentence with enough points is a rule. Near that line the words leave it open, and whoever can compare meanings settles
it. Each language has its own words; the signs and their points are the same for all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.text.deontic.scan import Sentence, sentences
from clew.text.own_text import without_own
from clew.text.rules.asian import CHINESE, JAPANESE, KOREAN
from clew.text.rules.english import ENGLISH
from clew.text.rules.european import FRENCH, GERMAN, SPANISH
from clew.text.rules.reader import signs_of
from clew.text.rules.replacing import RuleText, replaces
from clew.text.rules.signs import THRESHOLD, Language, Sign
from clew.text.speech import own_words

__all__ = ["HINT_SCORE", "MAX_HINTS", "Said", "Sign", "Turn", "replaces_turn"]

HINT_SCORE = -2.0
"""A sentence below this does not even hint at a rule."""

SURE_SCORE = 2.0
"""From here on the words leave no doubt."""

MAX_HINTS = 8
"""Sentences of one turn that are worth a comparison of meanings."""

_SHORT_TURN_WORDS = 80
"""In a turn of at most so many words, the sentences around a rule belong to it."""

_ALONE = 1.0
"""Points for a sentence in another language than English: nobody compares its meaning, the words have to do alone."""

_LATIN = (ENGLISH, GERMAN, FRENCH, SPANISH)
_SCRIPTS = (
    (re.compile("[\uac00-\ud7af]"), KOREAN),
    (re.compile("[\u3040-\u30ff]"), JAPANESE),
    (re.compile("[\u3400-\u9fff]"), CHINESE),
)
_WORDS_READ = 200
_PATTERN_CHARS = 600
"""Of a sentence in a script without spaces; a longer one is hardly one rule."""

_LIMITING = frozenset({Sign.OCCASION, Sign.OURS})
"""Signs of a rule that holds for some occasion, or at some place."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, and how much it is a rule."""

    text: str
    signs: frozenset[Sign]
    score: float
    """Points above those that make a rule."""
    is_english: bool

    @property
    def is_rule(self) -> bool:
        """Whether the signs alone make it a rule."""
        return self.score >= 0

    @property
    def hints(self) -> bool:
        """Whether the words leave it open, for somebody who can compare meanings: the examples are in English."""
        return self.is_english and Sign.ASKS not in self.signs and HINT_SCORE <= self.score < SURE_SCORE

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
        found = list(sentences(own))
        language = _language_of(found)
        return cls(own, tuple(_read(own, sentence, language) for sentence in found))

    @property
    def rules(self) -> list[Said]:
        """The sentences that are rules by their signs alone."""
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


def _read(text: str, sentence: Sentence, language: Language) -> Said:
    start, end = sentence.words[0].start, sentence.words[-1].end
    said = text[start : end + 1][:_PATTERN_CHARS]
    patterns = next((patterns for script, patterns in _SCRIPTS if script.search(said)), None)
    if patterns is None:
        signs = frozenset(signs_of(sentence, language))
    else:
        signs = frozenset(sign for sign, pattern in patterns.items() if pattern.search(said))
    is_english = patterns is None and language is ENGLISH
    points = sum(sign.points for sign in signs) + (0.0 if is_english else _ALONE)
    return Said(text[start:end], signs, points - THRESHOLD, is_english)


def _language_of(found: Sequence[Sentence]) -> Language:
    """The one that knows most of the words; English where none does."""
    words = [word.text for sentence in found for word in sentence.words][:_WORDS_READ]
    return max(_LATIN, key=lambda language: sum(word in language.vocabulary for word in words))

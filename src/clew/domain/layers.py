"""A text at three depths: one line, a short overview, the whole.

A reader decides by the line, works with the overview, and opens the whole where it matters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from clew.domain.excerpt import excerpt
from clew.domain.framing import CUT_MARK

LINE_CHARS = 160
OVERVIEW_CHARS = 400

SHORT_CHARS = 640
"""A text of up to so many characters is its own overview: cutting it would save little and lose the rest."""

_BLANKS = re.compile(r"\s+")


class Layer(StrEnum):
    LINE = "L0"
    OVERVIEW = "L1"
    WHOLE = "L2"


def one_line(text: str, max_chars: int = LINE_CHARS) -> str:
    """The beginning of a text on one line."""
    flat = _BLANKS.sub(" ", text[: max_chars * 4]).strip()
    return (
        flat if len(flat) <= max_chars and len(text) <= max_chars * 4 else flat[: max_chars - len(CUT_MARK)] + CUT_MARK
    )


def overview(text: str, words: Sequence[str]) -> str:
    """The text itself where it is short; otherwise the part of it that the words ask about."""
    return text if len(text) <= SHORT_CHARS else excerpt(text, words, OVERVIEW_CHARS)

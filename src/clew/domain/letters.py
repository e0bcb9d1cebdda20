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

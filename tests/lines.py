"""Lines of a frame, read back."""

from __future__ import annotations

import json
from typing import Any


def read(line: str) -> dict[str, Any]:
    """What a line says, by name; whatever is no line of a frame breaks this."""
    number, when, who, text, *rest = json.loads(line)
    assert isinstance(number, int)
    assert all(isinstance(value, str) for value in (when, who, text))
    notes: dict[str, str] = {}
    if rest:
        (notes,) = rest
        assert notes
        assert notes.keys() <= {"trust", "dissent", "superseded", "payload", "more", "ref"}
        assert all(isinstance(value, str) and value for value in notes.values())
    return {"n": number, "when": when, "who": who, "text": text} | notes

"""Lines of a frame, read back."""

from __future__ import annotations

import json
from typing import Any


def read(line: str) -> dict[str, Any]:
    """The fields of a line, by name. Fails on anything that is no line of a frame."""
    number, when, who, text, *rest = json.loads(line)
    assert isinstance(number, int)
    assert all(isinstance(value, str) for value in (when, who, text))
    return {"n": number, "when": when, "who": who, "text": text} | _notes(rest)


def read_opened(framed: str) -> list[dict[str, Any]]:
    """The turns of an expansion's frame, each with the time above it."""
    turns: list[dict[str, Any]] = []
    when = ""
    for first, *others in map(json.loads, framed.split("\n")[1:-1]):
        assert isinstance(first, str)
        if not others:
            when = first
            continue
        text, *rest = others
        assert isinstance(text, str)
        turns.append({"when": when, "who": first, "text": text} | _notes(rest))
    return turns


def _notes(rest: list[Any]) -> dict[str, str]:
    if not rest:
        return {}
    (notes,) = rest
    assert notes
    assert notes.keys() <= {"trust", "dissent", "superseded", "payload", "more", "ref"}
    assert all(isinstance(value, str) and value for value in notes.values())
    return dict(notes)

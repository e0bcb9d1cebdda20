"""A real coding session of an agent: what was said, each call of a tool and what the tool gave back.

A memory that serves an agent holds more code, paths, logs and error messages than talk, and is asked for them by name
as well as by what they were about.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from msgspec import Struct

from bench.retrieval.corpus import Corpus, Turn
from bench.retrieval.files import read_lines
from bench.retrieval.labels import questions_about

FILE = Path("normalized", "pi_large-session.jsonl.gz")
LONGEST_CHARS = 4_000
"""What a turn is cut to. A handful of whole files that were read are longer, and no question asks what lies behind."""

_KEPT = {"text", "tool_call", "tool_result"}


def read(path: Path) -> list[Corpus]:
    """The session in the folder of agent sessions, as one corpus of one session."""
    items = [item for item in read_lines(path / FILE, _Item) if item.kind in _KEPT]
    names = {str(item.i): f"t{number}" for number, item in enumerate(items, 1)}
    turns = tuple(_turn(names[str(item.i)], item) for item in items)
    return [Corpus("tools", turns, questions_about(path / FILE, "tools", names))]


class _Item(Struct):
    i: int
    ts: datetime
    role: str
    kind: str
    text: str
    tool: str | None = None


def _turn(name: str, item: _Item) -> Turn:
    text = f"{item.tool} {item.text}" if item.kind == "tool_call" else item.text
    return Turn(name, "s1", item.role, None, text[:LONGEST_CHARS], int(item.ts.timestamp() * 1000))

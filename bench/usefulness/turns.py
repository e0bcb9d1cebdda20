"""The turns of users in the labelled files, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.retrieval.files import read_json, read_lines
from bench.usefulness.labels import Data


@dataclass(frozen=True, slots=True)
class Turn:
    conversation: str
    place: str
    """Its file and its position there, as the labels name them."""
    text: str
    speaker: str | None = None


def user_turns(data: Data, name: str) -> Iterator[Turn]:
    """Those of one labelled file."""
    return READERS[name](data.path(name))


def _coding(path: Path) -> Iterator[Turn]:
    for number, row in enumerate(read_lines(path, dict[str, Any])):
        message = row.get("message") or {}
        if message.get("role") == "user":
            content = message["content"]
            parts = [content] if isinstance(content, str) else [part.get("text", "[image]") for part in content]
            yield Turn("coding", f"coding:{number}", "\n".join(parts))


def _locomo(path: Path) -> Iterator[Turn]:
    for given in read_json(path, list[dict[str, Any]]):
        sessions = given["conversation"]
        numbers = sorted(int(key[8:]) for key in sessions if key.startswith("session_") and key[8:].isdigit())
        for said in (said for number in numbers for said in sessions[f"session_{number}"]):
            caption = said.get("blip_caption")
            text = f"{said['text']} [image: {caption}]" if caption else said["text"]
            yield Turn(given["sample_id"], f"locomo:{given['sample_id']}:{said['dia_id']}", text, said["speaker"])


def _longmemeval(path: Path) -> Iterator[Turn]:
    for given in read_json(path, list[dict[str, Any]]):
        name = given["question_id"]
        for session, said in enumerate(given["haystack_sessions"]):
            for number, turn in enumerate(said):
                if turn["role"] == "user":
                    yield Turn(name, f"longmemeval:{name}:{session}:{number}", turn["content"])


READERS: dict[str, Callable[[Path], Iterator[Turn]]] = {
    "coding": _coding,
    "locomo": _locomo,
    "longmemeval": _longmemeval,
}

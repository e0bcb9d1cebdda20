"""Labels of `bench/labels/usefulness`: places in the data files, by the hash of the file and the position in it.

The texts stay in the data folder. A third of every set is marked unseen: it was not looked at while Clew was built, and
is counted only when asked for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bench.retrieval.files import read_json, read_lines
from clew.errors import InvalidInput

LABELS = Path(__file__).parent.parent / "labels" / "usefulness"


class Row(NamedTuple):
    """One measured figure, with what it should be."""

    name: str
    value: float
    aim: str = ""


def rows_of(name: str, *, unseen: bool | None) -> Iterator[dict[str, Any]]:
    """The labels of one set: the seen part, the unseen part, or with None both."""
    for row in read_lines(LABELS / f"{name}.jsonl", dict[str, Any]):
        if unseen is None or row["unseen"] is unseen:
            yield row


def print_rows(rows: Iterable[Row]) -> None:
    for row in rows:
        print(f"{row.name:<76} {row.value:7.3f}  {row.aim}".rstrip())


@dataclass(frozen=True)
class Data:
    """The labelled files, checked against their hashes."""

    folder: Path
    labels: Path = LABELS

    def path(self, name: str) -> Path:
        known = json.loads((self.labels / "files.json").read_text("utf-8"))[name]
        path = self.folder / str(known["path"])
        if hashlib.sha256(path.read_bytes()).hexdigest() != known["sha256"]:
            raise InvalidInput(f"{path} is not the file that was labelled")
        return path

    @cached_property
    def coding(self) -> list[dict[str, Any]]:
        return list(read_lines(self.path("coding"), dict[str, Any]))

    @cached_property
    def meetings(self) -> list[dict[str, Any]]:
        return list(read_lines(self.path("qmsum"), dict[str, Any]))

    @cached_property
    def conversations(self) -> dict[str, dict[str, Any]]:
        return {item["sample_id"]: item for item in read_json(self.path("locomo"), list[dict[str, Any]])}

    def quote(self, label: dict[str, Any]) -> str:
        """The words that a label points at."""
        return self._text(label)[label["start"] : label["end"]]

    def _text(self, label: dict[str, Any]) -> str:
        if label["file"] == "coding":
            content = self.coding[int(label["at"])]["message"]["content"]
            block = {"text": content} if isinstance(content, str) else content[label["block"]]
            return str(block["arguments"][label["argument"]] if "argument" in label else block["text"])
        group, _, turn = label["at"].partition(":")
        if label["file"] == "qmsum":
            return str(self.meetings[int(group)]["meeting_transcripts"][int(turn)]["content"])
        return str(self._said(group)[turn])

    def turn_ids(self, conversation: str) -> list[str]:
        """The ids of a conversation's turns, in order."""
        return list(self._said(conversation))

    def _said(self, conversation: str) -> dict[str, str]:
        spoken = self.conversations[conversation]["conversation"]
        numbers = sorted(int(key.removeprefix("session_")) for key in spoken if re.fullmatch(r"session_\d+", key))
        turns = (turn for number in numbers for turn in spoken[f"session_{number}"])
        return {turn["dia_id"]: turn["text"] for turn in turns}

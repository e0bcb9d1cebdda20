"""LoCoMo: long conversations of two people over many sessions, with questions and the turns that answer them.

Both people speak in the user's name, each under their own: what either said may be asked for. A picture counts by its
caption. Some labels hold several turns in one string, or half of one; a turn that does not exist is no evidence.
Files with an audit of the labels give the corrected evidence beside the published one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.files import read_json
from clew.errors import InvalidInput

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_SESSION = re.compile(r"session_(\d{1,6})")
_LABEL = re.compile(r"D\d{1,6}:\d{1,6}")
_DATE = "%I:%M %p on %d %B, %Y"


def read(path: Path) -> list[Corpus]:
    """Every conversation of the file, under the name it has there."""
    return [_corpus(path, conversation) for conversation in read_json(path, list[_Conversation])]


class _Said(Struct):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Audit(Struct):
    correct_evidence: list[str] | None = None


class _Asked(Struct):
    question: str
    category: int
    evidence: list[str] | None = None
    audit: _Audit | None = None
    gold_excluded: bool | None = None


class _Conversation(Struct):
    sample_id: str
    conversation: dict[str, Any]
    qa: list[_Asked]


def _corpus(path: Path, given: _Conversation) -> Corpus:
    turns: list[Turn] = []
    names: dict[str, str] = {}
    try:
        for session, ts_ms, said in _said(given.conversation):
            name = f"t{len(turns) + 1}"
            names[said.dia_id] = name
            text = " ".join(filter(None, (said.text, said.blip_caption)))
            turns.append(Turn(name, session, "user", said.speaker, text, ts_ms))
    except (KeyError, ValueError, msgspec.ValidationError) as error:
        raise InvalidInput(f"{path}: conversation {given.sample_id} is not as LoCoMo has it: {error}") from error
    questions = [_question(number, asked, names) for number, asked in enumerate(given.qa, 1)]
    counted = tuple(question for question in questions if question.evidence or question.audited)
    return Corpus(given.sample_id, tuple(turns), counted)


def _said(conversation: Mapping[str, Any]) -> Iterator[tuple[str, int, _Said]]:
    """Every turn with its session and the time of that session, oldest session first."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for place, number in enumerate(numbers, 1):
        at = datetime.strptime(conversation[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        for said in msgspec.convert(conversation[f"session_{number}"], list[_Said]):
            yield f"s{place}", int(at.timestamp() * 1000), said


def _question(number: int, asked: _Asked, names: Mapping[str, str]) -> Question:
    published = _evidence(asked.evidence, names)
    corrected = _evidence(asked.audit.correct_evidence if asked.audit else None, names)
    audited = frozenset[str]() if asked.gold_excluded else corrected or published
    kind = KINDS.get(asked.category, f"category {asked.category}")
    return Question(f"q{number}", asked.question, kind, published, audited)


def _evidence(labels: Sequence[str] | None, names: Mapping[str, str]) -> frozenset[str]:
    found = (label for string in labels or () for label in _LABEL.findall(string))
    return frozenset(names[label] for label in found if label in names)

"""LongMemEval: one question each over a haystack of some fifty sessions, a few of which hold the answer.

What is measured is retrieval of sessions, as in the reduced sets: a session is one turn, the user's side of it, with
its date. Two forms are read: a folder of haystacks and session texts, each kept once though many haystacks share
it; and the published file, with whole sessions inside each question. Names of sessions give the answer away there,
so none is kept. Questions that should be answered with "not known" are left out of the audited figures, as the
authors of the set do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.files import read_json, read_lines
from clew.errors import InvalidInput

HAYSTACKS = "s_haystacks_ids.jsonl.gz"
SESSIONS = "s_sessions_user500.jsonl.gz"

_UNANSWERABLE = "_abs"


def read(path: Path) -> list[Corpus]:
    """One corpus a question: each has a haystack of its own."""
    haystacks = _from_folder(path) if path.is_dir() else _from_file(path)
    return [_corpus(path, number, *haystack) for number, haystack in enumerate(haystacks, 1)]


class _Asked(Struct):
    question_id: str
    question_type: str
    question: str
    question_date: str
    answer_session_ids: list[str]


class _Row(_Asked):
    haystack: list[tuple[str, str]]
    """Ids and dates of sessions."""


class _Session(Struct):
    session_id: str
    user_text_500: str


class _Message(Struct):
    role: str
    content: str


class _Whole(_Asked):
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[list[_Message]]


_Told = tuple[str, str, str]
"""A session: its id in the file, its date, its text."""


def _from_folder(folder: Path) -> Iterator[tuple[_Asked, list[_Told]]]:
    texts = {row.session_id: row.user_text_500 for row in read_lines(folder / SESSIONS, _Session)}
    for row in read_lines(folder / HAYSTACKS, _Row):
        yield row, [(name, date, _text(folder, texts, name)) for name, date in row.haystack]


def _text(folder: Path, texts: Mapping[str, str], name: str) -> str:
    if name not in texts:
        raise InvalidInput(f"{folder / SESSIONS} lacks the session {name}")
    return texts[name]


def _from_file(path: Path) -> Iterator[tuple[_Asked, list[_Told]]]:
    for row in read_json(path, list[_Whole]):
        if not len(row.haystack_session_ids) == len(row.haystack_dates) == len(row.haystack_sessions):
            raise InvalidInput(f"{path}: {row.question_id} has not as many sessions as ids and dates of them")
        texts = map(_of_the_user, row.haystack_sessions)
        yield row, list(zip(row.haystack_session_ids, row.haystack_dates, texts, strict=True))


def _of_the_user(messages: Iterable[_Message]) -> str:
    return "\n".join(message.content for message in messages if message.role == "user")


def _corpus(path: Path, number: int, asked: _Asked, haystack: list[_Told]) -> Corpus:
    turns, evidence = [], set()
    for place, (name, date, text) in enumerate(haystack, 1):
        turns.append(Turn(f"t{place}", f"s{place}", "user", None, text, _ms(path, date)))
        if name in asked.answer_session_ids:
            evidence.add(f"t{place}")
    question = Question(
        name=f"q{number}",
        text=asked.question,
        kind=asked.question_type,
        evidence=frozenset(evidence),
        audited=frozenset() if asked.question_id.endswith(_UNANSWERABLE) else frozenset(evidence),
        asked_ms=_ms(path, asked.question_date),
    )
    return Corpus(f"q{number}", tuple(turn for turn in turns if turn.text.strip()), (question,))


def _ms(path: Path, date: str) -> int:
    try:
        return int(datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError as error:
        raise InvalidInput(f"{path}: {error}") from error

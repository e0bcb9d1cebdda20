"""The two sets made for Clew: questions about an agent's session, and about talk in Chinese, Japanese and Korean."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.retrieval import cjk, tools
from bench.retrieval.corpus import Corpus, Question

from clew.errors import InvalidInput, NotFound
from tests.testing.data import shared

pytestmark = pytest.mark.requirement("PERF-1")

KINDS = {"identifier", "paraphrase", "mixed"}


@pytest.fixture(scope="module")
def session() -> Corpus:
    [corpus] = tools.read(shared("agent_sessions"))
    return corpus


@pytest.fixture(scope="module")
def talks() -> list[Corpus]:
    return cjk.read(shared("xpersona"))


def test_the_whole_session_is_one_corpus_in_its_order(session: Corpus) -> None:
    assert len(session.turns) == 1096
    assert {turn.session for turn in session.turns} == {"s1"}
    assert Counter(turn.role for turn in session.turns) == {"user": 88, "assistant": 244 + 391, "tool": 373}
    assert [turn.name for turn in session.turns] == [f"t{number}" for number in range(1, 1097)]
    assert all(turn.ts_ms for turn in session.turns)


def test_only_texts_over_the_stated_length_are_cut(session: Corpus) -> None:
    lengths = [len(turn.text) for turn in session.turns]
    assert max(lengths) == tools.LONGEST_CHARS
    assert lengths.count(tools.LONGEST_CHARS) < 20
    assert min(lengths) > 0


def test_a_call_says_which_tool_was_called(session: Corpus) -> None:
    openings = Counter(turn.text.split(" {", 1)[0] for turn in session.turns if turn.role == "assistant")
    assert sum(openings[tool] for tool in ("bash", "read", "edit", "write")) == 391


def test_the_questions_about_the_session_are_of_three_kinds_in_equal_shares(session: Corpus) -> None:
    kinds = Counter(question.kind for question in session.questions)
    assert set(kinds) == KINDS
    assert len(set(kinds.values())) == 1
    assert kinds.total() >= 60


def test_each_language_is_one_corpus_of_the_stated_number_of_dialogues(talks: list[Corpus]) -> None:
    assert [corpus.name for corpus in talks] == ["zh", "ja", "ko"]
    for corpus in talks:
        assert len({turn.session for turn in corpus.turns}) == cjk.DIALOGUES
        assert [turn.role for turn in corpus.turns[:4]] == ["user"] * 4
        assert all(turn.text.strip() for turn in corpus.turns)


def test_each_language_has_enough_questions_of_every_kind(talks: list[Corpus]) -> None:
    for corpus in talks:
        kinds = Counter(question.kind for question in corpus.questions)
        assert set(kinds) == KINDS
        assert kinds.total() >= 30
        assert min(kinds.values()) >= 5


def test_a_few_turns_answer_each_question_and_all_of_them_exist(session: Corpus, talks: list[Corpus]) -> None:
    for corpus in [session, *talks]:
        for question in corpus.questions:
            assert 1 <= len(question.evidence) <= 5, question.text
            assert question.evidence <= corpus.session_of.keys()


def test_no_question_is_asked_twice_or_copied_from_the_data(session: Corpus, talks: list[Corpus]) -> None:
    for corpus in [session, *talks]:
        texts = [question.text for question in corpus.questions]
        assert len(set(texts)) == len(texts)
        said = "\n".join(turn.text for turn in corpus.turns)
        assert not [text for text in texts if text.rstrip("?？") in said]


def test_an_answer_contains_the_identifier_exactly_as_asked(session: Corpus, talks: list[Corpus]) -> None:
    for question in _identifiers(session):
        words = [word.strip("?,:") for word in question.text.split() if len(word.strip("?,:")) >= 5]
        assert any(word in _answers(session, question) for word in words), question.text
    for corpus in talks:
        for question in _identifiers(corpus):
            slices = [question.text[start : start + 3] for start in range(len(question.text) - 2)]
            assert any(part in _answers(corpus, question) for part in slices), question.text


@pytest.mark.parametrize(
    ("read", "folder", "file"),
    [(tools.read, "agent_sessions", tools.FILE), (cjk.read, "xpersona", Path(cjk.FILES["zh"]))],
)
def test_a_file_other_than_the_labelled_one_is_refused(
    read: Callable[[Path], list[Corpus]], folder: str, file: Path, tmp_path: Path
) -> None:
    other = tmp_path / file
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(gzip.compress(gzip.decompress((shared(folder) / file).read_bytes()) + b"\n"))
    with pytest.raises(InvalidInput, match="the questions were written for"):
        read(tmp_path)


@pytest.mark.parametrize("read", [tools.read, cjk.read])
def test_a_folder_without_the_data_is_named(read: Callable[[Path], list[Corpus]], tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=str(tmp_path)):
        read(tmp_path)


def _identifiers(corpus: Corpus) -> list[Question]:
    return [question for question in corpus.questions if question.kind == "identifier"]


def _answers(corpus: Corpus, question: Question) -> str:
    return "\n".join(turn.text for turn in corpus.turns if turn.name in question.evidence)

"""Datasets as corpora: opaque names, labelled and audited evidence, clear errors for unreadable files."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bench.retrieval import datasets, locomo, longmemeval, persistbench
from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.run import evenly

from clew.errors import InvalidInput, NotFound
from tests.testing.command_line import write_lines
from tests.testing.data import shared

pytestmark = pytest.mark.requirement("PERF-1", "PERF-3")


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]


def conversation(**changes: Any) -> dict[str, Any]:
    asked = [
        {"question": "Who rows?", "category": 4, "evidence": ["D1:1"]},
        {"question": "Both?", "category": 1, "evidence": ["D1:2; D3:1", "D9:9", "D"]},
        {"question": "Wrong label?", "category": 2, "evidence": ["D1:1"], "audit": {"correct_evidence": ["D3:1"]}},
        {"question": "Wrong answer?", "category": 3, "evidence": ["D1:1"], "gold_excluded": True},
        {"question": "No evidence?", "category": 5, "evidence": []},
    ]
    said = {
        "speaker_a": "Ida",
        "speaker_b": "Jon",
        "session_3": [{"speaker": "Jon", "dia_id": "D3:1", "text": "Look!", "blip_caption": "a red kayak"}],
        "session_3_date_time": "12:05 am on 2 January, 2024",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "I row."},
            {"speaker": "Jon", "dia_id": "D1:2", "text": "I ski.", "img_url": ["x"]},
        ],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_9_date_time": "1:56 pm on 9 May, 2023",
    }
    return {"sample_id": "conv-1", "conversation": said | changes, "qa": asked}


def write_json(path: Path, value: object) -> Path:
    path.write_bytes(gzip.compress(json.dumps(value).encode()) if path.suffix == ".gz" else json.dumps(value).encode())
    return path


@pytest.mark.parametrize("name", ["locomo.json", "locomo.json.gz"])
def test_locomo_turns_keep_their_speaker_date_and_caption_under_new_names(tmp_path: Path, name: str) -> None:
    (corpus,) = locomo.read(write_json(tmp_path / name, [conversation()]))
    assert corpus.name == "conv-1"
    assert corpus.turns == (
        Turn("t1", "s1", "user", "Ida", "I row.", ms(2023, 5, 8, 13, 56)),
        Turn("t2", "s1", "user", "Jon", "I ski.", ms(2023, 5, 8, 13, 56)),
        Turn("t3", "s2", "user", "Jon", "Look! a red kayak", ms(2024, 1, 2, 0, 5)),
    )


def test_locomo_labels_become_kinds_and_evidence(tmp_path: Path) -> None:
    (corpus,) = locomo.read(write_json(tmp_path / "locomo.json", [conversation()]))
    found = {question.name: (question.kind, question.evidence, question.audited) for question in corpus.questions}
    assert found == {
        "q1": ("single-hop", {"t1"}, {"t1"}),
        "q2": ("multi-hop", {"t2", "t3"}, {"t2", "t3"}),
        "q3": ("temporal", {"t1"}, {"t3"}),
        "q4": ("open-domain", {"t1"}, frozenset()),
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"session_1_date_time": "yesterday"},
        {"session_4": [{"speaker": "Ida", "dia_id": "D4:1", "text": "no date"}]},
        {"session_1": [{"speaker": "Ida"}]},
    ],
)
def test_a_malformed_locomo_conversation_is_named(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="conv-1 is not as LoCoMo has it"):
        locomo.read(write_json(tmp_path / "locomo.json", [conversation(**changes)]))


def test_longmemeval_haystacks_share_texts_and_no_name_gives_the_answer_away(tmp_path: Path) -> None:
    texts = {"answer_1": "I bought a bike.", "noise_1": "Soup?", "noise_2": "Rain."}
    sessions = [{"session_id": name, "user_text_500": text} for name, text in texts.items()]
    row = {
        "question_id": "x",
        "question_type": "multi-session",
        "question": "What did I buy?",
        "question_date": "2023/03/10 (Fri) 23:15",
        "answer_session_ids": ["answer_1"],
        "haystack": [["noise_1", "2023/03/10 (Fri) 00:05"], ["answer_1", "2023/03/10 (Fri) 01:05"]],
    }
    unknown = row | {"question_id": "y_abs", "haystack": [["answer_1", "2023/03/11 (Sat) 01:05"]]}
    for name, rows in ((longmemeval.SESSIONS, sessions), (longmemeval.HAYSTACKS, [row, unknown])):
        (tmp_path / name).write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    first, second = longmemeval.read(tmp_path)
    assert [(turn.name, turn.session, turn.text) for turn in first.turns] == [
        ("t1", "s1", "Soup?"),
        ("t2", "s2", "I bought a bike."),
    ]
    assert first.questions[0].evidence == first.questions[0].audited == {"t2"}
    assert first.questions[0].asked_ms == ms(2023, 3, 10, 23, 15)
    assert (second.questions[0].evidence, second.questions[0].audited) == ({"t1"}, frozenset())
    assert "answer" not in repr([first, second])


def test_the_published_form_of_longmemeval_gives_the_same_kind_of_corpus(tmp_path: Path) -> None:
    row = {
        "question_id": "x",
        "question_type": "single-session-user",
        "question": "What did I buy?",
        "answer": "a bike",
        "question_date": "2023/03/10 (Fri) 23:15",
        "answer_session_ids": ["answer_1"],
        "haystack_session_ids": ["answer_1"],
        "haystack_dates": ["2023/03/10 (Fri) 00:05"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought a bike.", "has_answer": True},
                {"role": "assistant", "content": "Nice."},
                {"role": "user", "content": "It is red."},
            ]
        ],
    }
    (corpus,) = longmemeval.read(write_json(tmp_path / "s.json", [row]))
    assert corpus.turns == (Turn("t1", "s1", "user", None, "I bought a bike.\nIt is red.", ms(2023, 3, 10, 0, 5)),)
    with pytest.raises(InvalidInput, match="as many sessions"):
        longmemeval.read(write_json(tmp_path / "s.json", [row | {"haystack_dates": []}]))


def test_a_haystack_with_an_unknown_session_or_date_is_refused(tmp_path: Path) -> None:
    row = {
        "question_id": "x", "question_type": "k", "question": "?", "question_date": "2023/03/10 (Fri) 23:15",
        "answer_session_ids": [], "haystack": [["gone", "2023/03/10 (Fri) 00:05"]],
    }  # fmt: skip
    (tmp_path / longmemeval.SESSIONS).write_bytes(gzip.compress(b""))
    (tmp_path / longmemeval.HAYSTACKS).write_bytes(gzip.compress(json.dumps(row).encode()))
    with pytest.raises(InvalidInput, match="lacks the session gone"):
        longmemeval.read(tmp_path)
    row |= {"haystack": [], "question_date": "soon"}
    (tmp_path / longmemeval.HAYSTACKS).write_bytes(gzip.compress(json.dumps(row).encode()))
    with pytest.raises(InvalidInput, match="soon"):
        longmemeval.read(tmp_path)


def test_persistbench_rows_are_sorted_by_their_file(tmp_path: Path) -> None:
    for file in persistbench.FILES.values():
        write_lines(tmp_path / file, [{"query": file, "memories": ["a", "b"], "failure_type": "x"}])
    assert [(row.sort, row.query, row.memories) for row in persistbench.read(tmp_path)] == [
        (sort, file, ("a", "b")) for sort, file in persistbench.FILES.items()
    ]
    with pytest.raises(InvalidInput, match="is no folder"):
        persistbench.read(tmp_path / "cross_domain.jsonl")


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (None, NotFound, "does not exist"),
        (b"[", InvalidInput, "truncated"),
        (b"{}", InvalidInput, "Expected `array`"),
        (b'[{"sample_id": 3}]', InvalidInput, "sample_id"),
        (b"[]", InvalidInput, "no question with evidence"),
    ],
)
def test_an_unusable_file_is_refused_by_name(
    tmp_path: Path, content: bytes | None, kind: type[Exception], message: str
) -> None:
    path = tmp_path / "data.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(kind, match=message) as caught:
        datasets.read("locomo", path)
    assert "data.json" in str(caught.value)


def test_a_folder_or_a_file_that_is_falsely_called_gz_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.json.gz").write_bytes(b"[]")
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        datasets.read("locomo", tmp_path / "data.json.gz")
    with pytest.raises(InvalidInput, match="is a folder"):
        datasets.read("locomo", tmp_path)


def test_corpora_can_be_chosen_by_name(tmp_path: Path) -> None:
    path = write_json(tmp_path / "l.json", [conversation(), conversation() | {"sample_id": "conv-2"}])
    assert [corpus.name for corpus in datasets.read("locomo", path, ["conv-2"])] == ["conv-2"]
    with pytest.raises(InvalidInput, match="no corpus 'conv-3'; its corpora are conv-1, conv-2"):
        datasets.read("locomo", path, ["conv-3"])


def test_a_sample_of_questions_is_even_and_drops_corpora_without_any() -> None:
    def corpus(name: str, count: int) -> Corpus:
        return Corpus(name, (), tuple(Question(f"q{n}", "?", "k", frozenset({"t1"})) for n in range(count)))

    corpora = [corpus("a", 6), corpus("b", 1), corpus("c", 5)]
    chosen = evenly(corpora, 4)
    assert [(one.name, [question.name for question in one.questions]) for one in chosen] == [
        ("a", ["q0", "q3"]),
        ("b", ["q0"]),
        ("c", ["q2"]),
    ]
    assert evenly(corpora, 100) == corpora


def test_the_shared_datasets_are_read_whole() -> None:
    conversations = datasets.read("locomo", shared("locomo/locomo5_dev.json.gz"))
    assert len(conversations) == 5
    assert sum(len(corpus.questions) for corpus in conversations) > 900
    haystacks = datasets.read("longmemeval", shared("longmemeval"))
    assert len(haystacks) == 150
    assert all(corpus.questions[0].evidence <= set(corpus.session_of) for corpus in haystacks)
    assert len(persistbench.read(shared("persistbench"))) == 200

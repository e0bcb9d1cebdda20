"""Which number a question asks for, and which one a text gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.features.pack.dissent import asked_value, values_in

pytestmark = pytest.mark.requirement("PACK-5")


def given_by(question: str, text: str) -> set[str]:
    asked = asked_value(question)
    assert asked is not None
    return set(values_in(text, asked))


@pytest.mark.parametrize(
    ("question", "text", "values"),
    [
        ("How many laps did I swim in the harbour pool?", "I swam 40 laps in the harbour pool today.", {"40"}),
        ("How many laps did I swim in the harbour pool?", "Back from the harbour pool. I did fifty-odd.", set()),
        ("How many chapters of my thesis have I written?", "Four chapters of the thesis are written.", {"4"}),
        ("How many pages of the manual have I translated?", "I translated the manual up to page 88.", {"88"}),
        ("How long has the north bridge been closed?", "The north bridge has been closed for 3 weeks.", {"3 weeks"}),
        ("What is my best score in harbour chess?", "My best score in harbour chess is 71 points.", {"71"}),
    ],
)
def test_a_text_gives_the_requested_number(question: str, text: str, values: set[str]) -> None:
    assert given_by(question, text) == values


def test_the_subject_may_be_in_the_previous_sentence() -> None:
    said = "I keep working on the walnut cabinet. It has 14 hours in it by now, all hours of joy."
    assert given_by("How many hours have I spent on the walnut cabinet?", said) == {"14"}


@pytest.mark.parametrize(
    "text",
    [
        "I swam 40 laps.",
        "The harbour pool opens at 7.",
        "Did I swim 40 laps in the harbour pool?",
        "The harbour pool cost 12 euros, and I swam there.",
        "",
    ],
)
def test_a_text_on_another_subject_gives_none(text: str) -> None:
    assert given_by("How many laps did I swim in the harbour pool at dawn?", text) == set()


@pytest.mark.parametrize(
    "question",
    [
        "Where did I swim?",
        "How many?",
        "How many laps did I swim in total in the harbour pool?",
        "How many laps did I swim in the harbour pool before the race?",
        "I swam 40 laps in the harbour pool.",
        "",
    ],
)
def test_other_questions_ask_for_no_changeable_number(question: str) -> None:
    assert asked_value(question) is None


@given(st.text(max_size=300), st.text(max_size=600))
def test_any_question_and_any_text_are_accepted(question: str, text: str) -> None:
    asked = asked_value(question)
    if asked is not None:
        assert values_in(text, asked) == values_in(text, asked)

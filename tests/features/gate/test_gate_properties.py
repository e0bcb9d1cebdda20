"""The gate's invariants, for every text and every set of similarities."""

from __future__ import annotations

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.features.gate.rules import actions, artefacts, grade, natural_density, technical_density, technical_share

pytestmark = pytest.mark.requirement("GATE-5")

PHRASES = (
    "I prefer tea. ",
    "My friend Alice is 30 years old. ",
    "since last Monday ",
    "```\nx = 1\n```\n",
    "src/app/main.py ",
    "$ git push\n",
    "Traceback (most recent call last) ",
    "we decided to fix it ",
    "LOG_LEVEL=debug ",
    "def f(x):\n",
    "9f8e7d6c5b4a ",
    "https://example.org/a ",
    "ECONNREFUSED ",
)
TEXT = st.text() | st.lists(st.sampled_from(PHRASES) | st.text(max_size=20), max_size=12).map("".join)
ANY_SIMILARITIES = st.lists(st.floats() | st.floats(0, 1), max_size=14)
SIMILARITIES = st.lists(st.floats(0, 1), max_size=14)

WORDS = st.sampled_from(["alice", "Bob", "monday", "prefer", "total", "i", "my", "day_5", "getName", "Users"])
EXPRESSIONS = st.recursive(
    WORDS | st.integers(0, 99).map(str) | WORDS.map(repr),
    lambda inner: st.builds("{}({})".format, WORDS, inner) | st.builds("{} + {}".format, inner, inner),
    max_leaves=4,
)
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, WORDS, EXPRESSIONS),
    st.builds("{}({});".format, WORDS, EXPRESSIONS),
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("def {}({}):".format, WORDS, WORDS),
    st.builds("class {}:".format, WORDS),
    st.builds("if {} and {}:".format, EXPRESSIONS, WORDS),
    st.builds("for {} in {}:".format, WORDS, EXPRESSIONS),
    st.builds("from {} import {}".format, WORDS, WORDS),
    st.builds("const {} = ({}) => {{".format, WORDS, WORDS),
    st.just("}"),
)
CODE = st.lists(st.builds("{}{}".format, st.sampled_from(["", "    ", "\t"]), STATEMENTS), min_size=1).map("\n".join)


@given(TEXT, ANY_SIMILARITIES, ANY_SIMILARITIES)
def test_every_part_is_a_number_from_zero_to_one(text: str, memories: list[float], turns: list[float]) -> None:
    for part in astuple(grade(text, memories, turns)):
        assert math.isfinite(part)
        assert 0.0 <= part <= 1.0


@given(TEXT, ANY_SIMILARITIES, ANY_SIMILARITIES)
def test_the_gate_score_lies_between_its_two_parts(text: str, memories: list[float], turns: list[float]) -> None:
    parts = grade(text, memories, turns)
    low, high = sorted((parts.conversational_score, parts.technical_score))
    assert low <= parts.gate <= high
    if parts.technical == 0.0:
        assert parts.gate == parts.conversational_score
    if parts.technical == 1.0:
        assert parts.gate == parts.technical_score


@given(TEXT, SIMILARITIES)
def test_with_an_empty_memory_everything_is_new(text: str, turns: list[float]) -> None:
    parts = grade(text, [], turns)
    assert parts.novelty == 1.0
    assert parts.memory_saturation == 0.0


@given(TEXT, st.lists(st.floats(0.85, 1), min_size=3, max_size=5), SIMILARITIES)
def test_a_saturated_memory_rejects_repetition(text: str, memories: list[float], turns: list[float]) -> None:
    parts = grade(text, memories, turns)
    assert parts.memory_saturation == 1.0
    assert parts.repetition == 0.0


@given(TEXT, SIMILARITIES, SIMILARITIES)
def test_the_order_of_neighbours_does_not_matter(text: str, memories: list[float], turns: list[float]) -> None:
    assert grade(text, memories, turns) == grade(text, memories[::-1], turns[::-1])


@given(TEXT, SIMILARITIES, st.lists(st.floats(0, 1), max_size=9), st.floats(0.8, 1))
def test_one_more_turn_on_the_same_subject_never_lowers_the_score(
    text: str, memories: list[float], turns: list[float], similar: float
) -> None:
    assert grade(text, memories, [*turns, similar]).gate >= grade(text, memories, turns).gate


@given(TEXT)
def test_the_parts_of_a_text_are_what_the_grade_reports(text: str) -> None:
    parts = grade(text, [], [])
    assert parts.technical == technical_share(text)
    assert parts.natural_density == natural_density(text)
    assert parts.artefacts == artefacts(text)
    assert parts.actions == actions(text)
    assert parts.technical_density == technical_density(text)


@given(st.integers(5_900, 20_000), st.sampled_from([*PHRASES, "a", "/", ".", "漢"]))
def test_a_text_gets_the_same_score_whole_and_in_parts(length: int, unit: str) -> None:
    text = (unit * length)[:length]
    assert grade(text, [], []).artefacts == artefacts(text)
    assert grade(text, [], []).natural_density == natural_density(text)


@given(CODE)
def test_code_has_no_natural_density(code: str) -> None:
    assert natural_density(code) == 0.0


@given(st.sampled_from(["```", "~~~"]), st.text().filter(lambda text: "```" not in text and "~~~" not in text))
def test_nothing_inside_a_fence_has_natural_density(fence: str, text: str) -> None:
    assert natural_density(f"{fence}\n{text}\nI prefer tea with Alice\n{fence}\n") == 0.0

"""Pairs of texts that disagree, and pairs that only seem to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.dissent import MAX_CHARS, Conflict, claim, conflict, may_disagree, rough_words

pytestmark = pytest.mark.requirement("PACK-5")

DISAGREE = (
    ("The staging server listens on port 8080", "The staging server listens on port 9090", Conflict.NUMBER),
    ("Upgrade the client to version 2.1", "Upgrade the client to version 2.2", Conflict.NUMBER),
    ("Pin the parser to v2.1", "Pin the parser to v2.2", Conflict.NUMBER),
    ("预发布服务器的端口是8080", "预发布服务器的端口是9090", Conflict.NUMBER),
    ("Deploys need two approvals", "Deploys need 3 approvals", Conflict.NUMBER),
    ("The review meeting is on 2024-05-01", "The review meeting is on 2024-06-01", Conflict.NUMBER),
    ("The deploy is on Friday", "The deploy is on Monday", Conflict.DAY),
    ("The audit is due in March", "The audit is due in April", Conflict.DAY),
    ("I like tea", "I don't like tea", Conflict.NEGATION),
    ("I can eat nuts", "I can't eat nuts", Conflict.NEGATION),
    ("We use Redis for sessions", "We no longer use Redis for sessions", Conflict.NEGATION),
    ("Always squash commits", "Never squash commits", Conflict.NEGATION),
    ("Enable telemetry in production", "Disable telemetry in production", Conflict.OPPOSITE),
    ("Use tabs in Go files", "Avoid tabs in Go files", Conflict.OPPOSITE),
    ("The user enjoys cilantro", "The user hates cilantro", Conflict.OPPOSITE),
    ("Turn on the hallway lights", "Turn off the hallway lights", Conflict.OPPOSITE),
    ("The nightly tests passed", "The nightly tests failed", Conflict.OPPOSITE),
    ("The primary database is Postgres", "The primary database is MySQL", Conflict.VALUE),
    ("My favourite colour: blue", "My favourite colour is green", Conflict.VALUE),
)

AGREE = (
    ("I like tea", "I like coffee"),
    ("I like tea", "I like tea"),
    ("Do not enable telemetry", "Disable telemetry"),
    ("Do you like tea?", "I don't like tea"),
    ("The budget is 1,000 euros", "The budget is 1000 euros"),
    ("I ordered 3 apples and 5 pears", "I ordered 5 pears and 3 apples"),
    ("Ticket 12 is done", "Ticket 13 is done"),
    ("Issue #41 is closed", "Issue #42 is closed"),
    ("Host web01 needs a restart", "Host web02 needs a restart"),
    ("Pin the parser to v2.1", "Pin the parser to 2.1"),
    ("The staging server runs on port 8080", "The printer in the office takes 80 sheets"),
    ("The dog is brown", "The dog is hungry"),
    ("My favourite colour is blue", "My favourite band is Blur"),
    ("The lights are on", "The meeting is on Monday"),
    ("", ""),
    ("...", "!!!"),
)


@pytest.mark.parametrize(("one", "other", "reason"), DISAGREE)
def test_disagreeing_texts_are_found_with_the_point_they_disagree_on(one: str, other: str, reason: Conflict) -> None:
    assert conflict(one, other) is reason
    assert conflict(other, one) is reason


@pytest.mark.parametrize(("one", "other", "_"), DISAGREE)
def test_a_first_look_passes_texts_that_disagree(one: str, other: str, _: Conflict) -> None:
    assert may_disagree(rough_words(one), rough_words(other))


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_texts_that_only_look_alike_do_not_disagree(one: str, other: str) -> None:
    assert conflict(one, other) is None


def test_a_long_text_is_not_compared() -> None:
    one = "The staging server listens on port 8080. " * 20
    assert len(one) > MAX_CHARS
    assert conflict(one, one.replace("8080", "9090")) is None


def test_a_first_look_tells_texts_on_other_matters_apart() -> None:
    one = "The staging server listens on port 8080 behind the balancer"
    assert not may_disagree(rough_words(one), rough_words("Ann drinks green tea every morning before breakfast"))


@given(st.text(max_size=MAX_CHARS), st.text(max_size=MAX_CHARS))
def test_the_comparison_is_symmetric_and_no_text_disagrees_with_itself(one: str, other: str) -> None:
    assert conflict(one, other) is conflict(other, one)
    assert conflict(one, one) is None
    assert claim(one) == claim(one)

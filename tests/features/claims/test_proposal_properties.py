"""Properties of candidates and of closed plans, for every text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.model import Role
from clew.features.claims.proposals import MOST, PLAN, READ_CHARS, key_of, proposals
from clew.features.plans.operations import PlanState
from clew.features.plans.rules import Plan, closing

pytestmark = pytest.mark.requirement("FACT-4", "CAPTURE-5")

PIECES = (
    "I love opera. ", "I moved to Chicago ", "My personal best is 25:50. ", "next month ", "I'm going to ", "when ",
    "we decided to ", "`accent`: `#8abeb7`\n", "**", "\n> ", "```\n", '"', "’", "I'll call the bank tomorrow. ",
    "is set to ", "The build is failing. ", "if ", "not ", "? ", "- ", "\t", "\u2003", "漢字。", "\x00", "😀", "a.b/c ",
    "I cancelled the trip. ", "I called the bank. ",
)  # fmt: skip
TEXT = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=30).map("".join)
TIMES = st.integers(-(10**15), 10**15)
ROLES = st.sampled_from([*Role, None])


@given(text=TEXT, speaker=st.text(max_size=20), ts_ms=TIMES, role=ROLES)
def test_candidates_are_bounded_deterministic_and_point_into_their_text(
    text: str, speaker: str, ts_ms: int, role: Role | None
) -> None:
    found = proposals(text, speaker, ts_ms, role)
    assert found == proposals(text, speaker, ts_ms, role)
    assert len(found) <= MOST
    for item in found:
        assert 0 <= item.start < item.end <= min(len(text), READ_CHARS)
        assert text[item.start : item.end].strip() == text[item.start : item.end]
        assert item.subject.strip()
        assert item.object.strip()
        assert 0 < item.confidence < 1
        assert (item.trigger is not None) == (item.predicate == PLAN)


@given(text=TEXT, ts_ms=TIMES, role=st.sampled_from([Role.TOOL_CALL, Role.TOOL_RESULT]))
def test_tools_propose_nothing(text: str, ts_ms: int, role: Role) -> None:
    assert proposals(text, "", ts_ms, role) == ()


@given(text=TEXT)
def test_a_question_about_everything_proposes_nothing(text: str) -> None:
    sentence = " ".join(text.replace("?", "").split())[:200]
    asked = f"Is it so that {sentence.replace('.', '').replace('!', '').replace('。', '')}?"
    if all(mark not in asked for mark in "！？｡…"):
        assert proposals(asked, "", 0, Role.USER) == ()


@given(text=TEXT, whats=st.lists(TEXT, max_size=5))
def test_a_turn_closes_at_most_one_open_plan(text: str, whats: list[str]) -> None:
    plans = [
        Plan(f"plans:user:u/p{number}", what, None, "", state, (), 0)
        for number, what in enumerate(whats)
        for state in (PlanState.OPEN, PlanState.DONE)
    ]
    ended = closing(text, plans)
    if ended is not None:
        assert ended[0].state is PlanState.OPEN
        assert ended[1] in (PlanState.DONE, PlanState.DROPPED)


@given(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_every_candidate_gets_a_name(pieces: list[str]) -> None:
    names = [key_of("session_raw:s/t", item) for item in proposals("".join(pieces), "", 0, Role.USER)]
    assert len(set(names)) == len(names)


@settings(deadline=None, max_examples=20)
@given(text=TEXT, piece=st.sampled_from(PIECES))
def test_only_the_beginning_of_a_long_text_is_read(text: str, piece: str) -> None:
    long = text + piece * (2 * READ_CHARS // len(piece))
    assert proposals(long, "", 0, Role.USER) == proposals(long[:READ_CHARS], "", 0, Role.USER)


@pytest.mark.parametrize(
    "piece", ["I ", "my a ", "a.b ", "`a` ", "I love a, ", '"', "'", "when ", "**a", "\n", "x", "the "]
)
def test_a_megabyte_of_unfinished_clauses_is_read_in_bounded_time(piece: str) -> None:
    assert len(proposals(piece * (1_000_000 // len(piece)), "", 0, Role.USER)) <= MOST

"""What a pointer quotes of its summary."""

from __future__ import annotations

import pytest

from clew.text.excerpts import excerpt, pointer
from clew.text.framing import CUT_MARK

pytestmark = pytest.mark.requirement("COMP-7")

SPAN = "2024-05-01 09:00 to 2024-05-09 18:30 UTC, 84 turns: Nate 42, Joanna 42."
LINES = [
    "Nate: I went to the market in the rain.",
    "Nate: We talked about the new kettle for an hour.",
    "Nate: The dog is called Max.",
    "Joanna: The kettle is red.",
    "Nate: It was late when I came home.",
]
SUMMARY = "\n".join([SPAN, *LINES])


def test_a_line_is_quoted_for_its_distinctive_words_and_not_for_its_speaker() -> None:
    shown = pointer(SUMMARY, {"nate", "dog"}, 100)
    assert shown == f"2024-05-01 to 2024-05-09, 84 turns\n{LINES[2]}{CUT_MARK}"


def test_nothing_is_quoted_where_no_line_answers_the_question() -> None:
    assert pointer(SUMMARY, {"nate", "submarin"}, 100) == f"2024-05-01 to 2024-05-09, 84 turns{CUT_MARK}"


def test_among_few_lines_a_term_they_all_share_counts() -> None:
    few = "\n".join([SPAN, LINES[0], LINES[1]])
    assert LINES[0] in excerpt(few, {"nate"}, len(few) - 10)


@pytest.mark.parametrize("room", [1, 20, 40, 80, 160, 400])
def test_an_excerpt_never_exceeds_its_limit(room: int) -> None:
    assert len(pointer(SUMMARY, {"kettl"}, room)) <= room

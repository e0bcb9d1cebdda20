"""LongMemEval questions on values that changed: the pack holds the newer value and marks only older ones."""

from __future__ import annotations

import pytest
from bench.knowledge_updates import ADDED_UP, UPDATES, Asked, measure
from bench.retrieval.files import read_json

from tests.testing.data import shared
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("PACK-5", "PACK-7")

WORDS_ALONE = "none"


def questions(sort: str) -> list[Asked]:
    asked = read_json(shared("longmemeval/oracle.json.gz"), list[Asked])
    return [one for one in asked if one.question_type == sort]


@pytest.mark.long
def test_the_newer_value_is_packed_and_some_older_ones_are_marked_as_outdated() -> None:
    pairs = [pair for asked in questions(UPDATES) if (pair := measure(asked, WORDS_ALONE)) is not None]
    assert len(pairs) >= 20
    said, accepted = zip(*pairs, strict=True)
    for outcomes in (said, accepted):
        assert sum(outcome.newer for outcome in outcomes) >= 0.9 * len(pairs)
    assert sum(outcome.marked for outcome in said) >= 5
    assert sum(outcome.unmarked for outcome in accepted) <= sum(outcome.unmarked for outcome in said)


def test_evidence_from_several_turns_is_not_taken_for_a_contradiction() -> None:
    pairs = [
        pair for asked in questions(ADDED_UP)[: effort(4, 12)] if (pair := measure(asked, WORDS_ALONE)) is not None
    ]
    assert pairs
    assert all(outcome.marked == 0 for pair in pairs for outcome in pair)

"""What can be found in a real conversation after compaction is no less than before it, in the same tokens."""

from __future__ import annotations

import pytest
from bench.locomo_compaction import USER, WORDS_ALONE, conversations, measure

from tests.testing.data import shared

pytestmark = [pytest.mark.long, pytest.mark.requirement("PERF-3", "COMP-9")]


@pytest.mark.parametrize("user", [USER, None])
def test_as_much_of_the_evidence_is_within_reach_as_before(user: str | None) -> None:
    conversation = next(each for each in conversations(shared("locomo/locomo5_dev.json.gz")) if each.name == "conv-30")
    before, after = measure(conversation, user, embedder=WORDS_ALONE)
    assert before.reached > 70.0
    assert after.reached >= before.reached

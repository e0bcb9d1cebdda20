"""After compaction a real conversation yields as much evidence as before, for the same tokens."""

from __future__ import annotations

import pytest
from bench.locomo_compaction import USER, WORDS_ALONE, conversations, measure

from tests.testing.data import shared

pytestmark = [pytest.mark.long, pytest.mark.requirement("PERF-3", "COMP-9")]


@pytest.mark.parametrize("user", [USER, None])
def test_compaction_loses_no_evidence(user: str | None) -> None:
    conversation = next(each for each in conversations(shared("locomo/locomo5_dev.json.gz")) if each.name == "conv-30")
    before, after = measure(conversation, user, embedder=WORDS_ALONE)
    assert before.reached > 70.0
    assert after.reached >= before.reached

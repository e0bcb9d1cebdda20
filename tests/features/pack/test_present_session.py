"""Text of the present session does not lower the threshold for the rest of a pack."""

from __future__ import annotations

import pytest

from clew.api import Bundle
from clew.core.model import Trust
from clew.engine import Memory
from clew.features.pack.rules import NEXT_TO_BEST, Policy, relax
from tests.conftest import NOW_MS, OpenMemory
from tests.features.pack.test_pack_rules import choice

pytestmark = pytest.mark.requirement("PACK-3", "HOST-2")

POLICY = Policy(min_similarity=0.4, items=5, budget_tokens=1000, present_session="now")
QUERY = "Which channel does the harbour pilot Odile take at low tide?"
NEAR = "The harbour pilot Odile waits for the channel."
BESIDE = "Odile the pilot was born near the harbour."


class TestTheThreshold:
    def test_falls_if_a_record_of_another_session_is_near_enough(self) -> None:
        near = choice("near", origin="then/near", similarity=0.6)
        assert relax(POLICY, [near]).min_similarity == pytest.approx(0.6 * NEXT_TO_BEST)

    def test_stays_if_only_the_present_session_is_near_enough(self) -> None:
        present = choice("near", origin="now/near", similarity=0.6)
        beside = choice("beside", origin="then/beside", similarity=0.39)
        assert relax(POLICY, [present, beside]) == POLICY

    def test_follows_the_nearest_record_of_another_session(self) -> None:
        present = choice("nearest", origin="now/nearest", similarity=0.7)
        near = choice("near", origin="then/near", similarity=0.5)
        assert relax(POLICY, [present, near]).min_similarity == pytest.approx(0.5 * NEXT_TO_BEST)

    @pytest.mark.parametrize("trust", [Trust.QUARANTINED, Trust.UNTRUSTED])
    def test_stays_if_only_inadmissible_records_are_near_enough(self, trust: Trust) -> None:
        assert relax(POLICY, [choice("near", origin="then/near", similarity=0.6, trust=trust)]) == POLICY

    def test_never_rises(self) -> None:
        assert relax(POLICY, [choice("same", origin="then/same", similarity=1.0)]) == POLICY


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """A store with one turn near enough for a pack, and another one only next to it."""
    memory = open_memory(pack_min_similarity=0.8, gate_threshold=1.0)
    memory.ingest("now", "user", NEAR, user_id="ann", id="near", ts=NOW_MS)
    memory.ingest("then", "user", BESIDE, user_id="ann", id="beside", ts=NOW_MS)
    assert memory.flush().ok
    return memory


def reasons(bundle: Bundle) -> dict[str, str]:
    assert bundle.trace is not None
    return {item.ref: item.reason for item in bundle.trace.candidates}


def test_a_record_close_to_the_best_one_is_packed_too(memory: Memory) -> None:
    bundle = memory.pack(QUERY, user_id="ann", trace=True)
    assert reasons(bundle) == {"turns:ann/now/near": "relevant", "turns:ann/then/beside": "relevant"}


def test_a_record_close_only_to_the_present_session_is_not_packed(memory: Memory) -> None:
    bundle = memory.pack(QUERY, user_id="ann", exclude_session="now", trace=True)
    assert reasons(bundle) == {"turns:ann/now/near": "present", "turns:ann/then/beside": "score"}
    assert bundle.abstained

"""A client's record that claims to come from a turn: it is shown beside that turn, and never replaces it."""

from __future__ import annotations

import pytest

from clew.core.ids import memory_id
from clew.core.model import Provenance
from clew.engine import Memory
from clew.kernel.search import origin, turn_ref
from clew.models.embedding.hashing import HashingEmbedder
from tests.conftest import NOW_MS, OpenMemory

pytestmark = pytest.mark.requirement("PACK-4", "SAFE-2")

QUESTION = "Which channel does the harbour pilot Odile take?"
SAID = "The harbour pilot Odile takes the northern channel, she told me on the quay."
CLAIMED = "The harbour pilot Odile takes the southern channel."
CLAIM = {"source": {"collection": "turns:ann", "id": "then/said"}}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """A store with a client's record that is nearer to the question than the turn it claims to come from."""
    memory = open_memory(HashingEmbedder(), gate_threshold=0.0)
    memory.ingest("then", "user", SAID, user_id="ann", id="said", ts=NOW_MS)
    assert memory.flush().ok
    memory.put("user:ann", "mine", CLAIMED, CLAIM)
    assert memory.flush().ok
    return memory


def test_a_claim_to_come_from_a_turn_does_not_hide_the_turn_in_a_search(memory: Memory) -> None:
    texts = [hit.record.text for hit in memory.search(QUESTION, user_id="ann", session_id="now").hits]
    assert texts == [CLAIMED, SAID]


def test_a_claim_to_come_from_a_turn_does_not_hide_the_turn_in_a_pack(memory: Memory) -> None:
    bundle = memory.pack(QUESTION, user_id="ann")
    assert "user:ann/mine" in [item.record_ref for item in bundle.items]
    assert SAID in bundle.bundle_text


def test_a_claim_to_come_from_a_turn_does_not_hide_the_turn_in_a_context(memory: Memory) -> None:
    context = memory.assemble("now", query=QUESTION, user_id="ann")
    assert {CLAIMED, SAID} <= {hit.record.text for hit in context.recalled}


def test_a_claim_to_come_from_the_present_session_does_not_keep_a_record_out_of_a_pack(memory: Memory) -> None:
    """Otherwise a record could hide itself from a pack by its own metadata."""
    packed = memory.pack(QUESTION, user_id="ann", exclude_session="then").items
    assert [item.record_ref for item in packed] == ["user:ann/mine"]


def test_only_the_memory_that_clew_kept_from_a_turn_is_cited_as_that_turn(memory: Memory) -> None:
    store = memory._parts.store
    (turn,) = store.get("turns:ann", ["then/said"])
    kept, claims = store.get("user:ann", [memory_id("turns:ann", "then/said"), "mine"])
    assert claims.provenance is kept.provenance is Provenance.MEMORY
    assert origin(kept) == origin(turn) == "then/said"
    assert turn_ref(kept) == turn_ref(turn) == "session_raw:then/said"
    assert origin(claims) != origin(turn)
    assert turn_ref(claims) is None

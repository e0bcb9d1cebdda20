"""A store that an earlier version wrote is read as it was written.

`tests/storage/before-features.db.gz` was made by the version before the source was ordered by feature: 44 turns of two
users, a compacted session, kept memories, a fact, a plan, a merge, a captured event and a quarantined turn.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from clew.engine import Memory
from tests.conftest import OpenMemory

STORE = Path(__file__).with_name("before-features.db.gz")
EXPORT_SHA256 = "0095a8761e178f3860feb932b685d7a4340ad2ec8489c8abeacb92e24106ea75"
"""Of what the earlier version exported from it."""


@pytest.fixture
def memory(open_memory: OpenMemory, tmp_path: Path) -> Memory:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    (data_dir / "clew.db").write_bytes(gzip.decompress(STORE.read_bytes()))
    return open_memory(tokenizer="estimate")


@pytest.mark.requirement("STORE-7", "STORE-8")
def test_every_record_of_an_older_store_is_exported_as_it_was(memory: Memory) -> None:
    lines: list[str] = []
    cursor: int | None = 0
    while cursor is not None:
        page = memory.export(cursor=cursor)
        lines += page.lines
        cursor = page.cursor
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == EXPORT_SHA256


@pytest.mark.requirement("STORE-8", "SAFE-1")
def test_an_older_store_verifies_and_answers(memory: Memory) -> None:
    assert memory.flush().ok
    assert memory.verify().ok
    assert memory.search("which port does staging listen on", user_id="ada").hits[0].record.id == "port"
    assert memory.facts_current("staging server", user_id="ada").facts[0].object == "port 8080"
    assert memory.plans_list(user_id="ada").plans[0].what == "paint pier 3"
    assert len(memory.graph_merges(user_id="bo").merged) == 1
    view = memory.show_session("harbour")
    turns = memory.expand("harbour", *(node.id for node in view.summaries), budget_tokens=100_000).turns
    assert {turn.id for turn in turns} >= {f"t{number}" for number in range(30) if number != 2}

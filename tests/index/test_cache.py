"""The loaded indexes: one for each collection with members, however many came and went."""

from __future__ import annotations

import pytest

from clew.index.cache import FEW_INDEXES, IndexCache
from tests.conftest import OpenMemory

pytestmark = pytest.mark.requirement("RPC-2", "STORE-5")


def test_emptied_collections_leave_no_index_behind(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for number in range(4 * FEW_INDEXES):
        memory.put(f"user:u{number}", "1", "The port is 8080.")
        assert memory.search("port", user_id=f"u{number}").hits
        memory.delete(f"user:u{number}", "1")
        assert len(memory._parts.indexes) <= FEW_INDEXES + 1


def test_purged_sessions_leave_no_index_behind(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for number in range(FEW_INDEXES):
        memory.ingest(f"s{number}", "user", "We decided to use Postgres.", user_id="ana")
        memory.assemble(f"s{number}", user_id="ana", budget_tokens=600)
        memory.purge(session_id=f"s{number}")
    assert len(memory._parts.indexes) <= FEW_INDEXES + 1


def test_indexes_of_collections_with_members_are_kept(open_memory: OpenMemory) -> None:
    memory = open_memory()
    names = [f"user:u{number}" for number in range(2 * FEW_INDEXES)]
    for name in names:
        memory.put(name, "1", "The port is 8080.")
    cache = memory._parts.indexes
    for name in names:
        with cache.current(name) as index:
            assert index.size == 1
    assert len(cache) == len(names)


def test_many_small_indexes_count_for_the_memory_they_take(open_memory: OpenMemory) -> None:
    memory = open_memory()
    cache = IndexCache(memory._parts.store, max_bytes=100_000)
    for number in range(50):
        memory.put(f"user:u{number}", "1", "a")
        with cache.current(f"user:u{number}") as index:
            assert index.size == 1
    assert 0 < len(cache) <= 12

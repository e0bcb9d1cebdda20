"""A turn that is found in several collections is one record, and is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from clew.core.model import Record
from clew.storage.protocol import Store
from clew.storage.sqlite import SqliteStore
from tests.conftest import OpenMemory
from tests.testing.drafts import record, turn
from tests.testing.memory_store import MemoryStore


@pytest.mark.requirement("STORE-1")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_feed_names_the_same_record_in_every_collection_that_shows_it(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "store.db")
    store.append([turn("a fox", id="1", user="u"), turn("a hen", id="2", user="u")])
    store.put([record("a cow", id="3")])
    names = ("session:s", "session_raw:s", "turns:u")
    shown = [[row.record for row in store.feed(name, 0).added] for name in names]
    (memory,) = store.feed("user:u", 0).added
    assert shown[0] == shown[1] == shown[2]
    assert len({*shown[0], memory.record}) == 3
    store.close()


@pytest.mark.requirement("RANK-3")
def test_a_turn_is_read_where_it_scores_best_and_not_a_second_time(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    for number in range(40):
        memory.ingest("s", "user", f"The fox of farm {number} is red.", user_id="u", id=f"q{number}")
        memory.ingest("s", "assistant", f"Noted, farm {number}.", id=f"a{number}")
    read: Counter[str] = Counter()
    at = SqliteStore.at

    def counting(store: SqliteStore, collection: str, seqs: Sequence[int]) -> list[Record]:
        found = at(store, collection, seqs)
        read.update(item.text for item in found)
        return found

    monkeypatch.setattr(SqliteStore, "at", counting)
    hits = memory.search("Which fox is red?", k=20, user_id="u", session_id="s").hits
    assert len({hit.record.text for hit in hits}) == len(hits) == 20
    assert max(read.values()) == 1

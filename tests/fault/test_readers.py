"""Many who read at once: none waits for ever for another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from clew.errors import StoreError
from clew.storage.sqlite import connection
from clew.storage.sqlite.connection import READERS, ReaderPool
from tests.conftest import OpenMemory
from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("STORE-5", "SAFE-1")

STUCK_S = patience(60.0)


@pytest.fixture
def pool(tmp_path: Path) -> ReaderPool:
    path = tmp_path / "clew.db"
    path.touch()
    return ReaderPool(path, "normal")


def test_a_search_is_answered_while_all_readers_are_held_by_others_that_wait(open_memory: OpenMemory) -> None:
    """As contexts do that have a reader each and wait for the index that the search has."""
    memory = open_memory()
    memory.put("user:ana", "1", "The billing deploy was on Monday.")
    holding, release = threading.Barrier(3 * READERS + 1), threading.Event()

    def hold() -> None:
        with memory._parts.store.reading():
            holding.wait(STUCK_S)
            release.wait(STUCK_S)

    with ThreadPoolExecutor(3 * READERS + 1) as threads:
        held = [threads.submit(hold) for _ in range(3 * READERS)]
        holding.wait(STUCK_S)
        try:
            found = threads.submit(memory.search, "billing deploy", user_id="ana").result(STUCK_S)
        finally:
            release.set()
        assert [hit.record.id for hit in found.hits] == ["1"]
        for future in held:
            future.result(STUCK_S)


def test_readers_beyond_those_that_are_kept_are_closed_when_they_come_back(pool: ReaderPool) -> None:
    with ExitStack() as stack:
        lent = [stack.enter_context(pool.borrow()) for _ in range(2 * READERS)]
    still_open = [one for one in lent if _is_open(one)]
    assert len(still_open) == READERS
    pool.close()
    assert not any(map(_is_open, lent))


def test_where_very_many_are_lent_another_is_made_all_the_same(
    pool: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MANY_READERS", 2)
    monkeypatch.setattr(connection, "PATIENCE_S", 0.0)
    with pool.borrow() as one, pool.borrow() as two, pool.borrow() as three:
        assert len({id(one), id(two), id(three)}) == 3


def test_closing_waits_for_a_reader_under_way_and_refuses_later_ones(pool: ReaderPool) -> None:
    with ThreadPoolExecutor(1) as threads:
        with pool.borrow() as lent:
            closing = threads.submit(pool.close)
            with pool._returned:
                assert pool._returned.wait_for(lambda: pool._closed, STUCK_S)
            with pytest.raises(StoreError, match="closed"), pool.borrow():
                pytest.fail("a closed pool lends nothing")
            assert not closing.done()
            assert _is_open(lent)
        closing.result(STUCK_S)
        assert not _is_open(lent)


def test_a_reader_that_cannot_be_closed_keeps_nobody_waiting(pool: ReaderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn:
        def close(self) -> None:
            raise StoreError("busy")

    monkeypatch.setattr(connection, "READERS", 0)
    monkeypatch.setattr(connection, "connect", lambda *_: Stubborn())
    with pytest.raises(StoreError, match="busy"), pool.borrow():
        pass
    with ThreadPoolExecutor(1) as threads:
        threads.submit(pool.close).result(STUCK_S)


def _is_open(lent: object) -> bool:
    try:
        lent.in_transaction  # type: ignore[attr-defined]  # noqa: B018
    except Exception:  # noqa: BLE001 — whatever a closed connection raises
        return False
    return True

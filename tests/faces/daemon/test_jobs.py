"""The daemon's background jobs go on after any failure."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from clew.api import Age, AgeReceipt, Answer, CollectionList, MemoryApi, Request, SpoolReceipt, TakeSpool
from clew.config import Config
from clew.engine import Memory
from clew.errors import StoreError
from clew.faces.daemon.jobs import Jobs
from clew.wire.spool import Spool
from tests.testing.speed import patience

WAIT_SECONDS = patience(30.0)


class Failing:
    """A memory whose first run fails; `again` is set by the next one."""

    def __init__(self, error: Exception) -> None:
        self._error: Exception | None = error
        self.again = threading.Event()

    def call(self, request: Request[Any]) -> Answer | None:
        if isinstance(request, TakeSpool):
            return SpoolReceipt(taken=0, unchanged=0, set_aside=0, waiting=0, dropped=0)
        if not isinstance(request, Age):
            return None
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        self.again.set()
        return AgeReceipt(dry_run=True, looked_at=0, graded={}, archived={}, archived_refs=(), contradictions=0, ts=1)


@pytest.mark.requirement("LIFE-3")
@pytest.mark.parametrize("error", [StoreError("the disk is full"), RuntimeError("nobody expects this")])
def test_a_failed_run_is_logged_and_the_next_one_follows(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    memory = Failing(error)
    with caplog.at_level(logging.WARNING), Jobs(cast(MemoryApi, memory), check_seconds=0.001):
        assert memory.again.wait(WAIT_SECONDS)
    (record,) = [record for record in caplog.records if record.name == "clew.faces.daemon.jobs"]
    assert "the lifecycle run failed" in record.getMessage()
    assert (record.exc_info is not None) == isinstance(error, RuntimeError)


@pytest.mark.requirement("HOST-1", "PERF-2")
def test_the_daemon_preloads_for_the_first_context_and_writes_nothing(memory: Memory) -> None:
    asked = threading.Event()
    before = memory.status()

    class Watched:
        def call(self, request: Request[Any]) -> Any:
            answer = memory.call(request)
            asked.set()
            return answer

    with Jobs(cast(MemoryApi, Watched())):
        assert asked.wait(WAIT_SECONDS)
    assert (memory.status().record_count, memory.collections()) == (before.record_count, CollectionList(collections=()))


@pytest.mark.requirement("USE-6")
def test_a_running_daemon_takes_in_events_from_the_spool(tmp_path: Path) -> None:
    taken = threading.Event()
    with Memory.open(Config(data_dir=tmp_path, embedder="none", tokenizer="estimate")) as memory:

        class Watched:
            def call(self, request: Request[Any]) -> Any:
                answer = memory.call(request)
                if isinstance(answer, SpoolReceipt) and answer.taken:
                    taken.set()
                return answer

        with Jobs(cast(MemoryApi, Watched()), check_seconds=0.001):
            with Spool(str(tmp_path), create=True) as spool:
                message = {"role": "user", "text": "Which lamp?", "id": "h_1"}
                spool.append(method="ingest", params={"sessionId": "s", "message": message})
            assert taken.wait(WAIT_SECONDS)
        assert [turn.text for turn in memory.list("session_raw:s").records] == ["Which lamp?"]

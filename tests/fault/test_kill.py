"""The daemon is killed while it works. Nothing that it acknowledged may be missing afterwards."""

from __future__ import annotations

import random
import signal
import threading
from pathlib import Path

import pytest

from clew.api import MemoryApi
from clew.client import connect
from clew.errors import ClewError
from tests.testing.daemons import Daemon, running, short_folder
from tests.testing.effort import effort

STREAM = 10_000


class Stream(threading.Thread):
    """Sends numbered turns one after another until the daemon is gone; remembers what was acknowledged."""

    def __init__(self, endpoint: str, first: int, enough: int) -> None:
        super().__init__()
        self.acknowledged: list[int] = []
        self.reached = threading.Event()
        self._endpoint = endpoint
        self._first = first
        self._enough = enough

    def run(self) -> None:
        with connect(self._endpoint) as client:
            for number in range(self._first, STREAM):
                try:
                    client.ingest(f"s{number % 3}", "user", _text(number), id=str(number), user_id="ana")
                except ClewError:
                    break
                self.acknowledged.append(number)
                if len(self.acknowledged) == self._enough:
                    self.reached.set()
        self.reached.set()


def _text(number: int) -> str:
    return f"turn token{number:05d} about the {number % 17} foxes"


def _kill_in_the_middle(daemon: Daemon, first: int, enough: int) -> list[int]:
    stream = Stream(daemon.endpoint, first, enough)
    stream.start()
    stream.reached.wait()
    daemon.stop(signal.SIGKILL)
    stream.join()
    return stream.acknowledged


def _stored(api: MemoryApi) -> set[int]:
    numbers: set[int] = set()
    for session in range(3):
        cursor: int | None = 0
        while cursor is not None:
            page = api.list(f"session_raw:s{session}", cursor=cursor)
            numbers.update(int(record.id) for record in page.records)
            cursor = page.cursor
    return numbers


@pytest.mark.requirement("STORE-4", "SAFE-1", "INGEST-3")
def test_every_acknowledged_turn_survives_being_killed(tmp_path: Path) -> None:
    chance = random.Random(7)
    acknowledged: set[int] = set()
    with short_folder() as folder:
        for _ in range(effort(4, 20)):
            first = max(acknowledged, default=-1) + 1
            with running(folder, embedder="hashing", synchronous="full") as daemon:
                acknowledged.update(_kill_in_the_middle(daemon, first, chance.randint(5, STREAM // 20)))
        with running(folder, embedder="hashing", synchronous="full") as daemon, connect(daemon.endpoint) as api:
            assert acknowledged <= _stored(api)
            assert any(api.flush(timeout_ms=25_000).ok for _ in range(12)), "a slow machine may need several"
            report = api.verify()
            assert report.ok, report
            for number in [*chance.sample(sorted(acknowledged), 20), max(acknowledged)]:
                found = api.search(f"token{number:05d}", user_id="ana", session_id=f"s{number % 3}")
                assert found.hits[0].record.text == _text(number)


@pytest.mark.requirement("STORE-4", "INGEST-3")
def test_work_that_was_queued_when_the_daemon_died_is_done_after_the_restart() -> None:
    with short_folder() as folder:
        with running(folder, embedder="none") as daemon, connect(daemon.endpoint) as api:
            for number in range(50):
                api.ingest("s", "user", f"I prefer fox {number}", user_id="ana", id=str(number))
            daemon.stop(signal.SIGKILL)
        with running(folder, embedder="hashing") as daemon, connect(daemon.endpoint) as api:
            assert api.flush().ok
            assert api.search("fox 7", user_id="ana").hits[0].scores.dense is not None
            assert api.list("user:ana").records
            assert api.verify().ok

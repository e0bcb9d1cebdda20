"""Many clients at once, reading and writing: no error, no lost turn."""

from __future__ import annotations

import threading
import time

import pytest

from clew.client import connect
from tests.testing.daemons import running, short_folder
from tests.testing.effort import effort

CLIENTS = 32


class Client(threading.Thread):
    """Writes, searches and assembles in turn until it is told to stop."""

    def __init__(self, endpoint: str, number: int, until: float) -> None:
        super().__init__()
        self.number = number
        self.acknowledged: list[str] = []
        self.failure: BaseException | None = None
        self._endpoint = endpoint
        self._until = until

    def run(self) -> None:
        try:
            with connect(self._endpoint) as api:
                while time.monotonic() < self._until:
                    self._step(api, len(self.acknowledged))
        except BaseException as error:  # noqa: BLE001 — handed to the test, which fails with it
            self.failure = error

    def _step(self, api: object, count: int) -> None:
        user, session = f"u{self.number % 8}", f"s{self.number}"
        receipt = api.ingest(session, "user", f"fox {count} of client {self.number}", user_id=user, id=str(count))  # type: ignore[attr-defined]
        assert receipt.stored
        self.acknowledged.append(receipt.id)
        if count % 3 == 0:
            assert api.search(f"fox {count}", user_id=user, session_id=session).hits  # type: ignore[attr-defined]
        if count % 5 == 0:
            context = api.assemble(session, user_id=user, budget_tokens=600)  # type: ignore[attr-defined]
            assert context.used_tokens <= 600
        if count % 7 == 0:
            api.put(f"user:{user}", f"{self.number}-{count}", f"note {count}")  # type: ignore[attr-defined]


@pytest.mark.requirement("RPC-3", "STORE-4")
def test_a_crowd_of_clients_works_without_an_error_and_loses_nothing() -> None:
    with short_folder() as folder, running(folder, embedder="hashing", synchronous="full") as daemon:
        until = time.monotonic() + effort(5, 60)
        clients = [Client(daemon.endpoint, number, until) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert [client.failure for client in clients if client.failure] == []
        with connect(daemon.endpoint) as api:
            for client in clients:
                stored: list[str] = []
                cursor: int | None = 0
                while cursor is not None:
                    page = api.list(f"session_raw:s{client.number}", cursor=cursor)
                    stored += [record.id for record in page.records]
                    cursor = page.cursor
                assert stored == client.acknowledged
            assert min(len(client.acknowledged) for client in clients) > 0
            report = api.verify()
            assert report.ok, report

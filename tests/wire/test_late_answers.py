"""No call takes an answer that comes after its own call has given up."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from clew import Client
from clew.errors import DeadlineExceeded
from clew.wire.endpoint import UnixEndpoint
from tests.testing.daemons import WAIT_S, short_folder

pytestmark = pytest.mark.requirement("API-1")

SHORT_S = 0.3
FIRST = "first"


class Tardy:
    """A daemon that is late with its answer to the first call, and in time with every other.

    Records that are asked for are answered with their own ids, so that each answer tells whose it is. Where the late
    answer waits for another call on its connection, each call there is answered when the next one comes.
    """

    def __init__(self, folder: Path, *, waits_for_another_call: bool) -> None:
        self.endpoint = UnixEndpoint(str(folder / "tardy"))
        self.connections = 0
        self.go_on = threading.Event()
        """Releases the late answer, where it does not wait for another call on its connection."""
        self.went = threading.Event()
        self._waits = waits_for_another_call
        self._over = threading.Event()
        self._sock = socket.socket(socket.AF_UNIX)
        self._sock.bind(self.endpoint.path)
        self._sock.listen()
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> Tardy:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.go_on.set()
        with socket.socket(socket.AF_UNIX) as knock:  # wakes the accepting thread
            knock.connect(self.endpoint.path)
        for thread in self._threads:
            thread.join(WAIT_S)
        self._sock.close()

    def _accept(self) -> None:
        while True:
            connection, _ = self._sock.accept()
            if self._over.is_set():
                connection.close()
                return
            self.connections += 1
            self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        owed: list[bytes] = []
        with connection, connection.makefile("rb") as lines, suppress(OSError):
            for line in lines:
                owed.append(_answer(line))
                if FIRST.encode() in line:
                    if self._waits:
                        continue
                    self.go_on.wait(WAIT_S)
                try:
                    connection.sendall(owed.pop(0))
                finally:
                    self.went.set()


def _answer(line: bytes) -> bytes:
    request = msgspec.json.decode(line)
    fields = {
        **{"collection": request["params"]["collection"], "ts": 0, "role": None, "provenance": "memory"},
        **{"trust": "unknown", "stability": 0.5, "tokens": 1, "version": 1, "accessCount": 0, "metadata": {}},
    }
    records = [{**fields, "id": id_, "text": f"the text of {id_}"} for id_ in request["params"]["ids"]]
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request["id"], "result": {"records": records}}) + b"\n"


def ask_for(client: Client, id_: str) -> list[str]:
    return [record.id for record in client.get("user:u", id_).records]


def give_up(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call that ends without its answer; those after it have all the time they need."""
    client.check()
    monkeypatch.setattr(client, "_timeout_s", SHORT_S)
    with pytest.raises(DeadlineExceeded):
        ask_for(client, FIRST)
    monkeypatch.setattr(client, "_timeout_s", WAIT_S)


def test_a_waiting_call_does_not_take_a_late_answer_for_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The late answer would go out when the next call is on its way, were that on the same connection."""
    with short_folder() as folder, Tardy(folder, waits_for_another_call=True) as daemon:
        with Client(daemon.endpoint) as client:
            give_up(client, monkeypatch)
            assert [ask_for(client, id_) for id_ in ("second", "third")] == [["second"], ["third"]]
        assert daemon.connections == 2


def test_the_next_call_does_not_take_a_late_answer_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder, Tardy(folder, waits_for_another_call=False) as daemon:
        with Client(daemon.endpoint) as client:
            give_up(client, monkeypatch)
            daemon.go_on.set()
            assert daemon.went.wait(WAIT_S)
            assert [ask_for(client, id_) for id_ in ("second", "third")] == [["second"], ["third"]]
        assert daemon.connections == 2

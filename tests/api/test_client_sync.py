"""The client for threads: the same operations over a daemon's socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from clew import Client, Config, api, connect
from clew.errors import ClewError, Conflict, DaemonUnreachable, DeadlineExceeded, InvalidInput, TooLarge
from clew.wire.endpoint import UnixEndpoint
from tests.testing.daemons import WAIT_S, Daemon, running, short_folder

pytestmark = pytest.mark.requirement("API-1")


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder / "data") as started:
        yield started


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with connect(config=Config(data_dir=daemon.data_dir)) as opened:
        yield opened


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def test_operations_give_typed_answers(client: Client) -> None:
    receipt = client.ingest("typed", "user", "the copper kettle", id="t1", user_id="u")
    assert receipt.id == "t1"
    assert receipt.stored
    assert client.put("user:typed", "a", "a copper pan", {"colour": "red"}).version == 1
    [record] = client.get("user:typed", "a").records
    assert (record.text, record.metadata["colour"]) == ("a copper pan", "red")
    hits = client.search("copper", collections=["user:typed", "session:typed"]).hits
    assert {hit.record.id for hit in hits} == {"a", "t1"}
    assert client.status().ok


def test_an_error_of_the_daemon_is_raised_as_its_class(client: Client) -> None:
    client.ingest("errors", "user", "one thing", id="t1")
    with pytest.raises(Conflict):
        client.ingest("errors", "user", "another thing", id="t1")
    assert client.status().ok


def test_a_request_over_the_frame_limit_is_refused_and_the_next_one_works(client: Client) -> None:
    with pytest.raises(TooLarge):
        client.put("user:big", "a", "x" * 2 * 1024 * 1024)
    assert client.status().ok


def test_the_client_never_sends_a_text_that_json_cannot_hold(client: Client) -> None:
    with pytest.raises(InvalidInput):
        client.put("user:odd", "a", "\ud800")
    assert client.status().ok


def test_several_threads_can_call_at_once(client: Client) -> None:
    def work(number: int) -> str:
        client.put("user:threads", str(number), f"record {number}")
        return client.get("user:threads", str(number)).records[0].text

    with ThreadPoolExecutor(12) as pool:
        texts = list(pool.map(work, range(60)))
    assert texts == [f"record {number}" for number in range(60)]


def test_without_a_daemon_the_error_says_how_to_start_one(folder: Path) -> None:
    with pytest.raises(DaemonUnreachable, match="clew up"):
        connect(config=Config(data_dir=folder))


def test_a_connection_closed_between_two_calls_is_replaced(folder: Path) -> None:
    with running(folder) as first:
        client = connect(first.endpoint, Config(data_dir=folder))
        assert client.status().ok
        first.stop()
    with running(folder), client:
        assert client.status().ok


def test_a_call_on_a_closed_client_says_that_it_is_closed(daemon: Daemon) -> None:
    client = connect(daemon.endpoint, Config(data_dir=daemon.data_dir))
    client.close()
    with pytest.raises(DaemonUnreachable, match="closed"):
        client.status()


class Impostor:
    """A listener that answers each accepted connection with the next of its lines."""

    def __init__(self, folder: Path, answers: list[bytes | None]) -> None:
        self.endpoint = UnixEndpoint(str(folder / "impostor"))
        self.requests: list[bytes] = []
        self.over = threading.Event()
        self._answers = answers
        self._sock = socket.socket(socket.AF_UNIX)
        self._sock.bind(self.endpoint.path)
        self._sock.listen()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Impostor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._thread.join(WAIT_S)
        self._sock.close()

    def _serve(self) -> None:
        for answer in self._answers:
            connection, _ = self._sock.accept()
            with connection, connection.makefile("rb") as lines:
                self.requests.append(lines.readline())
                if answer is None:
                    self.over.wait(WAIT_S)
                else:
                    connection.sendall(answer)


def test_a_missing_answer_is_a_deadline_error(folder: Path) -> None:
    with Impostor(folder, [None]) as impostor:
        client = Client(impostor.endpoint, timeout_ms=100)
        with client, pytest.raises(DeadlineExceeded):
            client.status()


def test_the_client_never_sends_a_request_twice(folder: Path) -> None:
    with Impostor(folder, [b""]) as impostor:
        client = Client(impostor.endpoint)
        with client, pytest.raises(DaemonUnreachable, match="hung up"):
            client.put("user:u", "a", "t")
    assert len(impostor.requests) == 1
    assert msgspec.json.decode(impostor.requests[0])["method"] == "put"


@pytest.mark.parametrize(
    "answer", [b"hello\n", b'{"jsonrpc":"2.0","id":1,"result":{"ok":5}}\n', b'{"id":1,"result":"\xff"}\n', b"\n"]
)
def test_a_malformed_answer_is_an_error_and_not_a_crash(folder: Path, answer: bytes) -> None:
    with Impostor(folder, [answer]) as impostor:
        client = Client(impostor.endpoint)
        with client, pytest.raises(ClewError):
            client.status()


def test_every_request_survives_the_wire() -> None:
    for kind in api.REQUESTS.values():
        required = {"session_id": "s", "message": api.Message(role="user", text="t"), "messages": (),
                    "collection": "c", "collections": (), "id": "i", "ids": (), "text": "t", "uses": {},
                    "lines": (), "hook": "h", "path": "/p", "pattern": "p", "ref": "c/i", "refs": (),
                    "query": "q", "verdict": "release", "before": "a", "after": "b", "keep": "c/i", "drop": (),
                    "events": (), "name": "n", "at": 1, "proposals": ()}  # fmt: skip
        needed = [field for field in msgspec.structs.fields(kind) if field.required]
        request = kind(**{field.name: "x" if field.type is str else required[field.name] for field in needed})
        assert msgspec.json.decode(msgspec.json.encode(request), type=kind) == request

"""A client that hangs up: the daemon drops its pending requests and keeps all its writes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.faces.daemon.limits import WORKERS_PER_CLIENT, Limits
from tests.testing.daemons import WAIT_S, Serving, frame, short_folder
from tests.testing.gated_memory import GatedMemory

pytestmark = pytest.mark.requirement("RPC-2", "RPC-3")

LIMITS = Limits(frame_bytes=65_536, connections=8, deadline_s=WAIT_S)
MANY = 1_500
TOKEN = "right"


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def memory() -> Iterator[GatedMemory]:
    made = GatedMemory()
    yield made
    made.door.set()


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def gates(count: int) -> bytes:
    return b"".join(frame("gate", {"text": "t"}, number) + b"\n" for number in range(count))


def puts(count: int) -> bytes:
    notes = ({"collection": "user:u", "id": str(number), "text": f"note {number}"} for number in range(count))
    return b"".join(frame("put", note, 1) + b"\n" for note in notes)


@pytest.mark.parametrize("token", [None, TOKEN], ids=["unix", "tcp"])
def test_requests_of_a_disconnected_client_are_not_started(
    memory: GatedMemory, folder: Path, token: str | None
) -> None:
    with Serving(memory, folder, LIMITS, token) as serving:
        with serving.wire() as gone:
            if token is not None:
                assert "result" in gone.ask("authenticate", {"token": token})
            sending = threading.Thread(target=gone.send, args=(gates(MANY),))
            sending.start()
            for _ in range(WORKERS_PER_CLIENT):
                assert memory.begun.acquire(timeout=WAIT_S)
            sending.join(WAIT_S)
            assert not sending.is_alive()
        memory.door.set()
        asked = wait_until_alone(serving)
    # Over TCP the daemon notices only when it sends its first answers.
    assert memory.calls - asked <= (WORKERS_PER_CLIENT if token is None else MANY // 10)


def wait_until_alone(serving: Serving) -> int:
    """Ask for the daemon's health until no other client is left; return the number of requests."""
    with serving.wire() as other:
        if serving.token is not None:
            assert "result" in other.ask("authenticate", {"token": serving.token})
        for asked in range(1, 50_000):
            assert other.result("health")["ok"]
            if len(serving.server._serving) == 1:
                return asked
    raise AssertionError("the daemon still serves a client that has gone")


def test_all_writes_of_a_disconnected_client_are_carried_out(memory: GatedMemory, folder: Path) -> None:
    with Serving(memory, folder, LIMITS) as serving:
        with serving.wire() as gone:
            gone.send(gates(WORKERS_PER_CLIENT))
            for _ in range(WORKERS_PER_CLIENT):
                assert memory.begun.acquire(timeout=WAIT_S)
            gone.send(puts(20) + gates(8) + puts(40))
        memory.door.set()
        with serving.wire() as other:
            for _ in range(20_000):
                if other.result("collections")["collections"] == [{"name": "user:u", "count": 40}]:
                    break
            else:
                raise AssertionError("a write was lost")
    assert memory.most_inside == WORKERS_PER_CLIENT


def test_requests_before_a_half_close_are_answered(memory: GatedMemory, folder: Path) -> None:
    memory.door.set()
    with Serving(memory, folder, LIMITS) as serving, serving.wire() as wire:
        wire.send(gates(100))
        wire.sock.shutdown(1)
        assert {wire.read()["id"] for _ in range(100)} == set(range(100))
        assert wire.read() is None

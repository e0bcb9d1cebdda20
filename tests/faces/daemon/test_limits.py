"""The server under load and hung work: bounded, fair, and clean at the end.

The memory is one whose `gate` waits until the test lets it go on, so nothing here depends on time.
"""

from __future__ import annotations

import asyncio
import logging
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew import AsyncClient, api
from clew.errors import Busy, DeadlineExceeded
from clew.faces.daemon.limits import WORKERS_PER_CLIENT, Limits
from tests.testing.daemons import WAIT_S, Serving, Wire, frame, short_folder
from tests.testing.gated_memory import GatedMemory


@pytest.fixture
def memory() -> Iterator[GatedMemory]:
    made = GatedMemory()
    yield made
    made.door.set()


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def limits(*, inflight: int = 32, connections: int = 64, deadline_s: float = WAIT_S, drain_s: float = WAIT_S) -> Limits:
    return Limits(
        frame_bytes=65_536, inflight=inflight, connections=connections, deadline_s=deadline_s, drain_s=drain_s
    )


def gates(count: int) -> bytes:
    return b"".join(frame("gate", {"text": "t"}, number) + b"\n" for number in range(count))


def read_ids(wire: Wire, count: int) -> set[object]:
    return {wire.read()["id"] for _ in range(count)}


@pytest.mark.requirement("RPC-3")
def test_a_client_with_many_open_requests_does_not_starve_another(memory: GatedMemory, folder: Path) -> None:
    with Serving(memory, folder, limits()) as serving, serving.wire() as greedy, serving.wire() as other:
        greedy.send(gates(32))
        for _ in range(WORKERS_PER_CLIENT):
            memory.begun.acquire()
        assert other.result("health")["ok"]
        memory.door.set()
        assert read_ids(greedy, 32) == set(range(32))
        assert memory.most_inside == WORKERS_PER_CLIENT


@pytest.mark.requirement("RPC-2")
def test_the_daemon_stops_reading_a_client_with_too_many_open_requests(memory: GatedMemory, folder: Path) -> None:
    with Serving(memory, folder, limits(inflight=2)) as serving, serving.wire() as wire:
        wire.send(gates(3) + b"not a frame\n")
        memory.begun.acquire()
        memory.begun.acquire()
        with serving.wire() as other:
            assert other.result("health")["ok"]
        memory.door.set()
        replies = [wire.read() for _ in range(4)]
        assert "result" in replies[0], "the line behind the third request was read before its turn"
        assert sum("result" in reply for reply in replies) == 3


@pytest.mark.requirement("RPC-2")
def test_hung_work_is_answered_at_its_deadline_and_keeps_its_place_until_the_end(
    memory: GatedMemory, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    with Serving(memory, folder, limits(deadline_s=0.5)) as serving, serving.wire() as wire:
        wire.send(gates(WORKERS_PER_CLIENT))
        replies = [wire.read() for _ in range(WORKERS_PER_CLIENT)]
        assert {reply["error"]["code"] for reply in replies} == {DeadlineExceeded.code}
        assert all("may still take effect" in reply["error"]["message"] for reply in replies)

        calls = memory.calls
        assert "not begun" in wire.error("health")["message"]
        assert memory.calls == calls
        with serving.wire() as other:
            assert other.result("health")["ok"]

        memory.door.set()
        while "error" in wire.ask("health"):
            pass


@pytest.mark.requirement("RPC-2", "RPC-3")
def test_a_client_that_never_reads_is_bounded_and_disconnected(memory: GatedMemory, folder: Path) -> None:
    memory.put("user:u", "big", "x" * 1_000_000)
    request = frame("get", {"collection": "user:u", "ids": ["big"]}) + b"\n"
    with Serving(memory, folder, limits(deadline_s=0.5)) as serving, serving.wire() as deaf:
        deaf.send(request * 200)
        with serving.wire() as other:
            assert other.result("health")["ok"]
        hung_up = select.poll()
        hung_up.register(deaf.sock, 0)
        assert hung_up.poll(WAIT_S * 1000)
        assert memory.calls < 50


@pytest.mark.requirement("RPC-2")
def test_a_surplus_client_is_told_so_and_a_free_place_is_reused(
    memory: GatedMemory, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    with Serving(memory, folder, limits(connections=2)) as serving, serving.wire() as first:
        with serving.wire() as second:
            assert first.result("health")["ok"]
            assert second.result("health")["ok"]
            with serving.wire() as third:
                refusal = third.read()
                assert (refusal["id"], refusal["error"]["code"]) == (None, Busy.code)
                assert third.read() is None
        assert first.result("health")["ok"]
        wait_until_admitted(serving)


def wait_until_admitted(serving: Serving) -> None:
    for _ in range(1000):
        with serving.wire() as wire:
            wire.send(frame("health") + b"\n")
            if "result" in wire.read():
                return
    raise AssertionError("the place was not given again")


@pytest.mark.requirement("RPC-3")
def test_a_burst_of_clients_is_served(memory: GatedMemory, folder: Path) -> None:
    async def ask(endpoint: str) -> bool:
        async with await AsyncClient.connect(endpoint) as client:
            return (await client.call(api.GetStatus())).ok

    async def burst(endpoint: str) -> list[bool]:
        return await asyncio.gather(*(ask(endpoint) for _ in range(300)))

    with Serving(memory, folder, limits(connections=400)) as serving:
        assert all(asyncio.run(burst(serving.endpoint)))


@pytest.mark.requirement("RPC-3")
def test_shutdown_finishes_and_answers_open_requests(memory: GatedMemory, folder: Path) -> None:
    with Serving(memory, folder, limits()) as serving, serving.wire() as wire, serving.wire() as idle:
        assert idle.result("health")["ok"]
        wire.send(gates(6))
        memory.begun.acquire()
        serving.ask_to_stop()
        assert idle.read() is None
        memory.door.set()
        answered = list(iter(wire.read, None))
        assert answered
        assert all("result" in reply for reply in answered)
        serving.join()
        assert serving.drained is True


@pytest.mark.requirement("RPC-3")
def test_shutdown_does_not_wait_forever_for_hung_work(memory: GatedMemory, folder: Path) -> None:
    with Serving(memory, folder, limits(drain_s=0.1)) as serving, serving.wire() as wire:
        wire.send(gates(1))
        memory.begun.acquire()
        serving.ask_to_stop()
        serving.join()
        assert serving.drained is False
        assert wire.read() is None

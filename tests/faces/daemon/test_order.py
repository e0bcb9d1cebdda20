"""The daemon carries out the writes of one connection in order, even if the client does not wait for answers."""

from __future__ import annotations

import threading
from typing import TypeVar

import pytest

from clew import api
from clew.api import Request
from clew.faces.daemon.limits import Limits
from tests.conftest import OpenMemory
from tests.testing.daemons import WAIT_S, Serving, Wire, frame, short_folder
from tests.testing.dict_memory import DictMemory

R = TypeVar("R")
LIMITS = Limits(frame_bytes=1 << 20, inflight=64, connections=8, deadline_s=WAIT_S)

pytestmark = pytest.mark.requirement("RPC-2", "RPC-3")


def send_all(wire: Wire, *calls: tuple[str, dict[str, object]]) -> dict[int, dict[str, object]]:
    """Send all requests at once, then read all answers, indexed by the place of the request."""
    wire.send(b"".join(frame(method, params, number) + b"\n" for number, (method, params) in enumerate(calls)))
    answers = [wire.read() for _ in calls]
    return {answer["id"]: answer for answer in answers}


def test_every_later_write_finds_the_record(open_memory: OpenMemory) -> None:
    memory = open_memory()
    with short_folder() as folder, Serving(memory, folder, LIMITS) as serving, serving.wire() as wire:
        for number in range(30):
            put = {"collection": "user:ada", "id": f"r{number}", "text": f"The port is {8000 + number}."}
            ref = f"user:ada/r{number}"
            answers = send_all(
                wire,
                ("put", put),
                ("label", {"ref": ref, "importance": "must_remember"}),
                ("touch", {"uses": {"user:ada": [f"r{number}"]}}),
                ("merge", {"keep": ref, "drop": [f"user:ada/r{number - 1}"]} if number else {"keep": ref, "drop": []}),
            )
            assert "error" not in answers[1], answers[1]
            assert answers[2]["result"] == {"ok": True, "count": 1}
            assert number == 0 or "error" not in answers[3], answers[3]


class Gated(DictMemory):
    """Holds back requests of one kind, and lists the finished ones in order."""

    def __init__(self, kind: type[Request[object]]) -> None:
        super().__init__()
        self.kind = kind
        self.door = threading.Event()
        self.done: list[str] = []

    def call(self, request: Request[R]) -> R:
        if isinstance(request, self.kind):
            assert self.door.wait(WAIT_S)
        self.done.append(request.method)
        if isinstance(request, api.Compact):
            return api.CompactReceipt(session_id="s", did_compact=False)  # type: ignore[return-value]
        return super().call(request)


PUT = ("put", {"collection": "global", "id": "a", "text": "one"})
COMPACT = ("compact", {"sessionId": "s"})


def test_a_compaction_waits_for_the_turns_sent_before_it() -> None:
    memory = Gated(api.Put)
    with short_folder() as folder, Serving(memory, folder, LIMITS) as serving, serving.wire() as wire:
        wire.send(b"".join(frame(method, params, method) + b"\n" for method, params in (PUT, COMPACT)))
        with serving.wire() as other:
            assert other.result("collections")["collections"] == []  # the daemon had time for the compaction
        assert memory.done == ["collections"]
        memory.door.set()
        assert {wire.read()["id"], wire.read()["id"]} == {"put", "compact"}
        assert memory.done[1:] == ["put", "compact"]


def test_a_turn_does_not_wait_for_a_long_compaction_before_it() -> None:
    memory = Gated(api.Compact)
    with short_folder() as folder, Serving(memory, folder, LIMITS) as serving, serving.wire() as wire:
        wire.send(b"".join(frame(method, params, method) + b"\n" for method, params in (COMPACT, PUT)))
        assert wire.read()["id"] == "put"
        memory.door.set()
        assert wire.read()["id"] == "compact"

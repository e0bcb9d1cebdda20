"""Many clients, each within its own bounds: together they are bounded too, and the daemon still serves others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from clew.errors import Busy
from clew.faces.daemon.limits import WORKERS_PER_CLIENT, Limits
from clew.faces.daemon.server import LEAVING
from tests.testing.daemons import WAIT_S, Serving, Wire, frame, short_folder
from tests.testing.dict_memory import DictMemory

pytestmark = pytest.mark.requirement("RPC-2", "RPC-3")

FRAME_BYTES = 65_536
TOKEN = "right"


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def limits(**given: int) -> Limits:
    return Limits(**{"frame_bytes": FRAME_BYTES, "connections": 64, "deadline_s": WAIT_S, "sign_in_s": WAIT_S} | given)  # type: ignore[arg-type]


def serve_until(wire: Wire, is_so: Callable[[], bool]) -> None:
    """Ask the daemon again and again until the condition holds; it answers each time."""
    for _ in range(20_000):
        assert wire.result("health")["ok"]
        if is_so():
            return
    raise AssertionError("that never came about")


# --- clients without a token ---------------------------------------------------------------------------


def sign_in(wire: Wire) -> dict[str, object]:
    answer: dict[str, object] = wire.ask("authenticate", {"token": TOKEN}, "sign in")
    return answer


def test_silent_strangers_prevent_nobody_from_signing_in(folder: Path) -> None:
    with ExitStack() as stack:
        serving = stack.enter_context(Serving(DictMemory(), folder, limits(connections=4, strangers=4), TOKEN))
        first = stack.enter_context(serving.wire())
        assert "result" in sign_in(first)
        silent = [stack.enter_context(serving.wire()) for _ in range(40)]
        later = stack.enter_context(serving.wire())
        assert "result" in sign_in(later)
        assert later.result("health")["ok"]
        assert first.result("health")["ok"], "a client that has signed in keeps its place"
        refusal = silent[0].read()
        assert (refusal["id"], refusal["error"]["code"]) == (None, Busy.code)
        assert silent[0].read() is None


def test_a_client_that_signs_in_to_a_full_daemon_is_told_so(folder: Path) -> None:
    with Serving(DictMemory(), folder, limits(connections=1), TOKEN) as serving, serving.wire() as first:
        assert "result" in sign_in(first)
        with serving.wire() as second:
            answer = sign_in(second)
            assert (answer["id"], answer["error"]["code"]) == ("sign in", Busy.code)  # type: ignore[index]
            assert second.read() is None
        assert "result" in sign_in(first), "to sign in twice takes no second place"


def test_a_surplus_client_that_sent_much_still_receives_the_reason(folder: Path) -> None:
    with Serving(DictMemory(), folder, limits(connections=1)) as serving, serving.wire() as first:
        assert first.result("health")["ok"]
        for _ in range(20):
            with serving.wire() as second:
                second.send(frame("health") + b"\n" + b"x" * 50_000)
                assert second.read()["error"]["code"] == Busy.code
                second.sock.shutdown(1)
                assert second.read() is None


def test_each_of_many_surplus_clients_is_told_so(folder: Path) -> None:
    with ExitStack() as stack:
        serving = stack.enter_context(Serving(DictMemory(), folder, limits(connections=1)))
        assert stack.enter_context(serving.wire()).result("health")["ok"]
        for wire in [stack.enter_context(serving.wire()) for _ in range(LEAVING + 10)]:
            assert wire.read()["error"]["code"] == Busy.code


# --- lines that do not end -----------------------------------------------------------------------------


def unfinished_frame(request_id: int) -> bytes:
    """The longest frame without its last bytes."""
    line = frame("gate", {"text": "x" * (FRAME_BYTES - 200)}, request_id)
    return line[:-3]


def test_unfinished_lines_of_all_clients_are_bounded_together_and_released(folder: Path) -> None:
    room_bytes = 4 * FRAME_BYTES
    with Serving(DictMemory(), folder, limits(unfinished_bytes=room_bytes)) as serving, serving.wire() as other:
        with ExitStack() as stack:
            slow = [stack.enter_context(serving.wire()) for _ in range(40)]
            most = 0
            for number, wire in enumerate(slow):
                wire.send(unfinished_frame(number))
                assert other.result("gate", text="y" * (FRAME_BYTES - 300))
                most = max(most, serving.server.unfinished_bytes)
                assert most <= room_bytes
            serve_until(other, lambda: serving.server.unfinished_bytes > room_bytes - 2 * FRAME_BYTES)
            slow[0].send(b'"}}\n')
            refusal = slow[0].read()
            assert (refusal["id"], refusal["error"]["code"]) == (0, Busy.code)
            assert slow[0].result("health")["ok"], "the connection lives on"
        serve_until(other, lambda: serving.server.unfinished_bytes == 0)


def test_the_newest_unfinished_line_is_kept_and_answered(folder: Path) -> None:
    with ExitStack() as stack:
        serving = stack.enter_context(Serving(DictMemory(), folder, limits(unfinished_bytes=2 * FRAME_BYTES)))
        slow = [stack.enter_context(serving.wire()) for _ in range(10)]
        for number, wire in enumerate(slow):
            wire.send(unfinished_frame(number))
            serve_until(wire_of(stack, serving), lambda: serving.server.unfinished_bytes > FRAME_BYTES // 2)
        slow[-1].send(b'"}}\n')
        assert "error" not in slow[-1].read()


def wire_of(stack: ExitStack, serving: Serving) -> Wire:
    return stack.enter_context(serving.wire())


# --- clients that do not read --------------------------------------------------------------------------


def test_unread_answers_of_all_clients_are_bounded_together_and_released(folder: Path) -> None:
    memory, answer_bytes, room_bytes = DictMemory(), 1_000_000, 8_000_000
    memory.put("user:u", "big", "x" * answer_bytes)
    request = frame("get", {"collection": "user:u", "ids": ["big"]}) + b"\n"
    of_one_client = (WORKERS_PER_CLIENT + 1) * 2 * answer_bytes
    with Serving(memory, folder, limits(under_way_bytes=room_bytes)) as serving, serving.wire() as other:
        with ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(serving.wire()).send(request * 10)
                assert other.result("health")["ok"]
                assert serving.server.under_way_bytes <= room_bytes + of_one_client
            serve_until(other, lambda: serving.server.under_way_bytes > answer_bytes)
            assert other.result("get", collection="user:u", ids=["big"])["records"]
            assert serving.server.under_way_bytes <= room_bytes + of_one_client
        serve_until(other, lambda: serving.server.under_way_bytes == 0)


def test_requests_without_room_get_the_answer_busy(folder: Path) -> None:
    text = "x" * 5_000
    with Serving(DictMemory(), folder, limits(under_way_bytes=4_000)) as serving, serving.wire() as wire:
        answer = wire.ask("gate", {"text": text}, "large")
        assert (answer["id"], answer["error"]["code"]) == ("large", Busy.code)
        assert wire.result("health")["ok"]

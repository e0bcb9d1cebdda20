"""A live daemon under bad frames: each gets an error, and the next good frame is answered as usual."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.testing.daemons import Daemon, Wire, frame, running, short_folder

pytestmark = pytest.mark.requirement("RPC-2")

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder / "data") as started:
        yield started


@pytest.fixture
def wire(daemon: Daemon) -> Iterator[Wire]:
    with daemon.wire() as opened:
        yield opened


def assert_alive(wire: Wire) -> None:
    assert wire.ask("health", request_id="alive")["id"] == "alive"


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        pytest.param(b"not json", -32700, None, id="not JSON"),
        pytest.param(bytes(range(128, 256)), -32700, None, id="binary"),
        pytest.param(b"\x00" * 50, -32700, None, id="zeros"),
        pytest.param(frame("health")[:-5], -32700, None, id="cut off"),
        pytest.param(frame("health") + b"x", -32700, None, id="trailing text"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"health","params":{"a":NaN}}', -32700, None, id="NaN"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"health","params":{"a":"\\udfff"}}', -32700, None,
                     id="lone surrogate"),
        pytest.param(b"[" * 100_000, -32700, None, id="open brackets"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, -32700, None, id="deep object"),
        pytest.param(b"[" + frame("health") + b"]", -32600, None, id="batch"),
        pytest.param(b'"text"', -32600, None, id="no object"),
        pytest.param(b'{"jsonrpc":"2.0","id":4}', -32600, 4, id="no method"),
        pytest.param(b'{"id":4,"method":"health"}', -32600, 4, id="no version"),
        pytest.param(b'{"jsonrpc":"2.0","id":{},"method":"health"}', -32600, None, id="object as id"),
        pytest.param(b'{"jsonrpc":"2.0","id":4,"method":"health","params":[]}', -32602, 4, id="array as params"),
        pytest.param(frame("no_such_method", {}, 4), -32601, 4, id="unknown method"),
        pytest.param(frame("x" * 5000, {}, 4), -32601, 4, id="long unknown method"),
        pytest.param(frame("insert_text", {"collection": "user:u"}, 4), -32602, 4, id="missing fields"),
        pytest.param(frame("insert_text", {"collection": "user:u", "id": 5, "text": "t"}, 4), -32602, 4,
                     id="number as id"),
        pytest.param(frame("insert_text", {"collection": "user:u", "id": "5", "text": "t", "metadata": [1]}, 4),
                     -32602, 4, id="array as metadata"),
        pytest.param(frame("search_text", {"collection": "user:u", "text": "t", "k": "3"}, 4), -32602, 4,
                     id="text as k"),
        pytest.param(frame("put", {"collection": "user:u", "id": "5", "text": "t", "colour": 1}, 4), -32602, 4,
                     id="unknown field of an own method"),
        pytest.param(frame("flush_namespace", {}, 4), -32602, 4, id="flush_namespace without a user"),
        pytest.param(frame("compact_session", {}, 4), -32602, 4, id="compact_session without a session"),
        pytest.param(frame("compact_session", {"sessionId": "s", "force": "yes"}, 4), -32602, 4, id="text as force"),
        pytest.param(frame("compact_session", {"sessionId": "", "targetSize": 3}, 4), -32602, 4, id="empty session id"),
        pytest.param(frame("expand_summary", {"sessionId": "s"}, 4), -32602, 4, id="expand_summary without a summary"),
        pytest.param(frame("grep", {"sessionId": "s", "pattern": "(", "regex": True}, 4), -32602, 4,
                     id="bad expression"),
        pytest.param(frame("insert_text", {"text": "x" * 2 * MIB}, 4), -32015, 4, id="2 MiB"),
        pytest.param(b"x" * 3 * MIB, -32015, None, id="3 MiB of nothing"),
    ],
)  # fmt: skip
def test_a_bad_frame_gets_an_error_and_the_connection_lives_on(
    wire: Wire, line: bytes, code: int, request_id: object
) -> None:
    reply = wire.reply(line)
    assert set(reply) == {"jsonrpc", "id", "error"}
    assert (reply["id"], reply["error"]["code"]) == (request_id, code)
    assert 0 < len(reply["error"]["message"]) <= 500
    assert "Traceback" not in reply["error"]["message"]
    assert_alive(wire)


def test_a_frame_of_exactly_the_limit_is_taken(wire: Wire) -> None:
    line = frame("health", {"pad": ""})
    full = frame("health", {"pad": "x" * (MIB - len(line))})
    assert len(full) == MIB
    assert wire.reply(full)["result"]["ok"]
    assert wire.reply(full + b" ")["error"]["code"] == -32015
    assert_alive(wire)


def test_empty_lines_and_carriage_returns_are_no_frames(wire: Wire) -> None:
    wire.send(b"\n\r\n  \n" + frame("health", {}, 5) + b"\r\n")
    assert wire.read()["id"] == 5


def test_a_notification_is_carried_out_and_not_answered(wire: Wire) -> None:
    params = {"collection": "user:quiet", "id": "a", "text": "said quietly", "metadata": {}}
    note = {"jsonrpc": "2.0", "method": "insert_text", "params": params}
    wire.send(msgspec.json.encode(note) + b"\n")
    wire.send(msgspec.json.encode({"jsonrpc": "2.0", "method": "no_such_method"}) + b"\n")
    while not (records := wire.result("export_memory", userId="quiet")["records"]):
        pass
    assert records[0]["text"] == "said quietly"


@pytest.mark.parametrize("request_id", [0, -1, 2**62, 1.5, "", "ä", "x" * 1000])
def test_the_id_of_a_request_comes_back_unchanged(wire: Wire, request_id: object) -> None:
    assert wire.ask("health", {}, request_id)["id"] == request_id


def test_a_client_that_hangs_up_in_mid_frame_leaves_nothing_behind(daemon: Daemon) -> None:
    with daemon.wire() as half:
        half.send(frame("insert_text", {"collection": "user:half", "id": "a", "text": "t"})[:-3])
    with daemon.wire() as wire:
        assert wire.result("export_memory", userId="half")["records"] == []


def test_answers_still_arrive_after_the_client_has_closed_its_writing_end(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        wire.send(b"".join(frame("health", {}, number) + b"\n" for number in range(10)))
        wire.sock.shutdown(1)
        assert {wire.read()["id"] for _ in range(10)} == set(range(10))
        assert wire.read() is None


def test_pipelined_requests_are_all_answered_good_and_bad(wire: Wire) -> None:
    lines = [frame("health", {}, n) if n % 2 else frame("nope", {}, n) for n in range(200)]
    wire.send(b"\n".join(lines) + b"\n")
    replies = {reply["id"]: reply for reply in (wire.read() for _ in lines)}
    assert sorted(replies) == list(range(200))
    assert all(("result" in reply) == bool(number % 2) for number, reply in replies.items())


def test_a_duplicate_key_counts_once(wire: Wire) -> None:
    assert wire.reply(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"health"}')["id"] == 2


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200).map(lambda raw: raw.replace(b"\n", b"")))
def test_random_bytes_never_break_the_connection(wire: Wire, line: bytes) -> None:
    wire.send(line + b"\n" + frame("health", {}, "after") + b"\n")
    reply = wire.read()
    if reply["id"] != "after":
        assert isinstance(reply["error"]["code"], int)
        assert reply["error"]["message"]
        reply = wire.read()
    assert reply["id"] == "after"
    assert reply["result"]["ok"]

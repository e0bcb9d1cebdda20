"""Wire frames: every line of bytes is either a request or an error with a code."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ClewError, InvalidInput, NotFound, from_code
from clew.faces.daemon.limits import Lines, Skipped
from clew.faces.daemon.methods import METHODS, answer
from clew.faces.daemon.room import Room
from clew.faces.daemon.wire import MAX_DEPTH, BadFrame, Call, error_line, id_of_head, read_call, result_line
from tests.testing.dict_memory import DictMemory

pytestmark = pytest.mark.requirement("RPC-2")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    ["collection", "collections", "id", "ids", "text", "metadata", "sessionId", "userId", "k", "key", "value",
     "updates", "message", "messages", "cursor", "limit", "hook", "lines", "uses", "excludeIds"]
)  # fmt: skip


def refusal(line: bytes) -> BadFrame:
    with pytest.raises(BadFrame) as caught:
        read_call(line)
    return caught.value


def test_a_request_is_read_with_its_id_method_and_parameters() -> None:
    call = read_call(b'{"jsonrpc":"2.0","id":"a","method":"health","params":{"x":1}}\r')
    assert call == Call(id="a", method="health", params={"x": 1})


@pytest.mark.parametrize("params", [b"", b',"params":null', b',"params":{}'])
def test_parameters_are_optional(params: bytes) -> None:
    assert read_call(b'{"jsonrpc":"2.0","id":1,"method":"health"' + params + b"}").params == {}


def test_a_request_without_an_id_is_a_notification() -> None:
    assert not read_call(b'{"jsonrpc":"2.0","method":"health"}').wants_answer


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'{"a":"\xed\xa0\x80"}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":-Infinity}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e999}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud800"}}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[" * 100_000 + b"]" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b"5", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"m"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":"x","method":5}', -32600, "x"),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}', -32602, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":"x"}', -32602, 7),
    ],
)
def test_a_bad_frame_gets_an_error_with_a_code_and_its_id(line: bytes, code: int, request_id: object) -> None:
    bad = refusal(line)
    assert (bad.error.code, bad.request_id) == (code, request_id)


def test_the_last_of_two_equal_keys_counts() -> None:
    assert read_call(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}').id == 2


def test_nesting_is_allowed_up_to_the_bound() -> None:
    def nested(depth: int) -> bytes:
        inner = b"[" * depth + b"]" * depth
        return b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":' + inner + b"}}"

    assert read_call(nested(MAX_DEPTH - 2)).method == "m"
    assert "deep" in str(refusal(nested(MAX_DEPTH - 1)).error)


def test_many_flat_objects_are_not_mistaken_for_deep_nesting() -> None:
    items = b",".join([b"{}"] * 1000)
    assert read_call(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[' + items + b"]}}").id == 1


@given(st.binary(max_size=300) | JSON.map(msgspec.json.encode))
def test_any_line_is_a_call_or_a_bad_frame(line: bytes) -> None:
    try:
        call = read_call(line)
    except BadFrame as bad:
        reply = msgspec.json.decode(error_line(bad.request_id, bad.error))
        assert reply["error"]["code"] in (-32700, -32600, -32602)
        assert reply["error"]["message"]
    else:
        assert isinstance(call.params, dict)


@given(
    st.sampled_from(sorted(METHODS)) | st.text(max_size=8),
    st.dictionaries(WORDS | st.text(max_size=6), JSON, max_size=5),
)
def test_any_parameters_give_a_result_or_a_named_error_and_never_an_internal_fault(
    method: str, params: dict[str, object]
) -> None:
    reply = msgspec.json.decode(answer(DictMemory(), Call(id=1, method=method, params=params)))
    assert reply["id"] == 1
    assert ("result" in reply) != ("error" in reply)
    assert reply.get("error", {}).get("code") != -32603


def test_the_answer_to_an_internal_fault_holds_no_details(caplog: pytest.LogCaptureFixture) -> None:
    class Faulty(DictMemory):
        def call(self, request: object) -> object:  # type: ignore[override]
            raise RuntimeError("somebody's private text")

    line = answer(Faulty(), Call(id=1, method="health", params={}))
    assert msgspec.json.decode(line)["error"]["code"] == -32603
    assert b"private" not in line
    assert "health failed" in caplog.text


def test_an_error_line_is_bounded_and_always_encodable() -> None:
    reply = msgspec.json.decode(error_line(1, InvalidInput("\ud800" + "x" * 10_000)))
    assert len(reply["error"]["message"]) <= 500


def test_errors_keep_their_class_over_the_wire() -> None:
    reply = msgspec.json.decode(error_line(1, NotFound("no such record")))
    error = from_code(**reply["error"])
    assert (type(error), str(error)) == (NotFound, "no such record")


def test_an_unknown_code_becomes_the_base_error() -> None:
    assert type(from_code(-1, "odd")) is ClewError


def test_a_result_is_one_line() -> None:
    assert result_line(1, {"text": "a\nb\u2028"}).count(b"\n") == 1


@pytest.mark.parametrize(
    ("head", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"insert_text","params":{"te', 7),
        (b'{ "jsonrpc": "2.0", "method": "insert_text", "id": "q-1", "params"', "q-1"),
        (b'{"id":-3,"x":', -3),
        (b'{"jsonrpc":"2.0","params":{"id":7,"text":"', None),
        (b'{"jsonrpc":"2.0","method":"x\\"y","id":7,', None),
        (b'{"jsonrpc":"2.0","id":"\xff","method"', None),
        (b"xxxx", None),
    ],
)
def test_the_id_of_an_overlong_frame_is_found_if_it_comes_first(head: bytes, request_id: object) -> None:
    assert id_of_head(head) == request_id


@given(st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_do_not_depend_on_the_chunks_of_the_stream(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    reader, found = Lines(8, Room(100)), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += list(reader.feed(stream[begin:end]))
    expected = [line if len(line) <= 8 else Skipped for line in lines]
    assert [Skipped if isinstance(line, Skipped) else line for line in found] == expected

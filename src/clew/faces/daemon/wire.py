"""JSON-RPC 2.0 frames: reads a line of bytes as a `Call`, and writes an outcome as a line.

Reading is strict. It refuses text that is not UTF-8 JSON (NaN, Infinity and lone surrogates are not),
nesting deeper than `MAX_DEPTH`, batches, ids that are neither numbers nor strings, and parameters that
are not an object. Of two equal keys in an object the last one counts.

A refusal carries the id of the request wherever it is known, because a client with several running
requests could not tell otherwise which of them failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import msgspec

from clew.api import JsonObject, MemoryApi
from clew.core.structs import plain
from clew.errors import ClewError, InvalidInput

MAX_DEPTH = 100
"""Arrays and objects inside each other; far above any real frame, far below the interpreter's stack."""
MAX_SENTENCE_CHARS = 500

Id = int | float | str
T = TypeVar("T")


class ParseError(ClewError):
    code: ClassVar[int] = -32700


class InvalidRequest(ClewError):
    code: ClassVar[int] = -32600


class MethodNotFound(ClewError):
    code: ClassVar[int] = -32601


class InternalError(ClewError):
    code: ClassVar[int] = -32603


@dataclass(frozen=True, slots=True)
class Call:
    """One request. Without an id it is a notification, which gets no answer."""

    id: Id | None
    method: str
    params: JsonObject

    @property
    def wants_answer(self) -> bool:
        return self.id is not None


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the daemon."""

    params: type[Any]
    """The type of its parameters."""
    act: Callable[[MemoryApi, Any], Any]
    writes: bool = False
    lets_writes_pass: bool = False
    deadline_factor: int = 1

    def answer(self, memory: MemoryApi, params: JsonObject) -> object:
        return self.act(memory, arguments(params, self.params))


class BadFrame(Exception):
    """A line that is not a request, with the error that answers it."""

    def __init__(self, error: ClewError, request_id: Id | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.request_id = request_id


def read_call(line: bytes) -> Call:
    """The request on a line. Raises BadFrame."""
    frame = _decode(line)
    if isinstance(frame, list):
        raise BadFrame(InvalidRequest("batches are not supported; send one request object a line"))
    if not isinstance(frame, dict):
        raise BadFrame(InvalidRequest("a request is a JSON object"))
    request_id = _read_id(frame)
    if frame.get("jsonrpc") != "2.0":
        raise BadFrame(InvalidRequest('a request has "jsonrpc": "2.0"'), request_id)
    method = frame.get("method")
    if not isinstance(method, str):
        raise BadFrame(InvalidRequest("a request names its method with a string"), request_id)
    params = frame.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise BadFrame(InvalidInput("parameters are given as an object"), request_id)
    return Call(id=request_id, method=method, params=params)


def arguments(params: JsonObject, kind: type[T]) -> T:
    """The parameters as the type a method takes. Raises InvalidInput, which names the field."""
    for name, value in params.items():
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise InvalidInput(f"wrong parameters: the number of `{name}` does not fit 64 bits")
    try:
        return msgspec.convert(params, kind)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"wrong parameters: {error}") from error


def result_line(request_id: Id | None, result: object) -> bytes:
    """A result as a line. Fails where JSON cannot hold the result."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": result}, enc_hook=plain) + b"\n"


def error_line(request_id: Id | None, error: ClewError) -> bytes:
    """An error as a line. Never fails: it cuts the sentence and replaces what cannot be encoded."""
    sentence = str(error)[:MAX_SENTENCE_CHARS].encode("utf-8", "replace").decode("utf-8")
    outcome = {"code": error.code, "message": sentence or type(error).__name__}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": outcome}) + b"\n"


_HEAD = re.compile(
    rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,64}"\s*,){0,2}'
    rb'\s*"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\\x00-\x1f]{0,128}")\s*[,}]'
)


def id_of_head(head: bytes) -> Id | None:
    """The id of an overlong frame, where it comes before the parameters, as it usually does."""
    found = _HEAD.match(head)
    if found is None:
        return None
    try:
        request_id: Id = msgspec.json.decode(found.group(1), type=int | str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return request_id


def _decode(line: bytes) -> Any:
    try:
        frame = msgspec.json.decode(line)
    except UnicodeDecodeError as error:
        raise BadFrame(ParseError("the frame is not valid UTF-8")) from error
    except RecursionError as error:
        raise BadFrame(_too_deep()) from error
    except msgspec.DecodeError as error:
        raise BadFrame(ParseError(f"the frame is not valid JSON: {error}")) from error
    may_be_deep = line.count(b"[") + line.count(b"{") > MAX_DEPTH
    if may_be_deep and _is_deep(frame):
        raise BadFrame(_too_deep())
    return frame


def _is_deep(frame: Any) -> bool:
    """Whether containers nest beyond the bound. It goes level by level, so that it needs no stack itself."""
    level = [frame]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _children(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _children(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def _too_deep() -> ParseError:
    return ParseError(f"the frame nests arrays and objects more than {MAX_DEPTH} deep")


def _read_id(frame: JsonObject) -> Id | None:
    if "id" not in frame:
        return None
    request_id = frame["id"]
    if isinstance(request_id, bool) or not isinstance(request_id, int | float | str):
        raise BadFrame(InvalidRequest("an id is a number or a string"))
    return request_id

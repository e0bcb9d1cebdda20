"""One request line and one reply line, as every client of the daemon writes and reads them."""

from __future__ import annotations

from typing import TypeVar, cast

import msgspec

from clew.core.operation import Request
from clew.core.structs import plain
from clew.errors import ClewError, DaemonUnreachable, DeadlineExceeded, InvalidInput, from_code
from clew.wire.endpoint import Endpoint

R = TypeVar("R")


class ReplyError(msgspec.Struct):
    code: int
    message: str

    def as_exception(self) -> ClewError:
        return from_code(self.code, self.message)


class Reply(msgspec.Struct):
    id: int | float | str | None = None
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: ReplyError | None = None


_replies = msgspec.json.Decoder(Reply)


def request_line(number: int, method: str, params: object) -> bytes:
    frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    try:
        return msgspec.json.encode(frame, enc_hook=plain) + b"\n"
    except (UnicodeEncodeError, TypeError, RecursionError) as error:
        raise InvalidInput(f"the request cannot be written as JSON: {error}") from error


def decode_reply(line: bytes) -> Reply:
    try:
        return _replies.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ClewError(f"what answers there does not speak JSON-RPC: {error}") from error


def decode_result(result: msgspec.Raw, request: Request[R]) -> R:
    try:
        return cast("R", msgspec.json.decode(result, type=request.answer))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ClewError(f"the daemon's answer to {request.method} has another shape: {error}") from error


def unreachable(endpoint: Endpoint) -> DaemonUnreachable:
    return DaemonUnreachable(f"no daemon answers at {endpoint}; start one with `clew up`")


def lost(endpoint: Endpoint) -> DaemonUnreachable:
    return DaemonUnreachable(f"the daemon at {endpoint} hung up before its answer; the work may have been done")


def too_late(waited_s: float) -> DeadlineExceeded:
    return DeadlineExceeded(f"no answer within {waited_s:.1f} s; the work may still be done")

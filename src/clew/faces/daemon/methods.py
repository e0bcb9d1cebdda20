"""Answers a `Call` with a line: finds the method, checks the parameters, asks the memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from clew.api import REQUESTS, MemoryApi, Request
from clew.errors import ClewError
from clew.faces.daemon import compat
from clew.faces.daemon.wire import Call, InternalError, Method, MethodNotFound, error_line, result_line

log = logging.getLogger(__name__)


def answer(memory: MemoryApi, call: Call) -> bytes:
    """Carries out one call. The outcome is always a line; for a fault of the daemon it gives no details."""
    try:
        return result_line(call.id, _carry_out(memory, call))
    except ClewError as error:
        return error_line(call.id, error)
    except Exception:
        # The edge of the process: one request's fault must not end the others.
        log.exception("%s failed", call.method)
        return error_line(call.id, InternalError("internal error; the daemon's log has the details"))


def _carry_out(memory: MemoryApi, call: Call) -> object:
    method = METHODS.get(call.method)
    if method is None:
        raise MethodNotFound(f"there is no method {call.method[:80]!r}")
    return method.answer(memory, call.params)


def _own(kind: type[Request[Any]]) -> Method:
    return Method(
        kind,
        lambda memory, request: memory.call(request),
        writes=kind.writes,
        lets_writes_pass=kind.lets_writes_pass,
        deadline_factor=kind.deadline_factor,
    )


METHODS: Mapping[str, Method] = {name: _own(kind) for name, kind in REQUESTS.items()} | dict(compat.METHODS)
"""Every method of the daemon by its name on the wire."""

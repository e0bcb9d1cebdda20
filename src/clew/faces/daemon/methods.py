"""From a `Call` to the line that answers it: find the method, check the parameters, ask the memory."""

from __future__ import annotations

import logging
from typing import Any

from clew.api import REQUESTS, MemoryApi, Request
from clew.errors import ClewError
from clew.faces.daemon import compat
from clew.faces.daemon.compat import Handler
from clew.faces.daemon.wire import Call, InternalError, MethodNotFound, arguments, error_line, result_line

log = logging.getLogger(__name__)


def answer(memory: MemoryApi, call: Call) -> bytes:
    """Carry out one call. Whatever happens, the outcome is a line; of a fault it says only that it was one."""
    try:
        return result_line(call.id, _carry_out(memory, call))
    except ClewError as error:
        return error_line(call.id, error)
    except Exception:
        # The edge of the process: one request's fault must not end the others.
        log.exception("%s failed", call.method)
        return error_line(call.id, InternalError("internal error; the daemon's log has the details"))


def _carry_out(memory: MemoryApi, call: Call) -> object:
    handler = HANDLERS.get(call.method)
    if handler is None:
        raise MethodNotFound(f"there is no method {call.method[:80]!r}")
    return handler(memory, call.params)


def _own(kind: type[Request[Any]]) -> Handler:
    return lambda memory, params: memory.call(arguments(params, kind))


HANDLERS: dict[str, Handler] = {name: _own(kind) for name, kind in REQUESTS.items()} | compat.HANDLERS
"""Every method of the daemon by its name on the wire."""

WRITES = frozenset(
    {"ingest", "ingest_batch", "put", "clear", "delete", "delete_batch", "capture", "harvest", "purge", "review"}
    | {"facts_assert", "facts_invalidate", "facts_accept", "facts_decline"}
    | {"graph_merge", "graph_unmerge", "graph_rebuild"}
    | {"insert_text", "insert_session_turn", "flush_namespace"}
    | {"ingest_markdown_document", "delete_authored_document", "promote_dream_entries"}
    | {"plans_add", "plans_close"}
)
"""Methods that one client's requests pass one by one, in the order they were sent: turns must not change places."""

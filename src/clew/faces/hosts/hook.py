"""`clew hook`: reads an event of a host from standard input, keeps it, and prints what memory knows of it.

A hook never hinders its host. It has one deadline for everything, prints one JSON object or nothing, and ends with
status 0 whatever goes wrong. It is loaded at every event, so it imports nothing that takes time.
"""

from __future__ import annotations

import json
import os
import select
import time

from clew.faces.hosts.dialects import EVENTS, Payload, answer
from clew.faces.hosts.hook_delivery import Delivery
from clew.faces.hosts.hook_events import Moment, context_for
from clew.faces.hosts.hook_given import Given
from clew.faces.hosts.hook_wire import default_data_dir
from clew.faces.hosts.person import own_user

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DEADLINE_S = 0.9
"""For the whole event; with the start of the interpreter that is less than a second."""

MAX_INPUT_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 1 << 20
_STANDARD_INPUT = 0
_STANDARD_OUTPUT = 1


def run(arguments: Sequence[str]) -> int:
    """Handles one event: HOST EVENT, then `--user ID`, `--data DIR` and `--endpoint ENDPOINT`.

    Returns 0 always: any other status would mean something to the host.
    """
    deadline = time.monotonic() + DEADLINE_S
    try:
        event, context, given = _handle(arguments, deadline)
        if context:
            os.write(_STANDARD_OUTPUT, json.dumps(answer(event, context)).encode("ascii") + b"\n")
            given.remember(context)
    except Exception:  # noqa: BLE001 — the edge of the process, and a host that must go on
        pass
    return 0


def _handle(arguments: Sequence[str], deadline: float) -> tuple[str, str, Given]:
    """Keeps the event. Gives its name, the text for the model, and the list of lines to note the text in."""
    (host, event), options = arguments[:2], _parse_options(arguments[2:])
    if event not in EVENTS[host]:
        raise ValueError(f"{host} has no event {event}")
    payload = Payload(host, event, json.loads(_read_input(deadline), parse_constant=lambda _: None))
    user_id, data_dir = options.get("--user") or own_user(), options.get("--data") or default_data_dir()
    given = Given(data_dir, user_id, payload.session_id, is_told=payload.tells_of_compactions)
    delivery = Delivery(data_dir, deadline, options.get("--endpoint"))
    try:
        context = context_for(Moment(payload, user_id, delivery, given))
    finally:
        delivery.close()
    return event, context, given


def _parse_options(words: Sequence[str]) -> dict[str, str]:
    """Reads `--name value` and `--name=value`; passes over `--json`, because a hook answers in JSON anyway.

    Raises ValueError for a name without its value, which nobody should guess.
    """
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if name:
            options[name], name = word, ""
        elif "=" in word:
            given, _, options[given] = word.partition("=")
        elif word != "--json":
            name = word
    if name:
        raise ValueError(f"{name} has no value")
    return options


def _read_input(deadline: float) -> bytes:
    received = bytearray()
    while len(received) <= MAX_INPUT_BYTES:
        ready, _, _ = select.select([_STANDARD_INPUT], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            raise TimeoutError
        chunk = os.read(_STANDARD_INPUT, _CHUNK_BYTES)
        if not chunk:
            return bytes(received)
        received += chunk
    raise ValueError("the event is too large")

"""`clew hook`: what a host says on standard input is kept, and what memory knows of it goes to standard output.

A hook may never stand in its host's way. All of it has one deadline; whatever goes wrong, it says nothing and
ends well; and it writes nothing but one JSON object. Loaded at every event: it may import nothing that takes time.
"""

from __future__ import annotations

import json
import os
import select
import time

from clew.faces.hosts.dialects import EVENTS, Payload, answer
from clew.faces.hosts.hook_events import Moment, context_for
from clew.faces.hosts.hook_wire import Daemon, default_data_dir
from clew.faces.hosts.person import own_user

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DEADLINE_S = 0.9
"""Of everything from here on; with the start of the interpreter it stays within a second."""

MAX_INPUT_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 1 << 20
_STANDARD_INPUT = 0
_STANDARD_OUTPUT = 1


def run(arguments: Sequence[str]) -> int:
    """Handle one event: HOST EVENT, then `--user ID`, `--data DIR` and `--endpoint ENDPOINT`.

    Always 0: any other status would mean something to the host.
    """
    deadline = time.monotonic() + DEADLINE_S
    try:
        said = _handle(arguments, deadline)
        if said:
            os.write(_STANDARD_OUTPUT, json.dumps(said).encode("ascii") + b"\n")
    except Exception:  # noqa: BLE001 — the edge of the process, and a host that must go on
        pass
    return 0


def _handle(arguments: Sequence[str], deadline: float) -> dict[str, object] | None:
    (host, event), options = arguments[:2], _options(arguments[2:])
    if event not in EVENTS[host]:
        return None
    payload = Payload(host, event, json.loads(_standard_input(deadline), parse_constant=lambda _: None))
    user_id = options.get("--user") or own_user()
    with Daemon(options.get("--data") or default_data_dir(), deadline, options.get("--endpoint")) as daemon:
        context = context_for(Moment(payload, user_id, daemon))
    return answer(event, context) if context else None


def _options(words: Sequence[str]) -> dict[str, str]:
    """`--name value` and `--name=value`; `--json` stands alone, and a hook answers in JSON anyway.

    A name without its value is refused: what it should have said must not be guessed.
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


def _standard_input(deadline: float) -> bytes:
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

"""Writing down what an agent does: redacted, bounded, one line of JSON an event.

Nothing is stored here: the call returns when the lines are durable, and a harvest brings them into the ledger.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from clew.core.ids import ID_BYTES, checked_id, digest
from clew.core.model import kind_named
from clew.errors import InvalidInput, TooLarge
from clew.features.ledger import artifacts
from clew.features.ledger import log as capture_log
from clew.features.ledger.lines import VERSION, Entry, encode, owners_of
from clew.features.ledger.operations import Capture, Captured, CaptureReceipt, Event
from clew.kernel.echoes import Echoes
from clew.kernel.intake import check_json, check_names, check_size, checked_ts, policy_of
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.text.excerpts import one_line
from clew.text.redaction import Policy, redact, redact_json

MAX_EVENTS = 1000
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
MAX_NAME_CHARS = 4096
"""Of a tool or an address."""


class Written(Struct, frozen=True):
    """An event as it goes into the log."""

    entry: Entry
    redacted: tuple[str, ...] = ()
    content: bytes | None = None
    """What its artifact is to hold."""


@serves(Capture)
def capture(parts: Parts, request: Capture) -> CaptureReceipt:
    if not 1 <= len(request.events) <= MAX_EVENTS:
        raise InvalidInput(f"one capture takes 1 to {MAX_EVENTS} events, not {len(request.events)}")
    now_ms = parts.clock.now_ms()
    seen: Counter[bytes] = Counter()
    written = [_identify(_write(parts, event, now_ms), event.id, seen) for event in request.events]
    contents = [item.content for item in written if item.content is not None]
    file = capture_log.append(parts, [item.entry for item in written], contents)
    for item in written:
        payload = item.entry.payload if item.content is None else msgspec.json.decode(item.content)
        parts.state(Echoes).hear_outcome(owners_of(item.entry), item.entry.id, item.entry.text, payload)
    captured = [Captured(id=item.entry.id, redacted=item.redacted, artifact=item.entry.artifact) for item in written]
    return CaptureReceipt(captured=tuple(captured), file=file)


def bound(parts: Parts, entry: Entry, policy: Policy) -> Written:
    """An event whose payload is redacted, and put aside where it is too long for a line."""
    payload, cut = redact_json(entry.payload, policy)
    content = b"" if payload is None else msgspec.json.encode(payload, order="deterministic")
    if len(content) <= parts.config.capture_inline_bytes:
        return Written(replace(entry, payload=payload), cut)
    if len(content) > MAX_PAYLOAD_BYTES:
        raise TooLarge(f"payload has {len(content)} bytes; the limit is {MAX_PAYLOAD_BYTES}")
    text = payload if isinstance(payload, str) else content.decode("utf-8")
    referring = replace(
        entry,
        payload=None,
        artifact=artifacts.name_of(content),
        size_bytes=len(content),
        preview=one_line(text),
    )
    return Written(referring, cut, content)


def _write(parts: Parts, event: Event, now_ms: int) -> Written:
    """The event without what may not be written down; its id is still to be made."""
    check_json("metadata", event.metadata, parts.config.max_text_bytes)
    entry = Entry(
        clew=VERSION,
        id="",
        ts=now_ms if event.ts is None else checked_ts(event.ts),
        kind=kind_named(event.kind).value,
        text=event.text,
        tool=_checked_name(event.tool, "tool"),
        payload=_as_json("payload", event.payload),
        session_id=event.session_id,
        user_id=event.user_id,
        source=_checked_name(event.source, "source"),
        metadata=_as_json("metadata", event.metadata),
    )
    check_names(parts, event.user_id, event.session_id, id=event.id)
    policy = policy_of(parts, *owners_of(entry))
    check_size("text", event.text.encode, parts.config.max_text_bytes)
    texts = {"text": entry.text, "tool": entry.tool, "source": entry.source}
    clean = {name: redact(text, policy) for name, text in texts.items() if text is not None}
    metadata, cut = redact_json(entry.metadata, policy)
    entry = replace(entry, metadata=metadata, **{name: found.text for name, found in clean.items()})
    written = bound(parts, entry, policy)
    kinds = [found.kind for item in clean.values() for found in item.found]
    return replace(written, redacted=tuple(dict.fromkeys([*kinds, *cut, *written.redacted])))


def _identify(written: Written, given: str | None, seen: Counter[bytes]) -> Written:
    """With its id: the caller's, or one made from what the event is, so that delivering it again gives the same.

    Equal events of one delivery are told apart by their order.
    """
    if given is not None:
        return replace(written, entry=replace(written.entry, id=checked_id(given, "id")))
    line = encode(written.entry)
    id_ = digest(line.decode("utf-8"), str(seen[line]), size_bytes=ID_BYTES).hex()
    seen[line] += 1
    return replace(written, entry=replace(written.entry, id=f"e_{id_}"))


def _checked_name(name: str | None, what: str) -> str | None:
    if name is not None and not 0 < len(name) <= MAX_NAME_CHARS:
        raise InvalidInput(f"{what} must have 1 to {MAX_NAME_CHARS} characters, not {len(name)}")
    if name is not None:
        check_size(what, name.encode, MAX_NAME_CHARS * 4)
    return name


def _as_json(what: str, value: Any) -> Any:
    """The value as reading it back from JSON gives it."""
    try:
        return msgspec.json.decode(msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"{what} must be JSON in valid Unicode") from None

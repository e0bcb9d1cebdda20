"""Keeping turns and records: checked, given their properties by provenance, written, acknowledged.

The call returns when the rows are durable. Vectors and the gate come behind it, from the queue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from clew.api import (
    Ingest,
    IngestBatch,
    IngestBatchReceipt,
    IngestReceipt,
    JsonObject,
    Message,
    Put,
    PutReceipt,
)
from clew.domain import identity
from clew.domain.model import (
    PROVENANCE_OF_ROLE,
    STABILITY_OF_PROVENANCE,
    TRUST_OF_PROVENANCE,
    Draft,
    Provenance,
    Role,
    role_of,
)
from clew.domain.terms import analyse, lexical_text, pack
from clew.errors import InvalidInput, TooLarge
from clew.services.parts import Parts
from clew.storage.protocol import NewRecord, NewTurn, Place, Task

MAX_TS_MS = 253_402_300_799_999  # the last millisecond of the year 9999


def ingest(parts: Parts, request: Ingest) -> IngestReceipt:
    if request.heartbeat:
        return IngestReceipt(id=request.message.id or "", stored=False)
    batch = IngestBatch(session_id=request.session_id, messages=(request.message,), user_id=request.user_id)
    return ingest_batch(parts, batch).receipts[0]


def ingest_batch(parts: Parts, request: IngestBatch) -> IngestBatchReceipt:
    now_ms = parts.clock.now_ms()
    seen: Counter[tuple[str, int, str]] = Counter()
    turns = []
    for message in request.messages:
        ts_ms = now_ms if message.ts is None else checked_ts(message.ts)
        same = (message.role, ts_ms, message.text)
        turns.append(_turn(parts, request, message, ts_ms, seen[same]))
        seen[same] += 1
    fresh = parts.store.append(turns)
    receipts = tuple(_receipt(turn, stored) for turn, stored in zip(turns, fresh, strict=True))
    return IngestBatchReceipt(receipts=receipts)


def put(parts: Parts, request: Put) -> PutReceipt:
    """A record a client stores under an id of its own."""
    place = Place(identity.checked_collection(request.collection), identity.checked_id(request.id, "id"))
    if identity.is_derived(place.collection):
        raise InvalidInput(f"{place.collection} is written by Clew alone; nothing can be put there")
    role = request.metadata.get("role")
    ts = request.metadata.get("ts")
    draft = make_draft(
        parts,
        request.text,
        role=_known_role(role),
        provenance=Provenance.MEMORY,
        ts_ms=checked_ts(ts) if isinstance(ts, int) and not isinstance(ts, bool) else parts.clock.now_ms(),
        metadata=request.metadata,
    )
    tasks = (Task.EMBED,) if parts.meaning.wanted else ()
    ((version, changed),) = parts.store.put([NewRecord(draft, place, tasks)])
    return PutReceipt(version=version, changed=changed)


def make_draft(
    parts: Parts,
    text: str,
    *,
    role: Role | None,
    provenance: Provenance,
    ts_ms: int,
    metadata: JsonObject,
) -> Draft:
    """A text with all that is known of it before it is stored."""
    limit = parts.config.max_text_bytes
    check_size("text", text.encode, limit)
    check_size("metadata", lambda: msgspec.json.encode(metadata), limit)
    return Draft(
        text=text,
        ts_ms=ts_ms,
        role=role,
        provenance=provenance,
        trust=TRUST_OF_PROVENANCE[provenance],
        stability=STABILITY_OF_PROVENANCE[provenance],
        tokens=parts.counter.estimate(text),
        terms=search_terms(text, speaker_in(metadata), ts_ms),
        metadata=metadata,
    )


def search_terms(text: str, speaker: str | None, ts_ms: int) -> bytes:
    return pack(analyse(lexical_text(text, speaker, ts_ms)))


def speaker_in(metadata: JsonObject) -> str | None:
    speaker = metadata.get("speaker")
    return speaker if isinstance(speaker, str) and speaker else None


def _known_role(name: object) -> Role | None:
    """A client's own records may call themselves anything; only a role we know counts as one."""
    try:
        return role_of(name) if isinstance(name, str) else None
    except InvalidInput:
        return None


def _turn(parts: Parts, batch: IngestBatch, message: Message, ts_ms: int, occurrence: int) -> NewTurn:
    role = role_of(message.role)
    draft = make_draft(
        parts,
        message.text,
        role=role,
        provenance=_provenance(role, message),
        ts_ms=ts_ms,
        metadata=_turn_metadata(message),
    )
    session_id = batch.session_id
    if message.id is not None:
        id_ = identity.checked_id(message.id, "id")
    elif message.ts is not None:
        id_ = identity.turn_id(session_id, role, ts_ms, message.text, occurrence)
    else:
        id_ = parts.ids.new()
    places = [Place(identity.session_raw(session_id), id_), Place(identity.session(session_id), id_)]
    tasks = [Task.EMBED] if parts.meaning.wanted else []
    if draft.provenance is Provenance.USER_TURN and batch.user_id is not None:
        places.append(Place(identity.turns_of(batch.user_id), identity.turn_name(session_id, id_)))
        tasks.append(Task.GATE)
    return NewTurn(draft, tuple(places), tuple(tasks))


def _provenance(role: Role, message: Message) -> Provenance:
    """Some hosts send tool results in the user's name; the tool said them all the same."""
    answers_tool = role is Role.USER and message.tool_call_id is not None
    return Provenance.TOOL_OUTPUT if answers_tool else PROVENANCE_OF_ROLE[role]


def _turn_metadata(message: Message) -> JsonObject:
    """What the caller gave; tool calls and the speaker are kept beside it, under their wire names."""
    given: JsonObject = {}
    if message.speaker:
        given["speaker"] = message.speaker
    if message.tool_call_ids:
        given["toolCallIds"] = list(message.tool_call_ids)
    if message.tool_call_id is not None:
        given["toolCallId"] = message.tool_call_id
    return given | message.metadata


def _receipt(turn: NewTurn, stored: bool) -> IngestReceipt:
    return IngestReceipt(
        id=turn.places[0].id,
        stored=stored,
        duplicate=not stored,
        collections=tuple(place.collection for place in turn.places),
        tokens=turn.draft.tokens,
    )


def checked_ts(ts_ms: int) -> int:
    if not 0 <= ts_ms <= MAX_TS_MS:
        raise InvalidInput(f"ts must be milliseconds since 1970, at most the year 9999, not {ts_ms}")
    return ts_ms


def check_size(what: str, encode: Callable[[], bytes], limit: int) -> None:
    """Whether something can be written down at all, and is not too long when it is."""
    try:
        size = len(encode())
    except UnicodeEncodeError:
        raise InvalidInput(f"{what} must be valid Unicode; it holds half of a surrogate pair") from None
    except (TypeError, RecursionError) as error:
        raise InvalidInput(f"{what} must be JSON: {error}") from None
    if size > limit:
        raise TooLarge(f"{what} has {size} bytes; the limit is {limit} (setting max_text_bytes)")

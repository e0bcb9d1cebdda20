"""Keeping turns and records: checked, given their properties by provenance, written, acknowledged.

The call returns when the rows are durable. Vectors and the gate come behind it, from the queue.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec

from clew.core.collections import Collection
from clew.core.ids import checked_id, turn_id, turn_name
from clew.core.model import PROVENANCE_OF_ROLE, Provenance, Role, kind_named, role_of
from clew.core.operation import JsonObject
from clew.errors import InvalidInput
from clew.kernel.echoes import Replies, judge_record
from clew.kernel.intake import Intake, check_names, checked_ts, draft_of, policy_of
from clew.kernel.operations import Ingest, IngestBatch, IngestBatchReceipt, IngestReceipt, Message, Put, PutReceipt
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.storage.protocol import NewRecord, NewTurn, Place, Task
from clew.text.calls import render_call
from clew.text.own_text import without_own
from clew.text.redaction import Policy, marker
from clew.text.redaction.across import asks_for_secret, lone_word
from clew.text.speakers import other_writer


@serves(Ingest)
def ingest(parts: Parts, request: Ingest) -> IngestReceipt:
    if request.heartbeat:
        return IngestReceipt(id=request.message.id or "", stored=False)
    batch = IngestBatch(session_id=request.session_id, messages=(request.message,), user_id=request.user_id)
    return ingest_batch(parts, batch).receipts[0]


@serves(IngestBatch)
def ingest_batch(parts: Parts, request: IngestBatch) -> IngestBatchReceipt:
    now_ms = parts.clock.now_ms()
    seen: Counter[tuple[str, int, str]] = Counter()
    replies = Replies(parts, request.session_id, request.user_id)
    turns = []
    taken: list[Intake] = []
    check_names(parts, request.user_id, request.session_id)
    for message in request.messages:
        check_names(parts, request.user_id, None, id=message.id)
        ts_ms = now_ms if message.ts is None else checked_ts(message.ts)
        message = _with_calls(message)  # noqa: PLW2901 — from here on it is the turn as it is kept
        answer = _secret_answer(parts, request, message, ts_ms, taken)
        if answer is not None:
            message = msgspec.structs.replace(message, text=message.text.replace(answer, marker(_ANSWER_KIND)))  # noqa: PLW2901
        intake = _take_in(parts, request, message, ts_ms)
        if answer is not None:
            intake = replace(intake, redacted=tuple(dict.fromkeys([*intake.redacted, _ANSWER_KIND])))
        intake = replace(intake, draft=replies.judge(intake.draft))
        same = (message.role, ts_ms, intake.draft.text)
        turns.append(_turn(parts, request, message, intake, seen[same]))
        replies.hear(turns[-1])
        taken.append(intake)
        seen[same] += 1
    fresh = parts.store.append(turns)
    receipts = tuple(map(_receipt, turns, taken, fresh))
    return IngestBatchReceipt(receipts=receipts)


@serves(Put)
def put(parts: Parts, request: Put) -> PutReceipt:
    """A record a client stores under an id of its own."""
    place = Place(Collection.named(request.collection), checked_id(request.id, "id"))
    if place.collection.is_derived:
        raise InvalidInput(f"{place.collection} is written by Clew alone; nothing can be put there")
    check_names(parts, None, None, collection=place.collection, id=place.id)
    role = request.metadata.get("role")
    ts = request.metadata.get("ts")
    intake = draft_of(
        parts,
        request.text,
        collection=place.collection,
        role=_known_role(role),
        provenance=Provenance.MODEL if request.by_model else Provenance.MEMORY,
        ts_ms=checked_ts(ts) if isinstance(ts, int) and not isinstance(ts, bool) else parts.clock.now_ms(),
        metadata=request.metadata,
        kind=None if request.kind is None else kind_named(request.kind),
        source=request.source,
    )
    tasks = (Task.EMBED, Task.LINK) if parts.meaning.wanted else (Task.LINK,)
    draft = judge_record(parts, place, intake.draft)
    ((version, changed),) = parts.store.put([NewRecord(draft, place, tasks)])
    return PutReceipt(version=version, changed=changed, redacted=intake.redacted)


def _known_role(name: object) -> Role | None:
    """A client's own records may call themselves anything; only a role we know counts as one."""
    try:
        return role_of(name) if isinstance(name, str) else None
    except InvalidInput:
        return None


_ANSWER_KIND = "generic-secret"


def _secret_answer(parts: Parts, batch: IngestBatch, message: Message, ts_ms: int, taken: list[Intake]) -> str | None:
    """The one word of a turn, if the turn before it asked for a secret or ended in one that was cut."""
    word = lone_word(message.text)
    names = [Collection.raw(batch.session_id), *([] if batch.user_id is None else [Collection.turns(batch.user_id)])]
    if word is None or policy_of(parts, *names) is Policy.OFF:
        return None
    cut = message.text.replace(word, marker(_ANSWER_KIND))
    id_ = message.id or turn_id(batch.session_id, role_of(message.role), ts_ms, cut)
    own = parts.store.seqs(names[0], [id_])  # it may come in once more
    if own and message.id is None:
        return word
    earlier = taken[-1:] or parts.store.newest(names[0], next(iter(own), None), 1)
    before = [item.draft.text if isinstance(item, Intake) else item.text for item in earlier]
    return word if before and asks_for_secret(before[0]) else None


def _take_in(parts: Parts, batch: IngestBatch, message: Message, ts_ms: int) -> Intake:
    """Words that a host put into a user's turn are not the user's. A turn is one record and is trusted as a whole, so a
    client that wants to keep both apart gives them as two turns."""
    role = role_of(message.role)
    writer = other_writer(message.text) if role is Role.USER and message.source is None else None
    return draft_of(
        parts,
        message.text,
        collection=Collection.raw(batch.session_id),
        also=() if batch.user_id is None else (Collection.turns(batch.user_id),),
        role=role,
        provenance=_provenance(role, message),
        ts_ms=ts_ms,
        metadata=_turn_metadata(message),
        source=message.source if writer is None else f"host:{writer}",
    )


def _with_calls(message: Message) -> Message:
    """The turn with its calls written behind its words."""
    if not message.calls:
        return message
    written = [message.text, *(render_call(call.name, call.arguments) for call in message.calls)]
    ids = message.tool_call_ids or tuple(call.id for call in message.calls if call.id is not None)
    text = "\n\n".join(part for part in written if part.strip())
    return msgspec.structs.replace(message, text=text, tool_call_ids=ids, calls=())


def _turn(parts: Parts, batch: IngestBatch, message: Message, intake: Intake, occurrence: int) -> NewTurn:
    """Shows a user's turn among their turns and a reply among the replies; calls of tools are kept as the user's."""
    session_id, user_id, draft = batch.session_id, batch.user_id, intake.draft
    id_ = _turn_id(parts, session_id, message, intake, occurrence)
    places = [Place(Collection.raw(session_id), id_), Place(Collection.session(session_id), id_)]
    tasks = [Task.EMBED, Task.LINK] if parts.meaning.wanted else [Task.LINK]
    says_something = draft.provenance is Provenance.USER_TURN and without_own(draft.text).strip() != ""
    tasks += [Task.GUIDE] if says_something else []
    if user_id is not None and draft.provenance is Provenance.USER_TURN:
        places.append(Place(Collection.turns(user_id), turn_name(session_id, id_)))
        tasks += [Task.GATE] if says_something else []
    elif user_id is not None:
        whose = Collection.replies if draft.role is Role.ASSISTANT else Collection.owned
        places.append(Place(whose(user_id), turn_name(session_id, id_)))
    return NewTurn(draft, tuple(places), tuple(tasks))


def _turn_id(parts: Parts, session_id: str, message: Message, intake: Intake, occurrence: int) -> str:
    """Made from the redacted text: a hash must not reveal a secret that was cut out."""
    if message.id is not None:
        return checked_id(message.id, "id")
    if message.ts is not None:
        draft = intake.draft
        return turn_id(session_id, role_of(message.role), draft.ts_ms, draft.text, occurrence)
    return parts.ids.new()


def _provenance(role: Role, message: Message) -> Provenance:
    """Some hosts send tool results in the user's name; the tool said them all the same."""
    call = message.metadata.get("toolCallId") if message.tool_call_id is None else message.tool_call_id
    answers_tool = role is Role.USER and isinstance(call, str)
    return Provenance.TOOL_OUTPUT if answers_tool else PROVENANCE_OF_ROLE[role]


def _turn_metadata(message: Message) -> JsonObject:
    """The caller's metadata, with tool calls and the speaker beside it, under their wire names."""
    given: JsonObject = {}
    if message.speaker:
        given["speaker"] = message.speaker
    if message.tool_call_ids:
        given["toolCallIds"] = list(message.tool_call_ids)
    if message.tool_call_id is not None:
        given["toolCallId"] = message.tool_call_id
    return given | message.metadata


def _receipt(turn: NewTurn, intake: Intake, stored: bool) -> IngestReceipt:
    return IngestReceipt(
        id=turn.places[0].id,
        stored=stored,
        duplicate=not stored,
        collections=tuple(str(place.collection) for place in turn.places if not place.collection.is_internal),
        tokens=turn.draft.tokens,
        redacted=intake.redacted,
    )

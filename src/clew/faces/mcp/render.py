"""Records for a model: in small shapes, and as quoted lines that nothing inside them can leave.

Clew never shows quarantined text here, even to someone who asks for it by name, because a model would read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from clew import api
from clew.core.collections import Collection
from clew.core.ids import session_of
from clew.core.marks import Mark, value_of
from clew.core.model import Kind, Provenance, Trust, role_of
from clew.faces.mcp import shapes
from clew.faces.mcp.reach import session_in
from clew.models.tokens import EstimatingCounter
from clew.text.excerpts import one_line
from clew.text.framing import Quoted, frame, line
from clew.text.grading.kinds import kind_of_text

WITHHELD = "[quarantined: it waits for the operator's review]"
_WHO_CHARS = 80
_WARNED_OF = (Trust.UNTRUSTED, Trust.QUARANTINED)


def line_of_hit(hit: api.Hit) -> shapes.Line:
    record = hit.record
    return shapes.Line(
        ref=f"{record.collection}/{record.id}",
        when=minute(record.ts),
        who=who_said(record),
        kind=kind_of(record),
        trust=record.trust,
        text=one_line(shown_text(record)),
        session_id=session_behind(record),
        score=round(hit.scores.score, 3),
    )


def line_of(found: api.Line) -> shapes.Line:
    return shapes.Line(
        ref=found.ref,
        when=minute(found.ts),
        who=found.who,
        kind=found.kind,
        trust=found.trust,
        text=found.text,
        session_id=found.session_id,
        score=None if found.score is None else round(found.score, 3),
    )


def whole(record: api.RecordView) -> shapes.Whole:
    return shapes.Whole(
        ref=f"{record.collection}/{record.id}",
        when=minute(record.ts),
        who=who_said(record),
        kind=kind_of(record),
        trust=record.trust,
        provenance=record.provenance,
        text=shown_text(record),
        source=_text_in(record, "sourceUrl"),
        payload=_payload(record),
        session_id=session_behind(record),
    )


def pack_with_notes(bundle: api.Bundle) -> str:
    """The text of a pack, with as many of its notes as the budget leaves room for."""
    left = bundle.budget_tokens - bundle.used_tokens
    told = [bundle.bundle_text] if bundle.bundle_text else []
    for note in (*bundle.notes, *bundle.degraded):
        sentence = f"Note: {note}."
        left -= EstimatingCounter().bound(f"{sentence}\n")
        if left < 0:
            break
        told.append(sentence)
    return "\n".join(told)


def turn(record: api.RecordView) -> shapes.Turn:
    return shapes.Turn(id=record.id, when=minute(record.ts), who=who_said(record), trust=record.trust)


def closed(node: api.Node) -> shapes.Closed:
    return shapes.Closed(id=node.id, kind=node.kind, turn_count=node.turn_count)


def fact(view: api.FactView) -> shapes.Fact:
    is_withheld = view.trust == Trust.QUARANTINED
    return shapes.Fact(
        ref=view.ref,
        subject=WITHHELD if is_withheld else view.subject,
        predicate=view.predicate,
        object=WITHHELD if is_withheld else view.object,
        since=minute(view.valid_from),
        until=None if view.valid_to is None else minute(view.valid_to),
        trust=view.trust,
        confidence=round(view.confidence, 3),
        sources=list(view.sources),
    )


def quote_facts(found: Sequence[shapes.Fact]) -> str:
    """Facts as framed quotations, each with its dates and its reference."""
    return frame_lines(
        Quoted(
            when=f"since {each.since}" + (f" until {each.until}" if each.until else ""),
            who="fact",
            text=f"{each.subject} | {each.predicate} | {each.object}",
            trust=warning(each.trust),
            ref=each.ref,
        )
        for each in found
    )


def quote_lines(lines: Sequence[shapes.Line]) -> str:
    """Lines as framed quotations, each with its reference."""
    return frame_lines(
        Quoted(when=found.when, who=found.who, text=found.text, trust=warning(found.trust), ref=found.ref)
        for found in lines
    )


def quote_record(found: shapes.Whole) -> str:
    return frame_lines(
        [
            Quoted(
                when=found.when,
                who=found.who,
                text=found.text,
                trust=warning(found.trust),
                payload=found.payload or "",
                ref=found.ref,
            )
        ]
    )


def quote_turns(records: Sequence[api.RecordView]) -> str:
    return frame_lines(
        Quoted(when=minute(record.ts), who=who_said(record), text=shown_text(record), trust=warning(record.trust))
        for record in records
    )


def frame_lines(items: Iterable[Quoted]) -> str:
    return frame([line(item, number) for number, item in enumerate(items, start=1)])


def shown_text(record: api.RecordView) -> str:
    return WITHHELD if record.trust == Trust.QUARANTINED else record.text


def who_said(record: api.RecordView) -> str:
    """The speaker's name, else the tool's, else the role; for a text without a speaker, what it is."""
    if record.trust == Trust.QUARANTINED:
        return record.role or "unknown"
    named = _text_in(record, "speaker") or _text_in(record, "toolName")
    nobody = "summary" if record.provenance == Provenance.SUMMARY else "note"
    return one_line(named, _WHO_CHARS) if named else record.role or nobody


def kind_of(record: api.RecordView) -> str:
    """The kind in its marks; else a summary is a note, and the wording decides for other texts."""
    given = value_of(record.marks, Mark.KIND)
    if isinstance(given, str):
        return given
    if record.provenance == Provenance.SUMMARY:
        return Kind.NOTE.value
    return kind_of_text(record.text, role_of(record.role) if record.role else None).value


def session_behind(record: api.RecordView) -> str | None:
    if Collection(record.collection).spans_sessions:
        return session_of(record.id)
    return session_in(record.collection)


def warning(trust: str) -> str:
    return trust if trust in _WARNED_OF else ""


def minute(ts_ms: int) -> str:
    return datetime.fromtimestamp(ts_ms // 1000, UTC).isoformat(timespec="minutes").replace("+00:00", "Z")


def _payload(record: api.RecordView) -> str | None:
    """The payload of a captured event, or its beginning where the payload is an artifact."""
    held = record.metadata.get("payload", record.metadata.get("preview"))
    if held is None or record.trust == Trust.QUARANTINED:
        return None
    return held if isinstance(held, str) else msgspec.json.encode(held).decode("utf-8")


def _text_in(record: api.RecordView, key: str) -> str | None:
    value = record.metadata.get(key)
    return value if isinstance(value, str) and value and record.trust != Trust.QUARANTINED else None

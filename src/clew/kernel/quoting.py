"""A stored record as a line that quotes it: when it was said, by whom, and how far it is trusted."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from functools import lru_cache

from clew.core.model import Metadata, Provenance, Record, Role, Trust
from clew.kernel.parts import Parts
from clew.text import calls
from clew.text.excerpts import one_line
from clew.text.framing import Quoted, spoken

MAX_WHO_CHARS = 80
"""Bounds a speaker's name, which a client may choose freely."""
_RECENT_MS = 2 * 24 * 60 * 60 * 1000


def quote_line(record: Record, now_ms: int, text: str | None = None) -> Quoted:
    """A record as a line of a frame, with where it is stored if it can be opened: a summary, or a text that was cut."""
    shown = record.text if text is None else text
    opens = record.provenance is Provenance.SUMMARY or shown != record.text
    return Quoted(
        when=when(record, now_ms),
        who=one_line(speaker_of(record), MAX_WHO_CHARS),
        text=shown,
        trust=_warning(record),
        ref=record.ref if opens else "",
    )


def render_turn(turn: Record) -> str:
    """A turn that was asked for by name, as a line under its time."""
    return spoken(one_line(speaker_of(turn), MAX_WHO_CHARS), turn.text, _warning(turn))


def when(record: Record, now_ms: int, *, to_the_minute: bool = False) -> str:
    """The day something was said, and the minute if it is recent or to come. A summary names its own span of time."""
    if record.provenance is Provenance.SUMMARY:
        return ""
    to_the_minute = to_the_minute or now_ms - record.ts_ms < _RECENT_MS
    return _minute(record.ts_ms // 60_000) if to_the_minute else _day(record.ts_ms // 86_400_000)


def readable(record: Record) -> str:
    """The text as a reader wants it: an assistant's words with what it did, and not the arguments of its calls."""
    if record.role is not Role.ASSISTANT or record.provenance is not Provenance.ASSISTANT_TURN:
        return record.text
    made = calls.calls(record.text)
    if not made:
        return record.text
    did = calls.tell([calls.Step(call, "", failed=False, places=()) for call in made])
    return f"{calls.speech(record.text)}\n[did: {did}]".strip()


@lru_cache(maxsize=4096)
def _day(number: int) -> str:
    return datetime.fromtimestamp(number * 86_400, UTC).isoformat()[: len("YYYY-MM-DD")]


@lru_cache(maxsize=4096)
def _minute(number: int) -> str:
    return datetime.fromtimestamp(number * 60, UTC).isoformat(" ")[: len("YYYY-MM-DD HH:MM")]


def _warning(record: Record) -> str:
    """The trust of a text, where it is worth a word."""
    return record.trust if record.trust in (Trust.UNTRUSTED, Trust.QUARANTINED) else ""


_DERIVED = {"facts": "fact", "plans": "plan", "observations": "observation"}
"""The kind shown for a record that nobody said, by its collection."""


def line_tokens(parts: Parts, line: str) -> int:
    """The tokens of a line with its end, which tokenizers join to the text before it."""
    return parts.counter.bound(f"{line}\n")


def speaker_of(record: Record) -> str:
    """Who said it: the given name, else the tool's, else the role; for a text that nobody said, what kind it is."""
    nobody = "summary" if record.provenance is Provenance.SUMMARY else "note"
    nobody = _DERIVED.get(record.collection.kind, nobody)
    return shown_name(record.metadata, record.role) or record.role or nobody


PARTIES = frozenset({"assistant", "clew", "operator", "system", "user"})
"""Those that prompts and receipts speak of: nobody else can be shown by such a name."""


def shown_name(metadata: Metadata, role: Role | None) -> str | None:
    """The name that stands beside a text: the speaker's, else the tool's. Clients give both freely; None where none is
    given, or one that belongs to somebody else."""
    names = (metadata.get(key) for key in ("speaker", "toolName"))
    return next((name for name in names if isinstance(name, str) and name and not _is_taken(name, role)), None)


def _is_taken(name: str, role: Role | None) -> bool:
    plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
    return plain in PARTIES and plain != role

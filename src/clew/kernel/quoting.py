"""A stored record as a line that quotes it: when it was said, by whom, and how far it is trusted."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache

from clew.core.model import Draft, Metadata, Provenance, Record, Role, Trust, may_enter
from clew.kernel.parts import Parts
from clew.text import calls
from clew.text.excerpts import one_line
from clew.text.framing import Quoted, spoken
from clew.text.speech import own_words, quoted_words

MAX_WHO_CHARS = 80
"""Bounds a speaker's name, which a client may choose freely."""
DEEDS = "[did: "
"""Begins what an assistant did, behind its words."""
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


def readable(record: Record | Draft, *, asked_for: bool = True) -> str:
    """The text as a reader wants it: an assistant's words with what it did, and not the arguments of its calls.

    Who did not ask for what a user only quotes gets the user's own words; nothing, where there are none.
    """
    if record.provenance is Provenance.ASSISTANT_TURN and record.role is Role.ASSISTANT:
        return _with_deeds(record.text)
    return record.text if asked_for or record.role is not Role.USER else _without_quotes(record.text)


def may_show(record: Record, *, asked_for: bool) -> bool:
    """Whether a record may enter a prompt, and says something there."""
    return may_enter(record.trust, asked_for=asked_for) and bool(readable(record, asked_for=asked_for))


def _with_deeds(text: str) -> str:
    made = calls.calls(text)
    if not made:
        return text
    did = calls.tell([calls.Step(call, "", failed=False, places=()) for call in made])
    return f"{calls.speech(text)}\n{DEEDS}{did}]".strip()


def _without_quotes(text: str) -> str:
    quoted = quoted_words(text)
    said = own_words(text) if quoted else text
    return f"{said}\n[{len(quoted)} quoted characters left out]" if quoted and said else said


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
    words = _NAME_WORD.findall(unicodedata.normalize("NFKC", name).casefold())
    plain = "".join(word for word in words if word not in _AROUND_PARTIES) or "".join(words)
    return plain in PARTIES and plain != role


_NAME_WORD = re.compile(r"[^\W_]+")
_AROUND_PARTIES = frozenset({"a", "admin", "administrator", "an", "official", "real", "root", "the", "trusted", "your"})
"""Words that make nobody else of a party."""

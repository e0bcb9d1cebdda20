"""The text of a pack: how much of each item it shows, in which order, and its lines.

An item is shown as an overview, or as one line where that is too long; the room that is left goes to whole texts, best
first. State comes first, then summaries, then words from outside. Each item is one JSON array on one line inside a
frame, and nothing in it can end its quotation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from clew.core.model import Kind, Record, Trust
from clew.features.pack.choice import Choice, Reason
from clew.kernel.quoting import readable, speaker_of, when
from clew.text import framing
from clew.text.excerpts import Layer, one_line, overview
from clew.text.framing import PACK_CLOSE, PACK_OPEN, Quoted, frame

_WHO_CHARS = 80
_DAY_CHARS = len("YYYY-MM-DD")
_ARTIFACT = re.compile(r"[0-9a-f]{40}")
"""How artifacts are named. Metadata that says anything else there names none."""
_MOST_BYTES = 2**53

_NAME = r"[^\s/\\\"'`<>|:*?]{1,64}"

# A home folder by its usual place, also where another system mounts it. The letters before it must not
# make it part of a longer path, such as that of a web address.
_HOME = re.compile(
    rf"(?<![\w.~-])(?:/mnt/[a-z])?/(?:home|Users)/{_NAME}"
    r"|(?<![\w.~-])/root(?=[/\s\"'`<>|:*?,;.)\]]|$)"
    rf"|(?<![\w])[A-Za-z]:[\\/]{{1,2}}(?:Users|Documents and Settings)[\\/]{{1,2}}{_NAME}"
)


_TEMPORARY = re.compile(
    r"(?<![\w.~-])(?:/private)?/(?:var/folders/[^\s/]{1,8}/[^\s/]{1,64}/[A-Z]|tmp|var/tmp)"
    r"(?=[/\s\"'`<>|:*?,;.)\]]|$)"
)
"""A folder for temporary files: its files are gone, and its name may tell who used the machine."""


def without_private_paths(text: str, folders: Iterable[str] = ()) -> str:
    """The text with home folders, folders for temporary files and the given folders shown as `~`."""
    for folder in folders:
        if folder in text:
            text = text.replace(folder, "~")
    return _TEMPORARY.sub("~", _HOME.sub("~", text)) if "/" in text or "\\" in text else text


READ_CHARS = 64_000
"""So much of a long text is looked through for what the question asks."""

_STATE = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.TASK, Kind.PLAN})
_CHARS_PER_TOKEN = 8
"""No tokenizer makes longer tokens of running text; what is longer by this cannot fit and is not counted."""


# --- quoting ------------------------------------------------------------------------------------------


def quote_all(
    choices: Sequence[Choice], now_ms: int, private: Sequence[str], *, shows_refs: bool, untrusted: bool
) -> None:
    """Quotes each choice. Where those of one day were said at different times, each shows its minute, so that a reader
    can tell the last word."""
    minutes = {when(choice.record, now_ms, to_the_minute=True) for choice in choices}
    days = Counter(minute[:_DAY_CHARS] for minute in minutes)
    for choice in choices:
        one_of_several = days[when(choice.record, now_ms)[:_DAY_CHARS]] > 1
        choice.quoted = quote_record(
            choice.record,
            now_ms,
            private,
            asked_for=choice.is_asked_for(untrusted=untrusted),
            shows_ref=shows_refs,
            to_the_minute=one_of_several,
        )


def quote_record(
    record: Record,
    now_ms: int,
    private: Sequence[str],
    *,
    asked_for: bool = True,
    shows_ref: bool = False,
    to_the_minute: bool = False,
) -> Quoted:
    """A record as its line would show all of it: with a warning where it deserves one, and without private paths."""
    return Quoted(
        when=when(record, now_ms, to_the_minute=to_the_minute),
        who=one_line(without_private_paths(speaker_of(record), private), _WHO_CHARS),
        text=without_private_paths(readable(record, asked_for=asked_for), private),
        trust=record.trust if record.trust is Trust.UNTRUSTED else "",
        payload=_payload(record),
        ref=record.ref if shows_ref else "",
    )


def _payload(record: Record) -> str:
    """What is kept beside a record: named, never shown."""
    artifact, size = record.metadata.get("artifact"), record.metadata.get("payloadBytes")
    if not isinstance(artifact, str) or not _ARTIFACT.fullmatch(artifact):
        return ""
    return f"{artifact}, {size} bytes" if isinstance(size, int) and 0 <= size <= _MOST_BYTES else artifact


def whole(choice: Choice) -> Quoted:
    """The line that would show all of a choice, once it has been quoted."""
    assert choice.quoted is not None, "quoted before it is laid out"
    return choice.quoted


# --- fitting ------------------------------------------------------------------------------------------


def fit(
    choices: Sequence[Choice],
    words: Sequence[str],
    cost: Callable[[Choice], int],
    *,
    allowance: int,
    untrusted_allowance: int,
) -> list[Choice]:
    """The choices that have room, in their order, each shown as fully as it may be. The others get their reason."""
    fitted: list[Choice] = []
    left, untrusted_left = allowance, untrusted_allowance
    for choice in choices:
        room = min(left, untrusted_left) if choice.is_untrusted else left
        if not _show_within(choice, words, cost, room):
            is_over_cap = choice.is_untrusted and untrusted_left < left
            choice.reason = Reason.CAP if is_over_cap else Reason.BUDGET
            continue
        fitted.append(choice)
        left -= cost(choice)
        untrusted_left -= cost(choice) if choice.is_untrusted else 0
    _show_whole(fitted, cost, left)
    return fitted


def _show_within(choice: Choice, words: Sequence[str], cost: Callable[[Choice], int], room: int) -> bool:
    """Shows a short text whole, else an overview, else a line, whichever is the first that fits."""
    text = whole(choice).text
    short = overview(text[:READ_CHARS], words)
    choice.show(Layer.WHOLE if short == text else Layer.OVERVIEW, short)
    if cost(choice) <= room:
        return True
    line_text = one_line(text)
    if len(line_text) < len(short):
        choice.show(Layer.LINE, line_text)
        if cost(choice) <= room:
            return True
    choice.layer = None
    return False


def _show_whole(fitted: Sequence[Choice], cost: Callable[[Choice], int], left: int) -> None:
    """Shows whole texts, best first, where there is room for them. Untrusted text stays an excerpt."""
    for choice in fitted:
        if choice.layer is Layer.WHOLE or choice.is_untrusted:
            continue
        excerpt, held, text = (choice.layer, choice.text), cost(choice), whole(choice).text
        if len(text) > (left + held) * _CHARS_PER_TOKEN:
            continue
        choice.show(Layer.WHOLE, text)
        if cost(choice) <= left + held:
            left -= cost(choice) - held
        else:
            choice.layer, choice.text = excerpt


# --- lines --------------------------------------------------------------------------------------------


def arrange(fitted: Sequence[Choice]) -> list[Choice]:
    """In the order of the text; a contradiction comes right behind what it contradicts."""
    there = {choice.ref for choice in fitted}
    leading = [choice for choice in fitted if choice.contradicts not in there]
    behind = {choice.contradicts: choice for choice in fitted if choice.contradicts in there}
    ordered = sorted(leading, key=_part)
    return [item for choice in ordered for item in (choice, behind.get(choice.ref)) if item is not None]


def render(ordered: Sequence[Choice]) -> tuple[str, list[str]]:
    """The framed text, and its lines without the frame."""
    numbers = {choice.ref: place for place, choice in enumerate(ordered, 1)}
    lines = [
        line(choice, number, numbers.get(choice.contradicts), numbers.get(choice.replaced_by or ""))
        for number, choice in enumerate(ordered, 1)
    ]
    return frame(lines, PACK_OPEN, PACK_CLOSE), lines


def line(choice: Choice, number: int, against: int | None = None, instead: int | None = None) -> str:
    """One item as it is quoted, with its reference where that is wanted, or where there is more to fetch by it."""
    quoted, more = whole(choice), _more(choice)
    shown = replace(
        quoted,
        text=choice.text,
        dissent="" if against is None else f"contradicts [{against}]",
        superseded="" if choice.replaced_by is None else "no longer so" if instead is None else f"now [{instead}]",
        more=more,
        ref=choice.ref if more or quoted.payload else quoted.ref,
    )
    return framing.line(shown, number)


def _more(choice: Choice) -> str:
    """How to reach the rest, where there is more than is shown."""
    if choice.is_summary:
        return "expand"
    return "" if choice.layer is Layer.WHOLE else "get"


def _part(choice: Choice) -> int:
    """State, what else is known, summaries, words from outside."""
    if choice.is_untrusted:
        return 3
    if choice.is_summary:
        return 2
    return 0 if choice.kind in _STATE else 1

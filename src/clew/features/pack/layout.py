"""The text of a pack: how deep each item is shown, in which order, and the lines it is made of.

Every item is shown as an overview at first, and as one line where that is too long; what room is left then
goes to whole texts, best first. State comes first, then summaries, then what was said outside. Each item
is one JSON array on one line inside a frame, and nothing in it can end its quotation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clew.core.model import Kind
from clew.features.pack.rules import Reason
from clew.text import framing
from clew.text.excerpts import Layer, one_line, overview
from clew.text.framing import PACK_CLOSE, PACK_OPEN, Quoted, frame

_NAME = r"[^\s/\\\"'`<>|:*?]{1,64}"

# A home folder by its usual place, also where another system mounts it. What stands before it must not
# make it part of a longer path, such as that of a web address.
_HOME = re.compile(
    rf"(?<![\w.~-])(?:/mnt/[a-z])?/(?:home|Users)/{_NAME}"
    r"|(?<![\w.~-])/root(?=[/\s\"'`<>|:*?,;.)\]]|$)"
    rf"|(?<![\w])[A-Za-z]:[\\/]{{1,2}}(?:Users|Documents and Settings)[\\/]{{1,2}}{_NAME}"
)


def without_private_paths(text: str, folders: Iterable[str] = ()) -> str:
    """The text with home folders, and the given folders, shown as `~`."""
    for folder in folders:
        if folder in text:
            text = text.replace(folder, "~")
    return _HOME.sub("~", text) if "/" in text or "\\" in text else text


READ_CHARS = 64_000
"""So much of a long text is looked through for what the question asks."""

_STATE = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.TASK, Kind.PLAN})
_CHARS_PER_TOKEN = 8
"""No tokenizer makes longer tokens of running text; what is longer by this cannot fit and is not counted."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as it will be shown. `text` is the whole of it."""

    ref: str
    when: str
    who: str
    kind: str
    trust: str
    """Only where it is a warning."""
    text: str
    summary: bool = False
    outside: bool = False
    payload: str = ""
    """What is kept beside it and must be fetched: its name and size."""
    contradicts: str = ""
    """The reference of the item it is at odds with."""
    replaced_by: str | None = None
    """Of what holds no longer: the reference of what holds instead, empty where nothing does."""
    shows_ref: bool = False
    """Whether its reference stands in its line in any case."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An entry at a depth."""

    entry: Entry
    layer: Layer
    text: str


def fit(
    entries: Sequence[Entry],
    words: Sequence[str],
    cost: Callable[[Shown], int],
    *,
    allowance: int,
    outside_allowance: int,
) -> tuple[list[Shown], dict[str, Reason]]:
    """The entries that have room, in their order, each as deep as it may be, and why others have none."""
    fitted: list[Shown] = []
    reasons: dict[str, Reason] = {}
    left, outside_left = allowance, outside_allowance
    for entry in entries:
        room = min(left, outside_left) if entry.outside else left
        shown = next((shown for shown in _depths(entry, words) if cost(shown) <= room), None)
        if shown is None:
            over_cap = entry.outside and outside_left < left
            reasons[entry.ref] = Reason.CAP if over_cap else Reason.BUDGET
            continue
        fitted.append(shown)
        left -= cost(shown)
        outside_left -= cost(shown) if entry.outside else 0
    return _deepened(fitted, cost, left), reasons


def arranged(fitted: Sequence[Shown]) -> list[Shown]:
    """In the order of the text; what contradicts an item stands right behind it."""
    there = {shown.entry.ref for shown in fitted}
    leading = [shown for shown in fitted if shown.entry.contradicts not in there]
    behind = {shown.entry.contradicts: shown for shown in fitted if shown.entry.contradicts in there}
    ordered = sorted(leading, key=lambda shown: _part(shown.entry))
    return [
        item
        for shown in ordered
        for item in ((shown, behind[shown.entry.ref]) if shown.entry.ref in behind else (shown,))
    ]


def rendered(ordered: Sequence[Shown]) -> tuple[str, list[str]]:
    """The framed text, and its lines without the frame."""
    numbers = {shown.entry.ref: place for place, shown in enumerate(ordered, 1)}
    lines = [
        line(
            shown,
            numbers[shown.entry.ref],
            numbers.get(shown.entry.contradicts),
            numbers.get(shown.entry.replaced_by or ""),
        )
        for shown in ordered
    ]
    return frame(lines, PACK_OPEN, PACK_CLOSE), lines


def line(shown: Shown, number: int, against: int | None = None, instead: int | None = None) -> str:
    """One item as it is quoted, with its reference where that is wanted, or where there is more to fetch by it."""
    entry, more = shown.entry, _more(shown)
    quoted = Quoted(
        when=entry.when,
        who=entry.who,
        text=shown.text,
        trust=entry.trust,
        dissent="" if against is None else f"contradicts [{against}]",
        superseded="" if entry.replaced_by is None else "no longer so" if instead is None else f"now [{instead}]",
        payload=entry.payload,
        more=more,
        ref=entry.ref if more or entry.payload or entry.shows_ref else "",
    )
    return framing.line(quoted, number)


def _more(shown: Shown) -> str:
    """How the rest is reached, where there is more than is shown."""
    if shown.layer is Layer.WHOLE and not shown.entry.summary:
        return ""
    return "expand" if shown.entry.summary else "get"


def _part(entry: Entry) -> int:
    """State, what else is known, summaries, words from outside."""
    if entry.outside:
        return 3
    if entry.summary:
        return 2
    return 0 if entry.kind in _STATE else 1


def _depths(entry: Entry, words: Sequence[str]) -> list[Shown]:
    """What to try, deepest first: a short text whole, else an overview, else a line."""
    text = overview(entry.text[:READ_CHARS], words)
    line_text = one_line(entry.text)
    depths = [Shown(entry, Layer.WHOLE if text == entry.text else Layer.OVERVIEW, text)]
    return [*depths, Shown(entry, Layer.LINE, line_text)] if len(line_text) < len(text) else depths


def _deepened(fitted: Sequence[Shown], cost: Callable[[Shown], int], left: int) -> list[Shown]:
    """Whole texts, best first, where there is room for them. What was said outside stays an excerpt."""
    deepened = []
    for shown in fitted:
        whole = Shown(shown.entry, Layer.WHOLE, shown.entry.text)
        if shown.layer is not Layer.WHOLE and not shown.entry.outside:
            held = cost(shown)
            if len(whole.text) <= (left + held) * _CHARS_PER_TOKEN and cost(whole) <= left + held:
                left -= cost(whole) - held
                deepened.append(whole)
                continue
        deepened.append(shown)
    return deepened

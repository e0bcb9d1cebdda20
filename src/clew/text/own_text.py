"""Removes text that Clew itself put into a prompt and that comes back in a transcript.

Clew must not learn its own recall as if someone had said it: it would count twice, and look more important each time it
comes back. The rules recognise frames and their lines however a host shows them: quoted, indented, wrapped, in a code
fence, escaped in JSON or HTML. Text that merely speaks of a frame stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.text.framing import FRAMES, PACK_CLOSE, PACK_OPEN

OWN_FRAMES = (*FRAMES, (PACK_OPEN, PACK_CLOSE))
"""Every frame that Clew puts around text in a prompt, by its first and last lines."""

_TAGS = tuple(opening[1 : opening.index(">")] for opening, _ in OWN_FRAMES)
_NOTICES = {tag: opening.partition(">")[2].split() for tag, (opening, _) in zip(_TAGS, OWN_FRAMES, strict=True)}

_LESS, _GREATER, _SLASH = r"(?:<|&lt;|\\u003c)", r"(?:>|&gt;|\\u003e)", r"\\?/"
_BETWEEN = r"(?:[\s>|]|&gt;|\\[nrt]){1,16}+"
"""Parts two words of a notice, which may have been wrapped, and its lines quoted."""

_ANY_TAG = "|".join(map(re.escape, _TAGS))
_MARK = re.compile(rf"{_LESS}(?P<end>{_SLASH})?(?P<tag>{_ANY_TAG}){_GREATER}")
_NOTICE = {tag: re.compile("".join(_BETWEEN + re.escape(word) for word in words)) for tag, words in _NOTICES.items()}

_PREFIX = r"[ \t]{0,64}+(?:(?:>|&gt;|[-*|])[ \t]{0,4}+){0,8}+"
"""How a host may begin each line of a text that it quotes."""

_STRING = r'"(?:[^"\\\n]++|\\.)*+"'
_CUT_STRING = r'"(?:[^"\\\n]++|\\.)*+\\?'
_NOTE = rf'"[a-z]{{1,16}}" ?: ?{_STRING}'
_SAID = rf"\[ ?\d{{1,9}} ?, ?{_STRING} ?, ?{_STRING} ?, ?{_STRING}"
_ITEM = rf"{_SAID}(?: ?, ?\{{ ?{_NOTE}(?: ?, ?{_NOTE}){{0,7}}+ ?\}})? ?\],?"
_CUT_ITEM = (
    rf"(?:\[ ?(?:\d{{1,9}}(?: ?, ?{_STRING}){{0,3}}+(?: ?, ?(?:{_CUT_STRING}|\{{[^\n]*+)?)?)?"
    rf"|{_LESS}(?:{_SLASH}[a-z_]{{0,24}})?)\Z"
)
"""The last line of a text that was cut somewhere: of an item, or of the mark that would have closed the frame."""

_LINE_END = r"[^\S\n]*+(?:\n|\Z)"
_ITEMS = re.compile(rf"{_LINE_END}(?:{_PREFIX}(?:(?:{_ITEM})?{_LINE_END}|{_CUT_ITEM}))*+")
_KINDS = (
    "session|session_raw|session_summary|turns|replies|user|global|elevated|ledger|archive|authored"
    "|facts|plans|observations"
)
_CITATION = rf'"ref" ?: ?"(?:{_KINDS})[:/](?:[^"\\\n]++|\\.)*+"'
_OWN_ITEM = rf"{_SAID} ?, ?\{{ ?(?:{_NOTE} ?, ?){{0,7}}+{_CITATION} ?\}} ?\],?"
_STRAY = re.compile(
    rf"^(?:{_PREFIX}{_LESS}(?:{_ANY_TAG}){_GREATER}{_LINE_END})?(?:{_PREFIX}{_OWN_ITEM}{_LINE_END})++"
    rf"(?:{_PREFIX}{_LESS}{_SLASH}(?:{_ANY_TAG}){_GREATER}{_LINE_END})?",
    re.MULTILINE,
)
"""Lines of a frame of which the beginning or the notice is missing. Each cites a record: an array that does not may
be anybody's data."""

_PREFIX_ALONE = re.compile(_PREFIX)
_REST_OF_LINE = re.compile(_LINE_END)
_FENCE = re.compile(rf"{_PREFIX}(?:```|~~~)\w{{0,16}}{_LINE_END}")
_LONGEST_PREFIX = 128


def without_own(text: str) -> str:
    """The text as others wrote it."""
    if any(tag in text for tag in _TAGS):
        text = _without(text, list(_frames(text)))
    if '"ref"' in text:
        text = _without(text, [found.span() for found in _STRAY.finditer(text)])
    return text


def _frames(text: str) -> Iterator[tuple[int, int]]:
    """The places of frames. One that is not closed before the next begins ends with its last item."""
    begun: tuple[str, int, int] | None = None
    for mark in _MARK.finditer(text):
        tag, start = mark["tag"], mark.start()
        if not mark["end"]:
            notice = _NOTICE[tag].match(text, mark.end())
            if notice is not None:
                if begun is not None:
                    yield begun[1], _end_of_items(text, begun[2])
                begun = tag, start, notice.end()
        elif begun is not None and begun[0] == tag:
            yield begun[1], mark.end()
            begun = None
    if begun is not None:
        yield begun[1], _end_of_items(text, begun[2])


def _end_of_items(text: str, start: int) -> int:
    found = _ITEMS.match(text, start)
    return start if found is None else found.end()


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    done = 0
    for start, end in spans:
        first, last = _whole_lines(text, start, end)
        kept.append(text[done : max(first, done)])
        done = max(last, done)
    return "".join([*kept, text[done:]])


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with what a host put around it: the beginning and end of its lines, and a code fence."""
    before = _start_of_line(text, start)
    prefix = None if before is None else _PREFIX_ALONE.fullmatch(text, before, start)
    rest = _REST_OF_LINE.match(text, end)
    at_line_end = end == len(text) or text[end - 1] == "\n"
    if before is None or prefix is None or not (at_line_end or rest):
        return start, end
    last = end if at_line_end or rest is None else rest.end()
    fence = _start_of_line(text, before - 1) if before else None
    closing = _FENCE.match(text, last)
    if fence is not None and closing is not None and _FENCE.fullmatch(text, fence, before):
        return fence, closing.end()
    return before, last


def _start_of_line(text: str, place: int) -> int | None:
    """None where it is further away than the longest prefix of a host."""
    found = text.rfind("\n", max(place - _LONGEST_PREFIX, 0), place)
    return found + 1 if found >= 0 else 0 if place <= _LONGEST_PREFIX else None

"""Finds the quotable parts of a turn: the sentences of its prose.

Sentences end where punctuation says so in any script, and where a line ends that is not merely
wrapped. Abbreviations, initials, versions, paths and numbered points do not end one. Every piece is
a part of its text, with its blanks made single and the marks of lists, headings and emphasis taken
off; pieces are bounded, and the time is linear even where a megabyte has no punctuation at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.text import framing

LONGEST_CHARS = 480
"""A piece is cut where it gets longer; no one quotes more in one breath."""

_END = re.compile(
    r"[.!?…]{1,8}+[\"'”’»)\]*_`]{0,4}+(?=\s)"
    r"|[。！？｡]{1,8}+[」』”’）】]{0,4}+(?!\s?(?:と|って|라고|라는))"
)
_BEFORE_NAMES = frozenset("mr mrs ms dr prof sgt capt mt st fig figs eq vs cf e.g i.e z.b d.h sra srta ул т.е".split())
"""Abbreviations that a capital follows without a new sentence."""

_ABBREVIATIONS = frozenset(
    """sr jr gen col rev hon etc inc ltd co corp dept est approx appt no nos sec ch vol vols pp ed eds al ca resp
    eg ie a.k.a u.s u.k d.c ph.d m.d b.a m.a a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mon tue
    tues wed thu thurs fri sat sun max min avg ver bzw usw nr str ggf u.a pág núm т.д г см руб""".split()
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘*]{1,12}$")
_LIST_MARK = re.compile(r"\s{0,40}(?:#{1,6}\s+|>\s?|[-*+•‣]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+){1,4}+")
_EMPHASIS = re.compile(r"(?<![\w*])(\*\*|__)(?=\S)([^*_\n]{1,200})(?<=\S)\1(?![\w*])")
_WORD = re.compile(r"\w")
_FENCE = re.compile(r"\s{0,12}(?:```|~~~)")
_SHORT_FENCE = 3
_WRAPPED = range(48, 200)
_SOUND_CUT = re.compile(r"[,;:—–)]\s|[、，；：]")


def split(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [piece for paragraph in _paragraphs(text) for piece in _sentences(paragraph)]


def shorten(text: str, max_chars: int) -> str:
    """The text, or its beginning up to the last sound place, with a mark at the cut."""
    if len(text) <= max_chars:
        return text
    head = framing.clip(text, max_chars).removesuffix(framing.CUT_MARK)
    least = len(head) * 3 // 5
    ends = [found.end() for found in _SOUND_CUT.finditer(head, least)] or [head.rfind(" ", least)]
    return head[: ends[-1]].rstrip(" ,;:—–") + framing.CUT_MARK if ends[-1] > 0 else head + framing.CUT_MARK


def _paragraphs(text: str) -> Iterator[str]:
    """Joins lines that belong together. Leaves out long blocks of code, unless there is nothing else."""
    lines = list(_without_long_fences(text.split("\n"))) or text.split("\n")
    gathered: list[str] = []
    for line in lines:
        if gathered and not _continues(gathered[-1], line):
            yield " ".join(gathered)
            gathered = []
        if line.strip():
            gathered.append(line)
    if gathered:
        yield " ".join(gathered)


def _without_long_fences(lines: list[str]) -> Iterator[str]:
    fenced: list[str] | None = None
    for line in lines:
        if _FENCE.match(line):
            if fenced is not None and len(fenced) <= _SHORT_FENCE:
                yield from fenced
            fenced = [] if fenced is None else None
        elif fenced is None:
            yield line
        else:
            fenced.append(line)
    if fenced is not None:
        yield from fenced


def _continues(before: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the one before it: that one was full, and this one starts small."""
    start = line.lstrip()[:1]
    return len(before) in _WRAPPED and start.islower() and before.rstrip()[-1:] not in ".!?:。！？"


def _sentences(paragraph: str) -> Iterator[str]:
    mark = _LIST_MARK.match(paragraph)
    said = paragraph[mark.end() :] if mark else paragraph
    plain = " ".join((_EMPHASIS.sub(r"\2", said) if "**" in said or "__" in said else said).split())
    start = 0
    for end in _ends(plain):
        yield from _cut_long(plain[start:end].strip())
        start = end
    yield from _cut_long(plain[start:].strip())


def _ends(plain: str) -> Iterator[int]:
    for found in _END.finditer(plain):
        if not _goes_on(plain, found):
            yield found.end()


def _goes_on(plain: str, found: re.Match[str]) -> bool:
    mark = found[0]
    following = plain[found.end() + 1 : found.end() + 2]
    if mark[0] == "." and len(mark) == 1:
        word = _LAST_WORD.search(plain, max(found.start() - 12, 0), found.start())
        return word is not None and _is_abbreviation(word[0], following)
    return mark.startswith(("..", "…")) and following.islower()


def _is_abbreviation(word: str, following: str) -> bool:
    folded = word.casefold()
    if folded in _BEFORE_NAMES or (folded in _ABBREVIATIONS and not following.isupper()):
        return True
    return len(word) == 1 and word.isupper() and word != "I"


def _cut_long(piece: str) -> Iterator[str]:
    while len(piece) > LONGEST_CHARS:
        cut = max(piece.rfind(mark, LONGEST_CHARS // 2, LONGEST_CHARS) for mark in (" ", "，", "、", "；"))
        cut = cut + 1 if cut > 0 else LONGEST_CHARS
        if _WORD.search(piece, 0, cut):
            yield piece[:cut].rstrip()
        piece = piece[cut:].lstrip()
    if _WORD.search(piece):
        yield piece

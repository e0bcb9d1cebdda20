"""Separates a writer's own words in a turn from the text they pasted.

People paste logs, diffs, terminal screens and code into a turn, quote what others wrote, and hand over files by their
path. Such parts are evidence: a search finds them, but nobody said them. Words and marks show a text that is handed
over. The rest is read in blocks between blank lines; a block is pasted where most of its lines look like output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from clew.text.speech.handed_over import Span, handed_over
from clew.text.speech.printed import is_output

ATTACHED = re.compile(
    r"'/[^'\n]{1,300}\.(?:png|jpe?g|gif|webp|heic|pdf|mov|mp4)'"
    r"|(?<!\S)/(?:\\ |[^\s'\"`]){1,300}\.(?:png|jpe?g|gif|webp|heic|mov|mp4)(?!\S)"
    r"|\[(?:image|document|file|audio|video)(?:: [^\]\n]{0,120})?\]",
    re.IGNORECASE,
)
"""A picture or a file that somebody handed over."""

_WORD = re.compile(r"\w")

_READ_CHARS = 40_000
_SHORT_CHARS = 2000


@dataclass(frozen=True, slots=True)
class _Line:
    own: str
    """The rest of the line, without the text that is handed over."""
    others: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        return not self.own.strip() or (self.others != () and _WORD.search(self.own) is None)


def own_words(text: str) -> str:
    """The text without pasted output, fenced code, quotes, mails and files. Empty where nothing else is there."""
    return _read(text)[0]


def quoted_words(text: str) -> str:
    """What `own_words` leaves out of a text, in its order."""
    return _read(text)[1]


def _read(text: str) -> tuple[str, str]:
    """Caches short texts: gate, guidance, facts and plans read the same turn one after the other."""
    return _read_short(text) if len(text) <= _SHORT_CHARS else _read_short.__wrapped__(text)


@lru_cache(maxsize=2048)
def _read_short(text: str) -> tuple[str, str]:
    blocks = list(_blocks(text))
    own = filter(None, ("\n".join(own for own, _ in block if own) for block in blocks))
    parts = (part.strip() for block in blocks for _, others in block for part in others)
    return "\n\n".join(own).strip(), "\n".join(filter(None, parts))


_SplitLine: TypeAlias = tuple[str, tuple[str, ...]]
"""A line's own words, and the parts that others wrote."""


def _blocks(text: str) -> Iterator[list[_SplitLine]]:
    """The lines of a text, each split into own words and others', in blocks between blank lines."""
    pasted = False
    for is_blank, group in groupby(_lines(text), key=lambda line: line.is_blank):
        lines = list(group)
        if is_blank:
            yield [("", (line.own, *line.others)) for line in lines]
            continue
        output = [is_output(line.own) for line in lines]
        pasted = _is_pasted(output, after_paste=pasted)
        yield [_split(line, said=not (pasted or printed)) for line, printed in zip(lines, output, strict=True)]


def _split(line: _Line, *, said: bool) -> _SplitLine:
    if not said:
        return "", (line.own, *line.others)
    files = (found[0] for found in ATTACHED.finditer(line.own))
    return ATTACHED.sub("", line.own).strip(), (*files, *line.others)


def _lines(text: str) -> Iterator[_Line]:
    """The lines, each split from the text handed over in it. The middle of a very long text counts as handed over."""
    half = _READ_CHARS // 2
    if len(text) <= _READ_CHARS:
        yield from _without(text, handed_over(text))
        return
    read = f"{text[:half]}\n\n{text[-half:]}"
    lines = list(_without(read, handed_over(read)))
    before = text.count("\n", 0, half) + 1
    yield from lines[:before]
    yield _Line("", (text[half:-half],))
    yield from lines[before:]


def _without(text: str, spans: list[Span]) -> Iterator[_Line]:
    """Each line without the parts that lie in spans, which are in order."""
    place, ahead = 0, iter([*spans, (len(text) + 1, len(text) + 1)])
    start, end = next(ahead)
    for line in text.split("\n"):
        own: list[str] = []
        others: list[str] = []
        at, stop = place, place + len(line)
        while start < stop:
            own.append(text[at : max(start, at)])
            others.append(text[max(start, at) : min(end, stop)])
            at = min(end, stop)
            if end > stop:
                break
            start, end = next(ahead)
        own.append(text[at:stop])
        yield _Line("".join(own), tuple(filter(None, others)))
        place = stop + 1


def _is_pasted(output: list[bool], *, after_paste: bool) -> bool:
    """Whether most lines are output. Fewer are enough where the block begins with output, or follows a paste."""
    return sum(output) * (4 if output[0] else 3 if after_paste else 2) > len(output)

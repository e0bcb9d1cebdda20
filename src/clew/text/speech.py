"""The words that a turn's writer said, apart from what they pasted.

People paste logs, diffs, terminal screens and code into a turn, quote what others wrote, and hand over files by their
path. Such parts are evidence: they can be found, but nobody said them. A part is a block of lines between blank lines,
fences or quote marks; a block is pasted where most of its lines look like output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

ATTACHED = re.compile(
    r"'/[^'\n]{1,300}\.(?:png|jpe?g|gif|webp|heic|pdf|mov|mp4)'"
    r"|(?<!\S)/(?:\\ |[^\s'\"`]){1,300}\.(?:png|jpe?g|gif|webp|heic|mov|mp4)(?!\S)"
    r"|\[(?:image|document|file|audio|video)(?:: [^\]\n]{0,120})?\]",
    re.IGNORECASE,
)
"""A picture or a file that somebody handed over."""

_FENCE = re.compile(r"^\s{0,12}(```|~~~|\"\"\"|''')")
_QUOTE = re.compile(r"^\s{0,8}>(?!\s{0,2}\d)")
_OUTPUT = re.compile(
    r"^\s{0,8}(?:➜|❯|\$ |>>> |\.\.\. |#!/|@@ |diff --git|index [0-9a-f]{7}|--- a/|\+\+\+ b/)"
    r"|^\s{1,12}at .{1,200}[:(]|^Traceback \(most recent|^\s{0,8}File \".{1,200}\", line \d"
    r"|^\s{0,4}[+-] {0,3}\d{1,5}\b|^\s{0,4}\d{1,5}[ :|]{1,3}\S.{0,200}[;{}]\s{0,4}$"
    r"|^\W{0,4}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|^\W{0,2}(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|^(?:\w{1,40}\.){0,6}[A-Z]\w{0,40}(?:Error|Exception)\b|^Error: |^npm (?:ERR|WARN)|^Debugger attached"
    r"|^\s{0,8}\|.{0,400}\|\s{0,4}$|^\s{0,8}[{}\[\]();]{1,4},?\s{0,4}$|[;{]\s{0,4}$"
)
"""Lines that a program wrote: prompts, traces, diffs, logs, tables, code."""
_SCREEN = re.compile(r"[\u2500-\u259f\u2800-\u28ff]")
"""Characters that draw on a terminal: frames, blocks, spinners."""

_HEADER = re.compile(
    r"^\s{0,4}\*{0,2}(from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|para|à|objet|envoyé|asunto"
    r"|enviado|fecha|发件人|收件人|主题|日期|差出人|宛先|件名|日時"
    r"|보낸 ?사람|받는 ?사람|제목|날짜)\*{0,2} ?[:：]\*{0,2} ?\S",
    re.IGNORECASE,
)
"""A line of a mail's head."""
_PLACES = frozenset({"from", "to", "von", "an", "de", "à", "para"})
"""Names of such lines that a journey has as well."""
_MAIL = re.compile(
    r"^\s{0,4}(?:begin forwarded message:|[-_=]{3,40} ?(?:forwarded|original|weitergeleitet|ursprüngliche"
    r"|message (?:transféré|d'origine)|mensaje (?:reenviado|original)).{0,40}"
    r"|(?:on|am|le|el) .{4,160}(?:wrote|schrieb.{0,80}|a écrit|escribió) ?:)\s{0,4}$",
    re.IGNORECASE,
)
"""A line that mail programs put before a mail that is forwarded or answered."""
_HANDED_OVER = re.compile(
    r"^.{0,60}\b(?:translate|summari[sz]e|proofread|paraphrase|rephrase|übersetze|résume|traduis|traduce|resume)\b.{0,60}?"
    r"\b(?:this|the following|text|e-?mail|letter|article|page|paragraph|sentence|message|folgend\w{1,3}|texte|texto)\b"
    r".{0,40}?[:：]",
    re.IGNORECASE,
)
"""A line that hands over a text to be worked on, up to where the text begins."""

_READ_CHARS = 40_000
_LOOKED_AHEAD = 5


def own_words(text: str) -> str:
    """The text without pasted output, fenced code, quotes, mails and files. Empty where nothing else is there."""
    half = _READ_CHARS // 2
    read = text if len(text) <= _READ_CHARS else f"{text[:half]}\n\n{text[-half:]}"
    return "\n\n".join(_spoken_blocks(_before_what_is_handed_over(read.split("\n")))).strip()


def _before_what_is_handed_over(lines: list[str]) -> list[str]:
    """The lines before a mail, or before a text to be translated or summarised. Where such a text ends, nobody can
    tell, so nothing behind it counts as said."""
    for at, line in enumerate(lines):
        if _MAIL.match(line) or (_HEADER.match(line) and _begins_mail(lines[at : at + _LOOKED_AHEAD])):
            return lines[:at]
        handed = _HANDED_OVER.match(line)
        if handed is not None and not (line[handed.end() :].strip() == "" and _is_marked_off(lines[at + 1 :])):
            return [*lines[:at], handed[0]]
    return lines


def _begins_mail(lines: list[str]) -> bool:
    """Whether lines begin with a mail's head: two at least, with an address or more than from where to where."""
    head = list(takewhile(bool, map(_HEADER.match, lines)))
    names = {header[1].casefold() for header in head if header is not None}
    has_address = any("@" in line for line in lines[: len(head)])
    return len(names) > 1 and (has_address or not names <= _PLACES)


def _is_marked_off(lines: list[str]) -> bool:
    """Whether a fence or a quote comes next, which says itself where it ends."""
    first = next((line for line in lines[:_LOOKED_AHEAD] if line.strip()), "")
    return _FENCE.match(first) is not None or _QUOTE.match(first) is not None


def _spoken_blocks(lines: list[str]) -> Iterator[str]:
    pasted = False
    for block in _blocks(lines):
        lines = [line for line in block if line.strip()]
        output = [line for line in lines if is_output(line)]
        pasted = _is_pasted(lines, output, after_paste=pasted)
        if pasted:
            continue
        kept = [ATTACHED.sub("", line).strip() for line in lines if line not in output]
        if said := "\n".join(line for line in kept if line):
            yield said


def _is_pasted(lines: list[str], output: list[str], *, after_paste: bool) -> bool:
    """Most lines are output; fewer are enough where the block begins with some, or follows a paste."""
    begins = bool(output) and output[0] == lines[0]
    return len(output) * (4 if begins else 3 if after_paste else 2) > len(lines)


def is_output(line: str) -> bool:
    """Whether a program wrote the line, by its shape."""
    return _OUTPUT.search(line) is not None or _SCREEN.search(line) is not None


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines that belong together, without fenced and quoted ones."""
    block: list[str] = []
    fence = ""
    for line in lines:
        opening = _FENCE.match(line)
        if fence:
            fence = "" if opening is not None and opening[1] == fence else fence
            continue
        if opening is not None and line.count(opening[1]) == 1:
            fence = opening[1]
        if opening is not None or _QUOTE.match(line) or not line.strip():
            if block:
                yield block
            block = []
        else:
            block.append(line)
    if block:
        yield block

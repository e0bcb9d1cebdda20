"""What of a text is prose, and what is code."""

from __future__ import annotations

import re

_CODE_SPANS = re.compile(
    r"^[ \t]{0,12}(?P<fence>```|~~~)(?s:.*?)(?:^[ \t]{0,12}(?P=fence)[^\n]{0,80}$|\Z)|`[^`\n]{1,300}`",
    re.MULTILINE,
)
"""Fenced blocks, to the end of the text where the fence is left open, and inline code."""
_CODE_SHAPES = re.compile(
    r"(?:(?:export |async |pub |public |private |static |abstract |final ){0,4}"
    r"(?:def|class|fn|func|function|interface|struct|enum|impl|trait|module|namespace|package)\b"
    r".{0,200}[:{(;]\s{0,8}$"
    r"|(?:if|elif|else|for|while|with|try|except|finally|switch|case|catch|match|do|unless|foreach)\b"
    r".{0,200}(?::|\{|\bthen|\bdo)\s{0,8}$"
    r"|from\s{1,4}[\w.]{1,120}\s{1,4}import\b"
    r"|import\s{1,4}[\w.]{1,120}(?: as \w{1,64})?(?:,\s?[\w.]{1,120}){0,20};?\s{0,8}$"
    r"|#include|#define|#!|//|/\*|\*/|@\w[\w.]{0,80}(?:\(.{0,200}\))?\s{0,8}$|\$ |>>> |</?[A-Za-z!]"
    r"|[\"'][\w.-]{1,80}[\"']\s{0,4}:"
    r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|FROM|WHERE|JOIN|GROUP BY|ORDER BY) )"
)
"""Beginnings of lines, after the indent, that are code whatever words they hold."""
_QUOTES_AND_COMMENTS = re.compile(r"\"[^\"]{0,300}\"|(?<!\w)'[^']{0,300}'(?!\w)|(?<!\S)(?://|#|--)\s.{0,400}")
_CODE_HINTS = re.compile(
    r"[;{}(\[\\]\s{0,8}$|[\])\d],\s{0,8}$"
    r"|[\w\])\s](?:[=!<>+*/-]?=|:=|=>|->|&&|\|\||::|\*\*)(?:[\s\w(\[{-]|$)"
    r"|[\w\])]\((?!s\)|es\))"
    r"|^\s{0,80}(?:return|raise|yield|throw|await|break|continue|pass|end|fi|done|esac|goto|begin|let|const|var)\b"
    r"|^(?: {4}|\t)"
)
"""Marks of code that also turn up in a sentence about code."""
_SENTENCE = re.compile(
    r"\b(?:[^\W\d_]{1,24}(?:['’][a-z]{1,2})?,? {1,3}){5}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}"
)
_IDENTIFIERS = re.compile(
    r"\bhttps?://\S{1,400}"
    r"|\b(?:[a-z]{1,32}[A-Z]\w{0,64}|[A-Z][a-z]{1,32}[A-Z]\w{0,64}|\w{0,64}_\w{0,64}"
    r"|[A-Za-z]\w{0,64}(?:\.[A-Za-z]\w{1,64}){1,6})(?:\(\))?"
    r"|(?<!\S)(?!\d{1,4}/\d)[\w.~-]{0,64}[/\\][\w.~/\\-]{1,400}"
)
"""Addresses, paths and names of code that stand in a sentence."""


def prose(text: str) -> str:
    """What remains of a text without its code; empty where at least half of its lines are code."""
    lines = [line for line in _CODE_SPANS.sub(" ", text).splitlines() if line.strip()]
    spoken = [line for line in lines if not _is_code(line)]
    if 2 * len(spoken) <= len(lines):
        return ""
    if len(spoken) < len(lines):
        spoken = [line for line in spoken if not line.lstrip().startswith("#")]
    return _IDENTIFIERS.sub(" ", "\n".join(spoken))


def _is_code(line: str) -> bool:
    """Whether a line reads as code: by its shape, or by its operators unless a sentence stands around them."""
    if _CODE_SHAPES.match(line.lstrip()):
        return True
    bare = _QUOTES_AND_COMMENTS.sub(" ", line)
    return bool(_CODE_HINTS.search(bare)) and not _SENTENCE.search(_IDENTIFIERS.sub("", bare))

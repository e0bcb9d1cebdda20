"""Secrets in a table of Markdown whose column is named after them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.text.redaction.fields import names_a_secret
from clew.text.redaction.values import Cut, is_mixed, is_password, is_random

_RULE = re.compile(
    r"^[ \t]{0,8}+(?=[|:\- \t]{0,400}+\r?$)\|?[ \t]{0,8}+:?-{2,80}+:?[ \t]{0,8}+\|[|:\- \t]{0,400}+\r?$", re.MULTILINE
)
_EDGES = " \t*~`\"'"
_MOST_COLUMNS = 40
_MOST_LINE_CHARS = 4000


def table_cuts(text: str) -> Iterator[Cut]:
    """The cells of the columns whose head names a secret. Each line is read once."""
    if "|" not in text or "--" not in text:
        return
    done = 0
    for rule in _RULE.finditer(text):
        if rule.start() < done or rule.start() == 0:
            continue
        head_start = text.rfind("\n", 0, rule.start() - 1) + 1
        kinds = {
            number: kind
            for number, (first, last) in enumerate(_cells(text, head_start, rule.start() - 1))
            if (kind := names_a_secret(text[first:last].strip(_EDGES)))
        }
        if not kinds:
            continue
        start = rule.end() + 1
        while start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            cells = list(_cells(text, start, end))
            if len(cells) < 2:
                break
            for number, (first, last) in enumerate(cells):
                if number in kinds and _is_secret(text[first:last], kinds[number]):
                    yield Cut(*_inside(text, first, last), kinds[number])
            start = end + 1
        done = start


def _is_secret(cell: str, kind: str) -> bool:
    value = cell.strip(_EDGES)
    if kind == "password":
        return is_password(value, quoted=False)
    return is_mixed(value) and is_random(value, least_chars=10, least_bits=2.6)


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the cells of a line are, without the empty ones at its edges."""
    if end - start > _MOST_LINE_CHARS:
        return
    line = text[start:end].rstrip()
    first = start + (len(line) - len(line.lstrip()))
    first += text.startswith("|", first)
    last = start + len(line) - line.endswith("|")
    for _ in range(_MOST_COLUMNS):
        bar = text.find("|", first, last)
        yield first, last if bar < 0 else bar
        if bar < 0:
            return
        first = bar + 1


def _inside(text: str, first: int, last: int) -> tuple[int, int]:
    while first < last and text[first] in _EDGES:
        first += 1
    while last > first and text[last - 1] in _EDGES:
        last -= 1
    return first, last

"""Prepares a text for a summarizer: keeps its words, and drops the bulk that no one reads.

A short marker replaces encoded files, minified code, repeated lines and binary noise. It says
what it replaces and how large that was, with a hash. The stored text keeps everything.

Time is linear in the text whatever it holds. Long runs of one kind of character are found by a
search through a byte for each character, which is many times faster than a pattern that has to try
every word.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Iterator
from operator import eq

_LONGEST_HASH = 128
"""Hex digits of the longest digest in common use; what is longer is data."""

_LEAST_BASE64 = 160
_LEAST_BASE64_LINE = 40
_NOISE_SEAMS = 0.25
"""A run in which small letters, capitals and digits alternate more often than this is no person's writing."""

_GIANT_LINE = 2_000
_KEPT_OF_GIANT = 160
_SAMPLE_CHARS = 12_000
_PAYLOAD_MARKS = 0.12
"""Share of brackets, quotes and separators above which a giant line is data or minified code."""

_PROSE_BLANKS = 0.03
_WIDE_SCRIPT = 0.3
"""From this share of characters on, a line is taken to be in a script that is written without blanks."""

_REPEATED_CHARS = 64
_REPEATS = 8
_SAME_LINES = 4
_LONG_LINE = 200
_LINES_OF_BLOCK = 3

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_LINE_END = re.compile("[\x0b\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile("\n{4,}")
_HIDDEN = "\x00-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff"
_BINARY = re.compile(
    rf"[{_HIDDEN}\ufffd](?<![{_HIDDEN}\ufffd].)[{_HIDDEN}\ufffd]*+[^{_HIDDEN}\ufffd]{{0,6}}+"
    rf"(?:[{_HIDDEN}\ufffd]++[^{_HIDDEN}\ufffd]{{0,6}}+){{5,}}+",
    re.DOTALL,
)
_HIDDEN_RUN = re.compile(f"[{_HIDDEN}]+")
_DATA_URL = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80})?(?:;[\w=.+-]{1,64}){0,6},[^\s\"'()<>\\\[\]]{64,}+")
_HEX_LINE = re.compile(
    r"[ \t]{0,16}(?:[0-9a-fA-F]{4,16}:?[ \t]{1,4})?"
    r"(?:(?:(?:0x|\\x)[0-9a-fA-F]{2,8}|(?:[0-9a-fA-F]{2}){1,4})(?:[ ,:]{1,3}+|$)){8,}"
)
_MARKS = "{}[]()<>;:,\"'=|&\\"
_WIDE = re.compile(r"[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def _table(characters: str) -> bytes:
    return bytes(ord("x") if chr(code) in characters else ord(" ") for code in range(256))


_ENCODED = _table(string.ascii_letters + string.digits + "+/_-=")
_EQUAL = _table("\x01")
_CLASSES = bytes.maketrans(
    (string.ascii_lowercase + string.ascii_uppercase + string.digits).encode(), b"a" * 26 + b"A" * 26 + b"0" * 10
)
_SEAMS = (b"aA", b"Aa", b"a0", b"0a", b"A0", b"0A")
_HEX = frozenset(string.hexdigits)


def projection(text: str) -> str:
    """The text with every payload replaced by a marker. Projecting a projection changes nothing."""
    shown = _DATA_URL.sub(_data_url, _showable(text))
    shown = _replace_runs(shown, _ENCODED, _LONGEST_HASH + 1, _replace_encoded)
    lines = shown.split("\n")
    longest = max(map(len, lines))
    if longest >= _LEAST_BASE64_LINE:
        lines = _without_blocks(lines)
    if longest > _LONG_LINE:
        lines = _without_long_repeats([_shorten(line) for line in lines])
    return "\n".join(_without_same_lines(lines))


def withheld(what: str, text: str) -> str:
    """The marker for a text that the summarizer must not see at all."""
    return f"[{what}, {len(text):,} characters]"


def _showable(text: str) -> str:
    """Without terminal colours and characters that show nothing; lines end in one way."""
    if text.isprintable():
        return text
    shown = _ESCAPE_SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    shown = _LINE_END.sub("\n", shown)
    if _HIDDEN_RUN.search(shown) or "\ufffd" in shown:
        shown = _HIDDEN_RUN.sub("", _BINARY.sub(lambda run: _marker("binary", run[0]), shown))
    return _BLANK_LINES.sub("\n\n\n", shown)


def _marker(kind: str, payload: str) -> str:
    data = payload.encode("utf-8", "surrogatepass")
    return f"[{kind}, {len(data):,} bytes, {hashlib.blake2b(data, digest_size=4).hexdigest()}]"


def _data_url(found: re.Match[str]) -> str:
    return _marker(f"data URL {found[1] or 'text'}", found[0])


def _replace_runs(text: str, table: bytes, least: int, replace: Callable[[str], str]) -> str:
    """Every run of at least that many characters of the table, replaced."""
    parts = []
    done = 0
    for start, end in _runs(text.encode("latin-1", "replace").translate(table), least):
        parts += [text[done:start], replace(text[start:end])]
        done = end
    return "".join([*parts, text[done:]]) if parts else text


def _runs(places: bytes, least: int) -> Iterator[tuple[int, int]]:
    """The places of runs of at least that many `x`."""
    wanted = b"x" * least
    start = places.find(wanted)
    while start >= 0:
        end = places.find(b" ", start)
        end = len(places) if end < 0 else end
        yield start, end
        start = places.find(wanted, end)


def _replace_encoded(run: str) -> str:
    if _HEX.issuperset(run):
        return _marker("hex", run)
    return _marker("base64", run) if len(run) >= _LEAST_BASE64 and _is_noise(run) else run


def _is_noise(run: str) -> bool:
    classes = run.encode("ascii").translate(_CLASSES)
    return sum(map(classes.count, _SEAMS)) > len(run) * _NOISE_SEAMS


def _without_blocks(lines: list[str]) -> list[str]:
    """Encoded data that was wrapped into lines, as one marker for the block."""
    kinds = [_block_kind(line) if len(line) >= _LEAST_BASE64_LINE else "" for line in lines]
    if not any(kinds):
        return lines
    kept: list[str] = []
    place = 0
    while place < len(lines):
        end = place
        while end < len(lines) and kinds[end] and kinds[end] == kinds[place]:
            end += 1
        if end - place >= _LINES_OF_BLOCK:
            kept.append(_marker(kinds[place], "\n".join(lines[place:end])))
        else:
            end = max(end, place + 1)
            kept += lines[place:end]
        place = end
    return kept


def _block_kind(line: str) -> str:
    if _HEX_LINE.match(line):
        return "hex"
    stripped = line.strip(" \t\"',")
    encoded = stripped.isascii() and b" " not in stripped.encode().translate(_ENCODED)
    return "base64" if encoded and len(stripped) >= _LEAST_BASE64_LINE and _is_noise(stripped) else ""


def _shorten(line: str) -> str:
    """A giant line that is no prose keeps its beginning, which tells what it is."""
    if len(line) <= _GIANT_LINE:
        return line
    kind = "repetition" if _is_repetitive(line) else "payload" if _is_payload(_sample(line)) else ""
    return f"{line[:_KEPT_OF_GIANT]} {_marker(kind, line[_KEPT_OF_GIANT:])}" if kind else line


def _sample(line: str) -> str:
    """Enough of a giant line to judge it by: beginning, middle and end."""
    size, middle = _SAMPLE_CHARS // 3, len(line) // 2
    return line if len(line) <= _SAMPLE_CHARS else line[:size] + line[middle : middle + size] + line[-size:]


def _is_repetitive(line: str) -> bool:
    """Whether the samples from three places of a line repeat all over it."""
    places = (len(line) * quarter // 4 for quarter in (1, 2, 3))
    return all(line.count(line[place : place + _REPEATED_CHARS]) >= _REPEATS for place in places)


def _is_payload(line: str) -> bool:
    if sum(map(line.count, _MARKS)) > len(line) * _PAYLOAD_MARKS:
        return True
    wide = sum(map(len, _WIDE.findall(line)))
    blanks = line.count(" ") + line.count("\t")
    return wide < len(line) * _WIDE_SCRIPT and blanks < len(line) * _PROSE_BLANKS


def _without_long_repeats(lines: list[str]) -> list[str]:
    seen: set[str] = set()
    kept = []
    for line in lines:
        kept.append(_marker("seen above", line) if len(line) >= _LONG_LINE and line in seen else line)
        if len(line) >= _LONG_LINE:
            seen.add(line)
    return kept


def _without_same_lines(lines: list[str]) -> list[str]:
    """The first of several equal lines in a row, and how often it came again."""
    places = bytes(map(eq, lines, lines[1:])).translate(_EQUAL)
    kept: list[str] = []
    done = 0
    for start, end in _runs(places, _SAME_LINES - 1):
        kept += [*lines[done : start + 1], f"[same line {end - start:,} times more]"]
        done = end + 1
    return [*kept, *lines[done:]] if kept else lines

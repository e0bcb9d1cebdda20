"""Secrets behind an encoding: percent signs, entities, escapes, characters nobody sees, Base64, digits of Base 16.

Clew reads a text with such signs once more as they decode, and cuts what the same rules find, at its place in the text
as it was. A run of Base64 goes whole if what it decodes to holds a secret. Both work on bounded pieces.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from clew.text.redaction import plain
from clew.text.redaction.values import Cut, is_random

Finder = Callable[[str], list[Cut]]

MOST_LAYERS = 2
"""How often a text may be encoded over again; beyond this, it was made to hide something."""
_MOST_RUN_CHARS = 64 * 1024
_PROBED_CHARS = 64
_SIGN = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|&(?:quot|apos|amp|lt|gt|nbsp|#\d{2,3}|#x[0-9A-Fa-f]{2});|\\u00[2-7][0-9A-Fa-f]"
)
_HAS_SIGN = re.compile(
    r"%(?!20)[2-7][0-9A-Fa-f]|&(?:quot|apos|nbsp|#[1-9]\d{1,2}|#x[2-7][0-9A-Fa-f]);"
    r"|\\u00(?:2[0-57-9a-fA-F]|3[0-9abdABD]|[4-7][0-9A-Fa-f])"
)
"""Signs for what names, tokens and their edges consist of."""
_ENTITIES = {"&quot;": '"', "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]{16,}+={0,2}")
_BASE16 = re.compile(r"(?:[0-9a-f]{2}){12,}|(?:[0-9A-F]{2}){12,}")
_URL_SAFE = str.maketrans("-_", "+/")
_LEAST_TOKEN_CHARS = 20


def disguised_cuts(text: str, find: Finder) -> Iterator[Cut]:
    """What the text holds once its signs are decoded and its letters are plain; one more look finds both."""
    has_signs = any(letter in text for letter in ("%", "&", "\\u00")) and _HAS_SIGN.search(text) is not None
    if not has_signs and not plain.is_odd(text):
        return
    decoded, places = _decode_signs(text) if has_signs else (text, None)
    shown, kept = plain.plain_view(decoded)
    for cut in find(shown):
        start, end = kept[cut.start], kept[cut.end]
        yield Cut(places[start], places[end], cut.kind) if places else Cut(start, end, cut.kind)


def run_cuts(text: str, start: int, end: int, find: Finder) -> Iterator[Cut]:
    """A long run that is cut whole, since a secret is what it decodes to."""
    for found in _BASE64.finditer(text, start, end):
        decoded = "" if found[0].islower() and not _BASE16.fullmatch(found[0]) else _decode_run(found[0])
        cuts = find(decoded) if decoded else []
        if cuts:
            yield Cut(*found.span(), cuts[0].kind)
        elif decoded and _is_lone_token(decoded):
            yield Cut(*found.span(), "generic-secret")


def _is_lone_token(decoded: str) -> bool:
    word = decoded.strip()
    return len(word) >= _LEAST_TOKEN_CHARS and word.isalnum() and is_random(word, least_chars=_LEAST_TOKEN_CHARS)


def _decode_signs(text: str) -> tuple[str, list[int]]:
    """The text as it decodes, and for each place in it (and its end) the place where it came from."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for found in _SIGN.finditer(text):
        start, end = found.span()
        pieces.append(text[done:start])
        places += range(done, start)
        at = start
        for char, width in _characters(found[0]):
            pieces.append(char)
            places.append(at)
            at += width
        done = end
    pieces.append(text[done:])
    places += range(done, len(text) + 1)
    return "".join(pieces), places


def _characters(sign: str) -> Iterator[tuple[str, int]]:
    """Each character that a sign decodes to, and how many characters of the text it takes."""
    if sign[0] == "%":
        data = bytes.fromhex(sign.replace("%", ""))
        try:
            decoded = data.decode("utf-8")
        except UnicodeDecodeError:
            decoded = data.decode("latin-1")
            yield from ((char, 3) for char in decoded)
            return
        yield from ((char, 3 * len(char.encode())) for char in decoded)
    elif sign[0] == "\\":
        yield chr(int(sign[2:], 16)), len(sign)
    elif sign in _ENTITIES:
        yield _ENTITIES[sign], len(sign)
    else:
        digits = sign[2:-1]
        yield chr(int(digits[1:], 16) if digits[0] == "x" else int(digits)), len(sign)


def _decode_run(run: str) -> str:
    """What the run decodes to, if that is text; its beginning is tried first, as most runs are no text at all."""
    if _BASE16.fullmatch(run[:_MOST_RUN_CHARS]):
        text = _text(bytes.fromhex(run[:_MOST_RUN_CHARS]))
        if text:
            return text
    bare = run[:_MOST_RUN_CHARS].translate(_URL_SAFE).rstrip("=")
    if not _text(_decode_base64(bare[:_PROBED_CHARS])):
        return ""
    return _text(_decode_base64(bare))


def _decode_base64(bare: str) -> bytes:
    whole = bare if len(bare) % 4 != 1 else bare[:-1]
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4))
    except (binascii.Error, ValueError):
        return b""


def _text(data: bytes) -> str:
    """The bytes as text, if they are text: UTF-8, or the two bytes a character that Windows writes."""
    if len(data) > 3 and not any(data[1:16:2]):
        data = data[::2]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            return ""
        text = data[: error.start].decode("utf-8")
    return text if text.isascii() and text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else ""

"""Names of a secret that have more than a mark between them and the value.

What the secret opens (`password for prod: …`), the layout (a tag, a heading, the next line, a fence), or nothing but a
blank. The looser the link is, the more the value itself must look like a secret.
"""

from __future__ import annotations

import re

from clew.text.redaction.languages import IS, QUALIFIERS
from clew.text.redaction.syntax import BLANK, CLOSERS, LINE_END, TAG, TAIL, VALUE
from clew.text.redaction.values import is_mixed, is_password, is_surely_password, is_uuid

_WORD = r"(?=[0-9A-Za-z\u00aa-\U0010ffff])[^\s\xa0\u202f\u3000:：=＝<>{}\[\]()|\"`,;.!?，。；！？]{1,30}+"
_LINK = rf"(?:{BLANK}{{0,4}}+(?:=>|->|[→⇒➜➔⟶]|[:：﹕=＝](?!/))|{BLANK}{{1,4}}+(?:{IS}|-|—|–):?(?={BLANK}))"
_GAP = rf"(?:{BLANK}|[*~]{{1,3}}+|_{{1,3}}+(?=[\s<]|\Z)|{TAG}){{0,12}}+"
_SCHEME = r"(?P<scheme>)"
_QUALIFIED = re.compile(
    rf"{TAIL}[\"'`*~]{{0,4}}+"
    rf"(?:{BLANK}{{0,2}}+[(（\[][^()（）\[\]\n:=]{{1,40}}+[)）\]]"
    rf"|{BLANK}{{1,3}}+(?P<first>(?!{IS}{BLANK}){_WORD})(?:{BLANK}{{1,3}}+(?!{IS}:?{BLANK}|[-—–]){_WORD}){{0,7}}+)"
    rf"[\"'`*~]{{0,4}}+{_LINK}{_GAP}{_SCHEME}{VALUE}",
    re.ASCII | re.IGNORECASE,
)
_SET_APART = re.compile(
    rf"{TAIL}{CLOSERS}{BLANK}{{0,8}}+(?:=>|->|[→⇒➜➔⟶]|[:：﹕=＝](?!:)|(?={TAG})|-(?={BLANK}))_{{0,3}}+{_GAP}{_SCHEME}{VALUE}",
    re.ASCII,
)
"""Tags, underscores or odd blanks before the value."""
_BELOW = re.compile(
    rf"{TAIL}{CLOSERS}_{{0,3}}+(?P<mark>{BLANK}{{0,4}}+[:：=＝])?{_GAP}(?:{LINE_END}[ \t>]{{0,12}}+){{1,3}}+"
    rf"(?:[-*+•][ \t]{{1,4}}+)?"
    rf"(?:(?:```|~~~)[\w\-]{{0,20}}+[ \t]{{0,4}}+{LINE_END}[ \t>]{{0,12}}+)?{_GAP}{_SCHEME}{VALUE}"
    rf"(?=[\"'`*~_.]{{0,4}}(?:</[^<>\n]{{1,20}}>)?[ \t]{{0,8}}(?:[\r\n]|\\[rn]|[\"'](?![^\s,}}\]])|\Z))",
    re.ASCII,
)
"""Alone on the next line, or in a fence."""
_SPACED = re.compile(rf"(?P<tail>){BLANK}{{1,4}}+(?:(?:to|on|as){BLANK}{{1,4}}+)?{_SCHEME}{VALUE}", re.ASCII)
_ADJACENT = re.compile(rf"(?P<tail>){BLANK}{{0,4}}+{_SCHEME}(?=[!-~]){VALUE}", re.ASCII)
"""Scripts that set no blanks between words need none before the value."""
_LONE_NAME = re.compile(r"[ \t>#*_\-+|\d.]{0,16}(?:\w[\w\-]{0,20}[ \t]{1,2}){0,3}\Z")
_IS_BEFORE = re.compile(
    rf"{BLANK}(?:{IS}|as|als|como|comme|как|—|–|-|=){BLANK}(?:{_WORD}{BLANK}){{0,3}}\Z", re.IGNORECASE
)
_IS_BEFORE_CJK = re.compile(rf"{BLANK}?(?:是|为|為|が|は){BLANK}?[^\s\x00-\x7f]{{0,8}}\Z")
_NAME_ENDS = re.compile(rf"(?:s?[\"'`*]{{0,3}}(?:[.,;!?)。，！？]|\Z|\s{{0,3}}\n)|{BLANK}(?P<next>{_WORD}))")
_REACH_CHARS = 120
_LINE_CHARS = 60
_AFTER_NAME = frozenset("and now but so which please thanks und et y e и".split()) | QUALIFIERS
_EDGES = " \t\"'`*([{<,;"
_ENDS = "\"'`*)]}>,;."


def read(text: str, start: int, end: int) -> re.Match[str] | None:
    """The value that a phrase around the name at this place gives."""
    qualified = _QUALIFIED.match(text, end)
    if qualified and (qualified["first"] is None or _begins_qualifier(qualified["first"]) or is_said(qualified)):
        return qualified
    apart = _SET_APART.match(text, end)
    if apart:
        return apart
    below = _BELOW.match(text, end)
    return below if below and (below["mark"] or _is_lone(text, start)) else None


def read_spaced(text: str, end: int) -> re.Match[str] | None:
    """The word behind a name with only blanks between them."""
    return (_SPACED if text[end - 1].isascii() else _ADJACENT).match(text, end)


def first_word(found: re.Match[str]) -> str:
    """The first word between a name and its value, unless it begins what the name is for."""
    return found["first"] if is_said(found) else ""


def is_password_in(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    """Whether the value of a password, as this expression read it, is one."""
    read_by = found.re
    if read_by is _SPACED or read_by is _ADJACENT or (read_by is _BELOW and not found["mark"]) or is_said(found):
        return is_surely_password(value)
    if read_by is _QUALIFIED or read_by is _BELOW:
        return is_password(value, quoted=quoted) and is_mixed(value) and any(map(str.isdigit, value))
    return is_password(value, quoted=quoted) or is_uuid(value)


def password_before(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the value is in `VALUE is the password`."""
    behind = _NAME_ENDS.match(text, end)
    if behind is None or (behind["next"] and behind["next"].lower() not in _AFTER_NAME):
        return None
    least = max(0, start - _REACH_CHARS)
    before = text[least:start].rpartition("\n")[2]
    link = _IS_BEFORE.search(before) or (None if text[start].isascii() else _IS_BEFORE_CJK.search(before))
    if link is None:
        return None
    said = before[: link.start()].rstrip()
    word = re.split(r"[\s\"'`，。：:]", said.rstrip(_ENDS))[-1].lstrip(_EDGES)
    if not word or not is_surely_password(word):
        return None
    first = start - len(before) + said.rfind(word)
    return first, first + len(word)


def is_phrase(found: re.Match[str]) -> bool:
    """Whether more than a mark stands between the name and its value."""
    return any(found.re is pattern for pattern in (_QUALIFIED, _SET_APART, _BELOW))


def is_said(found: re.Match[str]) -> bool:
    """Whether any words stand between the name and its value, and not those that say what it opens."""
    return found.re is _QUALIFIED and found["first"] is not None and not _begins_qualifier(found["first"])


def _begins_qualifier(word: str) -> bool:
    lower = word.lower()
    return lower in QUALIFIERS or re.sub(r"(?<=['’]).*", "", lower).replace("’", "'") in QUALIFIERS


def _is_lone(text: str, start: int) -> bool:
    """Whether nothing but the name and the marks of a heading are on its line."""
    line = text[max(0, start - _LINE_CHARS) : start].rpartition("\n")[2]
    return _LONE_NAME.fullmatch(line) is not None

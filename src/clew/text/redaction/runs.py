"""Secrets that only their structure gives away: long runs of letters and digits without a name or known letters.

Chance alone makes no secret, since hashes, ids and file names look random, too. A run needs the structure of a token: a
label of its issuer before a body that only a generator writes, parts that decode to what tokens consist of, or a word
before it in its line that announces a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from clew.text.redaction.values import Cut, is_random, is_stand_in, is_uuid

_OPTIONS = re2.Options()
_OPTIONS.encoding = re2.Options.Encoding.LATIN1
_RUN = re2.compile(rb"[A-Za-z0-9+/_.=~\-]{20,}", _OPTIONS)
_DIGIT = re.compile("[0-9]")
_DISCORD = re.compile(r"[MNO][DTjz][\w\-]{20,28}\.[\w\-]{5,7}\.[\w\-]{25,110}(?![\w\-])", re.ASCII)
"""The number of an account in Base64, a time, a signature."""
_TWITTER = re.compile(r"\d{15,25}-(?=[A-Za-z]{0,40}\d)(?=[^A-Z]{0,40}[A-Z])[A-Za-z0-9]{30,45}(?![\w\-])", re.ASCII)
_ODD_JWT = re.compile(r"ey[\w\-]{16,}+\.ey[\w\-/]{16,}+\.[\w\-/+]{10,}+={0,2}", re.ASCII)
_LABELLED = re.compile(
    r"(?P<label>[A-Za-z][A-Za-z0-9]{1,11}(?:[_\-.](?:[a-z]{2,8}|[A-Z]{2,8}|v?\d{1,2})){0,3})[_\-.]"
    r"(?P<body>[A-Za-z0-9]{22,200}(?:[_\-][A-Za-z0-9]{4,100}){0,3}+)={0,2}(?![\w\-/.]\w)",
    re.ASCII,
)
_SECRET_LABEL = re.compile(
    r"(?:\A|[_\-.])(?:[a-z]{0,6}key|[sprtauwbi]k|pat|[a-z]{0,6}tok(?:en)?|secret|sec|live|prod|auth|apikey|access|refresh"
    r"|oauth|bot|pw|cred|svc|pvt|priv|private|admin|service)(?:\Z|[_\-.])",
    re.IGNORECASE,
)
_ID_LABELS = frozenset(
    "toolu tool call msg chatcmpl cmpl run thread asst resp req request file batch step evt event cus cust "
    "price prod product acct ch pi pm seti sub in txn si ii cs link item order img image doc page user usr org "
    "team proj project sess session conv conversation chat id uid gid trace span node task job build commit "
    "sha sha1 sha256 sha384 sha512 md5 hash digest etag tag ref rev v version snapshot snap backup layer blob "
    "chunk part index cache tmp temp test fn func class data type rs fc msgs message reply post comment video "
    "vid channel list playlist u s e q t x srvtoolu server host container pod ami vol subnet vpc eni sg rtb "
    "igw i r d arn bucket queue topic stream".split()
)
_ANNOUNCED = re.compile(
    r"\b(?P<head>[a-z]{0,14}[ _\-]?)(?:key|token|secret|credential|password|passphrase|passwd)s?\b(?![ _\-]?"
    r"(?:id|hash|name|count|pair|word|finger))",
    re.IGNORECASE,
)
_HARMLESS_ANNOUNCER = re.compile(
    r"\b(?:public|primary|foreign|cache|sort|partition|object|idempotency|routing|row|session|sha\d*|commit|hash"
    r"|digest|checksum|md5|etag|integrity|fingerprint|revision|address|wallet|url|https?)\b",
    re.IGNORECASE,
)
_ANNOUNCER_REACH_CHARS = 80
_OPENERS = frozenset(" \t\n\r\"'`(|*:=,<>[{")
_CLOSERS = frozenset(" \t\n\r\"'`)|*,;<>]}")


def long_runs(raw: bytes) -> list[tuple[int, int]]:
    """Where the text, as one byte for each character, may hold a secret without a name."""
    return [found.span() for found in _RUN.finditer(raw)]


def run_cuts(text: str, start: int, end: int) -> Iterator[Cut]:
    """What a long run holds that has the structure of a token, as a whole or behind `=` or a slash."""
    if _DIGIT.search(text, start, end) is None:
        return
    for shape, kind in ((_DISCORD, "discord-token"), (_TWITTER, "twitter-token"), (_ODD_JWT, "jwt")):
        found = shape.match(text, start)
        if found and not is_stand_in(found[0]):
            yield Cut(*found.span(), kind)
            return
    stands_alone = (start == 0 or text[start - 1] in _OPENERS) and _ends(text, end)
    if not stands_alone:
        return
    found = _LABELLED.match(text, start)
    if found and found.end() >= end - 2 and _is_labelled_token(found):
        yield Cut(*found.span(), "generic-secret")
        return
    last = start + len(text[start:end].rstrip("."))
    if _is_token(text[start:last]) and _is_announced(text, start):
        yield Cut(start, last, "generic-secret")


def _ends(text: str, end: int) -> bool:
    return end == len(text) or text[end] in _CLOSERS or (text[end] in ":!?" and text[end + 1 : end + 2].strip() == "")


def _is_labelled_token(found: re.Match[str]) -> bool:
    label, body = found["label"], found["body"]
    if is_stand_in(found[0]) or not is_random(body, least_chars=22, least_bits=3.2):
        return False
    is_named = _SECRET_LABEL.search(label) is not None
    return is_named or (not _is_id(label) and _has_all_classes(body))


def _is_id(value: str) -> bool:
    """Whether it begins with a label that ids have."""
    return re.split(r"[_\-.]", value[:20].lower(), maxsplit=1)[0] in _ID_LABELS


def _is_token(value: str) -> bool:
    if (
        _is_id(value)
        or is_uuid(value)
        or value.count("/") > 2
        or value.count("-") > 4
        or not is_random(value, least_chars=20)
    ):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _has_all_classes(body: str) -> bool:
    """Whether capitals, small letters and digits are mixed as only a generator mixes them."""
    head = body[:200]
    least = max(2, len(head) // 16)
    counts = (sum(map(kind, head)) for kind in (str.isupper, str.islower, str.isdigit))
    return all(count >= least for count in counts)


def _is_announced(text: str, start: int) -> bool:
    """Whether a word before it in its line says that a key follows, and no other field begins between them."""
    first = max(0, start - _ANNOUNCER_REACH_CHARS)
    before = text[first:start].rpartition("\n")[2]
    found = _ANNOUNCED.search(before)
    if found is None or _HARMLESS_ANNOUNCER.search(before):
        return False
    return not any(mark in before[found.end() : -1] for mark in '"{}[]<>')

"""Secrets that the form around them gives away: headers, addresses with a login, cookies, key files, command lines."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from clew.text.redaction.values import Cut, is_password, is_random, is_stand_in

_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<body>(?:[^-]|-(?!----)){40,}+)"
    r"(?P<end>-----END[A-Z0-9 ]{0,60}-----)?"
)
_URL_LOGIN = re.compile(
    r"://(?P<user>[^\s:/?#@\"'`<>\[\]]{0,200}+):(?P<password>[^\s/\"'`<>]{1,300}+)(?=[\s/\"'`<>]|$)"
)
_URL_USER = re.compile(r"://(?P<user>[^\s:/?#@\"'`<>\[\]]{16,300}+)@")
_BEARER = re.compile(r"bearer[ \t]{1,4}+[\"']?(?P<secret>[A-Za-z0-9._~+/=:\-]{12,}+)", re.IGNORECASE)
_BASIC = re.compile(r"basic[ \t]{1,4}+(?P<secret>[A-Za-z0-9+/]{8,2000}+={0,2})", re.IGNORECASE)
_SSWS = re.compile(r"ssws[ \t]{1,4}+(?P<secret>[\w\-]{30,}+)", re.IGNORECASE)
_COOKIES = re.compile(
    r"cookie[\"'\]]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?"
    r"(?P<pairs>(?:[\w.\-]{1,80}+=[^\s;,\"'`]{0,1024}+;?[ \t]{0,4}+){1,60}+)",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"(?P<name>[\w.\-]{1,80}+)=(?P<value>[^\s;,\"'`]{6,1024}+)")
_COOKIE_ATTRIBUTES = frozenset("path domain expires max-age samesite secure httponly version comment priority".split())
_LOGIN_OPTION = re.compile(
    r"(?:-u|--user)[ =]{1,4}+(?P<word>(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|[^\s\"']{1,200}+){1,4}+)"
)
_CURL_REACH_CHARS = 1000
_BUNDLER = re.compile(
    r"BUNDLE_[A-Z0-9_]{3,80}+[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?[^\s:\"'=@]{2,80}+:(?P<password>[^\s\"'@]{4,200}+)"
)
_SIGNED_QUERY = re.compile(r"(?:sig|signature)=(?P<secret>[A-Za-z0-9%+/=_\-]{24,}+)", re.IGNORECASE)
_MANIFEST_DATA = re.compile(r"(?:data|stringData):[ \t]{0,8}\r?\n(?P<lines>(?:[ \t]{1,12}[^\n]{0,4000}+\n?){1,100}+)")
_MANIFEST_LINE = re.compile(r"^[ \t]{1,12}[\w.\-]{1,80}+:[ \t]{1,8}[\"']?(?P<value>[^\s\"'#|>]{4,}+)", re.MULTILINE)
_MANIFEST_REACH_CHARS = 3000
_MANIFEST_KIND = re.compile(r"^kind:[ \t]{0,4}[\"']?Secret\b", re.MULTILINE)


def private_keys(text: str, start: int, _end: int) -> Iterator[Cut]:
    found = _PEM.match(text, start)
    if (
        found
        and (found["end"] or _is_key_body(found["body"]))
        and not is_stand_in(found["body"].strip("\\nr\n\r\t \"'"))
    ):
        yield Cut(start, found.end() if found["end"] else found.end("body"), "private-key")


def url_logins(text: str, start: int, _end: int) -> Iterator[Cut]:
    """The password of an address, or a token in place of a user."""
    found = _URL_LOGIN.match(text, start)
    if found:
        last = text.rfind("@", found.start("password"), found.end("password"))
        first = found.start("password")
        if last > first and not is_stand_in(text[first:last]):
            scheme = text[max(0, start - 10) : start].lower()
            yield Cut(first, last, "password" if scheme.endswith(("http", "https", "ftp")) else "connection-string")
        return
    found = _URL_USER.match(text, start)
    if found and is_random(found["user"]):
        yield Cut(*found.span("user"), "generic-secret")


def bearer_tokens(text: str, start: int, _end: int) -> Iterator[Cut]:
    found = _BEARER.match(text, start)
    if found and _is_header_value(found["secret"]):
        yield Cut(*found.span("secret"), "bearer-token")


def basic_logins(text: str, start: int, _end: int) -> Iterator[Cut]:
    """What follows `Basic` is a login only if it decodes to one."""
    found = _BASIC.match(text, start)
    if found and _is_encoded_login(found["secret"]):
        yield Cut(*found.span("secret"), "basic-login")


def okta_tokens(text: str, start: int, _end: int) -> Iterator[Cut]:
    found = _SSWS.match(text, start)
    if found and not is_stand_in(found["secret"]):
        yield Cut(*found.span("secret"), "okta-token")


def cookies(text: str, start: int, _end: int) -> Iterator[Cut]:
    """The values of a cookie header; names and attributes stay."""
    found = None if start and text[start - 1].isalnum() else _COOKIES.match(text, start)
    if found is None:
        return
    for pair in _COOKIE.finditer(text, *found.span("pairs")):
        if pair["name"].lower() not in _COOKIE_ATTRIBUTES and not is_stand_in(pair["value"]):
            yield Cut(*pair.span("value"), "cookie")


def command_logins(text: str, start: int, _end: int) -> Iterator[Cut]:
    """`curl -u user:password`; with an empty password, the user is the key."""
    is_curl = text.rfind("curl", max(0, start - _CURL_REACH_CHARS), start) >= 0
    found = _LOGIN_OPTION.match(text, start) if is_curl else None
    if found is None:
        return
    user, colon, password = found["word"].partition(":")
    if not colon:
        return
    if password.strip("\"'"):
        first, last = _inside(text, found.start("word") + len(user) + 1, found.end("word"))
        value = text[first:last]
        if is_password(value if value.startswith("{{") else value.strip("{}"), quoted=True):
            yield Cut(first, last, "password")
    else:
        first, last = _inside(text, found.start("word"), found.start("word") + len(user))
        if is_random(text[first:last], least_chars=8, least_bits=2.5):
            yield Cut(first, last, "generic-secret")


def signed_queries(text: str, start: int, _end: int) -> Iterator[Cut]:
    """The signature that makes an address a key."""
    found = _SIGNED_QUERY.match(text, start) if start and text[start - 1] in "?&;" else None
    if found and not is_stand_in(found["secret"]):
        yield Cut(*found.span("secret"), "signature")


def manifest_secrets(text: str, start: int, _end: int) -> Iterator[Cut]:
    """The data of a Kubernetes Secret, whatever its keys are called."""
    found = _MANIFEST_DATA.match(text, start) if start == 0 or text[start - 1] == "\n" else None
    if found is None:
        return
    reach = max(0, start - _MANIFEST_REACH_CHARS), found.end() + _MANIFEST_REACH_CHARS
    if text.find("Secret", *reach) >= 0 and _MANIFEST_KIND.search(text, *reach):
        for line in _MANIFEST_LINE.finditer(text, *found.span("lines")):
            if not is_stand_in(line["value"]):
                yield Cut(*line.span("value"), "kubernetes-secret")


def bundler_logins(text: str, start: int, _end: int) -> Iterator[Cut]:
    """`BUNDLE_HOST__COM=user:password`, the login to a private source of packages."""
    found = _BUNDLER.match(text, start)
    if found and not is_stand_in(found["password"]):
        yield Cut(*found.span("password"), "password")


def _is_key_body(body: str) -> bool:
    """Whether a block without an end still holds a key, as when it was truncated."""
    return re.search(r"[A-Za-z0-9+/]{40}", body[:2000]) is not None


def _is_header_value(value: str) -> bool:
    if is_stand_in(value):
        return False
    return is_random(value, least_chars=12, least_bits=2.5) or (len(value) >= 20 and not value.islower())


def _is_encoded_login(value: str) -> bool:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()


def _inside(text: str, first: int, last: int) -> tuple[int, int]:
    """The same place without quotes at its edges."""
    while first < last and text[first] in "\"'":
        first += 1
    while last > first and text[last - 1] in "\"'":
        last -= 1
    return first, last

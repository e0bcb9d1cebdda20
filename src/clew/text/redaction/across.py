"""A secret that is given in a turn of its own: the answer to a question for it, or the rest of one that was cut."""

from __future__ import annotations

import re

from clew.text.redaction.values import MARKER_START, is_mixed, is_random, is_stand_in, is_uuid

_WORD = re.compile(r"\s*[`\"']{0,3}(?P<word>[^\s`\"']{8,512}+)[`\"']{0,3}\s*")
_ANNOUNCES = re.compile(
    r"(?:\b(?:password|passphrase|passwd|(?:api|access|secret)[ _-]?key|(?:the|my|your|this) key|secret|token"
    r"|credentials?)"
    r"|密码|密碼|パスワード|비밀번호|пароль|contraseña|passwort|mot de passe|senha)\b[^.!\n]{0,60}[:?？：]?\s*\Z",
    re.IGNORECASE,
)
_READ_CHARS = 200


def lone_word(text: str) -> str | None:
    """The only word of a text, if it may be a secret or a part of one."""
    found = _WORD.fullmatch(text) if len(text) < 1000 else None
    word = found["word"] if found else None
    if word is None or is_uuid(word) or is_stand_in(word) or not is_mixed(word) or "://" in word:
        return None
    return word if any(map(str.isdigit, word)) and is_random(word, least_chars=8, least_bits=2.5) else None


def asks_for_secret(before: str) -> bool:
    """Whether a turn ends with a word that announces a secret, or with one that was cut out."""
    end = before[-_READ_CHARS:].rstrip()
    return (end.endswith("]") and MARKER_START in end[-60:]) or _ANNOUNCES.search(end) is not None

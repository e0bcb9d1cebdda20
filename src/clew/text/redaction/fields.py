"""Names of secrets as they stand alone: the key of a JSON object, a field with a name in it, the head of a column.

A key says what its own value is. A field such as `name` may hold anything, the title of a document as well: there the
name must be one identifier, and the value in the field beside it must look like what the name says.
"""

from __future__ import annotations

import re
from typing import Any

from clew.text.redaction.languages import FOREIGN_PASSWORDS
from clew.text.redaction.plain import plain_text
from clew.text.redaction.values import is_password, is_random, is_uuid

KEY_FIELDS = ("name", "key", "id", "field", "label", "variable", "env", "var", "header", "param", "setting")
VALUE_FIELDS = ("value", "val", "default", "plaintext")
"""The last words of what the fields are called that hold a name, and a value of its own."""

HARMLESS_HEAD = re.compile(
    r"(?:max|min|num|total|count|input|output|prompt|completion|cached?|context|next|page|public|primary|foreign|sort|partition"
    r"|cache|object|bucket|unique|idempotency|routing|dict|map|hot|short|don|mon|tur|whis|jo|hoc|commit|hash|sha\d*|"
    r"checksum|digest|etag|tokens?_per|dedup|row|group|hotkey|sub)[_\-. ]?\Z",
    re.IGNORECASE,
)
"""What stands before a word for a secret in the name of something else: `max_tokens`, `primary_key`."""
_ACTION_HEAD = re.compile(r"(?<![a-z])(?:create|expired|generate|get|invalid|missing|no|revoke|rotate)_?\Z")
_PASSWORD_ACTION_HEAD = re.compile(
    r"(?<![a-z])(?:change|check|create|expired|fetch|find|forget|forgot|forgotten|generate|get|hash|hide|invalid|lost"
    r"|missing|no|recover|request|require|reset|revoke|rotate|set|show|toggle|update|validate|verify|weak|wrong)"
    r"_?(?:(?:a|account|my|the|user|your)_)?\Z"
)
"""What one does with a secret, or says of one. A `reset_token` is a token, but `reset_password` is no password."""
_ABOUT_TAIL = re.compile(
    r"s?[_\-.]?(?:bug|change|dialog|email|feature|fix|flow|form|issue|link|mail|migration|page|prompt|recover|request|reset"
    r"|screen|setup|story|task|test|ticket|ui\b|update|view)",
    re.IGNORECASE,
)
"""What follows the word in the name of something that is about a password."""

_KEY_WORDS = re.compile(r"([a-z0-9])([A-Z])")
_SECRET_KEY = re.compile(
    r"(?:(?P<sure>password|passwd|passphrase|passcode|pwd|secret|api_?key|access_?key|private_?key|secret_?key|auth_?key"
    r"|encryption_?key|signing_?key|account_?key|connection_?string|(?<![a-z0-9])(?:pass|pw))"
    r"|token|credentials?|authorization|cookie)\Z"
)
"""Of some it is sure that their value is a secret; the others also name kinds of token, modes and dishes."""
_IDENTIFIER = re.compile(r"[\w.\-/:]{1,200}")
_NAME_CHARS = 80
_MOST_WORD_CHARS = 200
_HEADER_VALUE = re.compile(r"(?:[\w\-]{1,40}+[ \t]{1,4}+)?[^\s;,]++(?:[;,][^;,]*+)*+")
"""A word, perhaps behind a scheme, and perhaps with attributes."""
_HEADER_WORD = re.compile(r"[^\s;,=]+")


def names_a_secret(key: str) -> str | None:
    """The kind of secret that a name announces, whatever its value looks like."""
    last = plain_text(key[-_NAME_CHARS:])
    words = _words(last)
    found = _SECRET_KEY.search(words)
    if found is None and last.lower().endswith(FOREIGN_PASSWORDS):
        return "password"
    if found is None or HARMLESS_HEAD.search(words[: found.start()]):
        return None
    name = found[0]
    if _is_password_word(name):
        return "password"
    return name if name in {"cookie", "authorization"} else "generic-secret"


def names_an_action(name: str) -> bool:
    """Whether it names what one does with a secret: `reset_password`, `forgot-password`, `getToken`."""
    words = _words(plain_text(name[-_NAME_CHARS:]))
    found = _SECRET_KEY.search(words)
    if found is None or found[0] in {"cookie", "authorization"}:
        return False
    action = _PASSWORD_ACTION_HEAD if _is_password_word(found[0]) else _ACTION_HEAD
    return action.search(words[: found.start()]) is not None


def is_about_password(name: str, tail: str) -> bool:
    """Whether a name up to a word for a password, and what follows it, name something else: `password-reset`."""
    return _ABOUT_TAIL.match(tail) is not None or names_an_action(name)


def name_beside(items: dict[Any, Any]) -> str | None:
    """The name of a secret in a field of a JSON object, if it is one that names the value in a field beside it."""
    named = ((field, name) for field, name in items.items() if isinstance(field, str) and isinstance(name, str))
    return next((name for field, name in named if _last_word(field) in KEY_FIELDS and _is_own_name(name)), None)


def is_value_field(field: str) -> bool:
    """Whether a field of a JSON object holds the value of what is named beside or around it."""
    return _last_word(field) in VALUE_FIELDS


def is_secret_beside(name: str, value: str) -> bool:
    """Whether a value looks like the secret that the field beside it names.

    One word is enough where the name leaves no doubt.
    """
    if value.strip().lower() in FOREIGN_PASSWORDS:
        return False  # what a form shows beside the field
    found = _SECRET_KEY.search(_words(plain_text(name[-_NAME_CHARS:])))
    if found is None:
        return is_password(value, quoted=False)
    if found["sure"] and len(value) <= _MOST_WORD_CHARS and len(value.split()) == 1:
        return True
    return _looks_like_header_value(value)


def looks_secret(value: str) -> bool:
    """Whether a value would be taken for a secret of some sort, by itself."""
    return is_password(value, quoted=False) or _looks_like_header_value(value)


def _looks_like_header_value(value: str) -> bool:
    return _HEADER_VALUE.fullmatch(value.strip()) is not None and any(
        is_uuid(word) or is_random(word, least_chars=8, least_bits=2.5) for word in _HEADER_WORD.findall(value)
    )


def _is_own_name(name: str) -> bool:
    """Whether it is one identifier and names a secret itself."""
    if _IDENTIFIER.fullmatch(plain_text(name)) is None:
        return name.strip().lower() in FOREIGN_PASSWORDS
    return names_a_secret(name) is not None and not names_an_action(name)


def _is_password_word(word: str) -> bool:
    return "pass" in word or word in {"pwd", "pw"}


def _last_word(field: str) -> str:
    return _words(plain_text(field[-_NAME_CHARS:])).rpartition("_")[2]


def _words(name: str) -> str:
    """The words of a name in small letters, whichever way it joins them."""
    return _KEY_WORDS.sub(r"\1_\2", name).lower().replace("-", "_").replace(" ", "_")

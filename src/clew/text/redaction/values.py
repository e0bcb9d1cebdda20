"""Tells whether a value looks like a secret, or is a placeholder for one.

Documentation, configuration and code are full of values at the places where secrets go: `YOUR_API_KEY`, `${TOKEN}`,
`os.environ["KEY"]`, `xxxxxxxx`. None of them is a secret, and cutting them would make ordinary text unreadable.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from operator import ne
from typing import NamedTuple

MARKER_START = "[redacted:"


class Cut(NamedTuple):
    """A part of the text that a detector wants to cut."""

    start: int
    end: int
    kind: str


_JUDGED_CHARS = 200
"""A value is judged by its beginning, so that a giant one costs no more than a long one."""

_STAND_IN_WORDS = frozenset(
    "abc123 admin any auth bearer boolean bool bytes changeit changeme default disabled empty enabled encrypted env "
    "false fake foo foobar hidden int key login masked missing mypassword mysecret mytoken n/a nil no none null number "
    "object off on optional pass passphrase passwd password private prompt public pwd redacted required sandbox secret "
    "string str test testing text token true undefined unknown unset user user1 username value yes yyy zzz".split()
)

_STAND_IN_PARTS = (
    "example", "placeholder", "redacted", "dummy", "sample", "changeme", "change_me", "change-me", "put_your",
    "put-your", "_here", "***", "...", "…", "00000000", "1234567890123", "abcdefghij",
)  # fmt: skip
_STAND_IN_RUNS = ("xxxxx", "XXXXX", "aaaaaaaa")
_STAND_IN_ENDS = ("_TOKEN", "_KEY", "_SECRET", "_PASSWORD")
_STAND_IN_STARTS = re.compile(r"(?:your|my|the|some|an?|insert|replace|put|enter)(?:[-_ ]|(?=[A-Z]))|your|YOUR")
_REFERENCE = re.compile(
    r"[$%@&]?[{<(\[]|\$\w|%\w+%|[#!]\{|\w{0,12}[{<]{2}|\w{0,12}[<]\w|"
    r"(?:process\.env|os\.environ|os\.getenv|import\.meta|env|ENV|secrets|vars|var|local|data|config|settings|self|this"
    r"|options|opts|args|params|request|req|ctx|context|props|state|module|each|keyring|vault|ssm|op:/|arn:aws)\b[.\[(:/]"
)
_CODE = re.compile(r"[^\W\d]++(?:(?:\.|->|::|/|-|[、。，：；！？])[^\W\d]++)*[;,.、。，：；！？]?")
"""Names and words of any script, also joined. Behind a full-width mark, the sentence goes on without a space."""
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_PATH = re.compile(r"(?:~|\.{0,2})/[\w.-]+(?:/[\w.@-]*)*|[A-Za-z]:\\.*|(?:[\w-]+/)*[\w-]+\.[a-z]{1,4}|https?://.*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}")
_WORDS = re.compile(r"(?:[-_./: ]?(?:[A-Z]?[a-z]{2,}+|[A-Z]{2,}+|\d{1,4}+|[a-z]))++")
_CLASSES = str.maketrans(
    string.ascii_lowercase + string.ascii_uppercase + string.digits, "a" * 26 + "A" * 26 + "0" * 10
)


def is_stand_in(value: str) -> bool:
    """Whether the value only marks the place of a secret: a placeholder, a variable, a word for what goes there."""
    head = value[:_JUDGED_CHARS]
    lower = head.lower()
    bare = lower.strip(" \t\"'`()[]{}<>*.,;:-_")
    return (
        not bare
        or bare in _STAND_IN_WORDS
        or (len(set(bare)) == 1 and (bare[0] in "xyz0#?" or len(bare) < 8))
        or head.endswith(_STAND_IN_ENDS)
        or any(run in head for run in _STAND_IN_RUNS)
        or any(part in lower for part in _STAND_IN_PARTS)
        or _REFERENCE.match(head) is not None
        or _STAND_IN_STARTS.match(head) is not None
    )


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether a value given as a password is one. Unquoted, it must not read as a word or as code."""
    if len(value) < 4 or is_stand_in(value) or " " in value.strip():
        return False
    if quoted:
        return len(value) >= 6 and _PATH.fullmatch(value[:_JUDGED_CHARS]) is None
    return len(value) >= 6 and not _reads_as_code(value)


def is_surely_password(value: str) -> bool:
    """Whether a value is no word, name, version or date of any text, so that a mere mention gives it away."""
    head = value[:_JUDGED_CHARS]
    return (
        is_password(value, quoted=False)
        and any(map(str.isdigit, head))
        and is_mixed(head)
        and not is_uuid(head)
        and not is_made_of_words(head.strip("#@,'’\""))
    )


def is_made_of_words(value: str) -> bool:
    """Whether it is words and short numbers, joined in the ways that names of files, versions and fields are."""
    return _WORDS.fullmatch(value[:_JUDGED_CHARS]) is not None


def is_random(value: str, *, least_chars: int = 16, least_bits: float = 3.0) -> bool:
    """Whether the value was made by chance and not by a person: letters mixed with digits, and few repeats."""
    head = value[:_JUDGED_CHARS]
    if len(head) < least_chars or " " in head or _is_wordy(head):
        return False
    if _PATH.fullmatch(head) or _DATE.match(head) or is_stand_in(head):
        return False
    return entropy_bits(head) >= min(least_bits, math.log2(len(head)) - 0.9)


def is_mixed(value: str) -> bool:
    """Whether letters are mixed with digits or marks, as in few words and in no date."""
    return any(map(str.isalpha, value)) and not all(map(str.isalpha, value)) and _DATE.match(value) is None


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def entropy_bits(value: str) -> float:
    """Shannon's measure for each character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def _reads_as_code(value: str) -> bool:
    head = value[:_JUDGED_CHARS]
    return (
        _CODE.fullmatch(head) is not None
        or _PATH.fullmatch(head) is not None
        or any(mark in head for mark in ("()", "->", "=>", "::", "${"))
    )


def _is_wordy(value: str) -> bool:
    """Whether a person could have written it: only digits, only letters that read as words, or words joined."""
    classes = value.translate(_CLASSES)
    seams = sum(map(ne, classes, classes[1:]))
    digits = classes.count("0")
    if digits == 0:
        # Letters alone are noise if capitals are where neither words nor camel case would have them.
        rarer = min(classes.count("A"), classes.count("a"))
        return rarer < len(value) * 0.2 or seams * 3 <= len(value)
    if digits == len(value):
        return digits < 15
    if "a" not in classes and "A" not in classes:
        return len(value) < 20
    return seams * 6 < len(value) and _WORDS.fullmatch(value) is not None

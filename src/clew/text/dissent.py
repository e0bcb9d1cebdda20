"""Tells whether two short texts on the same matter disagree. Works by rules, and is rather silent than wrong.

They are on the same matter when they share nearly all their content words, once the words that carry a
number, a day, a negation or one side of a pair of opposites are set apart. They disagree when those that
were set apart differ: another number in the same place, another day, an odd number of negations and
opposites between them, or another value of what can have only one. A question claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from clew.text.terms import analyse, fold

MAX_CHARS = 600
"""Longer texts say several things, and comparing them by their words would say little."""

SAME_MATTER = 0.6
"""The share of all content words of two texts that both must hold."""

_FIRST_LOOK = 0.34
"""The share of longer words that two texts must have in common to be compared at all."""

_FEW_WORDS = 4
_LONGER = 4


class Conflict(StrEnum):
    """In what two texts disagree."""

    NUMBER = "another number"
    DAY = "another day"
    NEGATION = "one denies what the other says"
    OPPOSITE = "the opposite"
    VALUE = "another value"


@dataclass(frozen=True, slots=True)
class Claim:
    """The parts of a text that a comparison needs."""

    content: frozenset[str]
    numbers: Mapping[str, frozenset[str]]
    """By the word they belong to."""
    named: Mapping[str, frozenset[str]]
    """Numbers that tell one thing from another of its sort, by the sort."""
    days: Mapping[str, frozenset[str]]
    denials: int
    sides: Mapping[str, int]
    """By the pair of opposites, which one the text holds: 1 or -1; 0 where it holds both."""
    subject: str
    value: str
    """Of `the main database is X`: `the main database` and `x`; empty where it is nothing of the kind."""


def conflict(one: str, other: str) -> Conflict | None:
    """The point on which two texts disagree; None where they do not, or where the rules cannot tell."""
    first, second = claim(one), claim(other)
    return None if first is None or second is None else disagreement(first, second)


def disagreement(first: Claim, second: Claim) -> Conflict | None:
    """The same for texts that are compared with many others."""
    if first.subject and first.subject == second.subject and first.value != second.value:
        return Conflict.VALUE
    if not _on_the_same_matter(first, second):
        return None
    if _differ(first.named, second.named):
        return None
    turned = sum(first.sides[pair] * second.sides[pair] < 0 for pair in first.sides.keys() & second.sides.keys())
    if (turned + first.denials + second.denials) % 2 == 1:
        return Conflict.OPPOSITE if turned else Conflict.NEGATION
    if _differ(first.days, second.days):
        return Conflict.DAY
    return Conflict.NUMBER if _differ(first.numbers, second.numbers) else None


def claim(text: str) -> Claim | None:
    """The parts of a text; None for a question, and for a text that is too long or says nothing."""
    if len(text) > MAX_CHARS or text.rstrip().endswith(("?", "？")):
        return None
    words = _words(text)
    content = frozenset(_content(words))
    if not content:
        return None
    subject, value = _single_valued(words)
    numbers, named = _numbers(words)
    for code in _CODE.finditer(text):
        named[code[1].lower()] = named.get(code[1].lower(), frozenset()) | {code[2]}
    return Claim(
        content=content,
        numbers=numbers,
        named=named,
        days=_days(words),
        denials=sum(word in _DENIALS for word in words),
        sides=_sides(words),
        subject=subject,
        value=value,
    )


def rough_words(text: str) -> frozenset[str]:
    """The longer words of a text, for a first look."""
    return frozenset(word for word in text[:MAX_CHARS].casefold().split() if len(word) >= _LONGER)


def may_disagree(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two texts are worth taking apart. Few words, as of a script without spaces, cannot tell."""
    return min(len(first), len(second)) < _FEW_WORDS or len(first & second) >= _FIRST_LOOK * len(first | second)


# --- comparing ---------------------------------------------------------------------------------------


def _on_the_same_matter(first: Claim, second: Claim) -> bool:
    shared = len(first.content & second.content)
    return shared > 0 and shared >= SAME_MATTER * len(first.content | second.content)


def _differ(first: Mapping[str, frozenset[str]], second: Mapping[str, frozenset[str]]) -> bool:
    """Whether something both have a value of has no value in common."""
    return any(not first[name] & second[name] for name in first.keys() & second.keys())


# --- taking apart ------------------------------------------------------------------------------------

_CONTRACTION = re.compile(
    r"\b(?:can|won|don|doesn|didn|isn|aren|wasn|weren|hasn|haven|hadn|shouldn|wouldn|couldn)['’]?t\b"
)
_THOUSANDS = re.compile(r"(?<=\d)[,'’_](?=\d{3}(?!\d))")
_WORD = re.compile(
    r"#?\d+(?:[.:/-]\d+){0,4}"  # a number, a date, a time, a version
    r"|[a-z]+\d[a-z0-9]*"  # a name that ends in a number
    r"|[^\W\d_]+(?:['’-][^\W\d_]+){0,3}|[%€$£=:]"
)
_VERSION = re.compile(r"\bv(?=\d)")
_CODE = re.compile(r"\b([A-Z]{1,6})-?(\d{1,8})\b")
"""A thing by its code, such as `P-002` or `INV7`: another number is another thing."""

_DENIALS = frozenset("not no never without cannot neither nor none nothing nobody stopped".split())
_EMPHASIS = frozenset("always yes really still now currently longer anymore any more also just please ever".split())

_PAIRS = (
    ("enable enables enabled enabling", "disable disables disabled disabling"),
    ("activate activates activated", "deactivate deactivates deactivated"),
    ("use uses using prefer prefers", "avoid avoids avoiding"),
    ("like likes love loves enjoy enjoys", "dislike dislikes hate hates"),
    (
        "allow allows allowed permit permits permitted",
        "forbid forbids forbidden deny denies denied prohibit prohibited",
    ),
    ("accept accepts accepted approve approves approved", "reject rejects rejected decline declines declined"),
    ("include includes included", "exclude excludes excluded"),
    ("true", "false"),
    ("public", "private"),
    ("succeeded passed works working", "failed fails failing broken"),
    ("agree agrees agreed", "disagree disagrees disagreed"),
    ("open opened", "closed"),
)
_SIDE_OF = {
    word: (f"{pair[0].split()[0]}/{pair[1].split()[0]}", sign)
    for pair in _PAIRS
    for sign, words in zip((1, -1), pair, strict=True)
    for word in words.split()
}
_SWITCHED = frozenset("turn turns turned switch switches switched is are be set keep leave stays stay".split())

_DAYS = {
    **dict.fromkeys("monday tuesday wednesday thursday friday saturday sunday".split(), "day of the week"),
    **dict.fromkeys(
        "january february march april june july august september october november december".split(), "month"
    ),
    **dict.fromkeys("today tomorrow yesterday".split(), "day"),
}
_SPELT = {word: str(number) for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)}

_NAMED_BY_NUMBER = frozenset(
    """ticket tickets issue pr pull build step chapter page line item record episode number no id test case task commit
    run attempt question turn part section week day sprint round figure table row column""".split()
)
"""`Ticket 12` and `ticket 13` are two tickets, not two opinions."""

_SET_APART = _DENIALS | _EMPHASIS | _SIDE_OF.keys() | _DAYS.keys()

_SINGLE_VALUED = frozenset(
    """favorite favourite default primary main name birthday timezone owner deadline address version language port
    status password host hostname region title email editor capital manager theme""".split()
)
"""Of which there is one at a time, so that another value is a contradiction."""

_COPULA = frozenset(("is", "are", "was", "=", ":"))
_LONGEST_VALUE = 3
_NEIGHBOURS = frozenset("a an the is are was were be to at on in of for by and or with from it = :".split())


def _words(text: str) -> list[str]:
    plain = _VERSION.sub("", _CONTRACTION.sub(" not", _THOUSANDS.sub("", fold(text))))
    return [_SPELT.get(word, word) for word in _WORD.findall(plain)]


def _content(words: list[str]) -> Iterator[str]:
    """The stems of the words that say what it is about."""
    yield from analyse(" ".join(word for word in words if word not in _SET_APART and not _is_number(word)))


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word[0] == "#"


def _numbers(words: list[str]) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """What is counted or set, and what is only named by its number; each by the word it belongs to."""
    counted: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for place, word in enumerate(words):
        if not _is_number(word):
            continue
        before = next((near for near in reversed(words[max(place - 3, 0) : place]) if near not in _NEIGHBOURS), "")
        after = words[place + 1] if place + 1 < len(words) and words[place + 1] not in _NEIGHBOURS else ""
        if word[0] == "#" or before in _NAMED_BY_NUMBER:
            named.setdefault(before, set()).add(word.lstrip("#"))
        else:
            counted.setdefault(after or before, set()).add(word)
    return _frozen(counted), _frozen(named)


def _days(words: list[str]) -> dict[str, frozenset[str]]:
    days: dict[str, set[str]] = {}
    for word in words:
        if word in _DAYS:
            days.setdefault(_DAYS[word], set()).add(word)
    return _frozen(days)


def _sides(words: list[str]) -> dict[str, int]:
    """The side of each pair of opposites that a text takes."""
    sides: dict[str, int] = {}
    for before, word in pairwise(["", *words]):
        pair, sign = _SIDE_OF.get(word, ("", 0))
        if word in ("on", "off") and before in _SWITCHED:
            pair, sign = "on/off", 1 if word == "on" else -1
        if pair:
            sides[pair] = sign if sides.get(pair, sign) == sign else 0
    return sides


def _single_valued(words: list[str]) -> tuple[str, str]:
    """`the main database is x`: what it is about, and its value."""
    place = next((place for place, word in enumerate(words) if word in _COPULA), len(words))
    subject, value = words[:place], words[place + 1 :]
    wanted = 1 <= len(value) <= _LONGEST_VALUE and len(subject) <= 12 and not any(word in _DENIALS for word in words)
    if not wanted or not any(word in _SINGLE_VALUED for word in subject):
        return "", ""
    return " ".join(word for word in subject if word not in _NEIGHBOURS and word not in _EMPHASIS), " ".join(value)


def _frozen(values: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(found) for name, found in values.items()}

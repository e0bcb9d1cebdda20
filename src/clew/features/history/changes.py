"""Finds which earlier statements a stretch of history repeats or overturns.

A later statement overturns an earlier one where it names that one's object as left behind, or gives another value for
the same thing. It repeats one where it says nearly the same words with no other value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.text.grading.salience import terms_of

_SAME_SHARE = 0.8
_SAME_LEAST = 4
_FRAME_SHARE = 0.6
_FRAME_LEAST = 2

_LEFT_BEHIND = re.compile(
    r"\b(?:instead of|rather than|in place of|replace[ds]|dropped|stopped (?:using)?|got rid of"
    r"|(?:switch|mov|migrat|chang|upgrad|renam)(?:e|ed|ing) (?:[\w-]{1,24} ){0,4}?from"
    r"|no longer (?:us(?:e|es|ing)|on|in|at|with|need(?:s|ing)?|have|has)?)\s{1,4}([^.,;:!?\n]{2,60})"
    r"|(?:不再(?:使用|用)?|取代了?|代替|而不是)([^，。；！？\n]{1,24})"
    r"|([^，。、；！？\n]{1,24})(?:の代わりに|をやめ|대신)",
    re.IGNORECASE,
)
_OBJECT_END = re.compile(r"\b(?:to|for|with|and|in|on|as|after|because|since|when)\b", re.IGNORECASE)
_VALUE_OF = re.compile(
    r"\b(?:is|are|equals|uses?|using|runs? on|set to|listens? on|lives? in|works? (?:at|for)|called|named|moved to)\b"
    r"|=|是|为|用|は|을|를",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|isn't|aren't|don't|doesn't|won't|can't|cannot)\b|不|没|ない|않", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Changes:
    """Places of later statements with the earlier statement that each repeats or overturns."""

    holds: dict[int, str] = field(default_factory=dict)
    superseded: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Parsed:
    text: str
    terms: frozenset[str]
    values: frozenset[str]

    @property
    def frame(self) -> frozenset[str]:
        return self.terms - self.values


def compare(statements: Sequence[str], earlier: Sequence[str]) -> Changes:
    """Each later statement is compared with the earlier one that shares most of its terms."""
    changes = Changes()
    if not earlier:
        return changes
    before = [_parse(text) for text in earlier]
    by_term: dict[str, list[int]] = {}
    for place, parsed in enumerate(before):
        for term in parsed.terms:
            by_term.setdefault(term, []).append(place)
    for place, text in enumerate(statements):
        later = _parse(text)
        for candidate in _nearest(later, by_term):
            if _is_superseded(before[candidate], later):
                changes.superseded[place] = before[candidate].text
                break
            if _is_same(before[candidate], later):
                changes.holds[place] = before[candidate].text
                break
    return changes


_CANDIDATES = 3
_COMMON_TERM = 32


def _nearest(later: _Parsed, by_term: dict[str, list[int]]) -> list[int]:
    """Earlier statements that share at least two terms, most first; terms that occur everywhere tell nothing."""
    shared: dict[int, int] = {}
    for term in later.terms:
        for place in by_term.get(term, ())[:_COMMON_TERM]:
            shared[place] = shared.get(place, 0) + 1
    near = [place for place, count in shared.items() if count >= _FRAME_LEAST]
    return sorted(near, key=lambda place: (-shared[place], -place))[:_CANDIDATES]


def _parse(text: str) -> _Parsed:
    terms = frozenset(terms_of(text))
    return _Parsed(text, terms, frozenset(term for term in terms if term[0] == "=" or term[0].isdigit()))


_STILL = re.compile(
    r"\b(?:still|again|as (?:before|agreed|always)|remains?|unchanged|keep(?:s|ing)?|same)\b"
    r"|仍|还是|依然|まだ|引き続き|여전히",
    re.IGNORECASE,
)


def _is_same(before: _Parsed, later: _Parsed) -> bool:
    """A later statement has to say that the earlier one still holds: the same words alone may be chance."""
    shared = later.terms & before.terms
    return (
        _STILL.search(later.text) is not None
        and len(shared) >= _SAME_LEAST
        and len(shared) >= _SAME_SHARE * len(later.terms)
        and later.values <= before.values
        and bool(_NEGATION.search(later.text)) == bool(_NEGATION.search(before.text))
    )


def _is_superseded(before: _Parsed, later: _Parsed) -> bool:
    return _names_as_left_behind(before, later) or _gives_another_value(before, later)


def _names_as_left_behind(before: _Parsed, later: _Parsed) -> bool:
    found = _LEFT_BEHIND.search(later.text)
    if found is None:
        return False
    left = frozenset(terms_of(_OBJECT_END.split(next(filter(None, found.groups())), maxsplit=1)[0]))
    rest = (later.terms & before.terms) - left
    return bool(left) and left <= before.terms and bool(rest) and not _LEFT_BEHIND.search(before.text)


def _gives_another_value(before: _Parsed, later: _Parsed) -> bool:
    shared = before.frame & later.frame
    return (
        len(shared) >= _FRAME_LEAST
        and len(shared) >= _FRAME_SHARE * len(before.frame | later.frame)
        and bool(before.values)
        and bool(later.values)
        and not before.values & later.values
        and _VALUE_OF.search(before.text) is not None
        and _VALUE_OF.search(later.text) is not None
    )

"""Whether a later rule takes the place of an earlier one.

Two rules on one subject mostly hold together: `Never deploy on a Friday` and `Never deploy at night`, `Invoices for
Acme go to Petra` and `Invoices for Bolt go to Petra`. So the later one replaces only what it contradicts: it says that
something changes, it demands what the other forbids, or it is the same sentence with one other value. A rule that is
lost does more harm than one that is out of date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.text.terms import analyse

CHANGE = re.compile(
    r"\b(?:again|actually|instead|no longer(?! than)|any ?more|changed my mind|scrap that|back to|after all"
    r"|forget (?:what|the|that|about)|wieder|doch|stattdessen|nicht mehr|zurück zu|de nouveau|à nouveau|finalement"
    r"|en fait|ne .{1,20} plus|otra vez|de nuevo|en realidad|ya no|al final|mejor)\b"
    r"|还是|改成|改为|改用|不再|やっぱり|に戻して|もう.{1,12}いい|다시|역시",
    re.IGNORECASE,
)
"""Words that announce a change."""

_LEAST_SHARE = 0.6
"""Of the earlier rule's subject, where the later one announces a change."""

_GENERIC = frozenset(
    """pleas pls alway never use keep write make go get put give want need like prefer must should shall will can may
    don dont say tell ask know thing everyth anyth noth time way one btw ok oh so also actual again instead anymor
    longer now on befor after first stop quit avoid not do let ever onli fine until around otherwis bitte immer nie nur
    ich du mir dass wieder doch nicht mehr sollst musst toujour jamai est sont que les des une pour dans siempr nunca
    los las una por para en el la de von und der die das ein mit auf""".split()
)
"""Stems that name no subject."""


_WORD = re.compile(r"[\w'-]+")
_LIMITS = frozenset("under over within most least than max min to exactly in unter über höchstens moins más".split())
_CASES = frozenset("for of with on at about by from when if für von mit bei an am pour de avec para con".split())


@dataclass(frozen=True, slots=True)
class RuleText:
    """The words that lay down a rule, and the whole of what was said with them."""

    rule: str
    said: str
    forbids: bool


def replaces(later: RuleText, earlier: RuleText) -> bool:
    """Whether the later rule takes the place of the earlier one; in doubt it does not."""
    before = _subject(earlier.rule)
    if not before:
        return False
    if CHANGE.search(later.said):
        shared = before & _subject(later.said)
        return len(shared) >= min(2, len(before)) and len(shared) >= _LEAST_SHARE * len(before)
    after = _subject(later.rule)
    gone, new, shared = before - after, after - before, before & after
    if later.forbids is not earlier.forbids:
        return len(shared) >= 2 and len(gone) <= 1 and len(new) <= 1
    return not later.forbids and len(shared) >= 1 and _differs_in_value(later.rule, earlier.rule)


def _differs_in_value(later: str, earlier: str) -> bool:
    """Whether one word at the end of a sentence is another, or one number: `reply in German`, `under 50 words`.

    What stands behind `for` or `of` is no value: it says which case a rule is for.
    """
    new, old = _WORD.findall(later.casefold()), _WORD.findall(earlier.casefold())
    unlike = [place for place, pair in enumerate(zip(new, old, strict=False)) if pair[0] != pair[1]]
    if len(new) != len(old) or len(unlike) != 1 or unlike[0] == 0:
        return False
    place = unlike[0]
    if new[place].isdecimal() and old[place].isdecimal():
        return new[place - 1] in _LIMITS
    return place == len(new) - 1 and new[place - 1] not in _CASES


def _subject(text: str) -> frozenset[str]:
    return frozenset(term for term in analyse(text) if not term.startswith("=")) - _GENERIC

"""The signs by which a rule is told from other talk, what each weighs, and the words of a language that make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import product


class Sign(Enum):
    """What speaks for a rule and what speaks against one, with its points: clear signs, strong ones, and weak ones."""

    BAN = ("a clause forbids: `don't use`, `no emojis`", 4)
    TOLD = ("a duty of the reader, or a verdict: `you must`, `always use`, `I want you to`, `is banned`", 4)
    LASTING = ("it begins to hold: `from now on`", 4)
    ORDER = ("an order how to go about things: `use`, `keep`, `ask`", 2)
    OURS = ("a custom of the house: `we cite`, `our policy`", 2)
    OCCASION = ("when or where it holds: `if a customer`, `in letters`, `on Mondays`", 2)
    KIND = ("a kind of thing is the subject: `invoices`, `every invoice`", 2)
    GOES = ("where things have their place, or what is done with them: `go to`, `stays`, `are signed`", 2)
    FIRST = ("an order of steps: `before`, `first`", 2)
    FORM = ("how an assistant speaks and writes: `answers`, `tone`, `units`", 2)
    MUST = ("a word of duty: `must`, `needs`", 1)
    WISH = ("the speaker's wish: `I prefer`", 1)
    ANY = ("without exception: `every`, `anything`, `nobody`", 1)
    ALWAYS = ("at all times, or at none: `always`, `never`", 1)
    ONLY = ("a limit: `only`, `at most`", 1)
    PLEASE = ("a request", 1)
    HEED = ("the speaker insists: `I mean it`, `keep in mind`", 1)
    TASK = ("an order, a ban or a wish for one thing: `use the other one`, `delete`", -1)
    SELF = ("the speaker or some third party is the subject: `I`, `it`", -2)
    REPORT = ("what others say, and what is only supposed: `he says`, `must have`", -3)
    PAST = ("what was", -3)
    TALK = ("kind words and feelings: `worry`, `thanks`", -3)
    ONCE = ("it holds once: `this`, `today`, `the last`", -3)
    ASKS = ("a question", -6)

    def __init__(self, meaning: str, points: int) -> None:
        self.meaning = meaning
        self.points = points


THRESHOLD = 4
"""The points that make a rule: those of one clear sign, or of two strong ones."""

STOPS = frozenset(",:()")

Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""Phrases by their first word, the longest first. In a phrase, `*ing` is any word of meaning with that ending."""


@dataclass(frozen=True)
class Language:
    """The words of one language, by class."""

    classes: Mapping[str, Phrases]
    """Among them: `function words`, which name no thing and no deed; `idle` words, which make no rule where they are
    forbidden or ordered (`don't worry`); what asks for `one thing` (`write a card`); `joints` that begin a clause, and
    `links`, those that go on with the clause before them; prepositions of `occasions`; `negations` that turn an order
    into a ban; `kind articles` like French `les`; `answers` to what was said before; `lead-ins`, said before somebody
    comes to the point; and `requests` (`could you`)."""
    opening: Mapping[Sign, Phrases]
    """Signs that open a clause."""
    anywhere: Mapping[Sign, Phrases]

    def has(self, name: str, word: str) -> bool:
        """Whether a class of words has this one."""
        return word in self.classes.get(name, ())

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word of the language that is known here, to tell it from others."""
        listed = [*self.opening.values(), *self.anywhere.values(), *self.classes.values()]
        return frozenset(word for held in listed for group in held.values() for phrase in group for word in phrase)

    def signs_at(self, known: Mapping[Sign, Phrases], said: Sequence[str], place: int) -> Iterator[tuple[Sign, int]]:
        """The signs with a phrase from `place` on, and where that phrase ends."""
        for sign, listed in known.items():
            if end := self.end_of(listed, said, place):
                yield sign, end

    def end_of(self, known: Phrases, said: Sequence[str], place: int) -> int:
        """Where the longest known phrase from `place` on ends; 0 where there is none."""
        for phrase in known.get(said[place], ()):
            part = said[place : place + len(phrase)]
            if len(part) == len(phrase) and all(map(self._fits, phrase, part)):
                return place + len(phrase)
        return 0

    def _fits(self, wanted: str, word: str) -> bool:
        return self.means(word) and word.endswith(wanted[1:]) if wanted[0] == "*" else word == wanted

    def means(self, word: str) -> bool:
        """Whether it is a word of meaning: names a thing or a deed that a rule may be about."""
        return not (word in STOPS or self.has("function words", word) or self.has("idle", word))

    def is_plural(self, word: str) -> bool:
        ends = word.endswith(tuple(self.classes["plural endings"])) and not word.endswith(("ss", "us", "'s"))
        return ends and len(word) > 3 and self.means(word)


def language(text: str) -> Language:
    """From lines `name: phrase, phrase`; longer ones go on indented. Where there is no comma, each word is a phrase.

    `if/when you` is two phrases. `opens ban` names phrases that are a sign of a ban where they open a clause; `holds
    must`, those that are a sign of a duty anywhere.
    """
    classes: dict[str, Phrases] = {}
    by_place: dict[str, dict[Sign, Phrases]] = {"opens": {}, "holds": {}}
    for name, listed in entries(text):
        place, _, sign = name.partition(" ")
        if place in by_place:
            by_place[place][Sign[sign.upper()]] = _phrases(listed)
        else:
            classes[name] = _phrases(listed)
    return Language(classes, by_place["opens"], by_place["holds"])


def entries(text: str) -> Iterator[tuple[str, str]]:
    """The lines `name: ...` of a text, each with those that go on with it."""
    for entry in text.strip().replace("\n    ", " ").split("\n"):
        name, _, listed = entry.partition(": ")
        yield name, listed


def _phrases(text: str) -> Phrases:
    found: dict[str, list[tuple[str, ...]]] = {}
    for listed in text.split(",") if "," in text else text.split():
        for phrase in product(*(word.split("/") for word in listed.split())):
            found.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(sorted(held, key=len, reverse=True)) for first, held in found.items()}

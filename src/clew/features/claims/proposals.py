"""Reads candidates for facts and plans from a text, for the operator to accept or decline.

Deterministic, without a model, and precise rather than eager: a question, a condition, a denial, a guess, a quotation
or a piece of code proposes nothing. Clew writes nothing here; a proposal holds nothing until somebody accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from clew.core.ids import ID_BYTES, digest
from clew.core.model import Role
from clew.features.claims.clauses import Clause, Sentence, sentences_of
from clew.features.claims.patterns import (
    ARRANGED,
    CONDITION,
    DATE_PHRASE,
    INTENT,
    LISTED,
    OF_THE_SPEAKER,
    OF_THINGS,
    REMINDER,
    TASTES,
    Rule,
)
from clew.text.dates import day_ahead, day_before

MOST_WORDS = 9

_STOP = re.compile(
    r"\s(?:(?:and (?:i|we|it|they|he|she|you|then|now|so)|but|so|that (?:are|is|i|we|was|were|have|has|had|my)|because"
    r"|since|when|while|as|after|before|until|which|who|where|though|if|than|or else|instead|rather|ever since"
    r"|thanks to|due to|at the moment|right now|these days|so far|as well|too|lately|recently|a lot|so much|very much"
    r"|the most|more than|yesterday|today|tonight|tomorrow|last (?:night|week|month|year|\w+day)|this (?:morning|week"
    r"|weekend|month|year)|next (?:week|weekend|month|year|\w+day)|\w+ (?:days?|weeks?|months?|years?) ago|on \w+day"
    r"|now|again|already|anymore|every (?:day|morning|night|week))\b)",
    re.IGNORECASE,
)
_EDGES = " \t,.;:!?\"'“”‘’()[]*_~-–—"
_ARTICLE = re.compile(r"(?:the|a|an|all|this|that|these|those)\s", re.IGNORECASE)
_TRAILING = re.compile(
    r"\s(?:for|to|with|of|in|on|at|by|from|and|or|the|a|an|my|our|about|into|is|are|was|really)$", re.IGNORECASE
)

_NO_NAME_ENDS = frozenset(
    """is are was were be been being am has have had do does did should shall would could can will may might must
    actually now just also still already currently really only even then too to not as so that which who it its it's
    that's""".split()
)
"""Verbs and adverbs: no thing's name ends in one."""
_NO_NAME = _NO_NAME_ENDS | frozenset("one two three four five six both all each some any of in on at for with".split())


def phrase(text: str) -> str:
    """The beginning of a text, up to the next thought; empty where nothing is left."""
    stop = _STOP.search(text)
    head = bare(text[: stop.start()] if stop else text)
    while (loose := _TRAILING.search(head)) is not None:
        head = bare(head[: loose.start()])
    return head if any(char.isalnum() for char in head) and "\ufffc" not in head else ""


def thing(text: str) -> str:
    """A phrase as the name of something: without its article."""
    return bare(_ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text)


def subject(text: str) -> str:
    """A phrase as a subject: without the verbs and adverbs behind it; empty where nothing else is left."""
    words = thing(text).split()
    while words and words[-1].casefold() in _NO_NAME_ENDS:
        words.pop()
    return "" if all(word.casefold() in _NO_NAME for word in words) else bare(" ".join(words))


def bare(text: str, most_words: int = MOST_WORDS) -> str:
    """At most a few words, without marks at the edges."""
    return " ".join(text.split()[:most_words]).replace("`", "").strip(_EDGES)


PLAN = "plan"
"""The predicate of a proposal of a plan."""

NOBODY = "user"
"""The subject of the first person, where the speaker has no name."""

READ_CHARS = 8_000
"""The beginning of a text that is read: the rest of a longer one is a paste."""

MOST = 16
"""The most candidates of one text; a text with more is a table or a log."""

SECOND_HAND = 0.6
"""The share of its confidence that a statement of an assistant keeps."""

_PLANNED = 0.8
_PLAN_WORDS = 16
_OPENING_CHARS = 40
"""The beginning of a sentence in which "next month" is the day of the plan, and not of something else."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a plan comes due."""

    date_ms: int | None = None
    """The beginning of its day, in UTC."""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One candidate, and the part of the text it was read from."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    valid_from_ms: int | None = None
    """The first day it holds; None where the text names none."""
    confidence: float = 1.0
    trigger: Trigger | None = None
    """Of a plan."""
    ends: bool = False
    """Whether the text says that it holds no longer."""


def proposals(text: str, speaker: str, ts_ms: int, role: Role | None) -> tuple[Proposal, ...]:
    """The candidates of a text, in its order. `speaker` is who says "I"; `role` is None for a note."""
    if role in (Role.TOOL_CALL, Role.TOOL_RESULT):
        return ()
    reader = _Reader(speaker.strip() or NOBODY, ts_ms, in_person=role in (Role.USER, None))
    found: dict[tuple[object, ...], Proposal] = {}
    for sentence in sentences_of(text[:READ_CHARS]):
        for proposal in reader.read(sentence):
            said = proposal.subject.casefold(), proposal.predicate, proposal.object.casefold(), proposal.ends
            found.setdefault(said, proposal)
    return tuple(found.values())[:MOST]


def key_of(ref: str, proposal: Proposal) -> str:
    """The id of a candidate, made from what it says and from its record."""
    parts = (ref, proposal.subject, proposal.predicate, proposal.object, *(["ends"] if proposal.ends else []))
    return f"c_{digest(*parts, size_bytes=ID_BYTES).hex()}"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one text: who says it, when, and whether a person speaks for themselves."""

    me: str
    ts_ms: int
    in_person: bool

    def read(self, sentence: Sentence) -> Iterator[Proposal]:
        planned = self._plan(sentence) if self.in_person and not sentence.in_list else None
        if planned is not None:
            yield planned
        listed = self._first(LISTED, sentence.whole) if not sentence.asks else None
        if listed is not None:
            yield listed
            return
        for clause in () if sentence.in_list else sentence.clauses:
            if not clause.hedged and (planned is None or clause.start != planned.start):
                found = self._first(_RULES, clause)
                if found is not None:
                    yield found
        for clause in () if sentence.in_list else sentence.ended:
            held = self._first(_RULES, clause)
            if held is not None:
                yield replace(held, ends=True)

    # --- facts -----------------------------------------------------------------------------------------

    def _first(self, rules: tuple[Rule, ...], clause: Clause) -> Proposal | None:
        return next(filter(None, (self._fact(rule, clause) for rule in rules)), None)

    def _fact(self, rule: Rule, clause: Clause) -> Proposal | None:
        if rule.is_personal and not self.in_person:
            return None
        match = rule.pattern.match(clause.text)
        if match is None:
            return None
        parts = {name: phrase(value) for name, value in match.groupdict().items() if value is not None}
        subject = self._subject(rule, parts)
        object_ = _fill(rule.object, parts)
        if not subject or not object_:
            return None
        return Proposal(
            subject=subject,
            predicate=rule.predicate,
            object=object_,
            start=clause.start,
            end=clause.end,
            valid_from_ms=day_before(clause.text, self.ts_ms),
            confidence=round(rule.confidence * (1.0 if self.in_person else SECOND_HAND), 2),
        )

    def _subject(self, rule: Rule, parts: dict[str, str]) -> str:
        if "subject" in parts:
            named = parts["subject"]
            mine = _MINE.match(named)
            if mine and self.in_person:
                return _fill("{me}'s {of}", {"me": self.me, "of": subject(named[mine.end() :])})
            return subject(named)
        return _fill(rule.subject, {**{name: thing(value) for name, value in parts.items()}, "me": self.me})

    # --- plans -----------------------------------------------------------------------------------------

    def _plan(self, sentence: Sentence) -> Proposal | None:
        """The first intent of a sentence that has a day to come, or a condition."""
        for clause in () if sentence.asks else sentence.clauses:
            what, arranged = _intent(clause)
            trigger = self._trigger(sentence, clause, arranged=arranged) if what else None
            if trigger is not None:
                return Proposal(
                    subject=self.me,
                    predicate=PLAN,
                    object=bare(_without_day(what, trigger, self.ts_ms), _PLAN_WORDS),
                    start=clause.start,
                    end=clause.end,
                    confidence=_PLANNED,
                    trigger=trigger,
                )
        return None

    def _trigger(self, sentence: Sentence, clause: Clause, *, arranged: bool) -> Trigger | None:
        """The day and the condition of a plan, in its clause or where its sentence opens; None where it has neither."""
        date_ms = day_ahead(clause.text, self.ts_ms)
        if arranged:
            return Trigger(date_ms) if date_ms is not None and date_ms > self.ts_ms else None
        opening = sentence.text[: clause.start - sentence.start][:_OPENING_CHARS]
        date_ms = day_ahead(opening, self.ts_ms) if date_ms is None else date_ms
        found = CONDITION.search(clause.text) or CONDITION.match(sentence.text)
        condition = found["condition"].strip(" .!") if found else ""
        if date_ms is None and (not condition or _YOU.search(sentence.text)):
            return None
        return Trigger(date_ms, condition)


_RULES: tuple[Rule, ...] = (*OF_THE_SPEAKER, *TASTES, *OF_THINGS)
"""The first that matches a clause wins; rules of the speaker come before rules of things."""

_YOU = re.compile(r"\b(?:you|your|ya|u)\b", re.IGNORECASE)
"""An offer to somebody is no plan, unless it has a day."""

_MINE = re.compile(r"(?:my|our)\s", re.IGNORECASE)


def _intent(clause: Clause) -> tuple[str, bool]:
    """The deed that a clause intends, and whether only a day to come makes it a plan."""
    if clause.doubted:
        return "", False
    for pattern in (REMINDER, INTENT):
        match = pattern.match(clause.text)
        if match is not None:
            return match["what"], False
    match = ARRANGED.match(clause.text)
    return (match["what"] or match["event"], True) if match else ("", True)


def _without_day(what: str, trigger: Trigger, ts_ms: int) -> str:
    """The deed without the words for its day, which mean another day later; whole where nothing else is left."""
    if trigger.date_ms is None:
        return what
    is_day = (day_ahead(found[0], ts_ms) == trigger.date_ms for found in DATE_PHRASE.finditer(what))
    left = DATE_PHRASE.sub(lambda found: "" if next(is_day) else found[0], what)
    return left if any(char.isalnum() for char in left) else what


def _fill(template: str, parts: dict[str, str]) -> str:
    """The template with its parts; empty where a part is empty or missing."""
    if "(favourite {of})" in template and not parts.get("of"):
        template = "{object} (favourite)"
    needed = _NEEDED.findall(template)
    if any(not parts.get(name) for name in needed):
        return ""
    return _NEEDED.sub(lambda name: parts[name[1]], template)


_NEEDED = re.compile(r"\{(\w{1,12})\}")

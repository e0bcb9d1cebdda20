"""Plans: a deed that somebody intends, with its day or condition, and the words that close it.

A plan is due from its day on. A plan with a condition alone is never due by itself, since Clew cannot tell whether the
condition holds. It stays open until the operator or its owner says that it is done or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from clew.core.citing import sources_in
from clew.core.marks import Mark, value_of
from clew.core.model import Record
from clew.features.claims.clauses import sentences_of
from clew.features.plans.operations import PlanState
from clew.text.terms import analyse, fold


@dataclass(frozen=True, slots=True)
class Ending:
    """One way to say that a plan ended: the whole clause, whose group `what` is about the plan."""

    state: PlanState
    pattern: re.Pattern[str]
    by_verb: bool = False
    """Whether the clause tells the deed itself: "I called the dentist"."""

    def deed(self, match: re.Match[str]) -> str:
        """The verb of the deed in the present tense; empty where the clause only speaks of the deed."""
        if "deed" in match.re.groupindex:
            verb = match["deed"].lower()
        else:
            verb = match["what"].partition(" ")[0].lower() if self.by_verb else ""
        return _PRESENT.get(verb) or _PARTICIPLES.get(verb, verb)

    def told(self, match: re.Match[str]) -> str:
        """What the plan is about, without the verb of a deed."""
        return match["what"].partition(" ")[2] if self.by_verb else match["what"]


_PRESENT = dict(
    pair.split(":")
    for pair in """bought:buy sent:send made:make went:go took:take got:get wrote:write met:meet ran:run paid:pay
    gave:give told:tell saw:see built:build did:do left:leave flew:fly drove:drive brought:bring sold:sell spoke:speak
    held:hold swam:swim rode:ride chose:choose began:begin cut:cut put:put set:set read:read hung:hang drew:draw
    sang:sing""".split()
)

_PARTICIPLES = _PRESENT | dict(
    pair.split(":")
    for pair in """written:write taken:take given:give seen:see spoken:speak driven:drive chosen:choose drawn:draw
    begun:begin sung:sing run:run flown:fly""".split()
)
_TELLING = [verb for verb, present in _PARTICIPLES.items() if present not in ("do", "make", "go", "get")]
"""Participles that name a deed by themselves."""

_I = r"(?:i|we)(?:'ve| have)?"
_NOW = r"(?:(?:just|already|finally|now|actually) ){0,2}"
_WHAT = r"(?P<what>[^\n]{3,120})"
_IT = r"(?P<what>(?!(?:i|we|you|he|she|it|that|this|they|everything|what|which|when|if)\b)[^\n]{3,120})"


def _ending(state: PlanState, pattern: str, *, by_verb: bool = False) -> Ending:
    return Ending(state, re.compile(pattern, re.IGNORECASE), by_verb)


ENDINGS: tuple[Ending, ...] = (
    _ending(
        PlanState.DONE,
        rf"{_I} {_NOW}(?P<what>(?:[a-z]{{2,20}}ed|{'|'.join(_PRESENT)}) [^\n]{{3,120}})",
        by_verb=True,
    ),
    _ending(
        PlanState.DONE,
        rf"{_IT} (?:is|are|has been|have been|got)(?: now| finally| all| already)? "
        rf"(?P<deed>[a-z]{{2,20}}ed|{'|'.join(_TELLING)})(?: now| today| already| at last)?",
    ),
    _ending(
        PlanState.DROPPED,
        rf"{_I} {_NOW}(?:cancell?ed|dropped|called off|scrapped|abandoned|gave up on|given up on|decided against"
        rf"|decided not to|chose not to) {_WHAT}",
    ),
    _ending(
        PlanState.DROPPED,
        r"(?:i'm|i am|we're|we are) (?:not|no longer) (?:going to|gonna|planning to|planning on) " + _WHAT,
    ),
    _ending(PlanState.DROPPED, rf"(?:please )?(?:forget(?: about)?|never ?mind(?: about)?) {_WHAT}"),
    _ending(
        PlanState.DROPPED,
        rf"{_IT} (?:is|was|are|has been|got)(?: now)? (?:cancell?ed|called off|off|scrapped|off the table)",
    ),
    _ending(PlanState.DONE, rf"(?:i'm|i am|we're|we are) {_NOW}(?:done|finished|through) with {_WHAT}"),
    _ending(
        PlanState.DONE, rf"{_I} {_NOW}(?:did|done|finished|completed|wrapped up|finished with|got done with) {_WHAT}"
    ),
    _ending(
        PlanState.DONE,
        rf"{_IT} (?:is|are|has been|have been)(?: now| finally| all)? (?:done|finished|completed?|taken care of"
        rf"|behind me)",
    ),
    _ending(PlanState.DONE, rf"(?:done|finished|done with|finished with):? {_WHAT}"),
)
"""Deeds come first: somebody who planned to cancel something and cancelled it has done it."""

PLAN = "plan"
"""The key of a record's metadata that holds a plan: what, date, condition."""

READ_CHARS = 2_000
"""The beginning of a turn in which it may close a plan: people say soon that something is done."""


@dataclass(frozen=True, slots=True)
class Plan:
    ref: str
    what: str
    day: date | None
    condition: str
    state: PlanState
    sources: tuple[str, ...]
    recorded_ms: int
    since_ms: int = 0
    """When its owner first said it; a turn before that does not close it."""
    closed_by: str = ""
    """The reference of the turn that closed it; empty where the operator did, or nobody."""
    proposal: str = ""
    """The id of the proposal it was accepted from."""

    def is_due(self, now_ms: int) -> bool:
        """Whether it is open and its day has come, by the local calendar."""
        return self.state is PlanState.OPEN and self.day is not None and self.day <= local_day(now_ms)


def plan_in(record: Record) -> Plan | None:
    """The plan that a record holds; None where it holds none."""
    given = record.metadata.get(PLAN)
    if not isinstance(given, Mapping) or not isinstance(given.get("what"), str):
        return None
    closed = value_of(record.marks, Mark.PLAN_STATE)
    closed = closed if isinstance(closed, Mapping) else {}
    return Plan(
        ref=record.ref,
        what=given["what"],
        day=_day_in(given.get("date")),
        condition=_text(given.get("condition")),
        state=PlanState(closed.get("state", PlanState.OPEN)),
        sources=sources_in(record.metadata),
        recorded_ms=record.ts_ms,
        since_ms=since if isinstance(since := given.get("since"), int) else record.ts_ms,
        closed_by=_text(closed.get("source")),
        proposal=_text(given.get("proposal")),
    )


def describe(what: str, day: date | None, condition: str) -> str:
    """The text of a plan, by which it is read and found; it says that it is a plan."""
    when = "; ".join(filter(None, (day.isoformat() if day else "", condition)))
    return f"Plan: {what} ({when})" if when else f"Plan: {what}"


def closing(text: str, plans: Sequence[Plan]) -> tuple[Plan, PlanState] | None:
    """The open plan that the words of its owner close, and how; None unless they close exactly one plan.

    They must mean the plan itself: one holds all terms of the other, and at least half as many.
    """
    told = list(_endings_in(text))
    still_open = [(plan, _terms(plan.what)) for plan in plans if told and plan.state is PlanState.OPEN]
    for state, deed, said in told:
        meant = [plan for plan, planned in still_open if deed <= planned and _is_meant(deed | said, planned)]
        if len(meant) == 1:
            return meant[0], state
    return None


def tells_of_an_end(text: str) -> bool:
    """Whether a text says of anything that it is done or dropped. A text that does not closes no plan."""
    return next(_endings_in(text), None) is not None


def _endings_in(text: str) -> Iterator[tuple[PlanState, frozenset[str], frozenset[str]]]:
    """Everything that a text says ended: how, by which deed, and the terms of what it was."""
    for sentence in sentences_of(text[:READ_CHARS]):
        for clause in () if sentence.asks else sentence.clauses:
            for ending in ENDINGS:
                match = ending.pattern.fullmatch(clause.text)
                if match is not None:
                    yield ending.state, _terms(ending.deed(match)), _terms(ending.told(match))


def _is_meant(said: frozenset[str], planned: frozenset[str]) -> bool:
    both = said & planned
    return bool(both) and both in (said, planned) and 2 * len(both) >= len(planned) and 2 * len(both) >= len(said)


def _terms(text: str) -> frozenset[str]:
    """The stems of its words, without those that only say when, whose and how soon."""
    return frozenset(analyse(_WHEN.sub(" ", fold(text)))) - _IDLE


_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_WHEN = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:on |by |this |next |last |coming )?(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|(?:this|next|last|coming) (?:week|weekend|month|year|morning|afternoon|evening)|in (?:a|an"
    r"|\w{1,9}) (?:days?|weeks?|months?)|(?:on |by )?\d{4}-\d\d-\d\d|(?:on |by |in )?(?:the )?\d{1,2}(?:st|nd|rd"
    r"|th)?(?: of)? "
    + _MONTH
    + r"|(?:on |by |in )?"
    + _MONTH
    + r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?=$|\W)|now|already|finally|just|soon|later|again)\b"
)
_IDLE = frozenset({"go", "get", "do", "make", "new", "thing", "stuff", "really", "all", "my", "our", "it"})


def _day_in(value: Any) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def local_day(now_ms: int) -> date:
    """The day at a moment, by the local calendar."""
    return datetime.fromtimestamp(now_ms / 1000).date()

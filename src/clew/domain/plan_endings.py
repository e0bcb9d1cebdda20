"""How people say that something they meant to do is done, or will not be done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class PlanState(StrEnum):
    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Ending:
    """One way of saying it: the whole clause, in which `what` is what it is said of."""

    state: PlanState
    pattern: re.Pattern[str]
    by_verb: bool = False
    """Whether the clause tells the deed itself: "I called the dentist"."""

    def deed(self, match: re.Match[str]) -> str:
        """The verb of what was done, as it is planned; empty where the clause only speaks of it."""
        if "deed" in match.re.groupindex:
            verb = match["deed"].lower()
        else:
            verb = match["what"].partition(" ")[0].lower() if self.by_verb else ""
        return _PRESENT.get(verb) or _PARTICIPLES.get(verb, verb)

    def told(self, match: re.Match[str]) -> str:
        """What it is said of, without its verb where it is a deed."""
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
"""Those that say by themselves what was done."""

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
"""The deed itself comes first: who planned to cancel something and cancelled it has done it."""

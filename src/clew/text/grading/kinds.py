"""Guesses the kind of record that a text makes, from what its writer states.

The guess is deterministic and leans to the plain kinds: a text is a decision, a preference, a task or a plan only where
it says so, a question is none of them, and the output of a tool is an observation whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from clew.core.model import Kind, Role
from clew.text.grading.natural import STATEMENT_SIGNS
from clew.text.grading.signs import NATURAL_SIGNS
from clew.text.grading.statements import stated
from clew.text.letters import one_form
from clew.text.speech import own_words


def kind_of_text(text: str, role: Role | None) -> Kind:
    """The kind that a text shows by its wording; who said it decides only for tools."""
    if role is Role.TOOL_RESULT:
        return Kind.OBSERVATION
    if role is Role.TOOL_CALL:
        return Kind.EVENT
    opening = text[:_READ_CHARS]
    return Kind.TASK if is_task_marked(opening) else _kind_of_statements(stated(own_words(opening)).lower())


def is_task_marked(text: str) -> bool:
    """Whether a text opens as an item of a list of things to do, behind whatever marks its writer used."""
    return _TASK_MARK.match(one_form(text[:_MARK_CHARS])) is not None


def _kind_of_statements(said: str) -> Kind:
    return next((kind for kind, shows in _SHOWN_BY if shows(said)), Kind.NOTE)


def _is_plan(said: str) -> bool:
    """Intent alone is talk; with a date or a condition it is a plan."""
    return _INTENT.search(said) is not None and bool(_DATE.pattern.search(said) or _CONDITION.search(said))


_READ_CHARS = 4_000
"""The kind of a text shows in its beginning; what is longer is a paste."""

_MARK_CHARS = 120

_NATURAL = {sign.name: sign for sign in NATURAL_SIGNS}
_PREFERENCE, _DATE = _NATURAL["preference"], _NATURAL["date"]
_FACT = next(sign for sign in STATEMENT_SIGNS if sign.name == "fact")

_TASK_MARK = re.compile(
    r"(?:[\W_]{0,12}(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})(?=[\W_])){0,3}[\W_]{0,12}"
    r"(?:(?:TO-?DO|TASK|FIXME|ACTION)(?![A-Za-z])|(?i:to-?do|task|fixme|action item|next step|follow-?up|reminder)s?"
    r"(?:\s{0,2}[^\w\s'’,.-]|\s{1,2}[-–—])|(?:待办|待辦|任务|任務|やること|タスク|할\s?일)\W)"
)
_DECISION = re.compile(
    r"^\W{0,8}(?:decision|decided|resolved|agreed)\b\s{0,2}:|\b(?:we|i|team)(?:'ve| have| had)?(?: all| finally"
    r"| just| now)? (?:decided|agreed|chose|opted|settled|concluded|approved)\b"
    r"|\blet's (?:go with|use|keep(?! (?:\w{2,16}in[g']|in touch|it up))|stick with|switch to|adopt|settle on)\b"
    r"|\bwe(?:'re| are| will"
    r"|'ll) (?:going with"
    r"|go with|going to use|switching to|sticking with|standardi[sz]ing on)\b|\bit was (?:decided|agreed)\b"
    r"|\bthe decision (?:is|was) to\b"
    r"|决定|決定|我们选择|改用|拍板|敲定|に決め|に決定|することにし|결정|하기로 했|решили|hemos decidido"
    r"|decidimos"
    r"|wir haben (?:uns )?(?:beschlossen|entschieden)|nous avons décidé"
)
_INTENT = re.compile(
    r"\b(?:i|we|he|she|they|it|team)(?:'ll| will| shall| plan to| intend to|'m going to|'re going to| am going to"
    r"| are going to| is going to| want to| hope to)\b|\bplan(?:s|ned|ning)? (?:to|for|on)\b|\bscheduled (?:to|for)\b"
    r"|\bremind me\b"
    r"|计划|打算|準備|准备|将要|会在|予定|つもり|계획|할 예정|собираюсь|планирую|voy a|ich werde|je vais"
)
_CONDITION = re.compile(
    r"\b(?:if|when|once|after|before|until|unless|as soon as|whenever)\b|如果|等到|之后|以后|一旦|たら|次第|하면|когда"
    r"|если|cuando|wenn"
)
_DUTY = re.compile(
    r"\b(?:(?:i|we|you)(?:'ve| have)? (?:need|have|ought|got) to|needs? to be|must be done|(?:please )?(?:remember"
    r"|don't"
    r" forget|make sure) to|remaining work|still (?:open|missing|to do))\b|需要|得去|记得|別忘|别忘|しなければ"
    r"|する必要|해야|нужно|надо"
)
_HAPPENED = re.compile(
    r"\b(?:yesterday|today|tonight|this morning|last (?:night|week|month|year|\w{3,6}day)|\d{1,2} (?:days|weeks|months"
    r"|years) ago|ago)\b"
    r"|\b(?:deployed|released|shipped|merged|launched|crashed|failed at|went live|migrated|restarted)\b"
    r"|昨天|今天|上周|昨日|今日|先週|어제|오늘|지난주|вчера|сегодня|已(?:部署|发布|上线)"
)
_STATEMENT = re.compile(
    r"\b[\w./:@-]{2,60} (?:is|are|uses|runs on|runs at|lives in|lives at|listens on|belongs to|depends on|equals|means"
    r"|requires"
    r"|supports|points to|defaults to|owns|has)\b|[\w.-]{2,40}\s?[=:]\s?\S|位于|[是为]\s?\w|です|である|입니다"
)

_SHOWN_BY: tuple[tuple[Kind, Callable[[str], object]], ...] = (
    (Kind.DECISION, _DECISION.search),
    (Kind.PREFERENCE, _PREFERENCE.pattern.search),
    (Kind.PLAN, _is_plan),
    (Kind.TASK, _DUTY.search),
    (Kind.EVENT, _HAPPENED.search),
    (Kind.FACT, _FACT.pattern.search),
    (Kind.FACT, _STATEMENT.search),
)
"""What shows each kind, strongest claim first."""

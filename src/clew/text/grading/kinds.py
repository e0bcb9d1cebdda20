"""Guesses the kind of record that a text makes, from its prose.

The guess is deterministic and leans to the plain kinds: a text is a decision, a preference, a task or a plan only where
it says so, a question is none of them, and the output of a tool is an observation whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from clew.core.model import Kind, Role
from clew.text.grading.salience import is_question
from clew.text.grading.signs import NATURAL_SIGNS
from clew.text.letters import one_form


def kind_of_text(text: str, role: Role | None) -> Kind:
    """The kind that a text shows by its wording; who said it decides only for tools."""
    if role is Role.TOOL_RESULT:
        return Kind.OBSERVATION
    if role is Role.TOOL_CALL:
        return Kind.EVENT
    opening = text[:_READ_CHARS]
    return Kind.TASK if is_task_marked(opening) else _kind_of_prose(prose(opening).strip().lower())


def is_task_marked(text: str) -> bool:
    """Whether a text opens as an item of a list of things to do, behind whatever marks its writer used."""
    return _TASK_MARK.match(one_form(text[:_MARK_CHARS])) is not None


def _kind_of_prose(said: str) -> Kind:
    if not said or is_question(said):
        return Kind.NOTE
    return next((kind for kind, shows in _SHOWN_BY if shows(said)), Kind.NOTE)


def _is_plan(said: str) -> bool:
    """Intent alone is talk; with a date or a condition it is a plan."""
    return _INTENT.search(said) is not None and bool(_DATE.pattern.search(said) or _CONDITION.search(said))


_READ_CHARS = 4_000
"""The kind of a text shows in its beginning; what is longer is a paste."""

_MARK_CHARS = 120

_NATURAL = {sign.name: sign for sign in NATURAL_SIGNS}
_PREFERENCE, _DATE, _FACT = _NATURAL["preference"], _NATURAL["date"], _NATURAL["fact"]

_TASK_MARK = re.compile(
    r"(?:[\W_]{0,12}(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})(?=[\W_])){0,3}[\W_]{0,12}"
    r"(?:(?:TO-?DO|TASK|FIXME|ACTION)(?![A-Za-z])|(?i:to-?do|task|fixme|action item|next step|follow-?up|reminder)s?"
    r"(?:\s{0,2}[^\w\s'’,.-]|\s{1,2}[-–—])|(?:待办|待辦|任务|任務|やること|タスク|할\s?일)\W)"
)
_DECISION = re.compile(
    r"^\W{0,8}(?:decision|decided|resolved|agreed)\b\s{0,2}:|\b(?:we|i|team)(?:'ve| have| had)?(?: all| finally"
    r"| just| now)? (?:decided|agreed|chose|opted|settled|concluded|approved)\b"
    r"|\blet's (?:go with|use|keep|stick with|switch to|adopt|settle on)\b|\bwe(?:'re| are| will"
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


# --- prose and code --------------------------------------------------------------------------------------

_CODE_SPANS = re.compile(
    r"^[ \t]{0,12}(?P<fence>```|~~~)(?s:.*?)(?:^[ \t]{0,12}(?P=fence)[^\n]{0,80}$|\Z)|`[^`\n]{1,300}`",
    re.MULTILINE,
)
"""Fenced blocks, to the end of the text where the fence is left open, and inline code."""
_CODE_SHAPES = re.compile(
    r"(?:(?:export |async |pub |public |private |static |abstract |final ){0,4}"
    r"(?:def|class|fn|func|function|interface|struct|enum|impl|trait|module|namespace|package)\b"
    r".{0,200}[:{(;]\s{0,8}$"
    r"|(?:if|elif|else|for|while|with|try|except|finally|switch|case|catch|match|do|unless|foreach)\b"
    r".{0,200}(?::|\{|\bthen|\bdo)\s{0,8}$"
    r"|from\s{1,4}[\w.]{1,120}\s{1,4}import\b"
    r"|import\s{1,4}[\w.]{1,120}(?: as \w{1,64})?(?:,\s?[\w.]{1,120}){0,20};?\s{0,8}$"
    r"|#include|#define|#!|//|/\*|\*/|@\w[\w.]{0,80}(?:\(.{0,200}\))?\s{0,8}$|\$ |>>> |</?[A-Za-z!]"
    r"|[\"'][\w.-]{1,80}[\"']\s{0,4}:"
    r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|FROM|WHERE|JOIN|GROUP BY|ORDER BY) )"
)
"""Beginnings of lines, after the indent, that are code whatever words they hold."""
_QUOTES_AND_COMMENTS = re.compile(r"\"[^\"]{0,300}\"|(?<!\w)'[^']{0,300}'(?!\w)|(?<!\S)(?://|#|--)\s.{0,400}")
_CODE_HINTS = re.compile(
    r"[;{}(\[\\]\s{0,8}$|[\])\d],\s{0,8}$"
    r"|[\w\])\s](?:[=!<>+*/-]?=|:=|=>|->|&&|\|\||::|\*\*)(?:[\s\w(\[{-]|$)"
    r"|[\w\])]\((?!s\)|es\))"
    r"|^\s{0,80}(?:return|raise|yield|throw|await|break|continue|pass|end|fi|done|esac|goto|begin|let|const|var)\b"
    r"|^(?: {4}|\t)"
)
"""Marks of code that also turn up in a sentence about code."""
_SENTENCE = re.compile(
    r"\b(?:[^\W\d_]{1,24}(?:['’][a-z]{1,2})?,? {1,3}){5}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}"
)
_IDENTIFIERS = re.compile(
    r"\bhttps?://\S{1,400}"
    r"|\b(?:[a-z]{1,32}[A-Z]\w{0,64}|[A-Z][a-z]{1,32}[A-Z]\w{0,64}|\w{0,64}_\w{0,64}"
    r"|[A-Za-z]\w{0,64}(?:\.[A-Za-z]\w{1,64}){1,6})(?:\(\))?"
    r"|(?<!\S)(?!\d{1,4}/\d)[\w.~-]{0,64}[/\\][\w.~/\\-]{1,400}"
)
"""Addresses, paths and names of code in a sentence."""


def prose(text: str) -> str:
    """The text without its code; empty where at least half of its lines are code."""
    lines = [line for line in _CODE_SPANS.sub(" ", text).splitlines() if line.strip()]
    spoken = [line for line in lines if not _is_code(line)]
    if 2 * len(spoken) <= len(lines):
        return ""
    if len(spoken) < len(lines):
        spoken = [line for line in spoken if not line.lstrip().startswith("#")]
    return _IDENTIFIERS.sub(" ", "\n".join(spoken))


def _is_code(line: str) -> bool:
    """Whether a line reads as code: by its shape, or by its operators unless a sentence surrounds them."""
    if _CODE_SHAPES.match(line.lstrip()):
        return True
    bare = _QUOTES_AND_COMMENTS.sub(" ", line)
    return bool(_CODE_HINTS.search(bare)) and not _SENTENCE.search(_IDENTIFIERS.sub("", bare))

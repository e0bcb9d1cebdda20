"""Grades how much a record matters, by rules that anyone can read.

The grade is the worth of the weightiest thing a text shows, raised a little by what makes it concrete. Rules,
decisions and lasting preferences are worth most; facts, tasks and plans are useful; what only fills the air is worth
least. Adding something weighty to a text never lowers its grade. The output of a tool never gets the grade of a thing
to remember for good: its words carry no authority. Neither has what somebody pastes into a turn: the turn is graded by
what they say themselves, so a rule above a pasted log is a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from clew.core.model import Kind
from clew.text import deontic
from clew.text.grading.idle import is_acknowledgement
from clew.text.grading.kinds import is_task_marked, kind_of_text
from clew.text.grading.natural import STATEMENT_SIGNS
from clew.text.grading.salience import is_question
from clew.text.grading.signs import ARTEFACT_SIGNS, NATURAL_SIGNS
from clew.text.grading.statements import stated
from clew.text.speech import own_words

METHOD = "rules"
VERSION = 2

MUST_REMEMBER_FROM = 0.80
NICE_TO_HAVE_FROM = 0.50


class Label(StrEnum):
    MUST_REMEMBER = "must_remember"
    NICE_TO_HAVE = "nice_to_have"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Grade:
    score: float
    label: Label
    reasons: tuple[str, ...]
    """What the score comes from, weightiest first."""


def grade(text: str, kind: Kind | None = None, tool: str | None = None) -> Grade:
    """Grade a text; `kind` where it is known, and the tool that gave it back, if one did."""
    opening = text[:_READ_CHARS].strip()
    is_output = _is_output(kind, tool)
    said = opening if is_output else own_words(opening) or opening
    idle = _idle(said)
    if idle:
        return _grade(*idle)
    evidence = sorted(_evidence(said, kind), key=lambda item: (-item[0], item[1]))
    concrete = _concrete(said)
    score = evidence[0][0] + _RAISED_BY_CONCRETE * min(len(concrete), _MOST_CONCRETE)
    if is_output:
        score = min(score, _MOST_FOR_OUTPUT)
    return _grade(score, *(name for _, name in evidence if name), *concrete)


def label_of(score: float) -> Label:
    if score >= MUST_REMEMBER_FROM:
        return Label.MUST_REMEMBER
    return Label.NICE_TO_HAVE if score >= NICE_TO_HAVE_FROM else Label.IGNORE


def _grade(score: float, *reasons: str) -> Grade:
    bounded = round(min(max(score, 0.0), 1.0), 4)
    return Grade(bounded, label_of(bounded), tuple(dict.fromkeys(reasons)))


def _evidence(text: str, kind: Kind | None) -> Iterator[tuple[float, str]]:
    """What the text shows, each with its worth."""
    guessed = kind_of_text(text, None)
    yield _WORTH_OF_GUESS[guessed], guessed.value
    if kind is not None:
        yield _WORTH_OF_KIND[kind], kind.value
    personal = _personal(stated(text))
    if personal[0] > _WORTH_OF_GUESS[guessed]:
        yield personal
    told = "".join(piece for piece in _SENTENCE_END.split(text) if not is_question(piece.strip()))
    if _STATEMENT.search(told):
        yield _WORTH_OF_STATEMENT, "statement"
    for pattern, worth, name in _WORTH_OF_WORDING:
        if pattern.search(told):
            yield worth, name
    if not is_task_marked(text) and deontic.read(told).standing:
        yield (_WORTH_OF_RULE if _is_lasting_rule(told) else _WORTH_OF_ADVICE), "rule"


def _personal(statements: str) -> tuple[float, str]:
    """What the speaker tells of their life and wishes: worth the more, the more there is of it."""
    lowered = statements.lower()
    found = [sign for sign in STATEMENT_SIGNS if sign.pattern.search(lowered if sign.lower_case else statements)]
    if all(sign.name in _MEASURES for sign in found):
        return 0.0, ""
    told = min(sum(sign.weight for sign in found), 1.0)
    return _WORTH_OF_TALK + _RAISED_BY_TOLD * told, max(found, key=lambda sign: sign.weight).name


def _is_lasting_rule(told: str) -> bool:
    """A rule in so many words, and not one piece of advice among others in a long text."""
    return len(told) <= _RULE_CHARS and _LASTING.search(told) is not None


def _concrete(text: str) -> list[str]:
    """Names of what makes a text concrete: it can be looked up, called or dated."""
    lowered = text.lower()
    return [sign.name for sign in _CONCRETE_SIGNS if sign.pattern.search(lowered if sign.lower_case else text)]


def _idle(text: str) -> tuple[float, str] | None:
    """The grade of a text that says nothing to keep, if this is one."""
    if not _WORD.search(text):
        return 0.0, "empty"
    if _SECRET.search(text) and not deontic.read(text).standing:
        return 0.2, "secret"
    if is_acknowledgement(text):
        return 0.1, "acknowledgement"
    for pattern, worth, name in _IDLE:
        if pattern.fullmatch(text):
            return worth, name
    lines = [line for line in text.split("\n") if line.strip()]
    logged = sum(_LOG_LINE.match(line) is not None for line in lines)
    return (0.2, "log") if 2 * logged > len(lines) else None


def _is_output(kind: Kind | None, tool: str | None) -> bool:
    spoken = tool is None or tool.lower() in _SPEAKING_TOOLS
    return kind in (Kind.OBSERVATION, Kind.EVENT) or (kind is None and not spoken)


_READ_CHARS = 4_000
"""A longer text is a paste and graded by its beginning."""

_WORTH_OF_KIND = {
    Kind.DECISION: 0.85,
    Kind.PREFERENCE: 0.80,
    Kind.PLAN: 0.65,
    Kind.FACT: 0.60,
    Kind.TASK: 0.60,
    Kind.EVENT: 0.40,
    Kind.OBSERVATION: 0.35,
    Kind.NOTE: 0.35,
}
_WORTH_OF_GUESS = _WORTH_OF_KIND | {Kind.PREFERENCE: 0.60, Kind.FACT: 0.50}
"""A guess counts no more than its kind: much is liked in passing, and much is stated."""
_STATEMENT = re.compile(
    r"(?i:\b(?:user|he|she|they|we|i|his|her|their|our|my|'s)\b[^.!?\n]{0,80}?\b(?:is|are|was|am|has|have|had|lives?|works?"
    r"|owns?|uses?|likes?|loves?|enjoys?|hates?|avoids?|wants?|believes?|feels?|plays?|speaks?|studies|studied|moved"
    r"|married|born|named|called|plans?|learn(?:s|ing)|collects?|visits?|volunteers?|practi[cs]es)\b)"
)
_WORTH_OF_STATEMENT = 0.50
_WORTH_OF_TALK, _RAISED_BY_TOLD = 0.40, 0.40
"""One fact or wish is nice to have, and only a turn full of them lasts."""
_MEASURES = ("date", "quantity")
"""They tell something only of a fact, a wish or a person."""
_WORTH_OF_RULE = 0.85
_WORTH_OF_ADVICE = 0.60
_RULE_CHARS = 600
_RAISED_BY_CONCRETE = 0.03
_MOST_CONCRETE = 4
_MOST_FOR_OUTPUT = 0.75
_SPEAKING_TOOLS = frozenset("chat message note notes user telegram slack memory remember".split())

_NATURAL = {sign.name: sign for sign in NATURAL_SIGNS}
_CONCRETE_SIGNS = (*ARTEFACT_SIGNS, _NATURAL["date"], _NATURAL["quantity"])

_WORTH_OF_WORDING = (
    (
        re.compile(
            r"(?i:(?:^|\n)[\s>*#-]{0,8}(?:rule|policy|constraint|convention|invariant|guardrail|requirement"
            r"|principle)s?\s?:"
            r"|\b(?:hard|strict|standing) (?:rule|limit|constraint|requirement)\b|\b(?:source of truth"
            r"|single source)\b)"
            r"|(?:^|\n)\W{0,4}(?:规则|規則|原则|约束|政策|ルール|方針|규칙|원칙)\s?[:：]|必须|必須|禁止|严禁|不得"
            r"|반드시|必ず"
        ),
        _WORTH_OF_RULE,
        "rule",
    ),
    (
        re.compile(
            r"(?i:\b(?:prefers?|preference is|preferred|allergic to|can't stand|cannot stand|always want|never want"
            r"|call me"
            r"|my (?:\w{1,16} )?favou?rite|i(?:'m| am) (?:a )?(?:vegan|vegetarian))\b)"
            r"|偏好|更喜欢|更喜歡|过敏|過敏|アレルギー|알레르기|предпочита"
        ),
        0.80,
        "lasting preference",
    ),
    (
        re.compile(
            r"(?i:\b(?:max(?:imum)?|min(?:imum)?|at most|at least|no more than|limited to|not exceed"
            r"|capped at) (?:of )?\d)"
        ),
        0.80,
        "limit",
    ),
    (
        re.compile(
            r"(?i:\b(?:port|endpoint|base url|url|host(?:name)?|repo(?:sitory)?|branch|path|account|e-?mail|address|id"
            r"|phone"
            r"|model|database|bucket|channel|version|time ?zone|deadline|birthday|default)s?\s?(?:\b(?:is|are|lives at"
            r"|set to"
            r"|moved to)\b|[=:：])\s?[`'\"]?[\w./:@#+-]{0,60}[\d/_.:@#]\w"
            r"|\b(?:lives|runs|listens|hosted|deployed|reachable) (?:at|on|under) [`'\"]?[\w ./:-]{0,40}[\d/:]\w)"
            r"|(?:^|\s)[A-Z][A-Z0-9_]{3,40}=\S|(?:端口|地址|账号|住所|生日|版本)(?:是|为|は|[:：])\s?\S"
        ),
        0.80,
        "configuration",
    ),
    (
        re.compile(
            r"(?i:\b(?:workaround|root cause|fixed by|caused by|the fix (?:is|was)|lesson|learned that|gotcha)\b"
            r"|https?://\S)"
            r"|原因|解决|回避|원인"
        ),
        0.65,
        "lesson or link",
    ),
)
_LASTING = re.compile(
    r"(?i:\b(?:always|never|must|mustn't|from now on|every time|whenever|mandatory|forbidden|not allowed|required"
    r"|without"
    r" (?:approval|permission|asking|confirmation|my|review))\b)|\bNOT\b|必须|必須|禁止|不得|永远|一律|必ず|常に"
    r"|반드시|항상|절대"
)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？\n])")
_WORD = re.compile(r"\w")
_SECRET = re.compile(r"-----BEGIN|\bBEGIN [A-Z ]{0,24}PRIVATE KEY|\[redacted|\(redacted\)|<redacted", re.IGNORECASE)
_IDLE = (
    (
        re.compile(
            r"(?is:\W{0,4}(?:heartbeat|heartbeat_ok|ping|pong|tick|keep-?alive|no_reply|still (?:running|working"
            r"|waiting|here)|working on"
            r" (?:it|this|that)|in progress|continuing|one moment|hang on|let me (?:check|look|see|take a look)"
            r"|(?:now )?i(?:'ll| will)"
            r" (?:now )?(?:check|look|run|start|continue)|checking|running|starting|loading|waiting|processing"
            r"|no (?:changes?|updates?"
            r"|news)|nothing (?:new|to (?:do|report))|all good|status ?: ?(?:ok|green|healthy|idle)|进行中|处理中|稍等"
            r"|正在|心跳|作業中|진행 중)"
            r"[^\n]{0,60})"
        ),
        0.2,
        "progress",
    ),
)
_LOG_LINE = re.compile(
    r"\s{0,8}(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|DEBUG|TRACE|WARN(?:ING)?|VERBOSE|NOTICE)\b"
    r"|(?:GET|POST|PUT|HEAD) /\S{0,200} (?:HTTP|\d{3})|\d{1,3}% |[.=#>-]{4,}|(?:Downloading|Installing|Collecting"
    r"|Compiling|Requirement) )"
)

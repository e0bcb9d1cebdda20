"""What somebody states in their own words: all but code, questions, requests and greetings.

A question says what somebody wants to know, and a request what they want done now; neither tells anything that lasts.
But people tell things on the way: "I'm moving to Oslo in May, do you know a good school?". So a sentence that asks is
cut where the asking begins, and a reason behind it ("since I work at night") counts again.
"""

from __future__ import annotations

import re

_AUXILIARY = (
    r"(?:do|does|did|can|could|would|will|should|have|has|are|is|was|were|am|may|shall|isn't|aren't|don't|doesn't|can't"
    r"|won't|wouldn't)"
)
_SUBJECT = (
    r"(?:you|i|we|it|its|he|she|they|there|that|this|these|those|any|anyone|someone|my|your|our|the|an?|some|both)"
)
_CLAUSE_START = (
    r"(?:^|[,;:–—-]\s{1,2}|\b(?:and|but|so|or|anyway|also|then|though) )"
    r"(?:(?:i|also|just|really|actually|so|and|maybe|now|well|oh|ok|anyway|yes|please) ?,? ?){0,3}"
)
_REQUEST = re.compile(
    rf"{_CLAUSE_START}(?:(?:can|could|would|will) you\b|(?:was|am|i'm)(?: also| just| really)? (?:wondering|asking)\b"
    r"|wonder(?:ed)?\b|i(?:'d| would)(?: also| really| just)? (?:like|love) to (?:know|ask|hear|learn|see|try|get"
    r"|find|explore|discuss)\b"
    r"|(?:want|need)(?:ed)? to (?:know|ask|hear)\b)",
    re.IGNORECASE,
)
"""Asks whatever mark the sentence ends with."""
_QUESTION = re.compile(
    rf"{_CLAUSE_START}(?:{_AUXILIARY} {_SUBJECT}\b"
    r"|(?:what|how|why|when|where|which|who|whose|got|any|anything|wanna|ever)\b)",
    re.IGNORECASE,
)
"""Asks in a sentence that ends with a question mark."""
_REASON = re.compile(
    r"\b(?:since|because|considering|given|where|which|whose|that|like|after|than)\b"
    r"(?= [^?]{0,40}\b(?:i|we)(?:'ve|'m|'d| have| had| am)?\b)",
    re.IGNORECASE,
)
"""Begins a clause about the speaker."""
_TOLD = re.compile(
    r"\W{0,3}(?:(?:well|ok|okay|and|so|but|h{1,4}m{1,9}|oh|yeah|yes|no|then|now|also),? ){0,3}"
    r"(?:i|i'd|i'm|i've|we|we're|we've|my|our)\b",
    re.IGNORECASE,
)
"""Opens a sentence that tells something, whatever mark it ends with."""
_GREETING = re.compile(
    r"^\W{0,3}(?:hey|hi|hello|thank(?:s| you)?|wow|congrats|congratulations|yes|yeah|yep|sure|sorry|bye|nice|cool|great"
    r"|awesome|aw{1,5}|oh|alright|absolutely|c'mon|no (?:problem|worries)|good (?:idea|to see you|morning|evening"
    r"|night))\b"
    r"(?: (?:a (?:lot|bunch)|so much|again))?(?:,? (?-i:[A-Z])\w{1,20})?[.!,]{0,3}(?:\s+|$)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)*_]{0,3}\s|(?<=[。！？])|\n")
_ASKS = re.compile(r"[?？][!！?？\"'”’」』)*_\s]{0,6}$|(?:吗|呢|ですか|ますか|습니까|나요)[。.!！]?$")


_REACTION = re.compile(
    r"\b(?:i|we)(?: \w{2,12}ly)? (?:like|love|appreciate) (?:how|that|this|your|all|it|these|those"
    r"|the(?: \w{1,16})? (?:ideas?|suggestions?|sounds?|looks?|thoughts?|advice|tips?))\b(?: of)?",
    re.IGNORECASE,
)
"""Likes what the other said, which tells little of what the speaker likes."""


def stated(text: str) -> str:
    """The statements of a text, one a line; `text` holds no pasted parts. Empty where it only asks or greets."""
    said = _REACTION.sub("-", prose(text, NAME_MARK).replace("’", "'"))
    pieces = (_told_part(sentence.strip()) for sentence in _SENTENCE_END.split(said))
    return "\n".join(piece for piece in (_GREETING.sub("", piece, count=1) for piece in pieces) if piece)


def _told_part(sentence: str) -> str:
    asks = _ASKS.search(sentence) is not None
    found = [_REQUEST.search(sentence), _QUESTION.search(sentence) if asks else None]
    starts = [match.start() for match in found if match is not None]
    if not starts:
        return sentence if not asks or _TOLD.match(sentence) else ""
    reason = _REASON.search(sentence, min(starts) + 1)
    tail = sentence[reason.start() :].rstrip("?") if reason is not None else ""
    return f"{sentence[: min(starts)]} ; {tail}".strip(" ;")


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


NAME_MARK = "@"
"""Stands in a statement for an address, a path or a name of code."""


def prose(text: str, name_mark: str = " ") -> str:
    """The text without its code; empty where at least half of its lines are code.

    `name_mark` is put in place of addresses, paths and names of code in a sentence.
    """
    lines = [line for line in _CODE_SPANS.sub(" ", text).splitlines() if line.strip()]
    spoken = [line for line in lines if not _is_code(line)]
    if 2 * len(spoken) <= len(lines):
        return ""
    if len(spoken) < len(lines):
        spoken = [line for line in spoken if not line.lstrip().startswith("#")]
    return _IDENTIFIERS.sub(name_mark, "\n".join(spoken))


def _is_code(line: str) -> bool:
    """Whether a line reads as code: by its shape, or by its operators unless a sentence surrounds them."""
    if _CODE_SHAPES.match(line.lstrip()):
        return True
    bare = _QUOTES_AND_COMMENTS.sub(" ", line)
    return bool(_CODE_HINTS.search(bare)) and not _SENTENCE.search(_IDENTIFIERS.sub("", bare))

"""A secret that is given in a turn of its own: the answer to a question for it, or the rest of one that was cut.

The turn before must ask for the secret or hand it over. One that only mentions a secret (`I fixed the token`) does not,
or else a hash in the next turn would be cut.
"""

from __future__ import annotations

import re

from clew.text.redaction.languages import FOREIGN_KEYS, FOREIGN_PASSWORDS, IS
from clew.text.redaction.plain import plain_text
from clew.text.redaction.values import MARKER_START, is_mixed, is_random, is_stand_in, is_uuid

_WORD = re.compile(r"\s*[`\"']{0,3}(?P<word>[^\s`\"']{8,512}+)[`\"']{0,3}\s*")
_READ_CHARS = 200
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_COURTESY = re.compile(r"please[.!]*|(?:many )?(?:thanks|thank you|thx|cheers)\b[^.!?]{0,20}[.!]*", re.IGNORECASE)
_EDGES = " \t*_`\"'“”>"

_NAME = (
    r"\b(?:password|passphrase|passcode|passwd|pwd|(?:api|access|secret|private|signing|encryption|auth)[ _-]?key"
    r"|(?:(?<=the )|(?<=my )|(?<=your )|(?<=our )|(?<=this ))key|secret|token|credential)s?\b"
)
_OWNER = r"(?:the|my|your|our|his|her|its|their|an?|that|this|which|what)[ ]"
_QUALITY = r"(?!(?:an?|and|but|for|he|how|i|if|it|of|she|that|the|they|to|we|who|why|you)\b)[\w\-]{1,20}[ ]"
_NAMED = rf"(?:{_OWNER})?(?:{_QUALITY}){{0,3}}{_NAME}"
_SCOPE = (
    r"(?:[ ](?:again|as|at|below|by|for|from|here|i|if|in|now|of|on|please|should|so|that|to|via|we|when|with|you)\b"
    r"[^.!?\n]{0,60}|[ ]?[(,;][^.!?\n]{0,60})?"
)
"""What may follow the name: `token for prod`. In `token bug`, it is part of the name of something else."""
_ASKS = re.compile(
    rf"\b(?:what|which|where)(?:[ ](?:is|are|was)|['’]?s)?[ ]{_NAMED}"
    rf"(?:[ ](?:is|are|was|do|did|does)\b[^.!?\n]{{0,60}}|{_SCOPE})[.!?… ]*\Z"
    r"|\b(?:drop|enter|forward|get|give|got|have|know|message|need|paste|post|provide|remember|require|send|share|show"
    rf"|supply|tell|type|want)[ ](?:(?:back|here|in|it|me|out|over|us)[ ]){{0,2}}{_NAMED}{_SCOPE}[.!?… ]*\Z"
    rf"|\A(?:(?:and|but|also|ok|okay|so|then)[ ,]{{1,2}})?{_NAMED}{_SCOPE}(?:[ ]?\?|(?<=please)[.!]?)\Z"
    rf"|\A(?:(?:the|my|your|our)[ ])?{_NAME}(?:,?[ ]please)?[.!]?\Z",
    re.IGNORECASE,
)
_HANDS_OVER = re.compile(
    rf"{_NAME}{_SCOPE}[ ]?(?:[:=]|[-=]>|→|👇|\b(?:is|are|was)\b(?:[ ](?:now|below|as follows))?[ ]?[:.]?)"
    r"[ ]?[`\"']?(?P<part>\S{1,60})?\Z"
    rf"|\b(?:here(?:['’]s|[ ]is|[ ]are)|this[ ]is|(?:it|that)['’]s|use)[ ]{_NAMED}{_SCOPE}[:.!… ]*\Z",
    re.IGNORECASE,
)


def _foreign_names() -> str:
    """Scripts that set no blanks have no edges of words, and other languages add endings."""
    names = sorted({*FOREIGN_PASSWORDS, *FOREIGN_KEYS}, key=len, reverse=True)
    bare = [name for name in names if name[0] >= "\u0e00"]
    edged = [name for name in names if name[0] < "\u0e00"]
    return rf"(?:{'|'.join(map(re.escape, bare))}|\b(?:{'|'.join(map(re.escape, edged))})\w{{0,4}}\b)"


_FOREIGN_NAME = re.compile(_foreign_names(), re.IGNORECASE)
_ENGLISH_NAME = re.compile(r"(?<![a-z])(?:token|secret|api[ _-]?key|password)", re.IGNORECASE)
_FOREIGN_LETTERS = re.compile("[\u0e00-\uffff]")
"""Of scripts whose sentences take up English names."""
_FOREIGN_ASKS = re.compile(
    r"什么|什麼|多少|告诉|告訴|发给|發給|给我|給我|发我|請|请|教え|ください|下さい|送って|入力|알려|보내|주세요|입력"
    r"|\b(?:како[йв]|скаж|пришл|скин|да[йв]|напиш|отправ|введ|сообщ|нуж[ен]|вот)\w*"
    r"|\b(?:schick|gib|sag|nenn|send|teil|brauch|hier ist|wie lautet|was ist)\w*"
    r"|\b(?:envo[iy]|donn|dis-|voici|besoin|dame|dime|env[ií]a|m[aá]nda|p[aá]sa|necesit|aqu[ií]|precis|dimmi|inviami"
    r"|dammi|ecco|geef|stuur|podaj|wyślij|oto)\w*",
    re.IGNORECASE,
)
_FOREIGN_HANDS_OVER = re.compile(
    rf"{_FOREIGN_NAME.pattern}(?:[ ][^.!?:\n]{{0,40}})?[ ]?(?:[:=]|→|是|为|為|は|는|은|\b{IS}\b):?"
    r"[ ]?[「“\"'`]?(?P<part>\S{1,60})?\Z",
    re.IGNORECASE,
)


def lone_word(text: str) -> str | None:
    """The only word of a text, if it may be a secret or a part of one."""
    found = _WORD.fullmatch(text) if len(text) < 1000 else None
    word = found["word"] if found else None
    if word is None or is_uuid(word) or is_stand_in(word) or not is_mixed(word) or "://" in word:
        return None
    return word if any(map(str.isdigit, word)) and is_random(word, least_chars=8, least_bits=2.5) else None


def asks_for_secret(before: str) -> bool:
    """Whether a turn ends by asking for a secret or handing one over, or with one that was cut out."""
    end = before[-_READ_CHARS:].rstrip()
    if end.endswith("]") and MARKER_START in end[-60:]:
        return True
    plain = plain_text(end).replace("：", ":").replace("？", "?").replace("＝", "=")
    sentences = [said for part in _SENTENCE_END.split(plain) if (said := part.strip(_EDGES))]
    while sentences and _COURTESY.fullmatch(sentences[-1]):
        sentences.pop()
    return any(map(_asks, sentences[-2:])) or any(map(_hands_over, sentences[-1:]))


def _asks(sentence: str) -> bool:
    if _ASKS.search(sentence):
        return True
    if _FOREIGN_NAME.search(sentence):
        return sentence.endswith("?") or _FOREIGN_ASKS.search(sentence) is not None
    is_mixed_in = _FOREIGN_LETTERS.search(sentence) and _ENGLISH_NAME.search(sentence)
    return is_mixed_in is not None and _FOREIGN_ASKS.search(sentence) is not None


def _hands_over(sentence: str) -> bool:
    found = _HANDS_OVER.search(sentence) or _FOREIGN_HANDS_OVER.search(sentence)
    part = found["part"] if found else None
    return found is not None and (part is None or (is_mixed(part) and part[-1] not in ".!?"))

"""The words of a proposal: the head of what follows a verb, without what only hangs on to it."""

from __future__ import annotations

import re

MOST_WORDS = 9

_STOP = re.compile(
    r"\s(?:(?:and (?:i|we|it|they|he|she|you|then|now|so)|but|so|that (?:are|is|i|we|was|were|have|has|had|my)"
    r"|because|since|when|while|as|after|before|until|which"
    r"|who|where|though|if|than|or else|instead"
    r"|rather|ever since|thanks to|due to|at the moment|right now|these days|so far|as well|too|lately|recently|a lot"
    r"|so much|very much|the most|more than|yesterday|today|tonight|tomorrow|last (?:night|week|month|year"
    r"|\w+day)"
    r"|this (?:morning|week|weekend|month|year)|next (?:week|weekend|month|year|\w+day)|\w+ (?:days?|weeks?|months?"
    r"|years?)"
    r" ago|on \w+day|now|again|already|anymore|every (?:day|morning|night|week))\b)",
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
"""Verbs and what goes with them: no thing's name ends in one."""
_NO_NAME = _NO_NAME_ENDS | frozenset("one two three four five six both all each some any of in on at for with".split())


def phrase(text: str) -> str:
    """The beginning of what was said, up to where another thought starts; empty where nothing is left."""
    stop = _STOP.search(text)
    head = bare(text[: stop.start()] if stop else text)
    while (loose := _TRAILING.search(head)) is not None:
        head = bare(head[: loose.start()])
    return head if any(char.isalnum() for char in head) and "\ufffc" not in head else ""


def thing(text: str) -> str:
    """A phrase as the name of something: without its article."""
    return bare(_ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text)


def subject(text: str) -> str:
    """A thing that something can be said of: without the verbs and adverbs behind it; empty where no more is left."""
    words = thing(text).split()
    while words and words[-1].casefold() in _NO_NAME_ENDS:
        words.pop()
    return "" if all(word.casefold() in _NO_NAME for word in words) else bare(" ".join(words))


def bare(text: str, most_words: int = MOST_WORDS) -> str:
    """At most a few words, without marks at the edges."""
    return " ".join(text.split()[:most_words]).replace("`", "").strip(_EDGES)

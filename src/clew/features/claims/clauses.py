"""Splits a text into sentences and clauses, each with its place in the text and with what makes it doubtful.

Leaves out code, quotations and block quotes: the writer does not say them. Blanks become single and emphasis goes, but
every piece knows its place in the original text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clew.text.grading.salience import is_question
from clew.text.sentences import split


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that makes sense alone, without the words that lead into it."""

    text: str
    start: int
    end: int
    hedged: bool
    """Whether it is asked, supposed, denied, hoped or hearsay."""
    doubted: bool
    """Whether it is denied, doubted or hearsay; a plan may be supposed, since a condition is part of it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    start: int
    end: int
    asks: bool
    in_list: bool
    """Whether it belongs to a list that is long enough to be a paste: notes of a release, or the steps of a guide."""
    clauses: tuple[Clause, ...]

    @property
    def ended(self) -> Iterator[Clause]:
        """What clauses say that holds no longer, as if it held still: `we no longer use it` gives `we use it`."""
        for clause in () if self.asks else self.clauses:
            for pattern, still in _ENDINGS:
                text, count = pattern.subn(still, clause.text, count=1)
                if count:
                    held = _clause(text, clause.start, clause.end, asks=False, sentence=self.text)
                    if not held.hedged:
                        yield held
                    break

    @property
    def whole(self) -> Clause:
        """The sentence as one clause, for statements without a verb."""
        return Clause(self.text, self.start, self.end, hedged=self.asks, doubted=self.asks)


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of a text's prose, in order."""
    for line, places, in_list in _lines(text):
        read = 0
        for piece in split(line):
            start = line.find(piece, read)
            if start < 0:  # the splitter took marks off, so it has no place
                continue
            read = start + len(piece)
            yield _sentence(piece, places[start:read], in_list=in_list)


# --- prose -------------------------------------------------------------------------------------

_FENCE = re.compile(r"\s{0,12}(?:```|~~~)")
_NOT_SAID = re.compile(r"\s{0,12}(?:>|\||➜|\$ |# ?!)|(?: {8}|\t)")
"""Block quotes, tables, prompts of a shell, indented code."""
_POINT = re.compile(r"\s{0,12}(?:[-*+•‣]|\d{1,3}[.)])\s")
_LIST_LINES = 3
_QUOTED = re.compile(r"[\"“”«][^\"“”«»\n]{12,400}[\"”“»]|(?<!\w)['‘][^'‘’\n]{12,200}['’](?!\w)")
_TAKEN_OFF = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_QUOTATION = "\ufffc"


def _lines(text: str) -> Iterator[tuple[str, list[int], bool]]:
    """Every line of prose, the place of each of its characters, and whether it belongs to a list."""
    start, fenced = 0, False
    lines = text.split("\n")
    is_list = sum(_POINT.match(line) is not None for line in lines) >= _LIST_LINES
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not _NOT_SAID.match(line):
            yield *_plain(line, start), is_list and _POINT.match(line) is not None
        start += len(line) + 1


def _plain(line: str, start: int) -> tuple[str, list[int]]:
    skipped = {place for found in _TAKEN_OFF.finditer(line) for place in range(*found.span())}
    for found in _QUOTED.finditer(line):
        skipped.update(range(found.start() + 1, found.end()))
    quotes = {found.start() for found in _QUOTED.finditer(line)}
    chars: list[str] = []
    places: list[int] = []
    for place, char in enumerate(line):
        if place in skipped:
            continue
        shown = _QUOTATION if place in quotes else " " if char.isspace() else "'" if char == "’" else char
        if shown != " " or (chars and chars[-1] != " "):
            chars.append(shown)
            places.append(start + place)
    return "".join(chars), places


# --- clauses -------------------------------------------------------------------------------------------

_BOUNDARY = re.compile(
    r"[,;:!?…](?=\s)|\.(?=\s)|\s[-–—]{1,3}(?=\s)|—|\s(?=(?:and|but|so|because|since|while|though|although|which|cause"
    r"|plus) (?:i|we|my|our|he|she|it|they|you|now|that|the|this|is|are|was|has|have|then|\S{1,40} now)\b)"
    r"|\s(?=(?:because|'cause|but|which|although|though|whereas|so that) )|\s\(|\)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"(?:(?:and|but|so|also|plus|btw|by the way|anyway|actually|well|yeah|yep|yes|yup|oh|ok|okay|hey|hi|wow|now"
    r"|currently|recently|lately|honestly|personally|besides|then|because|since|cause|'cause|fyi|fun fact|guess what"
    r"|btw|these days|right now|at the moment|as of today|as of now|for now|today|this week|this month|last week"
    r"|last month|yesterday|last year|in the meantime|speaking of which|to be honest|tbh|in fact|luckily|thankfully"
    r"|unfortunately|alright|note that|remember that|hmm+|ah|aww|though|while|in general|i know|you know|of course"
    r"|decision|i found out(?: recently)?(?: that)?|turns out|as you know)[,:]?\s){1,4}",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|nor|neither|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|won't|can't|cannot|haven't"
    r"|hasn't|hadn't|without|stopped|used to|almost|nearly forgot)\b",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:said|says|told|tells|claims?|claimed|heard|apparently|supposedly|reportedly|allegedly|rumou?rs?|according to"
    r"|quote[sd]?|joking|kidding|lol jk|pretend(?:ing)?|example|e\.g)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|would|wouldn't|could|couldn't|might|may|maybe|perhaps|probably|possibly|should|shouldn't|wish|hope"
    r"|hoping|hopefully|imagine|suppose|supposing|assuming|whether|wonder|wondering|thinking (?:of|about)|considering"
    r"|think|thought|guess|seems?|seemed|looks? like|i'd|we'd|he'd|she'd|they'd|must've|bet|dream|want to|wants to"
    r"|need to|needs to|has to|have to|try to|trying to|tried to|let me|in case|as if|as though|will|'ll|going to|gonna"
    r"|wanna|was going|were going|had been|back then|when i was|as a (?:kid|child))\b|'ll\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:can|could|would|will|do|does|did|is|are|was|were|have|has|should|what|what's|why|how|where|when|who|which|any"
    r"|got any|shall|may) (?:i|you|we|it|they|he|she|there|that|this|the|your|my|a|an|of|about|if|kind|type|sort|do"
    r"|does|did|is|are|have|has|advice|tips|idea)\b",
    re.IGNORECASE,
)
_DISLIKE = re.compile(
    r"(?:i|we) (?:really |just |still )?(?:don't (?:really )?(?:like|enjoy)|do not (?:like|enjoy)|can't stand"
    r"|cannot stand|never liked)|(?:i'm|i am) not (?:really )?(?:a (?:big |huge )?fan of|into)"
    r"|\w+ doesn't (?:really )?(?:like|enjoy)",
    re.IGNORECASE,
)
_DECIDED_AGAINST = re.compile(
    r"(?:i|we)(?:'ve| have)? (?:\w+ )?(?:decided|agreed|chose|opted) (?:not to|against)\b", re.IGNORECASE
)
_LATELY = r"(?:(?:just|finally|recently|now|also|already|completely|long since) ){0,2}"
_LEFT = r"(?:moved|migrated|switched|got) (?:off|away from)|dropped|retired|abandoned|ditched|got rid of|phased out"
_ENDINGS = tuple(
    (re.compile(pattern, re.IGNORECASE), still)
    for pattern, still in (
        (r"\b(i|we)(?:'ve| have)? " + _LATELY + r"(?:stopped|quit) using\b", r"\1 use"),
        (r"\b(i|we)(?:'ve| have)? " + _LATELY + rf"(?:{_LEFT})(?= )", r"\1 use"),
        (r"\b(i|we) used to (?=\w)", r"\1 "),
        (r"\bno longer (?=\w)", ""),
        (r"\b(?:does not|doesn't) (\w{2,30})\b(.{1,160}?) any ?(?:more|longer)\b", r"\1s\2"),
        (r"\b(?:do not|don't) (\w{2,30})\b(.{1,160}?) any ?(?:more|longer)\b", r"\1\2"),
        (r"\b(am|is|are)(?: not|n't) (.{1,160}?) any ?(?:more|longer)\b", r"\1 \2"),
    )
)
"""How people say that something holds no longer, and how they would say that it does."""
_CONDITIONAL = re.compile(r"\b(?:if|unless|suppose|imagine)\b", re.IGNORECASE)
"""Makes the whole sentence a supposition, and not only its clause."""
_FAVOURITE = re.compile(r"(?:my|our) (?:\w+ )?(?:favou?rite|fave)\b", re.IGNORECASE)


def _sentence(piece: str, places: list[int], *, in_list: bool) -> Sentence:
    asks = piece.rstrip(" \"')”").endswith("?") or _ASKS.match(piece) is not None or is_question(piece.lower())
    clauses = []
    for start, end in _spans(piece):
        said = piece[start:end]
        if said:
            clauses.append(_clause(said, places[start], places[end - 1] + 1, asks, piece))
    return Sentence(piece, places[0], places[-1] + 1, asks, in_list, tuple(clauses))


def _spans(piece: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _BOUNDARY.finditer(piece):
        yield _trim(piece, start, found.start())
        start = found.end()
    yield _trim(piece, start, len(piece))


def _trim(piece: str, start: int, end: int) -> tuple[int, int]:
    while start < end and piece[start] in " (\"'-–—,.!?;:":
        start += 1
    lead = _LEADING.match(piece, start, end)
    start = lead.end() if lead else start
    while end > start and piece[end - 1] in " )\"'-–—,.!?;:":
        end -= 1
    return start, max(start, end)


def _clause(said: str, start: int, end: int, asks: bool, sentence: str) -> Clause:
    denied = _DENIED.search(said) is not None and not (_DISLIKE.match(said) or _DECIDED_AGAINST.match(said))
    doubted = asks or denied or _HEARSAY.search(said) is not None
    supposed = _SUPPOSED.search(said) is not None and not _FAVOURITE.match(said)
    conditional = _CONDITIONAL.search(sentence) is not None
    return Clause(said, start, end, hedged=doubted or supposed or conditional, doubted=doubted)

"""Checks the lines that a model writes for the observation log.

A line must rest on turns of its run: on those it cites by number, or on those that hold its words. It must be shorter
than they are, share most of its words with them, and hold no identifier, path or number that they do not hold. Clew
drops a line that fails, and the rules speak for its turns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from clew.core.model import Trust
from clew.features.observations.observer import Observation, line_of, who_of
from clew.features.observations.tools import ObservedTurn
from clew.text import sentences
from clew.text.grading import salience
from clew.text.own_text import without_own
from clew.text.sanitise import projection

MAX_TRANSCRIPT_CHARS = 24_000
"""Of one request. A model that saw a part of the turns cannot speak for all, so longer runs go in pieces."""

_LEAST_SHARED = 0.6
"""The share of a line's terms that its sources must hold."""

_MOST_CITED = 4
_CITATION = re.compile(r"\[(\d{1,4}(?:,\s?\d{1,4}){0,7})\]")
_LIST_MARK = re.compile(r"\A\s{0,8}(?:[-*•]|\d{1,3}[.)])\s{1,4}")


def transcripts(turns: Sequence[ObservedTurn]) -> Iterator[tuple[list[ObservedTurn], str]]:
    """The turns in pieces that a model can read whole, each numbered from 1, without turns that are too long."""
    piece: list[ObservedTurn] = []
    lines: list[str] = []
    size = 0
    for turn in turns:
        text = " ".join(projection(without_own(turn.text)).split())
        if turn.trust is Trust.QUARANTINED or not text or len(text) > MAX_TRANSCRIPT_CHARS // 2:
            continue
        if piece and size + len(text) > MAX_TRANSCRIPT_CHARS // 2:
            yield piece, "\n".join(lines)
            piece, lines, size = [], [], 0
        piece.append(turn)
        lines.append(f"[{len(piece)}] {who_of(turn.who)}: {text}")
        size += len(lines[-1])
    if piece:
        yield piece, "\n".join(lines)


def sound_lines(written: str, turns: Sequence[ObservedTurn], method: str) -> list[Observation]:
    """The lines of a model's answer that its turns support, in the order of their sources."""
    known = [_terms(f"{turn.who} {turn.text}") for turn in turns]
    found: dict[tuple[int, str], Observation] = {}
    for said in _sentences(written):
        text = " ".join(_CITATION.sub("", said).split())
        places = _cited_places(said, len(turns)) or _find_sources(_terms(text), known)
        sources = [turns[place] for place in places]
        if not sources or not _is_supported(text, [known[place] for place in places]):
            continue
        if len(text) < sum(len(turn.text) for turn in sources):
            found.setdefault((places[0], text), _line(text, sources, method))
    return [line for _, line in sorted(found.items(), key=lambda item: item[0][0])]


def _sentences(written: str) -> Iterator[str]:
    """Sentences, each with the citations behind it."""
    for line in written.splitlines():
        pieces = sentences.split(_LIST_MARK.sub("", line, count=1))
        said = ""
        for piece in pieces:
            if said and not _CITATION.match(piece):
                yield said
                said = ""
            said = f"{said} {piece}".strip()
        if said:
            yield said


def _terms(text: str) -> frozenset[str]:
    return frozenset(salience.terms_of(text))


def _cited_places(said: str, count: int) -> list[int]:
    """The places of the turns that a line cites; none where one of them does not exist."""
    numbers = [int(number) for found in _CITATION.finditer(said) for number in found[1].split(",")]
    places = sorted({number - 1 for number in numbers})
    return places[:_MOST_CITED] if places and places[0] >= 0 and places[-1] < count else []


def _find_sources(terms: frozenset[str], known: Sequence[frozenset[str]]) -> list[int]:
    """The few turns that hold most of the terms, each of which adds some."""
    chosen: list[int] = []
    missing = set(terms)
    while missing and len(chosen) < _MOST_CITED:
        best = max(range(len(known)), key=lambda place: (len(missing & known[place]), -place))
        if not missing & known[best]:
            break
        chosen.append(best)
        missing -= known[best]
    return sorted(chosen)


def _is_supported(text: str, known: Collection[frozenset[str]]) -> bool:
    terms = _terms(text)
    held = frozenset().union(*known)
    exact = {term for term in terms if term[0] == "=" or any(map(str.isdigit, term))}
    return bool(terms) and exact <= held and len(terms & held) >= _LEAST_SHARED * len(terms)


def _line(text: str, sources: Sequence[ObservedTurn], method: str) -> Observation:
    line = line_of(sources, text, is_own=all(source.is_own for source in sources))
    several = len({source.who for source in sources}) > 1
    return replace(line, method=method, who="several" if several else line.who)

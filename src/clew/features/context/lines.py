"""Chooses the recalled texts that find room, and shows each whole, cut, or by the part that the question asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.core.collections import CollectionKind
from clew.core.model import Provenance, Record
from clew.features.context.receipt import Assembly, frame_tokens
from clew.features.facts.truth import Truth
from clew.index.search import Query
from clew.kernel.parts import Parts
from clew.kernel.quoting import line_tokens, quote_line
from clew.kernel.search import Found
from clew.text.excerpts import excerpt, pointer
from clew.text.framing import FRAME_CLOSE, FRAME_OPEN, Quoted, clip, frame, numbered, unnumbered

_ITEM_SHARE = 0.5
"""The largest part of the recall one item may take; longer texts are cut, visibly. Less leaves room for more of them
and shows few whole: of an agent's tool output, 1,000 tokens then hold 41% of what is asked for and not 54%."""

_LEAST_CHARS = 64
"""No text is cut to less than this."""

_SUMMARY_SHARE = 0.06
_SUMMARY_MIN_CHARS = 120
"""The same for a summary: it is there to be opened where that is not enough, and several should have room."""

_WAYS = 3
"""How many summaries find room before all else that is recalled, wherever they are shown."""

_REPLY_CHARS = 320
"""For a reply of another session: the part the question asks for. Replies are long, and the rest can be fetched."""

_NOW_CHARS = 160

_SHORTEST_ITEM_TOKENS = 15
"""No item is shorter than this, with its number, day and name; less room is not worth trying."""

_WIDEST_NUMBER = 999
"""No line has a longer number. Counted with it, a text that is recalled again has a cached count."""


def lines_that_fit(
    parts: Parts, query: Query, wanted: Sequence[Found], context: Assembly, truth: Truth
) -> tuple[list[Found], str, int]:
    """Each that still fits beside those before it, shown best first; lines count as they will be rendered."""
    allowance = context.allocation.recall
    most = int(allowance * _ITEM_SHARE)
    used = frame_tokens(parts, FRAME_OPEN, FRAME_CLOSE)
    rests: dict[int, str] = {}

    def render(record: Record, text: str) -> tuple[str, int]:
        """A line behind its number, and its tokens."""
        rest = unnumbered(_with_truth(quote_line(record, context.now_ms, text), truth, record))
        return rest, line_tokens(parts, numbered(rest, _WIDEST_NUMBER))

    for place in _in_turn(wanted):
        if allowance - used < _SHORTEST_ITEM_TOKENS:
            break
        record, text = wanted[place].record, _show(wanted[place], query, allowance)
        rest, cost = render(record, text)
        shorter = len(text) * most // cost
        if _LEAST_CHARS <= shorter < len(text):  # code, and some scripts, take more tokens for as many characters
            rest, cost = render(record, clip(text, shorter))
        if used + cost <= allowance:
            rests[place] = rest
            used += cost
    places = sorted(rests)
    lines = [numbered(rests[place], number) for number, place in enumerate(places, 1)]
    return ([wanted[place] for place in places], frame(lines), used) if places else ([], "", 0)


def _in_turn(wanted: Sequence[Found]) -> list[int]:
    """Best first, but for the best summaries: the few lines of each lead to all the turns that it covers."""
    ways = [place for place, item in enumerate(wanted) if item.record.provenance is Provenance.SUMMARY and item.score]
    first = ways[:_WAYS]
    return first + [place for place in range(len(wanted)) if place not in first]


def _with_truth(said: Quoted, truth: Truth, record: Record) -> Quoted:
    """Marks a line that a newer fact has overtaken, and names that fact where it is known."""
    is_over, instead = truth.overtaken(record)
    if not is_over:
        return said
    now = "no longer so" if instead is None else clip(f"now: {instead.fact.text}", _NOW_CHARS)
    return replace(said, superseded=now)


def _show(found: Found, query: Query, allowance: int) -> str:
    """The text, cut to the share of one item; of a summary, which can be opened, the part the question asks for."""
    text = found.record.text
    wanted = (*query.terms.words, *query.terms.exact)
    if found.record.collection.kind is CollectionKind.REPLIES:
        return excerpt(text, wanted, min(int(allowance * _ITEM_SHARE) * 4, _REPLY_CHARS))
    if found.record.provenance is not Provenance.SUMMARY:
        return clip(text, max(int(allowance * _ITEM_SHARE) * 4, _LEAST_CHARS))
    max_chars = max(int(allowance * _SUMMARY_SHARE) * 4, _SUMMARY_MIN_CHARS)
    if not found.score:  # the question asks for nothing of it: it tells what the conversation was about
        return clip(text, max_chars)
    return pointer(text, wanted, max_chars)

"""Packs the current facts that bear on a question: framed as data, each with its first day, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clew.core.collections import Collection
from clew.errors import InvalidInput
from clew.features.claims.rules import RELIED_ON
from clew.features.facts.lanes import Fact
from clew.features.facts.operations import FactPack, FactsPack, FactView
from clew.features.facts.queries import views
from clew.features.facts.replay import Facts
from clew.features.facts.truth import known_facts, owners_of
from clew.kernel.intake import check_unicode
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit
from clew.kernel.search import best, cut, prepare
from clew.kernel.services import serves
from clew.text.dates import clamped_day
from clew.text.framing import Quoted, frame, line

MAX_ITEMS = 100
MIN_BUDGET_TOKENS = 64
MAX_BUDGET_TOKENS = 1_000_000

LEAST_SIMILARITY = 0.3
"""The least similarity of a fact whose subject the question does not name."""

NOTHING_KNOWN = "no current fact bears on this"

_SUBJECT_WORDS = 8
"""The longest subject to look for: nobody writes a longer name into a question."""

_AROUND_WORDS = " \t\n.,;:!?\"'()[]{}<>`*"


@serves(FactsPack)
def pack(parts: Parts, request: FactsPack) -> FactPack:
    """First the facts of subjects that the question names, then those near to it in words or meaning."""
    limit = checked_limit(request.limit, MAX_ITEMS)
    if not MIN_BUDGET_TOKENS <= request.budget_tokens <= MAX_BUDGET_TOKENS:
        raise InvalidInput(f"budgetTokens must be from {MIN_BUDGET_TOKENS} to {MAX_BUDGET_TOKENS}")
    check_unicode("query", request.query)
    known = {Collection.facts(owner): known_facts(parts, owner) for owner in owners_of(request.user_id)}
    nearest, degraded = _nearest(parts, request.query, known, limit)
    named = [fact for facts in known.values() for fact in _facts_named(facts, request.query, parts.clock.now_ms())]
    found = list({fact.ref: fact for fact in (*named, *nearest)}.values())[: 2 * limit]
    shown = [view for facts in known.values() for view in views(parts, facts, _of(facts, found))]
    order = {fact.ref: place for place, fact in enumerate(found)}
    sound = sorted((view for view in shown if not view.stale), key=lambda view: order[view.ref])
    trusted = [view for view in sound if view.trust in RELIED_ON]
    chosen, text, used = _within(parts, trusted[:limit], request.budget_tokens)
    return FactPack(
        text=text,
        facts=tuple(chosen),
        used_tokens=used,
        budget_tokens=request.budget_tokens,
        notes=tuple(_notes(len(shown) - len(sound), len(sound) - len(trusted), trusted, chosen)),
        degraded=degraded,
    )


def _of(known: Facts, found: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in found if known.get(fact.id) is fact]


def _facts_named(known: Facts, query: str, now_ms: int) -> Iterator[Fact]:
    """The facts that hold of the subjects that a question names."""
    words = [word.strip(_AROUND_WORDS) for word in cut(query).split()]
    seen: set[str] = set()
    for size in range(_SUBJECT_WORDS, 0, -1):
        for start in range(len(words) - size + 1):
            name = " ".join(words[start : start + size])
            if name and name not in seen and known.knows(name):
                seen.add(name)
                yield from known.current(name, at_ms=now_ms)


def _nearest(parts: Parts, text: str, known: dict[Collection, Facts], limit: int) -> tuple[list[Fact], tuple[str, ...]]:
    """The facts that a search for the question finds and that hold now."""
    if not text.strip():
        return [], ()
    query, degraded = prepare(parts, text, list(known))
    hits = best(parts, query, list(known), 2 * limit, exclude={}, at_least=LEAST_SIMILARITY, repeats=True)
    found = (known[hit.record.collection].get(hit.record.id) for hit in hits)
    return [fact for fact in found if fact is not None and fact.is_current(query.now_ms)], degraded


def _within(parts: Parts, candidates: Sequence[FactView], budget_tokens: int) -> tuple[list[FactView], str, int]:
    """As many as fit, best first."""
    chosen: list[FactView] = []
    text, used = "", 0
    for view in candidates:
        longer = frame([_line(each, number) for number, each in enumerate((*chosen, view), 1)])
        tokens = parts.counter.bound(longer)
        if tokens <= budget_tokens:
            chosen.append(view)
            text, used = longer, tokens
    return chosen, text, used


def _line(view: FactView, number: int) -> str:
    since = clamped_day(view.valid_from)
    return line(Quoted(when=f"since {since}", who="fact", text=view.text, ref=view.ref), number)


def _notes(stale: int, untrusted: int, able: Sequence[FactView], chosen: Sequence[FactView]) -> Iterator[str]:
    if not able:
        yield NOTHING_KNOWN
    if stale:
        yield f"{stale} left out for having lost their sources"
    if untrusted:
        yield f"{untrusted} left out for lack of trust"
    if len(chosen) < len(able):
        yield f"{len(able) - len(chosen)} left out for lack of room"

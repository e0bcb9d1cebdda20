"""How good rankings and contexts are: shares of evidence, first places, gains. All figures are in [0, 1].

Evidence is a set of turns; a session counts by the turns of it. Every figure is a mean over questions that have
evidence, each question counting the same whatever the number of its turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

TURN_DEPTHS = (5, 10, 25, 50)
SESSION_DEPTHS = (5, 10)
GAIN_DEPTH = 10

Figures = dict[str, dict[str, float]]
"""By level (`turn`, `session`, `budget`, `written_out`), then by figure."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question brought up, beside what it should have."""

    corpus: str
    kind: str
    evidence: frozenset[str]
    audited: frozenset[str] | None
    """As in a question: empty where it should not be counted, None without an audit."""
    ranked: tuple[str, ...]
    """Turns, best first."""
    sessions: tuple[str, ...]
    """Sessions in the order in which their first turn is ranked."""
    session_of: Mapping[str, str]
    shown: Mapping[int, frozenset[str]]
    """By token budget: the turns that stand whole in the context."""
    written_out: Mapping[int, frozenset[str]]
    """The same for the ranking as plain lines, best first."""


def figures(outcomes: Iterable[Outcome]) -> Figures:
    """Every figure, over the outcomes that have evidence; empty without any."""
    counted = [outcome for outcome in outcomes if outcome.evidence]
    if not counted:
        return {}
    return {
        "turn": _of_turns(counted),
        "session": _of_sessions(counted),
        "budget": _of_budgets([(one.evidence, one.shown) for one in counted]),
        "written_out": _of_budgets([(one.evidence, one.written_out) for one in counted]),
    }


def after_audit(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes against the audited evidence; those without an audit are left out."""
    return [replace(outcome, evidence=outcome.audited) for outcome in outcomes if outcome.audited]


def share(wanted: frozenset[str], found: Iterable[str]) -> float:
    """How much of what is wanted was found; nothing wanted is nothing found."""
    return len(wanted.intersection(found)) / len(wanted) if wanted else 0.0


def recall(wanted: frozenset[str], ranked: Sequence[str], depth: int) -> float:
    """The share of what is wanted among the best so many."""
    return share(wanted, ranked[:depth])


def reciprocal_rank(wanted: frozenset[str], ranked: Sequence[str]) -> float:
    """One over the place of the first that is wanted; 0 where none is ranked."""
    return next((1.0 / place for place, name in enumerate(ranked, 1) if name in wanted), 0.0)


def normalised_gain(wanted: frozenset[str], ranked: Sequence[str], depth: int) -> float:
    """Discounted gain of the best so many, beside that of a perfect order (NDCG with equal grades)."""
    seen = dict.fromkeys(ranked[:depth])
    gained = sum(1.0 / math.log2(place + 1) for place, name in enumerate(seen, 1) if name in wanted)
    best = sum(1.0 / math.log2(place + 1) for place in range(1, min(len(wanted), depth) + 1))
    return min(gained / best, 1.0) if best else 0.0


def sessions_in_order(ranked: Iterable[str], session_of: Mapping[str, str]) -> tuple[str, ...]:
    """Sessions by the first of their turns."""
    return tuple(dict.fromkeys(session_of[name] for name in ranked))


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many of a hundred do not pass; 0 without any."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * percent / 100) - 1, 0)] if ordered else 0.0


def _of_turns(outcomes: Sequence[Outcome]) -> dict[str, float]:
    recalls = {depth: [recall(one.evidence, one.ranked, depth) for one in outcomes] for depth in TURN_DEPTHS}
    return {
        **{f"recall@{depth}": _mean(values) for depth, values in recalls.items()},
        **{f"hit@{depth}": _mean([value > 0 for value in values]) for depth, values in recalls.items()},
        "mrr": _mean([reciprocal_rank(one.evidence, one.ranked) for one in outcomes]),
    }


def _of_sessions(outcomes: Sequence[Outcome]) -> dict[str, float]:
    wanted = [(frozenset(one.session_of[name] for name in one.evidence), one.sessions) for one in outcomes]
    found: dict[str, float] = {}
    for depth in SESSION_DEPTHS:
        recalls = [recall(evidence, sessions, depth) for evidence, sessions in wanted]
        found[f"any@{depth}"] = _mean([value > 0 for value in recalls])
        found[f"all@{depth}"] = _mean([value == 1 for value in recalls])
        found[f"mean@{depth}"] = _mean(recalls)
    gains = [normalised_gain(evidence, sessions, GAIN_DEPTH) for evidence, sessions in wanted]
    return found | {f"ndcg@{GAIN_DEPTH}": _mean(gains)}


def _of_budgets(contexts: Sequence[tuple[frozenset[str], Mapping[int, frozenset[str]]]]) -> dict[str, float]:
    sizes = sorted(set.intersection(*(set(shown) for _, shown in contexts)))
    return {str(size): _mean([share(evidence, shown[size]) for evidence, shown in contexts]) for size in sizes}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)

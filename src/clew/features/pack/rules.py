"""What enters a pack: the rules, in the order in which they are applied, and the reason each candidate gets.

Candidates come best first. Each is refused for one reason, or admitted; of those that say the same, the best
is kept; the caps decide how many; and where one of the rest, or of those that were kept, contradicts
another, one slot shows it as what it is. How much of each is shown is a matter of `clew.features.pack.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import dropwhile

from clew.core.model import Provenance, Trust
from clew.core.ranking import Weights
from clew.core.relevance import related
from clew.features.pack.considered import Considered, importance_of, kind_of, superseded_by
from clew.features.pack.opposing import Dissent, with_dissent
from clew.text.grading.importance import Label
from clew.text.terms import fold

STRONGER = 0.1
"""What was graded as not worth remembering must be so much more similar to be shown all the same."""

UNTRUSTED_ITEMS = 3
UNTRUSTED_SHARE = 0.25
SUMMARY_ITEMS = 3

NEXT_TO_BEST = 0.5
"""Where something is near enough to be packed, so is what is at least so near, as a share of it: the rest of an
answer is often worded less like the question."""

_SAME_TEXT_CHARS = 4000


class Reason(StrEnum):
    """Why a candidate is in a pack, or is not."""

    RELEVANT = "relevant"
    DISSENT = "dissent"
    SCORE = "score"
    UNRELATED = "unrelated"
    TRUST = "trust"
    IMPORTANCE = "importance"
    SCOPE = "scope"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    KIND = "kind"
    BUDGET = "budget"
    CAP = "cap"
    PRESENT = "present"
    DUE = "due"
    STALE = "stale"
    ENDED = "ended"


INCLUDED = frozenset({Reason.RELEVANT, Reason.DISSENT, Reason.DUE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one pack."""

    min_similarity: float
    items: int
    budget_tokens: int
    untrusted: bool = False
    kinds: frozenset[str] = frozenset()
    present_session: str | None = None
    """A session the reader has before him: nothing that was said or done in it is repeated."""

    @property
    def strong_similarity(self) -> float:
        """Of what was graded as not worth remembering."""
        return self.min_similarity + STRONGER

    @property
    def untrusted_tokens(self) -> int:
        return int(self.budget_tokens * UNTRUSTED_SHARE)

    def as_words(self) -> dict[str, str]:
        """The rules by name, as a trace keeps them."""
        return {
            "budget tokens": str(self.budget_tokens),
            "items at most": str(self.items),
            "kinds": ", ".join(sorted(self.kinds)) or "all",
            "least similarity": f"{self.min_similarity:g}",
            "least similarity of what is graded ignore": f"{self.strong_similarity:g}",
            "present session": self.present_session or "none",
            "quarantined": "never",
            "summaries at most": str(SUMMARY_ITEMS),
            "untrusted": "framed and capped" if self.untrusted else "not asked for",
            "untrusted items at most": str(UNTRUSTED_ITEMS if self.untrusted else 0),
            "untrusted tokens at most": str(self.untrusted_tokens if self.untrusted else 0),
        }


@dataclass(frozen=True, slots=True)
class Selection:
    chosen: tuple[Considered, ...]
    """Best first; what contradicts another stands right behind it."""
    dissent: Dissent | None
    reasons: dict[str, Reason] = field(default_factory=dict)
    """Of every candidate that was not chosen, by its reference."""


def select(candidates: Sequence[Considered], policy: Policy, asked: str = "") -> Selection:
    """What the rules leave of the candidates. What only repeats the question is no answer to it."""
    reasons: dict[str, Reason] = {}
    ranked = in_order(candidates)
    admitted = _admitted(ranked, policy, _unrelated(ranked, policy, asked), reasons)
    kept, spare = _within_caps(_distinct(admitted, asked, reasons), policy, reasons)
    chosen, dissent = with_dissent(kept, spare, policy.items, asked)
    taken = {item.ref for item in chosen}
    reasons.update({item.ref: Reason.CAP for item in (*kept, *spare) if item.ref not in taken})
    return Selection(tuple(chosen), dissent, reasons)


def eased(policy: Policy, candidates: Sequence[Considered]) -> Policy:
    """The rules where something is near enough by itself: then less is asked of what stands beside it."""
    able = (item for item in candidates if _is_admissible(item.record.trust, policy) and not _is_present(item, policy))
    nearest = max((item.similarity for item in able), default=0.0)
    if nearest < policy.min_similarity:
        return policy
    return replace(policy, min_similarity=min(policy.min_similarity, nearest * NEXT_TO_BEST))


def in_order(candidates: Sequence[Considered]) -> list[Considered]:
    """What is due, then best first; equal scores by time, newest first, then by reference."""
    return sorted(candidates, key=lambda item: (not item.due, -item.score, -item.record.ts_ms, item.ref))


def pack_score(similarity: float, recency: float, nearness: float, weights: Weights, quality: float) -> float:
    """The score of search, for a candidate that was found by its similarity alone."""
    base = weights.similarity * similarity + weights.recency * recency + weights.scope * nearness
    return min(max(base * quality, 0.0), 1.0)


# --- refusing ----------------------------------------------------------------------------------------


def _unrelated(ranked: Sequence[Considered], policy: Policy, asked: str) -> set[str]:
    """References of what is near enough and yet below the floor of relevance.

    What may not be shown, or only repeats the question, leads to nothing.
    """
    question = _text_name(asked)
    may_lead = [
        _is_admissible(item.record.trust, policy)
        and not _is_present(item, policy)
        and _text_name(item.record.text) != question
        for item in ranked
    ]
    kept = related(asked, [item.shared for item in ranked], may_lead)
    return {
        item.ref
        for item, is_related in zip(ranked, kept, strict=True)
        if not is_related and not item.due and item.similarity >= policy.min_similarity
    }


def _admitted(
    ranked: Sequence[Considered], policy: Policy, unrelated: set[str], reasons: dict[str, Reason]
) -> list[Considered]:
    admitted = []
    holding = _holding(ranked, policy)
    for item in ranked:
        if _is_present(item, policy):
            reason: Reason | None = Reason.PRESENT
        elif item.ref in unrelated and item.record.trust is not Trust.QUARANTINED:
            reason = Reason.UNRELATED
        else:
            reason = _refusal(item, policy, holding)
        if reason is None:
            admitted.append(item)
        else:
            reasons[item.ref] = reason
    return admitted


def _refusal(item: Considered, policy: Policy, holding: set[str]) -> Reason | None:
    """The first rule that keeps a candidate out."""
    record = item.record
    if not _is_admissible(record.trust, policy) and (
        record.trust is Trust.QUARANTINED or item.due or item.similarity >= policy.min_similarity
    ):
        return Reason.TRUST
    if item.similarity < policy.min_similarity and not item.due:
        return Reason.SCORE
    if (overtaken := _overtaken(item, holding)) is not None:
        return overtaken
    if policy.kinds and kind_of(record) not in policy.kinds:
        return Reason.KIND
    if importance_of(record) == Label.IGNORE and item.similarity < policy.strong_similarity:
        return Reason.IMPORTANCE
    return None


def _overtaken(item: Considered, holding: set[str]) -> Reason | None:
    """Why it holds no longer."""
    if item.lapse is not None:
        return Reason(item.lapse.value)
    is_replaced = superseded_by(item.record) is not None and item.ref not in holding
    return Reason.SUPERSEDED if is_replaced else None


def _is_present(item: Considered, policy: Policy) -> bool:
    return policy.present_session is not None and item.is_of(policy.present_session)


def _holding(ranked: Sequence[Considered], policy: Policy) -> set[str]:
    """References of records that hold though they were superseded.

    Where records supersede one another in a circle, each would go for the sake of the next: the newest that may
    stand holds.
    """
    by_name = {item.cited: item for item in ranked} | {item.ref: item for item in ranked}
    seen: set[str] = set()
    holding: set[str] = set()
    for item in ranked:
        walked: dict[str, Considered] = {}
        at: Considered | None = item
        while at is not None and at.ref not in seen:
            seen.add(at.ref)
            walked[at.ref] = at
            at = by_name.get(superseded_by(at.record) or "")
        back_to = None if at is None else at.ref
        circle = dropwhile(lambda ref: ref != back_to, walked)  # noqa: B023 — used at once
        standing = [walked[ref] for ref in circle if _may_stand(walked[ref], policy)]
        if standing:
            holding.add(max(standing, key=lambda one: (one.record.ts_ms, one.ref)).ref)
    return holding


def _may_stand(item: Considered, policy: Policy) -> bool:
    return _is_admissible(item.record.trust, policy) and item.similarity >= policy.min_similarity


def _is_admissible(trust: Trust, policy: Policy) -> bool:
    return trust is not Trust.QUARANTINED and (policy.untrusted or trust is not Trust.UNTRUSTED)


# --- keeping -----------------------------------------------------------------------------------------


def _distinct(admitted: Sequence[Considered], asked: str, reasons: dict[str, Reason]) -> list[Considered]:
    """Each turn and each text once, at its best."""
    seen = {_text_name(asked)}
    distinct = []
    for item in admitted:
        names = {f"origin {item.origin}", _text_name(item.record.text)}
        if names & seen:
            reasons[item.ref] = Reason.DUPLICATE
        else:
            distinct.append(item)
        seen |= names
    return distinct


def _text_name(text: str) -> str:
    return f"text {fold(text[:_SAME_TEXT_CHARS])}"


def _within_caps(
    distinct: Sequence[Considered], policy: Policy, reasons: dict[str, Reason]
) -> tuple[list[Considered], list[Considered]]:
    """What the caps leave, and what only the number of items keeps out."""
    kept: list[Considered] = []
    spare: list[Considered] = []
    untrusted = summaries = 0
    for item in distinct:
        is_untrusted = item.record.trust is Trust.UNTRUSTED
        is_summary = item.record.provenance is Provenance.SUMMARY
        if (is_untrusted and untrusted >= UNTRUSTED_ITEMS) or (is_summary and summaries >= SUMMARY_ITEMS):
            reasons[item.ref] = Reason.CAP
        elif len(kept) < policy.items:
            kept.append(item)
            untrusted += is_untrusted
            summaries += is_summary
        elif not is_untrusted and not is_summary:
            spare.append(item)
        else:
            reasons[item.ref] = Reason.CAP
    return kept, spare

"""What enters a pack: the rules, in the order in which they apply, and the reason each choice gets.

Choices come best first. The rules refuse each for one reason, or admit it. Of those that say the same they keep the
best; caps decide how many; and where one choice contradicts another, one slot shows it, marked as dissent. How much of
each is shown is a matter of `clew.features.pack.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from clew.core.model import Provenance, Record, Role, Trust, may_enter
from clew.core.projects import preference, project_in, same_project
from clew.core.relevance import related
from clew.features.pack.choice import Choice, Lane, Reason, importance_of, superseded_by
from clew.features.pack.dissent import place_dissent
from clew.text.calls import speech
from clew.text.dissent import claim
from clew.text.grading.importance import Label
from clew.text.grading.salience import is_idle, is_narration, only_asks
from clew.text.sentences import split
from clew.text.speech import own_words, quoted_words
from clew.text.terms import analyse, fold

STRONGER = 0.1
"""How much more similar a record must be that was graded as not worth remembering."""

UNTRUSTED_ITEMS = 3
UNTRUSTED_SHARE = 0.25
SUMMARY_ITEMS = 3

NEXT_TO_BEST = 0.5
"""What else is packed beside something that is near enough: what has this share of its similarity. The rest of an
answer is often worded less like the question."""

_SAME_TEXT_CHARS = 4000
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one pack."""

    min_similarity: float
    items: int
    budget_tokens: int
    untrusted: bool = False
    kinds: frozenset[str] = frozenset()
    present_session: str | None = None
    """A session that the reader can see: nothing that was said or done in it is repeated."""
    project: str | None = None
    project_only: bool = False

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
            "project": f"{self.project or 'any'}{' alone' if self.project_only else ''}",
            "quarantined": "never",
            "summaries at most": str(SUMMARY_ITEMS),
            "untrusted": "framed and capped" if self.untrusted else "not asked for",
            "untrusted items at most": str(UNTRUSTED_ITEMS if self.untrusted else 0),
            "untrusted tokens at most": str(self.untrusted_tokens if self.untrusted else 0),
        }


def select(choices: Sequence[Choice], policy: Policy, asked: str = "") -> list[Choice]:
    """The choices that the rules leave, best first, a contradiction right behind what it contradicts.

    Every other choice gets its reason. A text that only repeats the question is no answer to it.
    """
    ranked = in_order(choices)
    admitted = _admit(ranked, policy, _unrelated(ranked, policy, asked))
    kept, spare = _apply_caps(_distinct(admitted, asked), policy)
    chosen = place_dissent(kept, spare, policy.items, asked)
    taken = set(map(id, chosen))
    for choice in (*kept, *spare):
        if id(choice) not in taken:
            choice.reason = Reason.CAP
    return chosen


def relax(policy: Policy, choices: Sequence[Choice]) -> Policy:
    """The policy where something is near enough by itself: it then asks less of what is beside it."""
    able = (item for item in choices if _is_admissible(item.record.trust, policy) and not _is_present(item, policy))
    nearest = max((item.similarity for item in able), default=0.0)
    if nearest < policy.min_similarity:
        return policy
    return replace(policy, min_similarity=min(policy.min_similarity, nearest * NEXT_TO_BEST))


def prefer_project(choices: Sequence[Choice], project: str | None) -> None:
    """Puts what is of this project before the rest."""
    if project is not None:
        for choice in choices:
            choice.score *= preference(choice.record.metadata, project)


def in_order(choices: Sequence[Choice]) -> list[Choice]:
    """What is due, then best first; equal scores by time, newest first, then by reference."""
    return sorted(choices, key=lambda item: (not item.due, -item.score, -item.record.ts_ms, item.ref))


# --- refusing ----------------------------------------------------------------------------------------


def _unrelated(ranked: Sequence[Choice], policy: Policy, asked: str) -> set[str]:
    """References of choices that are near enough and yet below the floor of relevance.

    A text that may not be shown, or only repeats the question, leads to nothing.
    """
    question = _text_name(asked)
    may_lead = [
        _is_admissible(item.record.trust, policy)
        and not _is_present(item, policy)
        and _text_name(item.record.text) != question
        for item in ranked
    ]
    kept = related(asked, [item.shared for item in ranked], may_lead)
    if policy.project is not None:  # beside what is of the project, faint likeness is chance
        project = policy.project
        kept = [
            is_related and (item.shared.is_clear or not item.is_elsewhere(project))
            for item, is_related in zip(ranked, kept, strict=True)
        ]
    return {
        item.ref
        for item, is_related in zip(ranked, kept, strict=True)
        if not is_related and not item.due and item.similarity >= policy.min_similarity
    }


def _admit(ranked: Sequence[Choice], policy: Policy, unrelated: set[str]) -> list[Choice]:
    holding = _holding(ranked, policy)
    for choice in ranked:
        if _is_present(choice, policy):
            choice.reason = Reason.PRESENT
        elif policy.project_only and not same_project(project_in(choice.record.metadata), policy.project or ""):
            choice.reason = Reason.PROJECT
        elif choice.ref in unrelated and choice.record.trust is not Trust.QUARANTINED:
            choice.reason = Reason.UNRELATED
        else:
            choice.reason = _refusal(choice, policy, holding)
    return [choice for choice in ranked if choice.reason is None]


def _refusal(item: Choice, policy: Policy, holding: set[str]) -> Reason | None:
    """The first rule that keeps a candidate out."""
    record = item.record
    if not _is_admissible(record.trust, policy) and (
        record.trust is Trust.QUARANTINED or item.due or item.similarity >= policy.min_similarity
    ):
        return Reason.TRUST
    if item.similarity < policy.min_similarity and not item.due:
        return Reason.SCORE
    if (lapse := _lapse(item, holding)) is not None:
        return lapse
    if policy.kinds and item.kind not in policy.kinds:
        return Reason.KIND
    if importance_of(record) == Label.IGNORE and item.similarity < policy.strong_similarity:
        return Reason.IMPORTANCE
    return _says_nothing(record, with_quotes=item.is_asked_for(untrusted=policy.untrusted))


def _says_nothing(record: Record, *, with_quotes: bool) -> Reason | None:
    """An earlier question to the assistant is no answer, and a turn of calls alone says nothing.

    Where people talk with each other, who asked what is part of what was said; so is what a question hands over, where
    that is asked for.
    """
    if record.role is Role.ASSISTANT and record.provenance is Provenance.ASSISTANT_TURN:
        words = speech(record.text[:_SAME_TEXT_CHARS])
        has_calls = len(words) < min(len(record.text), _SAME_TEXT_CHARS)
        idle = all(is_narration(piece) or is_idle(piece) for piece in split(words))
        return Reason.PAYLOAD if has_calls and idle else None
    if record.role is Role.USER and not with_quotes and not own_words(record.text):
        return Reason.TRUST
    is_to_assistant = record.role is Role.USER and "speaker" not in record.metadata
    if is_to_assistant and record.provenance in (Provenance.USER_TURN, Provenance.MEMORY):
        text = record.text[:_SAME_TEXT_CHARS]
        is_question = only_asks(own_words(text)) and not (with_quotes and quoted_words(text))
        return Reason.QUESTION if is_question else None
    return None


def _lapse(item: Choice, holding: set[str]) -> Reason | None:
    """Why it holds no longer."""
    if item.lapse is not None:
        return Reason(item.lapse.value)
    is_replaced = superseded_by(item.record) is not None and item.ref not in holding
    return Reason.SUPERSEDED if is_replaced else None


def _is_present(item: Choice, policy: Policy) -> bool:
    return policy.present_session is not None and item.is_of(policy.present_session)


def _holding(ranked: Sequence[Choice], policy: Policy) -> set[str]:
    """References of records that hold though they were superseded.

    Where records supersede one another in a circle, each would give way to the next: the newest that may enter holds.
    """
    by_name = {item.cited: item for item in ranked} | {item.ref: item for item in ranked}
    seen: set[str] = set()
    holding: set[str] = set()
    for item in ranked:
        walked: dict[str, Choice] = {}
        at: Choice | None = item
        while at is not None and at.ref not in seen:
            seen.add(at.ref)
            walked[at.ref] = at
            at = by_name.get(superseded_by(at.record) or "")
        back_to = None if at is None else at.ref
        circle = dropwhile(lambda ref: ref != back_to, walked)  # noqa: B023 — used at once
        able = [walked[ref] for ref in circle if _may_enter(walked[ref], policy)]
        if able:
            holding.add(max(able, key=lambda one: (one.record.ts_ms, one.ref)).ref)
    return holding


def _may_enter(item: Choice, policy: Policy) -> bool:
    return _is_admissible(item.record.trust, policy) and item.similarity >= policy.min_similarity


def _is_admissible(trust: Trust, policy: Policy) -> bool:
    return may_enter(trust, asked_for=policy.untrusted)


# --- keeping -----------------------------------------------------------------------------------------


def _distinct(admitted: Sequence[Choice], asked: str) -> list[Choice]:
    """Each turn and each text once, at its best."""
    seen = {_text_name(asked)}
    kept: list[_Spoken] = []
    for choice in admitted:
        names = {f"origin {choice.origin}", _text_name(choice.record.text)}
        own = _Spoken.of(choice)
        if names & seen or any(own.repeats(other) for other in kept):
            choice.reason = Reason.DUPLICATE
        elif own.is_evidence:
            kept.append(own)
        seen |= names
    return [choice for choice in admitted if choice.reason is None]


@dataclass(frozen=True, slots=True)
class _Spoken:
    text: str
    words: frozenset[str]
    ts_ms: int
    is_evidence: bool
    """Whether it only says something. What holds is shown beside what was said, and so is what holds no longer."""

    @classmethod
    def of(cls, choice: Choice) -> _Spoken:
        text = choice.record.text[:_SAME_TEXT_CHARS]
        is_evidence = choice.lane not in (Lane.FACTS, Lane.PLANS) and choice.replaced_by is None
        return cls(text, frozenset(analyse(text)), choice.record.ts_ms, is_evidence)

    def repeats(self, other: _Spoken) -> bool:
        """Whether it adds nothing to a text that is as new: that one holds all its words, and denies as much.

        Of few words, too little is known; and a newer text may say that something holds still, or again.
        """
        is_within = len(self.words) >= _LEAST_WORDS and self.words <= other.words and self.ts_ms <= other.ts_ms
        if not (self.is_evidence and is_within):
            return False
        own, others = claim(self.text), claim(other.text)
        return own is not None and others is not None and own.denials == others.denials


def _text_name(text: str) -> str:
    return f"text {fold(text[:_SAME_TEXT_CHARS])}"


def _apply_caps(distinct: Sequence[Choice], policy: Policy) -> tuple[list[Choice], list[Choice]]:
    """What the caps leave, and what only the number of items keeps out."""
    kept: list[Choice] = []
    spare: list[Choice] = []
    untrusted = summaries = 0
    for choice in distinct:
        is_over = (choice.is_untrusted and untrusted >= UNTRUSTED_ITEMS) or (
            choice.is_summary and summaries >= SUMMARY_ITEMS
        )
        if not is_over and len(kept) < policy.items:
            kept.append(choice)
            untrusted += choice.is_untrusted
            summaries += choice.is_summary
        elif is_over or choice.is_untrusted or choice.is_summary:
            choice.reason = Reason.CAP
        else:
            spare.append(choice)
    return kept, spare

"""Reviews proposals of facts: Clew reads them from texts, a person accepts or declines them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from clew.core.marks import By, Mark, made
from clew.core.model import Record, role_of
from clew.errors import InvalidInput, NotFound
from clew.features.claims.log import cite
from clew.features.claims.proposals import PLAN, Proposal, key_of, proposals
from clew.features.claims.review import declined_in, proposals_of, turns_after
from clew.features.facts.lanes import Fact
from clew.features.facts.operations import (
    FactProposal,
    FactProposals,
    FactReceipt,
    FactsAccept,
    FactsAssert,
    FactsDecline,
    FactsDeclined,
    FactsInvalidate,
    FactsPropose,
    FactsReview,
    FactView,
)
from clew.features.facts.queries import views
from clew.features.facts.replay import Facts
from clew.features.facts.truth import known_facts
from clew.features.facts.writing import invalidate, write
from clew.features.lifecycle.mark_shapes import MAX_DECLINED
from clew.kernel.derivation import at_home
from clew.kernel.intake import check_size, checked_ts, speaker_in
from clew.kernel.parts import Parts
from clew.kernel.records import checked_cursor, checked_limit, place_of
from clew.kernel.services import serves
from clew.storage.protocol import Marking
from clew.text.framing import clip
from clew.text.own_text import without_own
from clew.text.terms import fold

MAX_LISTED = 1000
TURNS_A_PAGE = 2000
"""The most turns that one page of the queue reads, however few proposals they have."""

MAX_QUOTE_CHARS = 400
NOTHING_WRITTEN = "nothing was written; what is proposed holds when it was accepted"


@serves(FactsPropose)
def propose(parts: Parts, request: FactsPropose) -> FactProposals:
    check_size("text", request.text.encode, parts.config.max_text_bytes)
    ts_ms = parts.clock.now_ms() if request.ts is None else checked_ts(request.ts)
    found = proposals(request.text, request.speaker, ts_ms, role_of(request.role))
    desk = _Desk(parts, request.user_id)
    facts = [proposal for proposal in found if proposal.predicate != PLAN]
    shown = [(proposal, desk.view(proposal, "", request.text, ts_ms, request.speaker)) for proposal in facts]
    wanted = tuple(view for proposal, view in shown if view.ends or not proposal.ends)
    return FactProposals(proposals=wanted, message=NOTHING_WRITTEN)


@serves(FactsReview)
def review(parts: Parts, request: FactsReview) -> FactProposals:
    """A page ends with a whole turn, so that the next one begins behind it."""
    limit, cursor = checked_limit(request.limit, MAX_LISTED), checked_cursor(request.cursor)
    desk = _Desk(parts, request.user_id)
    found: list[FactProposal] = []
    looked_at = 0
    for turn in turns_after(parts, request.user_id, cursor):
        looked_at += 1
        cursor = turn.seq
        found += desk.open_proposals(turn)
        if len(found) >= limit or looked_at == TURNS_A_PAGE:
            return FactProposals(proposals=tuple(found), message=NOTHING_WRITTEN, looked_at=looked_at, cursor=cursor)
    return FactProposals(proposals=tuple(found), message=NOTHING_WRITTEN, looked_at=looked_at)


@serves(FactsAccept)
def accept(parts: Parts, request: FactsAccept) -> FactReceipt:
    (turn,) = cite(parts, request.user_id, [request.source])
    id_ = request.proposal or _only_open(parts, request.user_id, turn)
    proposal = proposals_of(turn).get(id_)
    if proposal is None:
        raise NotFound(f"{turn.ref[:200]!r} does not propose {id_[:80]!r}")
    if proposal.predicate == PLAN:
        raise InvalidInput("this is a plan and no fact; write it down with plans_add")
    valid_from_ms = turn.ts_ms if proposal.valid_from_ms is None else proposal.valid_from_ms
    desk = _Desk(parts, request.user_id)
    if proposal.ends:
        return _end(parts, request, turn, desk.ended_by(proposal, valid_from_ms), valid_from_ms)
    asserted = FactsAssert(
        subject=desk.subject_of(proposal) if request.subject is None else request.subject,
        predicate=proposal.predicate if request.predicate is None else request.predicate,
        object=proposal.object if request.object is None else request.object,
        user_id=request.user_id,
        sources=(turn.ref,),
        valid_from=valid_from_ms if request.valid_from is None else request.valid_from,
        valid_to=request.valid_to,
        confidence=proposal.confidence if request.confidence is None else request.confidence,
        supersedes=request.supersedes,
    )
    return write(parts, asserted, by="review", proposal=id_)


def _end(parts: Parts, request: FactsAccept, turn: Record, ended: list[Fact], at_ms: int) -> FactReceipt:
    """Takes back what a turn says holds no longer, from the day it names, or else its own."""
    if not ended:
        raise NotFound(f"{turn.ref[:200]!r} ends no fact that holds")
    at = at_ms if request.valid_from is None else request.valid_from
    reason = f"said in {turn.ref}"
    receipts = [
        invalidate(parts, FactsInvalidate(user_id=request.user_id, fact=fact.id, at=at, reason=reason))
        for fact in ended
    ]
    return receipts[-1]


@serves(FactsDecline)
def decline(parts: Parts, request: FactsDecline) -> FactsDeclined:
    """A declined proposal never appears again, whatever the reader of proposals finds later."""
    (turn,) = cite(parts, request.user_id, [request.source])
    unknown = sorted(set(request.proposals) - set(proposals_of(turn)))
    if unknown or not request.proposals:
        named = unknown[0][:80] if unknown else ""
        raise NotFound(f"{turn.ref[:200]!r} does not propose {named!r}")
    declined = list(dict.fromkeys((*declined_in(turn), *request.proposals)))[-MAX_DECLINED:]
    mark = made(declined, By.OPERATOR, parts.clock.now_ms())
    parts.store.mark([Marking(place_of(turn), {Mark.DECLINED: mark})])
    return FactsDeclined(source=turn.ref, declined=tuple(declined))


class _Desk:
    """Compares the proposals of one user with their facts."""

    def __init__(self, parts: Parts, user_id: str | None) -> None:
        self._parts = parts
        self._known: Facts = known_facts(parts, user_id)
        self._now_ms = parts.clock.now_ms()

    def open_proposals(self, turn: Record) -> Iterator[FactProposal]:
        """The proposals of a turn that were neither accepted nor declined."""
        home = at_home(self._parts, turn)
        text, speaker = without_own(turn.text), speaker_in(dict(turn.metadata)) or ""
        declined = set(declined_in(turn))
        for id_, proposal in proposals_of(home).items():
            if proposal.predicate == PLAN or id_ in declined or self._is_accepted(home.ref, id_, proposal):
                continue
            view = self.view(proposal, home.ref, text, turn.ts_ms, speaker)
            if view.ends or not proposal.ends:
                yield view

    def view(self, proposal: Proposal, ref: str, text: str, ts_ms: int, speaker: str) -> FactProposal:
        valid_from_ms = ts_ms if proposal.valid_from_ms is None else proposal.valid_from_ms
        same, other = ([], []) if proposal.ends else self._beside(proposal, valid_from_ms)
        ended = self.ended_by(proposal, valid_from_ms) if proposal.ends else []
        return FactProposal(
            id=key_of(ref, proposal),
            source=ref,
            subject=self.subject_of(proposal),
            predicate=proposal.predicate,
            object=proposal.object,
            quote=clip(text[proposal.start : proposal.end], MAX_QUOTE_CHARS),
            ts=ts_ms,
            valid_from=valid_from_ms,
            confidence=proposal.confidence,
            speaker=speaker,
            contradicts=tuple(other),
            known=bool(same),
            ends=tuple(views(self._parts, self._known, ended)),
        )

    def ended_by(self, proposal: Proposal, at_ms: int) -> list[Fact]:
        """The facts that hold now and began before the text says that they hold no longer."""
        holding = self._known.current(self.subject_of(proposal), proposal.predicate, at_ms=self._now_ms)
        named = fold(proposal.object)
        return [fact for fact in holding if fold(fact.object) == named and fact.valid_from_ms < at_ms]

    def subject_of(self, proposal: Proposal) -> str:
        """The name under which its subject is known: `Harbor` and `the Harbor project` are one thing.

        The Harbor project and the Harbor team are two.
        """
        own, bare = fold(proposal.subject), _without_sort(proposal.subject)
        alike = [name for name in self._by_name.get(bare, ()) if bare in (own, fold(name))]
        return alike[0] if len(alike) == 1 and not self._known.knows(own) else proposal.subject

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The subjects of facts, by their names without a word for their sort."""
        found: dict[str, list[str]] = {}
        for _, facts in self._known.subjects():
            found.setdefault(_without_sort(facts[0].subject), []).append(facts[0].subject)
        return found

    def _beside(self, proposal: Proposal, valid_from_ms: int) -> tuple[list[Fact], list[FactView]]:
        """The facts that hold now, or when the text begins, of the same matter: with this value, and with others."""
        moments = dict.fromkeys((valid_from_ms, self._now_ms))
        holding = {
            fact.id: fact
            for at_ms in moments
            for fact in self._known.current(self.subject_of(proposal), proposal.predicate, at_ms=at_ms)
        }
        same = [fact for fact in holding.values() if fold(fact.object) == fold(proposal.object)]
        is_single = self._known.registry.is_single(proposal.predicate)
        other = [fact for fact in holding.values() if is_single and fact not in same]
        return same, views(self._parts, self._known, other)

    def _is_accepted(self, ref: str, id_: str, proposal: Proposal) -> bool:
        if proposal.ends:  # what has ended is not open any more
            return False
        key = (fold(self.subject_of(proposal)), proposal.predicate, fold(proposal.object))
        assertions = (each for fact in self._known.citing(ref) for each in fact.assertions if ref in each.sources)
        return any(each.proposal == id_ or each.key == key for each in assertions)


_SORTS = re.compile(r"(?:the )?(.+?) (?:project|service|app|team|repo|repository|system|product|server|library|tool)")


def _without_sort(subject: str) -> str:
    """A name without the word that says what it is the name of."""
    name = fold(subject)
    found = _SORTS.fullmatch(name)
    return name if found is None else found[1]


def _only_open(parts: Parts, user_id: str, turn: Record) -> str:
    found = list(_Desk(parts, user_id).open_proposals(turn))
    if len(found) != 1:
        raise InvalidInput(f"{turn.ref[:200]!r} has {len(found)} open proposals of facts; name the one that is meant")
    return found[0].id

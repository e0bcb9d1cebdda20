"""Why a record would be in the pack for a query, or would not: the same run as a pack's, of which nothing is kept."""

from __future__ import annotations

import numpy as np

from clew.core.model import Record
from clew.features.pack.choice import Lane, Reason, kind_of, superseded_by
from clew.features.pack.operations import CandidateTrace, Explanation, Why
from clew.features.pack.rules import SUMMARY_ITEMS, UNTRUSTED_ITEMS
from clew.features.pack.service import decide
from clew.features.pack.trace import Decision, candidates_of
from clew.index.search import Query, similarities
from clew.kernel.parts import Parts
from clew.kernel.records import find_record
from clew.kernel.search import prepare
from clew.kernel.services import serves

_STAGES = {
    Reason.RELEVANT: "pack",
    Reason.DISSENT: "pack",
    Reason.SCORE: "policy",
    Reason.UNRELATED: "policy",
    Reason.TRUST: "policy",
    Reason.SUPERSEDED: "policy",
    Reason.KIND: "policy",
    Reason.IMPORTANCE: "policy",
    Reason.SCOPE: "scope",
    Reason.PRESENT: "scope",
    Reason.PROJECT: "scope",
    Reason.QUESTION: "policy",
    Reason.PAYLOAD: "policy",
    Reason.DUE: "pack",
    Reason.STALE: "policy",
    Reason.ENDED: "policy",
    Reason.DUPLICATE: "selection",
    Reason.CAP: "selection",
    Reason.BUDGET: "budget",
}


@serves(Why)
def why(parts: Parts, request: Why) -> Explanation:
    """Says where the record's way into the pack ended. Raises NotFound where there is no such record."""
    record = find_record(parts, request.ref)
    decision = decide(parts, request)
    own = {f"{place.collection}/{place.id}" for place in parts.store.places(record.collection, record.id)}
    named = [item for item in candidates_of(decision) if item.ref in own]
    candidate = next((item for item in named if item.included), next(iter(named), None))
    if candidate is not None and candidate.reason != Reason.SCOPE:
        return _of_candidate(decision, record, candidate)
    return _of_stranger(parts, request, decision, record)


def _of_candidate(decision: Decision, record: Record, candidate: CandidateTrace) -> Explanation:
    reason = Reason(candidate.reason)
    return Explanation(
        ref=record.ref,
        included=candidate.included,
        stage=_STAGES[reason],
        reason=reason.value,
        sentence=_sentence(decision, record, candidate),
        candidate=candidate,
    )


def _sentence(decision: Decision, record: Record, candidate: CandidateTrace) -> str:
    """One sentence, with the figures that decided."""
    policy = decision.policy
    near = f"a similarity of {candidate.similarity:.3f}"
    place, choice = next(
        ((number, shown) for number, shown in enumerate(decision.shown, 1) if shown.ref == record.ref), (0, None)
    )
    shown = f"as item [{place}], at depth {candidate.layer}, with {near} and a score of {candidate.score:.3f}"
    against = "" if choice is None else choice.contradicts
    strong = f"{policy.strong_similarity:.3f}"
    caps = f"{policy.items} items, {UNTRUSTED_ITEMS} of them untrusted, {SUMMARY_ITEMS} of them summaries"
    sentences = {
        Reason.RELEVANT: f"It is in the pack {shown}.",
        Reason.DISSENT: f"It is in the pack {shown}, because it contradicts {against}.",
        Reason.SCORE: f"It has {near}, and the least is {policy.min_similarity:.3f}.",
        Reason.UNRELATED: f"It {_in_common(candidate)}, too little to bear on the query.",
        Reason.TRUST: f"It is {record.trust}, and {_trust_rule(record.trust)}.",
        Reason.DUE: f"It is in the pack {shown}, because its day has come.",
        Reason.STALE: "What it rests on is gone, has changed or holds no longer; `clew facts stale` says what.",
        Reason.ENDED: "It holds no longer, not yet, or was done.",
        Reason.SUPERSEDED: f"It has been replaced by {_instead(decision, record)}.",
        Reason.PRESENT: f"It is of the session {policy.present_session}, which the reader can see.",
        Reason.PROJECT: f"It is not known to be of the project {policy.project}.",
        Reason.QUESTION: "It only asks something, and an earlier question is no answer.",
        Reason.PAYLOAD: "It is a tool call and says nothing.",
        Reason.KIND: f"It is of the kind {kind_of(record)}, which was not asked for.",
        Reason.IMPORTANCE: f"It was graded as not worth remembering, and {near} is below {strong}.",
        Reason.DUPLICATE: "The query itself, or a better placed candidate, says the same or is the same turn.",
        Reason.CAP: f"It has {near}, but a cap was reached: a pack has at most {caps}.",
        Reason.BUDGET: f"It has {near}, but no room was left in a budget of {policy.budget_tokens} tokens.",
    }
    return sentences[Reason(candidate.reason)]


def _in_common(candidate: CandidateTrace) -> str:
    """What it shares with the query by itself, without what is around it."""
    meaning = "" if candidate.dense is None else f" and a meaning as near as {candidate.dense:.3f}"
    return f"shares words of the query that weigh {candidate.lexical:.3f} of all{meaning}"


def _instead(decision: Decision, record: Record) -> str | None:
    """What took its place: by a mark on it, or as a fact."""
    own = (choice.replaced_by for choice in decision.choices if choice.ref == record.ref)
    return superseded_by(record) or next(own, None)


def _trust_rule(trust: str) -> str:
    return "what is quarantined never enters a pack" if trust == "quarantined" else "untrusted text was not asked for"


def _of_stranger(parts: Parts, request: Why, decision: Decision, record: Record) -> Explanation:
    """Of a record that was no candidate."""
    lanes = {name: route for route in decision.lanes for name in route.collections}
    route = lanes.get(record.collection)
    if route is None:
        stage, reason = "scope", Reason.SCOPE.value
        sentence = f"It is in {record.collection.home}, which is not searched for this user and session."
    elif not route.searched:
        stage, reason = "archive", Lane.COLD.value
        sentence = "It rests in the archive, and the archive was not searched."
    else:
        stage, reason = "search", Reason.SCORE.value
        sentence = _distance(parts, request, decision, record)
    return Explanation(ref=record.ref, included=False, stage=stage, reason=reason, sentence=sentence)


def _distance(parts: Parts, request: Why, decision: Decision, record: Record) -> str:
    query, _ = prepare(parts, request.query, [name for route in decision.lanes for name in route.collections])
    similarity, rank, size = _measured(parts, query, record)
    if similarity <= 0.0:
        return "It shares nothing with the query, in words or in meaning."
    others = f"by similarity it is number {rank} of the {size} records of {record.collection}"
    return f"It has a similarity of {similarity:.3f}, but others are nearer: {others}."


def _measured(parts: Parts, query: Query, record: Record) -> tuple[float, int, int]:
    """A record's similarity to a query, its rank in its collection by it, and how many there are."""
    with parts.indexes.current(record.collection) as index:
        similarity = similarities(index, query)
        own = similarity[index.seqs == record.seq]
        value = float(own[0]) if own.size else 0.0
        return value, int(np.count_nonzero(similarity[index.alive] > value)) + 1, index.size

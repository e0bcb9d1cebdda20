"""Writes facts: asserts them, takes them back, and keeps the end of a fact where a purge removes what ended it.

A purge of the only evidence of a newer value leaves nothing of that value. The value before it did end, though, and
must not hold again: its end stays, without a word of what came after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from clew.core.collections import GLOBAL, Collection, CollectionKind
from clew.core.ids import ID_BYTES, digest
from clew.core.model import Draft, Kind, Provenance, Record, Trust, least
from clew.core.predicates import sentence
from clew.errors import InvalidInput, NotFound
from clew.features.claims.log import MAX_SOURCES, cite, claim_record
from clew.features.claims.rules import CONFIDENCE_OF_TRUST, text_hash
from clew.features.facts.lanes import Fact, in_order, in_time
from clew.features.facts.log import (
    MAX_NAMED,
    MAX_OBJECT_CHARS,
    MAX_REASON_CHARS,
    MAX_SUBJECT_CHARS,
    Assertion,
    Invalidation,
    assertion_id,
    invalidation_id,
    metadata_of,
)
from clew.features.facts.operations import FactReceipt, FactsAssert, FactsInvalidate
from clew.features.facts.queries import views
from clew.features.facts.replay import Facts
from clew.features.facts.truth import FactViews, known_facts, supports
from clew.kernel.intake import (
    Intake,
    check_names,
    check_unicode,
    checked_ts,
    draft_of,
    grade_draft,
    judge_draft,
    make_draft,
    policy_of,
)
from clew.kernel.parts import Parts
from clew.kernel.services import serves
from clew.storage.protocol import NewRecord, Place
from clew.text.redaction import redact

MAX_SUPERSEDED = 32
"""Facts that one assertion can end by name."""

MAX_STATEMENT_CHARS = 4000

STEERING = "it reads like an attempt to steer its reader, so nothing was written"


@serves(FactsAssert)
def assert_fact(parts: Parts, request: FactsAssert) -> FactReceipt:
    check_names(parts, request.user_id, None)
    return write(parts, request, by="assert")


def write(parts: Parts, request: FactsAssert, *, by: str, proposal: str = "") -> FactReceipt:
    """Add an assertion to the log, unless it is there already."""
    with parts.state(FactViews).writing:
        known = known_facts(parts, request.user_id)
        ground = _ground(parts, request)
        assertion, redacted = _assertion(parts, request, known, ground.sources)
        assertion = replace(assertion, by=by, proposal=proposal)
        text = sentence(assertion.subject, assertion.predicate, assertion.object)
        trusts = [source.trust for source in ground.sources]
        _check_weight(parts, known, assertion, least(trusts))
        draft, place = _draft(parts, assertion, text), Place(Collection(assertion.collection), assertion.id)
        is_new = known.get(assertion.id) is None
        if is_new:
            parts.store.put([*ground.new, claim_record(parts, draft, place, trusts, is_linked=True)])
    return _receipt(parts, request.user_id, assertion.id, is_new, (*redacted, *ground.redacted))


@serves(FactsInvalidate)
def invalidate(parts: Parts, request: FactsInvalidate) -> FactReceipt:
    reason, redacted = _redact(parts, request.user_id, "reason", request.reason, MAX_REASON_CHARS)
    with parts.state(FactViews).writing:
        known = known_facts(parts, request.user_id)
        fact = _find_fact(known, Collection.facts(request.user_id), request.fact)
        entry = _invalidation(parts, fact, request.at, reason)
        is_new = all(entry.id != earlier.id for earlier in known.invalidations_of(fact.id))
        if is_new:
            (view,) = views(parts, known, [fact])
            text = f"No longer: {fact.text}" + (f" {reason}" if reason else "")
            draft, place = _draft(parts, entry, text), Place(Collection(entry.collection), entry.id)
            parts.store.put([claim_record(parts, draft, place, [Trust(view.trust)], is_linked=True)])
    return _receipt(parts, request.user_id, fact.id, is_new, redacted)


# --- asserting -----------------------------------------------------------------------------------------


class _Source(NamedTuple):
    ref: str
    text: str
    trust: Trust


class _Ground(NamedTuple):
    """The sources of an assertion, and the statement among them that is written with it."""

    sources: list[_Source]
    new: tuple[NewRecord, ...] = ()
    redacted: tuple[str, ...] = ()


def _ground(parts: Parts, request: FactsAssert) -> _Ground:
    if not request.sources and not request.statement.strip():
        raise InvalidInput("a fact rests on something: name its sources, or give a statement")
    stated = 1 if request.statement.strip() else 0
    if len(request.sources) + stated > MAX_SOURCES:
        raise InvalidInput(f"a fact has at most {MAX_SOURCES} sources")
    records = cite(parts, request.user_id, request.sources)
    if not stated:
        return _Ground(_sources(records))
    intake, place = _statement(parts, request)
    there = parts.store.get(place.collection, [place.id])
    if there:
        records += cite(parts, request.user_id, [there[0].ref])
        return _Ground(_sources(records), redacted=intake.redacted)
    draft = intake.draft
    source = _Source(f"{place.collection}/{place.id}", draft.text, draft.trust)
    new = claim_record(parts, draft, place, [draft.trust], is_linked=True)
    return _Ground([*_sources(records), source], (new,), intake.redacted)


def _sources(records: Sequence[Record]) -> list[_Source]:
    return [_Source(record.ref, record.text, record.trust) for record in records]


def _statement(parts: Parts, request: FactsAssert) -> tuple[Intake, Place]:
    """The words that a fact rests on, as a memory of its user or for all. The same words are kept once."""
    if len(request.statement) > MAX_STATEMENT_CHARS:
        raise InvalidInput(
            f"statement must have at most {MAX_STATEMENT_CHARS} characters, not {len(request.statement)}"
        )
    collection = _memories(request.user_id)
    intake = draft_of(
        parts,
        request.statement.strip(),
        collection=collection,
        role=None,
        provenance=Provenance.MEMORY,
        ts_ms=parts.clock.now_ms(),
        metadata={},
    )
    if intake.draft.trust is Trust.QUARANTINED:
        raise InvalidInput(f"the statement cannot be cited: {STEERING}")
    hashed = digest("statement", intake.draft.text, size_bytes=ID_BYTES)
    return intake, Place(collection, f"m_{hashed.hex()}")


def _assertion(
    parts: Parts, request: FactsAssert, known: Facts, sources: Sequence[_Source]
) -> tuple[Assertion, tuple[str, ...]]:
    """The assertion that a request makes, and the kinds of secrets cut out of it."""
    subject, cut = _redact(parts, request.user_id, "subject", request.subject, MAX_SUBJECT_CHARS)
    object_, also_cut = _redact(parts, request.user_id, "object", request.object, MAX_OBJECT_CHARS)
    predicate = known.registry.checked(request.predicate)
    from_ms = parts.clock.now_ms() if request.valid_from is None else checked_ts(request.valid_from)
    to_ms = None if request.valid_to is None else checked_ts(request.valid_to)
    if to_ms is not None and to_ms <= from_ms:
        raise InvalidInput("a fact must end after it begins")
    assertion = Assertion(
        collection=Collection.facts(request.user_id),
        id="",
        subject=" ".join(subject.split()),
        predicate=predicate,
        object=object_.strip(),
        valid_from_ms=from_ms,
        valid_to_ms=to_ms,
        recorded_ms=parts.clock.now_ms(),
        sources=tuple(source.ref for source in sources),
        hashes=tuple(text_hash(source.ref, source.text) for source in sources),
        confidence=_confidence(request.confidence, sources),
        many=not known.registry.is_single(predicate),
    )
    named = _find_facts(known, assertion.collection, request.supersedes)
    assertion = replace(
        assertion,
        id=_free_id(known, assertion, [fact.id for fact in named]),
        recorded_ms=_next_recorded_ms(known, assertion),
        supersedes=_ids_to_end(known, assertion, named),
    )
    return assertion, tuple(dict.fromkeys((*cut, *also_cut)))


def _check_weight(parts: Parts, known: Facts, assertion: Assertion, trust: Trust) -> None:
    """Tools and pages do not end a fact that a person stated, unless the request names it. Raises InvalidInput."""
    if trust is not Trust.UNTRUSTED:
        return
    held = known.history(assertion).holding(assertion.valid_from_ms)
    if held is None or held.assertions[0].key == assertion.key:
        return
    is_named = not {each.id for each in held.assertions}.isdisjoint(assertion.supersedes)
    if not is_named and supports(parts, [held])[held.id].is_relied_on:
        raise InvalidInput(f"an untrusted source cannot end {held.id}; name that in supersedes if it should")


def _find_facts(known: Facts, collection: str, names: Sequence[str]) -> list[Fact]:
    if len(names) > MAX_SUPERSEDED:
        raise InvalidInput(f"a fact supersedes at most {MAX_SUPERSEDED} others, not {len(names)}")
    return [_find_fact(known, collection, name) for name in names]


def _ids_to_end(known: Facts, assertion: Assertion, named: Sequence[Fact]) -> tuple[str, ...]:
    """The assertions that end where this one begins: those of the named facts, and those that it overrules.

    A value that another one hides counts, too: it may come to light again. Raises InvalidInput where this one would
    hold beyond the beginning of a later value.
    """
    ended = dict.fromkeys(each.id for fact in named for each in fact.assertions)
    for fact, each in _in_the_way(known, assertion):
        if each.id not in ended and each.valid_from_ms > assertion.valid_from_ms and not fact.never_held:
            raise InvalidInput(
                f"{fact.id} begins before this fact would end, and {assertion.predicate} takes one value at a time; "
                "let it end there, or supersede that"
            )
        ended[each.id] = None
    return _checked_number(tuple(ended))


def _in_the_way(known: Facts, assertion: Assertion) -> list[tuple[Fact, Assertion]]:
    """The assertions of other values that would go on when the new one begins, or that begin while it holds.

    Only those that name their end count: any other simply ends where the next begins.
    """
    if not known.registry.is_single(assertion.predicate):
        return []
    history = known.history(assertion)
    found = list(history.meant_to_last(assertion.valid_from_ms))
    if assertion.valid_to_ms is not None:
        found += history.begun_between(assertion.valid_from_ms, assertion.valid_to_ms)
    pairs = [(known.get(each.id), each) for each in found if each.key != assertion.key]
    others = [(fact, each) for fact, each in pairs if fact is not None]
    return sorted(others, key=lambda pair: (in_time(pair[0]), in_order(pair[1])))


def _next_recorded_ms(known: Facts, assertion: Assertion) -> int:
    """A moment after every record of the same subject and predicate, even where the clock stepped back."""
    before_ms = known.last_recorded_ms(assertion.subject, assertion.predicate)
    return assertion.recorded_ms if before_ms is None else max(assertion.recorded_ms, before_ms + 1)


def _free_id(known: Facts, assertion: Assertion, named: Sequence[str]) -> str:
    """The same statement twice is one assertion, unless somebody took it back in between."""
    after = ""
    while True:
        id_ = assertion_id(assertion, named, after)
        taken_back = known.invalidations_of(id_)
        if not taken_back:
            return id_
        after = taken_back[-1].id


def _confidence(given: float | None, sources: Sequence[_Source]) -> float:
    """Never more than the most trusted source allows."""
    allowed = max(CONFIDENCE_OF_TRUST[source.trust] for source in sources)
    if given is None:
        return allowed
    if not 0.0 <= given <= 1.0:
        raise InvalidInput(f"confidence must be from 0 to 1, not {given}")
    return min(given, allowed)


# --- invalidating --------------------------------------------------------------------------------------


def _invalidation(parts: Parts, fact: Fact, at_ms: int | None, reason: str) -> Invalidation:
    """Recorded no earlier than the assertions it ends, whatever the clock says."""
    now_ms = parts.clock.now_ms()
    end_ms = now_ms if at_ms is None else checked_ts(at_ms)
    _check_end(fact, end_ms)
    ids = _checked_number(tuple(assertion.id for assertion in fact.assertions))
    return Invalidation(
        collection=fact.assertions[0].collection,
        id=invalidation_id(ids, end_ms),
        fact_ids=ids,
        at_ms=end_ms,
        recorded_ms=max(now_ms, *(assertion.recorded_ms for assertion in fact.assertions)),
        reason=reason,
    )


def _check_end(fact: Fact, at_ms: int) -> None:
    if at_ms < fact.valid_from_ms:
        raise InvalidInput("a fact cannot end before it begins; to say that it never held, name its beginning")
    if fact.valid_to_ms is not None and at_ms > fact.valid_to_ms:
        raise InvalidInput("it ended before that; to say that it never held, name its beginning")


# --- writing -------------------------------------------------------------------------------------------


def _draft(parts: Parts, entry: Assertion | Invalidation, text: str) -> Draft:
    """An entry of the log. Its words are redacted by now; its references are names, and names stay."""
    draft = make_draft(
        parts,
        text,
        role=None,
        provenance=Provenance.MEMORY,
        ts_ms=entry.recorded_ms,
        metadata=metadata_of(entry),
    )
    kind = Kind.FACT if isinstance(entry, Assertion) else Kind.EVENT
    draft = grade_draft(judge_draft(draft, entry.recorded_ms), entry.recorded_ms, kind)
    if draft.trust is Trust.QUARANTINED:
        raise InvalidInput(f"this cannot be a fact: {STEERING}")
    return draft


def _receipt(parts: Parts, user_id: str | None, id_: str, is_new: bool, redacted: Sequence[str]) -> FactReceipt:
    known = known_facts(parts, user_id)
    fact = known.get(id_)
    if fact is None:
        raise NotFound(f"the fact {id_} was removed while it was written")
    by_it = {assertion.id for assertion in fact.assertions}
    named = [known.get(target) for assertion in fact.assertions for target in assertion.supersedes]
    others = [other for other in named if other is not None]
    alike = [other for other in others if (other.subject, other.predicate) == (fact.subject, fact.predicate)]
    near = (*sorted((*known.beside(fact), *alike), key=in_time), *others)
    ended = {other.id: other for other in near if other.ended_by in by_it and other.id != fact.id}
    shown, *gone = views(parts, known, [fact, *ended.values()])
    return FactReceipt(fact=shown, new=is_new, ended=tuple(gone), redacted=tuple(dict.fromkeys(redacted)))


def _find_fact(known: Facts, collection: str, name: str) -> Fact:
    check_unicode("fact", name)
    fact = known.get(name.removeprefix(f"{collection}/"))
    if fact is None:
        raise NotFound(f"there is no fact {name[:200]!r}")
    return fact


def _checked_number(ids: tuple[str, ...]) -> tuple[str, ...]:
    if len(ids) > MAX_NAMED:
        raise InvalidInput(f"at most {MAX_NAMED} assertions can be ended at once, not {len(ids)}")
    return ids


def _redact(parts: Parts, user_id: str | None, what: str, text: str, max_chars: int) -> tuple[str, tuple[str, ...]]:
    """A part of a fact without the secrets that the policy cuts, and their kinds."""
    check_unicode(what, text)
    if what != "reason" and not text.strip():
        raise InvalidInput(f"{what} must not be empty")
    if len(text) > max_chars:
        raise InvalidInput(f"{what} must have at most {max_chars} characters, not {len(text)}")
    clean = redact(text, policy_of(parts, Collection.facts(user_id), _memories(user_id)))
    return clean.text[:max_chars], tuple(found.kind for found in clean.found)


def _memories(user_id: str | None) -> Collection:
    return GLOBAL if user_id is None else Collection.memories(user_id)


REMOVED = "what ended it was removed"

Endings = Mapping[str | None, Mapping[str, tuple[str, int]]]
"""By owner, each fact that another one ended: by which, and when."""


def endings(parts: Parts) -> Endings:
    """The ends of all facts, to give to `keep` after a purge."""
    owners = [name.user_id for name, size in parts.store.collections() if size and _holds_facts(name)]
    return {
        owner: {
            fact.id: (fact.ended_by, fact.valid_to_ms)
            for _, facts in known_facts(parts, owner).subjects()
            for fact in facts
            if fact.ended_by is not None and fact.valid_to_ms is not None
        }
        for owner in owners
    }


def keep(parts: Parts, before: Endings) -> int:
    """End again, at their old ends, the facts that would hold because the fact that ended them is gone."""
    count = 0
    for owner, ended in before.items():
        view = known_facts(parts, owner)
        for id_, (by, end_ms) in ended.items():
            fact = view.get(id_)
            if fact is not None and view.get(by) is None and fact.valid_to_ms != end_ms:
                invalidate(parts, FactsInvalidate(fact=id_, user_id=owner, at=end_ms, reason=REMOVED))
                count += 1
    return count


def _holds_facts(collection: Collection) -> bool:
    """Whether it is a log of facts, of a user or for all."""
    return collection.kind is CollectionKind.FACTS and (collection.is_shared or collection.user_id is not None)

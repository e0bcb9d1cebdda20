"""Trust and its review: what is held back and why, and the operator's word on it.

Trust comes from where a text is from. The operator alone can give more, and what was made from a text follows it: a
summary or a memory is never trusted more than what entered it. Use changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from clew.core.marks import By, Mark, made, set_by, value_of
from clew.core.model import TRUST_OF_PROVENANCE, Metadata, Provenance, Record, Trust, least
from clew.errors import InvalidInput
from clew.features.trust.operations import Inspect, Inspection, ListTrust, Review, ReviewReceipt, TrustItem, TrustList
from clew.kernel.derivation import Derivation, at_home, home_of
from clew.kernel.echoes import Echoes
from clew.kernel.intake import check_size, policy_of
from clew.kernel.parts import Parts
from clew.kernel.records import checked_cursor, checked_limit, find_record, place_of, view
from clew.kernel.services import serves
from clew.storage.protocol import Marking, Place, StoredRecord
from clew.text.excerpts import one_line
from clew.text.framing import quote
from clew.text.redaction import redact

MAX_LISTED = 10_000
MAX_REASON_BYTES = 4000

BY_PROVENANCE = "by provenance"


class Verdict(StrEnum):
    QUARANTINE = "quarantine"
    RELEASE = "release"
    CONFIRM = "confirm"


_WITHOUT_REASON = {
    Verdict.QUARANTINE: "quarantined by the operator",
    Verdict.RELEASE: "released by the operator",
    Verdict.CONFIRM: "confirmed by the operator",
}


@serves(ListTrust)
def list_trust(parts: Parts, request: ListTrust) -> TrustList:
    limit = checked_limit(request.limit, MAX_LISTED)
    page = parts.store.trusted(_checked_trust(request.trust), checked_cursor(request.cursor), limit)
    cursor = page[-1].key if len(page) == limit else None
    return TrustList(items=tuple(map(_item, page)), cursor=cursor)


@serves(Inspect)
def inspect(parts: Parts, request: Inspect) -> Inspection:
    record = find_record(parts, request.ref)
    derivation = Derivation(parts)
    home = at_home(parts, record)
    return Inspection(
        record=view(record),
        reason=_reason(record.marks),
        places=tuple(
            f"{place.collection}/{place.id}"
            for place in parts.store.places(record.collection, record.id)
            if not place.collection.is_internal
        ),
        made_from=tuple(source.ref for source in derivation.sources(home)),
        made_into=tuple(product.ref for product in derivation.all_products(home)),
    )


@serves(Review)
def review(parts: Parts, request: Review) -> ReviewReceipt:
    """Changes the record and all that was made from it in one step, then what others made of it meanwhile."""
    verdict = _checked_verdict(request.verdict)
    check_size("reason", request.reason.encode, MAX_REASON_BYTES)
    derivation = Derivation(parts)
    record = at_home(parts, find_record(parts, request.ref))
    trust = _decide(record, verdict, derivation.sources(record))
    plan = _Plan(derivation, record, trust)
    now_ms = parts.clock.now_ms()
    shown_in = (place.collection for place in parts.store.places(record.collection, record.id))
    reason = redact(request.reason, policy_of(parts, *shown_in)).text
    mark = {"trust": trust.value, "reason": reason or _WITHOUT_REASON[verdict]}
    if verdict is Verdict.QUARANTINE:
        mark["before"] = _before_quarantine(record).value
    parts.store.mark([_marking(record, trust, mark, now_ms), *plan.markings(now_ms)])
    if late := _Plan(Derivation(parts), record, trust).markings(now_ms):
        parts.store.mark(late)
    parts.state(Echoes).read_again()
    return ReviewReceipt(ref=record.ref, before=record.trust.value, trust=trust.value, affected=tuple(plan.affected()))


def follow_sources(parts: Parts, made_places: Sequence[Place]) -> None:
    """Lowers what was just made where a review lowered one of its sources since those were read.

    Whoever makes a record calls this when it is written; a review looks once more when it is done. One of the two
    sees the other.
    """
    for place in made_places:
        for record in parts.store.get(place.collection, [place.id]):
            worst = _worst(Derivation(parts).sources(record))
            if worst is not None and least((record.trust, worst.trust)) is not record.trust:
                origin = _followed_by(worst) or worst.ref
                parts.store.mark([_mark_following(record, worst.trust, origin, parts.clock.now_ms())])


def _decide(record: Record, verdict: Verdict, sources: Sequence[Record]) -> Trust:
    """The trust a verdict gives. Raises InvalidInput where that is more than what the record was made from has."""
    if record.provenance is Provenance.AUTHORED:
        raise InvalidInput(f"{record.ref} is the operator's own text; it changes with its file")
    if verdict is Verdict.QUARANTINE:
        return Trust.QUARANTINED
    worst = _worst(sources)
    if worst is not None and worst.trust is Trust.QUARANTINED:
        raise InvalidInput(f"{record.ref} was made from {worst.ref}, which is quarantined; release that first")
    if verdict is Verdict.CONFIRM:
        if worst is not None and worst.trust is not Trust.TRUSTED:
            why = f"it was made from {worst.ref}, which is {worst.trust}"
            raise InvalidInput(f"{record.ref} cannot be trusted more than its sources: {why}")
        return Trust.TRUSTED
    own = [] if record.provenance is Provenance.SUMMARY else [_released(record)]
    return least([*own, *(source.trust for source in sources)])


def _released(record: Record) -> Trust:
    """What its origin gives. A reply that repeats a tool must not gain by having been held back meanwhile."""
    given = TRUST_OF_PROVENANCE[record.provenance]
    return least((given, _before_quarantine(record))) if record.trust is Trust.QUARANTINED else given


def _before_quarantine(record: Record) -> Trust:
    if record.trust is not Trust.QUARANTINED:
        return _own_trust(record)
    before = _text_of(record.marks, "before")
    return Trust(before) if before in set(Trust) else TRUST_OF_PROVENANCE[record.provenance]


@dataclass
class _Plan:
    """What becomes of everything that was made from a record, once that has another trust.

    What follows another record remembers the trust it had before, and comes back to it, and to no more, when no
    source holds it down any longer.
    """

    derivation: Derivation
    record: Record
    trust: Trust
    products: list[Record] = field(init=False)
    planned: dict[str, Trust] = field(init=False)
    followed: dict[str, str] = field(default_factory=dict)
    """By reference, the record that holds each of them down."""

    def __post_init__(self) -> None:
        self.products = self.derivation.all_products(self.record)
        self.planned = {product.ref: _own_trust(product) for product in self.products} | {self.record.ref: self.trust}
        self._carry_on()

    def _carry_on(self) -> None:
        """Lowers what is above one of its sources, until nothing is."""
        reached = {product.ref for product in self.products}
        waiting = deque(self.products)
        while waiting:
            product = waiting.popleft()
            if self._lower(product):
                waiting += [after for after in self.derivation.products(product) if after.ref in reached]

    def _lower(self, product: Record) -> bool:
        sources = self.derivation.sources(product)
        limit = least([Trust.TRUSTED, *(self._trust_of(source) for source in sources)])
        before = self.planned[product.ref]
        self.planned[product.ref] = least((before, limit))
        if self.planned[product.ref] is before:
            return False
        culprit = next(source for source in sources if self._trust_of(source) is limit)
        self.followed[product.ref] = self.followed.get(culprit.ref) or _followed_by(culprit) or culprit.ref
        return True

    def _trust_of(self, record: Record) -> Trust:
        return self.planned.get(record.ref, record.trust)

    def affected(self) -> list[str]:
        return sorted(product.ref for product in self.products if self.planned[product.ref] is not product.trust)

    def markings(self, now_ms: int) -> list[Marking]:
        return [
            self._marking(product, now_ms)
            for product in self.products
            if self.planned[product.ref] is not product.trust or self.followed.get(product.ref) != _followed_by(product)
        ]

    def _marking(self, product: Record, now_ms: int) -> Marking:
        trust, origin = self.planned[product.ref], self.followed.get(product.ref)
        if origin is None:
            is_confirmed = trust is Trust.TRUSTED and product.provenance is not Provenance.SUMMARY
            reason = {"trust": trust.value, "reason": _WITHOUT_REASON[Verdict.CONFIRM]}
            return _marking(product, trust, reason if is_confirmed else None, now_ms)
        return _mark_following(product, trust, origin, now_ms)


def _marking(record: Record, trust: Trust, value: Mapping[str, str] | None, now_ms: int) -> Marking:
    """All of a review is the operator's word, what follows from it included, and overrules the detector."""
    mark = None if value is None else made(value, By.OPERATOR, now_ms)
    return Marking(place_of(record), {Mark.TRUST.value: mark}, trust)


def _mark_following(record: Record, trust: Trust, origin: str, now_ms: int) -> Marking:
    before = _own_trust(record).value
    mark = {"trust": trust.value, "reason": f"made from {origin}", "from": origin, "before": before}
    return _marking(record, trust, mark, now_ms)


def _followed_by(record: Record) -> str | None:
    """The record whose trust this one follows, where it follows one."""
    return _text_of(record.marks, "from")


def _own_trust(record: Record) -> Trust:
    """The trust it has, or had before it followed another; where that is not known, what its origin gives."""
    if _followed_by(record) is None:
        return record.trust
    before = _text_of(record.marks, "before")
    return Trust(before) if before in set(Trust) else TRUST_OF_PROVENANCE[record.provenance]


def _worst(records: Sequence[Record]) -> Record | None:
    limit = least([Trust.TRUSTED, *(record.trust for record in records)])
    return next((record for record in records if record.trust is limit), None)


def _item(stored: StoredRecord) -> TrustItem:
    home, draft = home_of(stored.places), stored.draft
    return TrustItem(
        ref="" if home is None else f"{home.collection}/{home.id}",
        trust=draft.trust.value,
        provenance=draft.provenance.value,
        reason=_reason(draft.marks),
        by=set_by(draft.marks, Mark.TRUST) or "provenance",
        ts=draft.ts_ms,
        text=quote(one_line(draft.text)),
    )


def _reason(marks: Metadata) -> str:
    return _text_of(marks, "reason") or BY_PROVENANCE


def _text_of(marks: Metadata, key: str) -> str | None:
    value = value_of(marks, Mark.TRUST)
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else None


def _checked_trust(name: str) -> Trust:
    try:
        return Trust(name)
    except ValueError:
        raise InvalidInput(f"trust must be one of {', '.join(Trust)}") from None


def _checked_verdict(name: str) -> Verdict:
    try:
        return Verdict(name)
    except ValueError:
        raise InvalidInput(f"verdict must be one of {', '.join(Verdict)}") from None

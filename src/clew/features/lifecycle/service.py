"""Ageing: grades for what has none, the archive for what nobody used for long, marks for what contradicts itself.

A run looks at every memory and everything in the ledger, a page at a time, and writes each page before it
reads the next, so that other writers never wait for more than a page. A dry run makes the same decisions
and writes nothing. Comparing records for contradictions is bounded: a run compares so many pairs at most,
and the next one goes on where it stopped. What is kept of a run are its figures, not what it was about.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from clew.core.collections import Collection
from clew.core.ids import ID_BYTES, digest
from clew.core.marks import By, Mark, made, set_by, value_of
from clew.core.model import Kind, Metadata, Record, Trust
from clew.core.operation import Done
from clew.errors import InvalidInput, NotFound
from clew.features.lifecycle import archive, duplicates
from clew.features.lifecycle.operations import Age, AgeReceipt, Label, Revive
from clew.features.lifecycle.retention import (
    Retention,
    is_due,
    known_since_ms,
    label_in,
    resting_since_ms,
    retention_of,
)
from clew.kernel.intake import grade_value
from clew.kernel.operations import RecordView
from clew.kernel.parts import Parts
from clew.kernel.records import find_record, place_of, view
from clew.kernel.services import serves
from clew.storage.paging import member_pages
from clew.storage.protocol import Marking, Place
from clew.text.dissent import conflict
from clew.text.grading import importance
from clew.text.grading.kinds import kind_of_text
from clew.text.own_text import without_own

BOOKMARK = "lifecycle"
HOUR_MS = 3_600_000

PAGE = 100
"""Records that are read and written in one go."""

SHOWN_REFS = 50
"""References that a receipt names."""

COMPARISONS_A_RUN = 64_000_000
"""Pairs that one run compares in search of contradictions, some seconds' work."""

COMPARISONS_A_COLLECTION = 4_000_000
"""All pairs of 2,000 records; of a larger collection, the newest are compared with all others."""

SAME_MATTER = 0.6
SAME_MATTER_BY_WORDS = 0.4
"""Records less similar than this are not about the same thing. Two that disagree are less alike than two that say the
same: of pairs such as `the budget is 500` and `the budget is 700`, the default model finds none below 0.65."""

MAX_CHAIN = 100
"""Records of which each supersedes the one before."""

_KINDS = {kind.value: kind for kind in Kind}


@serves(Age)
def age(parts: Parts, request: Age) -> AgeReceipt:
    if request.last or (request.if_due and not due(parts)):
        return last_run(parts) or _Run(parts, dry_run=False, now_ms=0).receipt()
    run = _Run(parts, request.dry_run, parts.clock.now_ms(), by_itself=request.if_due)
    run.look_at_all()
    return run.finish()


def due(parts: Parts) -> bool:
    """Whether the daemon should age what is kept. A last run that lies ahead of the clock says nothing."""
    period_ms = parts.config.lifecycle_hours * HOUR_MS
    last = last_run(parts)
    return period_ms > 0 and (last is None or not 0 <= parts.clock.now_ms() - last.ts < period_ms)


def last_run(parts: Parts) -> AgeReceipt | None:
    """The figures of the last run that changed something or could have; None before the first."""
    kept = _read_kept(parts)
    return None if kept is None else kept.receipt


@serves(Revive)
def revive(parts: Parts, request: Revive) -> Done:
    """All are found before the first one moves. One that does not rest, or whose id was taken again, stays."""
    if not request.refs:
        raise InvalidInput("name at least one record to revive")
    found = {record.ref: record for record in (find_record(parts, ref) for ref in request.refs)}
    return Done(count=sum(archive.restore(parts, record) for record in found.values()))


@serves(Label)
def label(parts: Parts, request: Label) -> RecordView:
    record = find_record(parts, request.ref)
    now_ms = parts.clock.now_ms()
    said = {
        Mark.KIND: _checked("kind", request.kind, Kind),
        Mark.GRADE: _grade_said(_checked("importance", request.importance, importance.Label)),
        Mark.RETENTION: _checked("retention", request.retention, Retention),
        Mark.SUPERSEDED_BY: request.superseded_by and _successor(parts, record, request.superseded_by),
    }
    given = (request.kind, request.importance, request.retention, request.superseded_by)
    changes: Metadata = {
        name: made(value, By.OPERATOR, now_ms) if value else None
        for (name, value), word in zip(said.items(), given, strict=True)
        if word is not None
    }
    if not changes:
        raise InvalidInput("say what the record is: a kind, an importance, a retention class, or what supersedes it")
    parts.store.mark([Marking(place_of(record), changes)])
    return view(find_record(parts, record.ref))


# --- a run ---------------------------------------------------------------------------------------------


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of a run."""

    receipt: AgeReceipt
    reached: str
    """How far the search for contradictions came: the digest of a collection's name, since names tell whose it is."""


@dataclass(slots=True)
class _Run:
    parts: Parts
    dry_run: bool
    now_ms: int
    by_itself: bool = False
    """Whether the daemon does it, and not the operator."""
    looked_at: int = 0
    graded: Counter[str] = field(default_factory=Counter)
    archived: Counter[str] = field(default_factory=Counter)
    archived_refs: list[str] = field(default_factory=list)
    contradictions: list[tuple[str, str]] = field(default_factory=list)
    comparisons: int = COMPARISONS_A_RUN
    reached: str = ""
    changed: set[Place] = field(default_factory=set)
    """Other places of records that were changed: a run looks once at a record that is in two ledgers."""
    gone: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What left, by collection."""

    def look_at_all(self) -> None:
        for collection in _in_turn(self.parts):
            for page in member_pages(self.parts.store, collection, size=PAGE):
                self._age(page)
            self._compare(collection)

    def finish(self) -> AgeReceipt:
        """Keep the figures of a run that changed something or could have."""
        receipt = self.receipt()
        if not self.dry_run:
            figures = msgspec.structs.replace(receipt, archived_refs=(), contradiction_refs=())
            kept = msgspec.json.encode(_Kept(figures, self.reached)).decode()
            self.parts.store.put([], bookmarks={BOOKMARK: kept})
        return receipt

    def _age(self, page: list[Record]) -> None:
        markings: list[Marking] = []
        leaving: list[Place] = []
        for record in page:
            if place_of(record) in self.changed:
                continue
            self.looked_at += 1
            grade = self._grade(record)
            places = self._leaves(record, grade)
            if grade or places:
                self.changed.update(self.parts.store.places(record.collection, record.id))
                self.changed.discard(place_of(record))
                markings.append(Marking(place_of(record), grade))
                leaving += places
        if not self.dry_run:
            self.parts.store.mark(markings)
            archive.put_away(self.parts, leaving)

    def _grade(self, record: Record) -> Metadata:
        """The mark that a record without a grade receives; none where it has one."""
        if label_in(record.marks) is not None or set_by(record.marks, Mark.GRADE) == By.OPERATOR:
            return {}
        grade = _judge(record)
        self.graded[grade.label.value] += 1
        return {Mark.GRADE: made(grade_value(grade), By.CLEW, self.now_ms)}

    def _leaves(self, record: Record, grade: Metadata) -> tuple[Place, ...]:
        """The places a record leaves for the archive. What waits for review waits where it is."""
        retention = retention_of({**record.marks, **grade})
        since_ms = resting_since_ms(record)
        if self.by_itself:  # what was written long ago and came in today was never here to be used
            since_ms = max(since_ms, known_since_ms(record) or self.now_ms)
        rested = is_due(retention, since_ms, self.now_ms, self.parts.config.retention_days)
        places = archive.movable_places(self.parts, record) if rested and record.trust is not Trust.QUARANTINED else ()
        for place in places:
            self.gone[place.collection].append(place.id)
        if places:
            self.archived[retention.value] += 1
            self.archived_refs.append(record.ref)
        return places

    def _compare(self, collection: str) -> None:
        """Mark what contradicts itself in a collection, as long as the run may compare."""
        if self.comparisons <= 0:
            return
        nearness = duplicates.near(
            self.parts,
            collection,
            SAME_MATTER,
            words_at_least=SAME_MATTER_BY_WORDS,
            comparisons=min(self.comparisons, COMPARISONS_A_COLLECTION),
            leave_out=self.parts.store.seqs(collection, self.gone[collection]),
        )
        self.comparisons -= nearness.looked_at * nearness.with_all
        self.reached = _turn(collection)
        found = [
            (one, other)
            for one, other, _ in duplicates.pairs_of(self.parts, collection, nearness.pairs)
            if conflict(one.text, other.text) is not None
        ]
        self._note(found)

    def _note(self, pairs: Iterable[tuple[Record, Record]]) -> None:
        """Each pair once; what is marked already is not marked again."""
        against: dict[Place, list[str]] = {}
        known = set(self.contradictions)
        for one, other in pairs:
            (ref, named), (other_ref, other_named) = self._known(one), self._known(other)
            pair = (min(ref, other_ref), max(ref, other_ref))
            if pair not in known and not (other_ref in named and ref in other_named):
                known.add(pair)
                self.contradictions.append(pair)
                against.setdefault(place_of(one), list(named)).append(other_ref)
                against.setdefault(place_of(other), list(other_named)).append(ref)
        if not self.dry_run:
            self.parts.store.mark(
                [
                    Marking(place, {Mark.CONTRADICTS: made(sorted(set(refs)), By.CLEW, self.now_ms)})
                    for place, refs in against.items()
                ]
            )

    def _known(self, record: Record) -> tuple[str, list[str]]:
        """A record's first reference, under which it counts once wherever it is, and what contradicts it."""
        first = self.parts.store.places(record.collection, record.id)[0]
        named = value_of(record.marks, Mark.CONTRADICTS)
        return f"{first.collection}/{first.id}", named if isinstance(named, list) else []

    def receipt(self) -> AgeReceipt:
        named = [ref for pair in sorted(self.contradictions) for ref in pair]
        return AgeReceipt(
            dry_run=self.dry_run,
            looked_at=self.looked_at,
            graded=dict(sorted(self.graded.items())),
            archived=dict(sorted(self.archived.items())),
            archived_refs=tuple(sorted(self.archived_refs)[:SHOWN_REFS]),
            contradictions=len(self.contradictions),
            contradiction_refs=tuple(dict.fromkeys(named))[:SHOWN_REFS],
            ts=self.now_ms,
        )


def _read_kept(parts: Parts) -> _Kept | None:
    try:
        return msgspec.json.decode(parts.store.bookmark(BOOKMARK) or "null", type=_Kept | None)
    except msgspec.MsgspecError:  # written by another version; the next run writes its own
        return None


def _in_turn(parts: Parts) -> list[Collection]:
    """The collections that age, beginning behind the one that was compared last."""
    kept = _read_kept(parts)
    reached = "" if kept is None else kept.reached
    names = sorted((_turn(name), name) for name, _ in parts.store.collections() if archive.may_rest(name))
    ahead = [name for turn, name in names if turn > reached]
    return ahead + [name for turn, name in names if turn <= reached]


def _turn(collection: str) -> str:
    return digest(collection, size_bytes=ID_BYTES).hex()


def _judge(record: Record) -> importance.Grade:
    learnt = without_own(record.text)
    said, tool = value_of(record.marks, Mark.KIND), record.metadata.get("toolName")
    kind = _KINDS.get(said) if isinstance(said, str) else None
    return importance.grade(learnt, kind or kind_of_text(learnt, record.role), tool if isinstance(tool, str) else None)


# --- the operator's labels -----------------------------------------------------------------------------


def _checked(what: str, word: str | None, words: type[Kind | importance.Label | Retention]) -> str | None:
    known = [item.value for item in words]
    if word and word not in known:
        raise InvalidInput(f"{what} must be one of {', '.join(known)}, not {word[:40]!r}")
    return word


def _grade_said(word: str | None) -> dict[str, Any] | None:
    """The operator's grade, in the middle of its band."""
    if not word:
        return None
    score = {"must_remember": 0.9, "nice_to_have": 0.65, "ignore": 0.25}[word]
    return {"score": score, "label": word, "reasons": [], "method": "operator", "version": importance.VERSION}


def _successor(parts: Parts, record: Record, ref: str) -> str:
    """The reference of what holds in a record's place: another record, of the same user, session or all."""
    found = find_record(parts, ref)
    if _scope(found.collection) != _scope(record.collection):
        raise InvalidInput(f"{ref[:200]!r} belongs to another scope than {record.ref}")
    if any(place_of(record) in parts.store.places(item.collection, item.id) for item in _succession(parts, found)):
        raise InvalidInput(f"{record.ref} cannot supersede itself")
    return archive.home_ref(found)


def _succession(parts: Parts, record: Record) -> Iterator[Record]:
    """A record, what supersedes it, what supersedes that, as far as it can be followed."""
    for _ in range(MAX_CHAIN):
        yield record
        following = value_of(record.marks, Mark.SUPERSEDED_BY)
        try:
            record = find_record(parts, following if isinstance(following, str) else "")
        except (InvalidInput, NotFound):
            return


def _scope(collection: str) -> str:
    """Whose a collection is, under one name for all that belong together."""
    kind, _, owner = archive.home_of(collection).partition(":")
    if kind in ("user", "turns", "replies"):
        return f"user:{owner}"
    if kind in ("session", "session_raw", "session_summary"):
        return f"session:{owner}"
    return owner if kind in ("ledger", "elevated") else kind

"""Records that say the same, or contradict each other: found and proposed with evidence, merged on the operator's word.

Two records are near by their meaning where both have vectors, and by their words otherwise. The newest are
compared with all others, as many as a bounded amount of work allows: up to some thousands that is all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clew.core.calibration import Calibration
from clew.core.collections import Collection
from clew.core.marks import By, Mark, made, value_of
from clew.core.model import Metadata, Record, Trust, least
from clew.core.operation import Done
from clew.errors import InvalidInput
from clew.features.lifecycle import archive
from clew.features.lifecycle.operations import Duplicate, DuplicateList, FindDuplicates, Merge
from clew.features.lifecycle.resemblance import MAX_CHARS, Wording, agree, like_pairs, likeness, wording
from clew.index.vectors import BLOCK_ITEMS, SCALE, decode
from clew.kernel.intake import SOURCE_URL
from clew.kernel.parts import Parts
from clew.kernel.records import checked_limit, find_record, place_of
from clew.kernel.services import serves
from clew.storage.protocol import FeedRow, Marking
from clew.text.dissent import conflict

LEAST_SIMILARITY = 0.5
MAX_PROPOSALS = 1000
MAX_MERGED = 100

SPAN = 50_000
"""Of a larger collection, only the newest take part."""

COMPARISONS = 16_000_000
"""Pairs of vectors that are compared for one list of proposals: all pairs of 4,000 records, in about a second."""

WORDS_SPAN = 4000
"""Records that are compared by their words, where they have no vectors."""

MAX_PAIRS = 5000
"""Near pairs that are looked at more closely, the nearest first."""

_CHUNK = 100


class Near(NamedTuple):
    """Two members by their seqs."""

    newer: int
    older: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Nearness:
    pairs: list[Near]
    """The nearest first; of equally near ones those of the newest."""
    looked_at: int
    """Records that were compared with others."""
    with_all: int
    """The newest of them, which were compared with all the others."""


@serves(FindDuplicates)
def find_duplicates(parts: Parts, request: FindDuplicates) -> DuplicateList:
    limit = checked_limit(request.limit, MAX_PROPOSALS)
    collection = Collection.named(request.collection)
    if not archive.may_rest(collection):
        raise InvalidInput(f"{collection} holds no memories and no ledger; nothing in it can be merged")
    if not LEAST_SIMILARITY <= request.min_similarity <= 1.0:
        raise InvalidInput(f"minSimilarity must be from {LEAST_SIMILARITY} to 1, not {request.min_similarity}")
    nearness = near(parts, collection, request.min_similarity)
    proposals: list[Duplicate] = []
    for proposal in _proposals(parts, collection, nearness.pairs):
        proposals.append(proposal)
        if len(proposals) == limit:
            break
    return DuplicateList(proposals=tuple(proposals), looked_at=nearness.looked_at, compared_with_all=nearness.with_all)


@serves(Merge)
def merge(parts: Parts, request: Merge) -> Done:
    """What leads from the dropped to the kept is written first, in one step; then they leave.

    Whatever comes between, merging again finishes it.
    """
    keep = find_record(parts, request.keep)
    drops = list(
        {archive.home_ref(found): found for found in (find_record(parts, ref) for ref in request.drop)}.values()
    )
    _check_merge(parts, keep, drops)
    now_ms = parts.clock.now_ms()
    replaced: Metadata = {Mark.SUPERSEDED_BY: made(keep.ref, By.OPERATOR, now_ms)}
    parts.store.mark([_absorb(keep, drops, now_ms), *(Marking(place_of(drop), replaced) for drop in drops)])
    archive.put_away(parts, [place for drop in drops for place in archive.movable_places(parts, drop)])
    return Done(count=len(drops))


def near(
    parts: Parts,
    collection: str,
    at_least: float,
    *,
    words_at_least: float | None = None,
    comparisons: int = COMPARISONS,
    leave_out: Iterable[int] = (),
) -> Nearness:
    """Members of a collection that are at least so similar, by words where meanings cannot be compared.

    What is quarantined is compared with nothing.
    """
    parts.meaning.await_settling()
    hidden = {*parts.store.withheld(collection), *leave_out}
    rows = [row for row in parts.store.feed(collection, 0).added if row.seq not in hidden]
    rows = sorted(rows, key=lambda row: -row.seq)[:SPAN]
    calibration = parts.meaning.calibration
    embedded = [row for row in rows if row.vector is not None] if calibration is not None else []
    with_all = min(len(rows), max(comparisons // max(len(rows), 1), 1))
    pairs: list[Near] = []
    if calibration is not None and embedded:
        pairs = _near_by_meaning(embedded, calibration, at_least, with_all)
    by_meaning = {row.seq for row in embedded}
    if len(by_meaning) < len(rows):
        words = [row.seq for row in rows[:WORDS_SPAN]]
        found = _near_by_words(parts, collection, words, words_at_least or at_least)
        pairs += [pair for pair in found if not (pair.newer in by_meaning and pair.older in by_meaning)]
        with_all = min(with_all, len(words))
    pairs.sort(key=lambda pair: (-pair.similarity, -pair.newer, -pair.older))
    return Nearness(pairs[:MAX_PAIRS], len(rows) if embedded else min(len(rows), WORDS_SPAN), with_all)


def pairs_of(parts: Parts, collection: str, pairs: Sequence[Near]) -> Iterator[tuple[Record, Record, float]]:
    """Pairs with their records, without those that are too long to compare or that another record replaced."""
    for start in range(0, len(pairs), _CHUNK):
        chunk = pairs[start : start + _CHUNK]
        seqs = sorted({seq for pair in chunk for seq in (pair.newer, pair.older)})
        records = {record.seq: record for record in parts.store.at(collection, seqs) if _is_comparable(record)}
        for newer, older, similarity in chunk:
            if newer in records and older in records:
                yield records[newer], records[older], similarity


# --- near by meaning, near by words --------------------------------------------------------------------


def _near_by_meaning(rows: Sequence[FeedRow], calibration: Calibration, at_least: float, probes: int) -> list[Near]:
    """The first `probes` rows against all that come after them, block by block."""
    blobs = [row.vector for row in rows if row.vector is not None]
    grid = decode(blobs, len(blobs[0]) // 2).astype(np.float32)
    height = max(BLOCK_ITEMS // len(rows), 1)
    best: list[tuple[float, int, int]] = []
    for start in range(0, min(probes, len(rows)), height):
        products = grid[start : min(start + height, probes)] @ grid[start:].T
        similarity = calibration.similarity(products / np.float32(SCALE * SCALE))
        ones, others = np.nonzero(np.triu(similarity >= at_least, k=1))
        values = similarity[ones, others]
        order = np.lexsort((others, ones, -values))[:MAX_PAIRS]
        found = zip(
            (-values[order]).tolist(), (ones[order] + start).tolist(), (others[order] + start).tolist(), strict=True
        )
        best = sorted([*best, *found])[:MAX_PAIRS]
    return [Near(rows[one].seq, rows[other].seq, -distance) for distance, one, other in best]


def _near_by_words(parts: Parts, collection: str, seqs: Sequence[int], at_least: float) -> list[Near]:
    known: dict[int, Wording] = {}
    for start in range(0, len(seqs), _CHUNK):
        for record in parts.store.at(collection, seqs[start : start + _CHUNK]):
            if len(record.text) <= MAX_CHARS:
                known[record.seq] = wording(record.text)
    places = list(known)
    pairs = like_pairs(list(known.values()), at_least, MAX_PAIRS)
    return [Near(places[pair.one], places[pair.other], pair.likeness) for pair in pairs]


def _is_comparable(record: Record) -> bool:
    return len(record.text) <= MAX_CHARS and value_of(record.marks, Mark.SUPERSEDED_BY) is None


# --- proposals -----------------------------------------------------------------------------------------


def _proposals(parts: Parts, collection: str, pairs: Sequence[Near]) -> Iterator[Duplicate]:
    """Each record is proposed to be dropped once, in favour of the nearest; contradictions are shown beside."""
    dropped: set[str] = set()
    for newer, older, similarity in pairs_of(parts, collection, pairs):
        if dropped & {newer.ref, older.ref}:
            continue
        proposal = _proposal(newer, older, similarity)
        if proposal is not None:
            yield proposal
            if not proposal.contradiction:
                dropped.add(proposal.drop)


def _proposal(one: Record, other: Record, similarity: float) -> Duplicate | None:
    """What to do about two near records; None where they differ in a figure and yet do not exclude each other."""
    keep, drop = _prefer(one, other)
    words, others = wording(keep.text), wording(drop.text)
    against = conflict(keep.text, drop.text)
    if against is None and not agree(words, others):
        return None
    return Duplicate(
        keep=keep.ref,
        drop=drop.ref,
        similarity=similarity,
        contradiction=against is not None,
        evidence=(*_differences(against, words, others), *_circumstances(keep, drop)),
    )


def _prefer(one: Record, other: Record) -> tuple[Record, Record]:
    """The more trusted first; of equally trusted ones the newer."""
    if one.trust is not other.trust:
        return (other, one) if least((one.trust, other.trust)) is one.trust else (one, other)
    return (one, other) if (one.ts_ms, one.seq) > (other.ts_ms, other.seq) else (other, one)


def _differences(against: str | None, words: Wording, others: Wording) -> Iterator[str]:
    """How alike the two are, in figures; never what they say."""
    if against is not None:
        yield f"they contradict each other: {against}"
    shared, together = len(words.words & others.words), len(words.words | others.words)
    yield f"{shared} of {together} words are shared, likeness by words {likeness(words, others):.2f}"
    differing = len(words.exact ^ others.exact)
    yield f"{differing} numbers or names differ" if differing else "numbers and names agree"


def _circumstances(keep: Record, drop: Record) -> Iterator[str]:
    yield f"written {_apart(abs(keep.ts_ms - drop.ts_ms))} apart"
    if _same_source(keep.metadata, drop.metadata):
        yield "both come from one source"
    if keep.trust is not drop.trust:
        yield f"the one to keep is {keep.trust.value}, the other {drop.trust.value}"


def _apart(ms: int) -> str:
    for unit, size_ms in (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000)):
        if ms >= 2 * size_ms:
            return f"{ms // size_ms} {unit}"
    return f"{ms // 1000} seconds"


def _same_source(one: Metadata, other: Metadata) -> bool:
    return any(one.get(name) is not None and one.get(name) == other.get(name) for name in (SOURCE_URL, "source"))


# --- merging -------------------------------------------------------------------------------------------


def _check_merge(parts: Parts, keep: Record, drops: Sequence[Record]) -> None:
    if not 1 <= len(drops) <= MAX_MERGED:
        raise InvalidInput(f"from 1 to {MAX_MERGED} records can be merged into one, not {len(drops)}")
    home = archive.home_of(keep.collection)
    for record in (keep, *drops):
        if not archive.is_own(record, parts.store.places(record.collection, record.id)):
            raise InvalidInput(f"{record.ref} is a turn or a summary, or belongs to the operator; it cannot be merged")
        if archive.home_of(record.collection) != home:
            raise InvalidInput(f"{record.ref} is not in {home}; only records of one collection can be merged")
    if keep.collection != home:
        raise InvalidInput(f"{archive.home_ref(keep)} rests in the archive; revive it before merging others into it")
    if keep.ref in map(archive.home_ref, drops):
        raise InvalidInput(f"{keep.ref} cannot be merged into itself")
    if keep.trust is Trust.QUARANTINED:
        raise InvalidInput(f"{keep.ref} is quarantined; what is merged into it could not be found any more")
    replaced = value_of(keep.marks, Mark.SUPERSEDED_BY)
    if replaced is not None and replaced not in map(archive.home_ref, drops):
        raise InvalidInput(f"{keep.ref} is superseded by {replaced}; merge into that, or label it as not superseded")


def _absorb(keep: Record, drops: Sequence[Record], now_ms: int) -> Marking:
    """The kept record with what was merged into it; it is trusted no more than the least trusted of them.

    That one of them superseded or contradicted it is settled by the merge.
    """
    before = value_of(keep.marks, Mark.MERGED)
    refs = dict.fromkeys([*(before if isinstance(before, list) else []), *map(archive.home_ref, drops)])
    marks: dict[str, Any] = {Mark.MERGED: made(list(refs), By.OPERATOR, now_ms)}
    if value_of(keep.marks, Mark.SUPERSEDED_BY) in list(refs):
        marks[Mark.SUPERSEDED_BY] = None
    against = value_of(keep.marks, Mark.CONTRADICTS)
    if isinstance(against, list):
        left = [ref for ref in against if ref not in list(refs)]
        marks[Mark.CONTRADICTS] = made(left, By.CLEW, now_ms) if left else None
    trust = least((keep.trust, *(drop.trust for drop in drops)))
    if trust is keep.trust:
        return Marking(place_of(keep), marks)
    marks[Mark.TRUST] = made(_inherit(trust, drops), By.OPERATOR, now_ms)
    return Marking(place_of(keep), marks, trust)


def _inherit(trust: Trust, drops: Sequence[Record]) -> Metadata:
    origin = next(archive.home_ref(drop) for drop in drops if drop.trust is trust)
    return {"trust": trust.value, "reason": "merged with a record that is trusted less", "from": origin}

"""The user's guidance for a context: what holds for every task, then what is nearest to the question, then the rest."""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew.core.collections import Collection
from clew.core.ranking import RECENCY_DECAYS, SIMILARITY_ALONE
from clew.features.context.operations import LeftOut
from clew.features.guidance.marking import MAX_STANDING
from clew.features.guidance.service import Piece, standing
from clew.index.search import Query, search
from clew.kernel.parts import Parts
from clew.kernel.search import Found, unsought

MAX_CANDIDATES = 100
"""Pieces that compete for the reserve; more do not fit any usual one."""


@dataclass(frozen=True, slots=True)
class Guided:
    """The guidance that may enter a context, in the order in which it does, and what gives way to later words."""

    found: tuple[Found, ...] = ()
    replaced: tuple[LeftOut, ...] = ()


def find_guidance(
    parts: Parts,
    query: Query | None,
    names: Sequence[Collection],
    exclude: Mapping[Collection, Sequence[str]],
    said: Container[str],
) -> Guided:
    """Guidance in the order of admission, each text once, without what the tail shows already.

    Likeness orders and shuts nothing out: a rule seldom shares words with the tasks it is for. Without a question, the
    newest comes first.
    """
    with parts.store.reading():
        pieces = standing(parts, names)
        if not pieces:
            return Guided()
        near = _nearest(parts, query, names, pieces)
    shown = {f"{name}/{id_}" for name, ids in exclude.items() for id_ in ids}
    holding = [piece for piece in pieces if piece.superseded_by is None]
    wanted = [piece for piece in holding if piece.record.ref not in shown and piece.record.text not in said]
    ordered = sorted(wanted, key=lambda piece: _rank(piece, near))
    once = {piece.record.text: piece.record for piece in reversed(ordered)}
    found = [near.get(record.ref) or unsought(record) for record in reversed(once.values())]
    replaced = [
        LeftOut(ref=piece.record.ref, reason=f"replaced by {piece.superseded_by}")
        for piece in pieces
        if piece.superseded_by is not None
    ]
    return Guided(tuple(found[:MAX_CANDIDATES]), tuple(replaced))


def _nearest(
    parts: Parts, query: Query | None, names: Sequence[Collection], pieces: Sequence[Piece]
) -> dict[str, Found]:
    """By reference, how near each piece is to the question. The pieces are read already, so no record is read again."""
    if query is None:
        return {}
    alike = replace(query, weights=SIMILARITY_ALONE)
    candidates = {}
    for name in names:
        with parts.indexes.current(name) as index:
            near = search(index, alike, name.scope, RECENCY_DECAYS[name.scope], MAX_STANDING)
        candidates.update({(name, candidate.seq): candidate for candidate in near})
    records = [(piece.record, candidates.get((piece.record.collection, piece.record.seq))) for piece in pieces]
    return {record.ref: Found(record, near, near.score) for record, near in records if near is not None}


def _rank(piece: Piece, near: Mapping[str, Found]) -> tuple[bool, float]:
    """What holds for every task comes first; pieces of the same rank stay as they are, newest first."""
    found = near.get(piece.record.ref)
    likeness = found.candidate.similarity if found is not None and not piece.is_general else 0.0
    return not piece.is_general, -likeness

"""A user's turns as index rows, made the way the services make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.index.collection import CollectionIndex
from clew.storage.protocol import Feed, FeedRow
from clew.text.terms import analyse, lexical_text, pack, signs

MAY_10_2023_MS = 1_683_676_800_000
DAY_MS = 86_400_000


@dataclass(frozen=True)
class Said:
    text: str
    session: str = "s"
    speaker: str | None = None
    ts_ms: int = MAY_10_2023_MS
    vector: bytes | None = None


def feed_rows(turns: Sequence[Said]) -> list[FeedRow]:
    """In the order in which they were said, at the places 1, 2, 3 …"""
    return [
        FeedRow(
            seq,
            turn.ts_ms,
            pack(
                analyse(lexical_text(turn.text, turn.speaker, turn.ts_ms)), signs(turn.text, turn.speaker, turn.ts_ms)
            ),
            turn.vector,
            seq + 100,
            f"{turn.session}/{seq}",
        )
        for seq, turn in enumerate(turns, 1)
    ]


def index_of(turns: Sequence[Said], collection: str = "turns:u", removed: Sequence[int] = ()) -> CollectionIndex:
    index = CollectionIndex(collection)
    index.apply(Feed(len(turns), False, feed_rows(turns)))
    index.apply(Feed(len(turns) + 1, False, (), removed))
    return index

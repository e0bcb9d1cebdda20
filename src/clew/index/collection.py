"""One collection's index: times, terms and vectors of its members, side by side.

Nothing here has a file of its own. An index is made from the store's feed and brought up to date by
asking the feed for later changes; built at once or bit by bit, it gives the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.core.calibration import Calibration
from clew.core.collections import Collection
from clew.core.ids import session_of
from clew.core.ranking import lexical_part
from clew.index.coarse import Coarse
from clew.index.columns import NOWHERE, Growing, Postings, Sessions
from clew.index.vectors import DTYPE, SCALE, Grid, Rows, cosines, decode
from clew.storage.protocol import Feed, FeedRow
from clew.text.terms import QueryTerms, date_sign, speaker_sign, term_hash

TERM_SATURATION = 0.9
LENGTH_INFLUENCE = 0.4
"""The two constants of BM25; short chat turns want little of either."""

RARITY_SIZE = 32
"""Rarity is computed as in a collection of at least this many texts. In one of three, a word that all of them hold
would count for nothing, and one that none holds for everything."""

NOT_COMPARABLE = np.float32(-2.0)
"""Marks a missing cosine."""

COARSE_FROM = 16_384
"""Members from which on a quick look first is worth the memory it takes."""

UNKNOWN_SHARE = 50
"""The quick look is made anew when one row in this many is unknown to it."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LexicalLane:
    """How well each position matches the words of a query, in [0, 1]."""

    scores: Floats
    matched: NDArray[np.uint16]
    """How many of the query's terms each position holds."""
    exact_share: float
    """The share of the query, as far as this collection knows its terms, that must match exactly."""

    @property
    def worded(self) -> NDArray[np.int64]:
        """The positions that hold a term of the query, in order."""
        return np.flatnonzero(self.scores > 0.0)  # many times faster on truth values


class CollectionIndex:
    def __init__(self, name: str = "") -> None:
        """The name of a collection says whether its members are turns, which have others beside them."""
        collection = Collection(name)
        self._holds_turns = collection.holds_turns
        self.spans_sessions = collection.spans_sessions
        self._forget()

    def _forget(self) -> None:
        self.until = 0
        self._seqs = Growing(np.int64)
        self._times = Growing(np.int64)
        self._records = Growing(np.int64)
        self._lengths = Growing(np.int32)
        self._alive = Growing(np.bool_)
        self._embedded = Growing(np.bool_)
        self._rows: Growing | None = None
        self._postings = Postings()
        self._norms: Floats | None = None
        self._coarse: Coarse | None = None
        self._stale: set[int] = set()
        self._dead = 0
        self.sessions = Sessions() if self._holds_turns else None
        self._row_sum: NDArray[np.int64] | None = None

    # --- keeping up --------------------------------------------------------------------------------

    def seqs_of_session(self, session_id: str) -> list[int]:
        """Of a collection that spans sessions: the members of one."""
        if self.sessions is None:
            return []
        found: list[int] = self.seqs[self.sessions.positions_of(session_id)].tolist()
        return found

    def apply(self, feed: Feed) -> None:
        """Take in the changes since `until`."""
        if feed.reset:
            self._forget()
        if feed.added:
            self._add(feed.added)
        for seq in feed.removed:
            self._remove(seq)
        if feed.vectors:
            self._embed(np.array([seq for seq, _ in feed.vectors]), [blob for _, blob in feed.vectors])
        if feed.added or feed.removed:
            self._norms = None
        self.until = feed.until

    def _add(self, rows: Sequence[FeedRow]) -> None:
        first = len(self._seqs)
        self._seqs.extend([row.seq for row in rows])
        self._times.extend([row.ts_ms for row in rows])
        self._records.extend([row.record for row in rows])
        lengths = self._postings.add(first, [row.terms for row in rows])
        self._lengths.extend(lengths)
        self._alive.extend(np.ones(len(rows), np.bool_))
        self._embedded.extend(np.zeros(len(rows), np.bool_))
        if self.sessions is not None:
            names = [session_of(row.id) if self.spans_sessions else "" for row in rows]
            self.sessions.add(names, lengths)
        if self._rows is not None:
            self._rows.extend_zeros(len(rows))
        known = [(row.seq, row.vector) for row in rows if row.vector is not None]
        if known:
            self._embed(np.array([seq for seq, _ in known]), [vector for _, vector in known])

    def _remove(self, seq: int) -> None:
        position = self._position(seq)
        if position is not None and self._alive.view[position]:
            self._alive.view[position] = False
            self._dead += 1
            if self.sessions is not None:
                self.sessions.remove(position, int(self._lengths.view[position]))
            if self._row_sum is not None and self._rows is not None:
                self._row_sum -= self._rows.view[position]

    def _embed(self, seqs: NDArray[np.int64], blobs: Sequence[bytes]) -> None:
        if self._rows is None:
            self._rows = Growing(DTYPE.type, width=len(blobs[0]) // DTYPE.itemsize)
            self._rows.extend_zeros(len(self._seqs))
        positions = np.searchsorted(self._seqs.view, seqs)
        in_a_row = bool((np.diff(positions) == 1).all())  # as on loading, where a slice is much the faster
        where = slice(int(positions[0]), int(positions[-1]) + 1) if in_a_row else positions
        rows = decode(blobs, self._rows.width)
        if self.sessions is not None:
            self._add_to_sum(rows, self._rows.view[where], self._alive.view[where])
        self._rows.view[where] = rows
        self._embedded.view[where] = True
        if self._coarse is not None:
            self._stale.update(positions[positions < len(self._coarse)].tolist())

    def _add_to_sum(self, rows: Rows, before: Rows, alive: NDArray[np.bool_]) -> None:
        """In whole numbers, so that it is the same in whichever order rows come and go."""
        if self._row_sum is None:
            self._row_sum = np.zeros(rows.shape[1], np.int64)
        self._row_sum += rows[alive].sum(axis=0, dtype=np.int64) - before[alive].sum(axis=0, dtype=np.int64)

    def _position(self, seq: int) -> int | None:
        position = int(np.searchsorted(self._seqs.view, seq))
        return position if position < len(self._seqs) and self._seqs.view[position] == seq else None

    def equals(self, other: CollectionIndex) -> bool:
        """Whether both would answer every question alike."""
        mine, theirs = self._contents(), other._contents()
        return len(mine) == len(theirs) and all(
            np.array_equal(left, right) for left, right in zip(mine, theirs, strict=True)
        )

    def _contents(self) -> list[NDArray[Any]]:
        """Everything an answer depends on, of the members that are there, in one canonical form."""
        alive = self._alive.view
        contents = [array.view[alive] for array in (self._seqs, self._times, self._lengths, self._embedded)]
        if self._rows is not None and contents[3].any():
            contents.append(self._rows.view[alive])
        if self.sessions is not None:
            places = np.append(np.cumsum(alive) - 1, NOWHERE)
            contents += [places[links[alive]] for links in (self.sessions.before, self.sessions.after)]
        return [*contents, *self._postings.contents(alive)]

    # --- answering -----------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Members that are there."""
        return len(self._seqs) - self._dead

    @property
    def crowded_by_dead(self) -> bool:
        """Whether most of the memory is held by members that have left."""
        return self._dead > 1024 and self._dead > self.size

    @property
    def nbytes(self) -> int:
        held = (self._seqs, self._times, self._records, self._lengths, self._alive, self._embedded)
        vectors = [array for array in (self._rows, self._coarse, self.sessions) if array is not None]
        return self._postings.nbytes + sum(array.nbytes for array in (*held, *vectors))

    @property
    def not_comparable(self) -> int:
        """At most this many positions hold a member that has left, or one without a vector."""
        return self._dead + len(self._embedded) - int(np.count_nonzero(self._embedded.view))

    @property
    def alive(self) -> NDArray[np.bool_]:
        return self._alive.view

    def of_members(self, values: Floats) -> Floats:
        """Of values for each position, those of the members that are there."""
        return values[self._alive.view] if self._dead else values

    @property
    def times(self) -> NDArray[np.int64]:
        return self._times.view

    @property
    def records(self) -> NDArray[np.int64]:
        return self._records.view

    @property
    def seqs(self) -> NDArray[np.int64]:
        return self._seqs.view

    def vectors_at(self, seqs: Sequence[int]) -> Grid | None:
        """The vectors of the members at these places that have one; None where none has."""
        positions = [position for seq in seqs if (position := self._position(seq)) is not None]
        if self._rows is None or not positions:
            return None
        known = np.array(positions)[self._embedded.view[positions]]
        vectors: Grid = self._rows.view[known].astype(np.float32)
        return vectors if len(known) else None

    def holders(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The positions of the members that hold a term or bear a sign, in no order, and how often each does."""
        positions, counts = self._postings.find(term)
        if self._dead == 0:
            return positions, counts
        alive = self._alive.view[positions]
        return positions[alive], counts[alive]

    def holding(self, signs: Iterable[str]) -> NDArray[np.bool_]:
        """Which positions hold a member that bears any of these signs."""
        held = np.zeros(len(self._seqs), np.bool_)
        for sign in signs:
            held[self.holders(term_hash(sign))[0]] = True
        return held

    def speakers_among(self, words: Sequence[str]) -> list[str]:
        """Those of the words that are part of a speaker's name."""
        return [word for word in words if self.holders(term_hash(speaker_sign(word)))[0].size]

    def said_by(self, words: Sequence[str]) -> NDArray[np.bool_] | None:
        """The positions of the one speaker whom the words name; None where they name none, or several."""
        names = self.speakers_among(words)
        if not names:
            return None
        said = np.logical_and.reduce([self.holding([speaker_sign(name)]) for name in names])
        return said if said.any() else None

    def named(self, words: Iterable[str], dates: Iterable[str]) -> NDArray[np.bool_]:
        """Which positions hold a turn of a speaker whom the words name, or a text about one of these days.

        A bare month is no day: questions name it in passing.
        """
        days = (date_sign(key) for key in dates if len(key) > len("05"))
        return self.holding([*map(speaker_sign, words), *days])

    def mean_similarity(self, lexical: LexicalLane, query: Grid | None, calibration: Calibration | None) -> float:
        """How similar the average member is to a query by its own words and meaning."""
        words = float(self.of_members(lexical.scores).mean(dtype=np.float64)) if self.size else 0.0
        embedded = int(np.count_nonzero(self._embedded.view & self._alive.view))
        if (
            query is None
            or calibration is None
            or self._row_sum is None
            or self._row_sum.size != query.size
            or not embedded
        ):
            return words
        cosine = int(self._row_sum @ query.astype(np.int64)) / (embedded * SCALE * SCALE)
        share = lexical_part(lexical.exact_share)
        return share * words + (1.0 - share) * float(calibration.similarity(np.array([cosine], np.float32))[0])

    def lexical(self, query: QueryTerms) -> LexicalLane:
        """BM25 over this collection's own statistics, as a share of a full match."""
        total = np.zeros(len(self._seqs), np.float32)
        matched = np.zeros(len(self._seqs), np.uint16)
        weight = exact_weight = 0.0
        known = max(self.size, RARITY_SIZE)
        norms = self._length_norms()
        for term in (*query.words, *query.exact):
            positions, counts = self._postings.find(term_hash(term))
            holders = positions.size if self._dead == 0 else int(self._alive.view[positions].sum())
            rarity = math.log(1.0 + (known - holders + 0.5) / (holders + 0.5))
            weight += rarity
            if holders > 0:
                exact_weight += rarity if term in query.exact else 0.0
                matched[positions] += np.uint16(1)
                often = counts.astype(np.float32)
                total[positions] += np.float32(rarity * (1.0 + TERM_SATURATION)) * often / (often + norms[positions])
        if weight > 0.0:
            total /= np.float32(weight)
            np.minimum(total, 1.0, out=total)
        return LexicalLane(total, matched, exact_weight / weight if weight else 0.0)

    def _length_norms(self) -> Floats:
        """BM25's allowance for long texts; the same until the collection changes."""
        if self._norms is None:
            lengths = self._lengths.view
            mean_length = max(int(lengths[self._alive.view].sum()) / max(self.size, 1), 1.0)
            share = np.float32(LENGTH_INFLUENCE / mean_length) * lengths.astype(np.float32)
            self._norms = np.float32(TERM_SATURATION) * (np.float32(1.0 - LENGTH_INFLUENCE) + share)
        return self._norms

    def cosine_bounds(self, query: Grid) -> tuple[Floats, Floats] | None:
        """Each member's cosine with the query, at least and at most; below any where it has no vector or has left.

        None where no member has a vector, or there are too few to make a quick look worth while.
        """
        if self._rows is None or self._rows.width != query.size or len(self._seqs) < COARSE_FROM:
            return None
        coarse = self._coarse_rows(self._rows.view)
        least, most = coarse.bounds(query)
        if len(coarse) < len(self._seqs):
            unknown = np.ones(len(self._seqs) - len(coarse), np.float32)
            least, most = np.concatenate((least, -unknown)), np.concatenate((most, unknown))
        if self._stale:
            stale = list(self._stale)
            least[stale], most[stale] = -1.0, 1.0
        if self.not_comparable:
            out = ~(self._embedded.view & self._alive.view)
            least[out] = most[out] = NOT_COMPARABLE
        return least, most

    def _coarse_rows(self, rows: Rows) -> Coarse:
        """Made anew where too much has come or changed since."""
        unknown = len(rows) - len(self._coarse) + len(self._stale) if self._coarse is not None else 0
        if self._coarse is None or unknown > max(len(rows) // UNKNOWN_SHARE, 1):
            self._coarse = Coarse(rows)
            self._stale = set()
        return self._coarse

    def dense_at(self, positions: NDArray[np.int64], query: Grid, calibration: Calibration) -> Floats:
        """The values of `dense` for these positions. Some member must have a vector."""
        assert self._rows is not None
        values = calibration.similarity(cosines(self._rows.view[positions], query))
        values[~self._embedded.view[positions]] = np.nan
        return values

    def dense(self, query: Grid, calibration: Calibration) -> Floats | None:
        """Calibrated similarities; NaN where a member has no vector. None where no member has one."""
        if self._rows is None or self._rows.width != query.size:
            return None
        values = calibration.similarity(cosines(self._rows.view, query))
        embedded = self._embedded.view
        if not embedded.all():
            values[~embedded] = np.nan
        return values

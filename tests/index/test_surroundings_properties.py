"""Ranking by surroundings: bounded, independent of how an index was built, and equal to a plain calculation."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clew.core.calibration import Calibration
from clew.core.collections import Scope
from clew.core.ranking import SIMILARITY_ALONE, Weights, fuse
from clew.index import collection, surroundings
from clew.index import search as search_module
from clew.index.collection import LENGTH_INFLUENCE, TERM_SATURATION, CollectionIndex
from clew.index.search import LEAST_ADDED, MOST_SURROUNDED, Candidate, Query, search, similarities
from clew.index.vectors import encode, to_grid
from clew.storage.protocol import Feed, FeedRow
from clew.text.dates import keys_asked_for
from clew.text.terms import analyse, analyse_query, lexical_text, signs
from tests.testing import spoken
from tests.testing.effort import effort
from tests.testing.spoken import DAY_MS, MAY_10_2023_MS, Said, feed_rows, index_of

pytestmark = pytest.mark.requirement("RANK-2", "RANK-3")

DECAY = 1e-6
NOW_MS = MAY_10_2023_MS + 5 * DAY_MS
CALIBRATIONS = (Calibration(unrelated=0.0, same_meaning=0.9), Calibration(unrelated=0.7, same_meaning=0.9))

words = st.sampled_from("fox hen cow ERR_42 red 7 yesterday Ana ben 狐狸 2023-05-10 ? ok?".split())
texts = st.lists(words, max_size=5).map(" ".join)
axes = st.lists(st.sampled_from([-1.0, 0.0, 0.0, 1.0]), min_size=4, max_size=4)
noise = st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4)
vectors = (axes | noise).map(lambda vector: encode(np.array(vector, np.float32))[0])
turns = st.lists(
    st.builds(
        Said,
        text=texts,
        session=st.sampled_from("ab/"),
        speaker=st.sampled_from([None, "Ana", "Ben Fox", "Ana Hen"]),
        ts_ms=st.integers(0, 3).map(lambda day: MAY_10_2023_MS + day * DAY_MS),
        vector=st.none() | vectors,
    ),
    min_size=1,
    max_size=24,
)
questions = texts | st.sampled_from(
    ["what did Ana say yesterday?", "fox of Ana and Ben", "hen on May 10th", "ERR_42 on 2023-05-11", "Fox, 7 in May"]
)


@dataclass(frozen=True)
class Case:
    turns: list[Said]
    removed: list[int]
    excluded: list[int]
    query: Query
    limit: int


@st.composite
def cases(draw: st.DrawFn, most: int = 30) -> Case:
    said = draw(turns)
    places = st.lists(st.integers(1, len(said) + 2), unique=True, max_size=4)
    text, vector = draw(questions), draw(axes | noise | st.none())
    query = Query(
        terms=analyse_query(text),
        vector=None if vector is None else to_grid(np.array(vector, np.float32))[0],
        calibration=draw(st.sampled_from(CALIBRATIONS)),
        now_ms=NOW_MS,
        weights=draw(st.sampled_from([SIMILARITY_ALONE, Weights(0.9, 0.05, 0.05)])),
        dates=frozenset(keys_asked_for(text, NOW_MS)),
    )
    return Case(said, draw(places), draw(places), query, draw(st.integers(1, most)))


def ask(index: CollectionIndex, case: Case, limit: int | None = None) -> list[Candidate]:
    return search(index, case.query, Scope.USER, DECAY, limit or case.limit, excluded=case.excluded)


@given(cases(), st.sampled_from(["turns:u", "session:s", "session_raw:s"]))
@settings(max_examples=effort(37, 150), deadline=None)
def test_every_score_is_in_the_unit_interval_and_every_context_is_finite(case: Case, name: str) -> None:
    index = index_of(case.turns, name, case.removed)
    found = ask(index, case)
    for item in found:
        values = [item.score, item.similarity, item.lexical, item.recency, item.keywords, item.dense or 0.0]
        assert all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values)
        assert -1.5 < item.context < 1.5
    assert not {item.seq for item in found} & {*case.removed, *case.excluded}
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    assert ask(index, case) == found


@given(cases(), st.integers(1, 30))
@settings(max_examples=effort(25, 100), deadline=None)
def test_a_shorter_result_is_the_beginning_of_a_longer_one(case: Case, more: int) -> None:
    index = index_of(case.turns, removed=case.removed)
    assert ask(index, case) == ask(index, case, case.limit + more)[: case.limit]


@pytest.mark.requirement("STORE-4")
@given(cases(), st.randoms(use_true_random=False), st.sampled_from(["turns:u", "session:s"]))
@settings(max_examples=effort(50, 200), deadline=None)
def test_an_index_grown_in_any_order_answers_like_one_built_at_once(
    case: Case, chance: random.Random, name: str
) -> None:
    whole = feed_rows(case.turns)
    grown, fresh = _grown(whole, case.removed, name, chance), CollectionIndex(name)
    fresh.apply(Feed(1, False, [row for row in whole if row.seq not in case.removed]))
    assert grown.equals(fresh)
    assert ask(grown, case) == ask(fresh, case)
    of_grown, of_fresh = similarities(grown, case.query), similarities(fresh, case.query)
    assert of_grown[grown.alive].tolist() == of_fresh.tolist()


def _grown(whole: list[FeedRow], gone: list[int], name: str, chance: random.Random) -> CollectionIndex:
    """Rows come a few at a time; their vectors with them or later, and those that leave do so at any time after."""
    index, unread, unsettled, step = CollectionIndex(name), whole, list[FeedRow](), 0
    while unread or unsettled:
        count, step = chance.randint(1, 4), step + 1
        added, unread = unread[:count], unread[count:]
        unsettled += added
        settled = [row for row in unsettled if not unread or chance.random() < 0.5]
        unsettled = [row for row in unsettled if row not in settled]
        rows = [row if chance.random() < 0.5 else row._replace(vector=None) for row in added]
        vectors_ = [(row.seq, row.vector) for row in settled if row.vector is not None]
        index.apply(Feed(step, False, rows, [row.seq for row in settled if row.seq in gone], vectors_))
    return index


@given(cases(most=6), st.integers(1, 5), st.booleans())
@settings(max_examples=effort(75, 300), deadline=None)
def test_a_quick_look_changes_only_ranks_that_do_not_count(case: Case, surrounded: int, warm: bool) -> None:
    with patch.object(search_module, "MOST_SURROUNDED", surrounded):
        wanted = ask(index_of(case.turns, removed=case.removed), case)
        with patch.object(collection, "COARSE_FROM", 1), patch.object(search_module, "MOST_OPEN_SHARE", 1):
            index = index_of(case.turns)
            if warm:
                ask(index, case)
            index.apply(Feed(len(case.turns) + 1, False, (), case.removed))
            found = ask(index, case)
    assert [replace(item, dense_rank=None) for item in found] == [replace(item, dense_rank=None) for item in wanted]
    pairs = zip(found, wanted, strict=True)
    assert all(item.dense_rank in (None, right.dense_rank) for item, right in pairs)


@given(cases())
@settings(max_examples=effort(25, 100), deadline=None)
def test_signs_and_names_of_sessions_change_nothing_where_there_are_no_turns(case: Case) -> None:
    found = ask(index_of(case.turns, "user:u", case.removed), case)
    with patch.object(spoken, "signs", return_value=set()):
        rows = [row._replace(id="") for row in feed_rows(case.turns) if row.seq not in case.removed]
    plain = CollectionIndex("global")
    plain.apply(Feed(len(rows), False, rows))
    assert found == ask(plain, case)
    assert all(item.context == 0.0 for item in found)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.floats(0, 1))
def test_a_sign_lifts_turns_as_much_as_it_lowers_others(held: list[bool], weight: float) -> None:
    added = surroundings._sign(np.array(held), weight, len(held))
    assert float(added.sum(dtype=np.float64)) == pytest.approx(0.0, abs=1e-5)
    assert all((value >= 0.0) == is_held or value == 0.0 for value, is_held in zip(added, held, strict=True))


@given(cases())
@settings(max_examples=effort(25, 100), deadline=None)
def test_lifting_sessions_lowers_others_as_much(case: Case) -> None:
    index = index_of(case.turns, removed=case.removed)
    assert index.sessions is not None
    fit = surroundings._session_fit(index, index.sessions, case.query.terms, np.empty(0, np.int64))
    assert float(fit[index.sessions.members > 0].sum()) == pytest.approx(0.0, abs=1e-5)
    assert np.abs(fit).max() <= 1.0


# --- a plain reading --------------------------------------------------------------------------------------


@given(cases())
@settings(max_examples=effort(50, 200), deadline=None)
def test_the_context_score_equals_a_plain_calculation(case: Case) -> None:
    index = index_of(case.turns, removed=case.removed)
    found = ask(index, case, MOST_SURROUNDED)
    added = _read_plainly(index, case)
    for item in found:
        assert item.context == pytest.approx(added[item.seq], abs=1e-5)
        assert item.lexical > 0.0 or item.dense or item.context >= LEAST_ADDED


def _read_plainly(index: CollectionIndex, case: Case) -> dict[int, float]:
    """Calculates what the surroundings add to each turn, one turn at a time."""
    there = {seq: turn for seq, turn in enumerate(case.turns, 1) if seq not in case.removed}
    if not there:
        return {}
    lane = index.lexical(case.query.terms)
    dense = None
    if case.query.vector is not None and case.query.calibration is not None:
        dense = index.dense(case.query.vector, case.query.calibration)
    own = fuse(lane.scores, dense, lane.exact_share)
    mean = index.mean_similarity(lane, case.query.vector, case.query.calibration)
    stands_out = {seq: 0.0 if seq in case.excluded else float(own[seq - 1]) - mean for seq in there}
    signed = {seq: signs(turn.text, turn.speaker, turn.ts_ms) for seq, turn in there.items()}
    added = dict.fromkeys(there, 0.0)
    for session in {turn.session for turn in there.values()}:
        talk = [seq for seq, turn in there.items() if turn.session == session]
        for place, seq in enumerate(talk):
            near = [
                (-1, surroundings.BEFORE),
                (1, surroundings.AFTER),
                (-2, surroundings.BEYOND),
                (2, surroundings.BEYOND),
            ]
            near += [(-1, surroundings.ANSWER)] if place and "?" in signed[talk[place - 1]] else []
            added[seq] = sum(
                share * stands_out[talk[place + step]] for step, share in near if 0 <= place + step < len(talk)
            )
            added[seq] += surroundings.SESSION * _session_fit(there, session, case)
    for held, weight in _signs(signed, case.query):
        share = len(held) / len(there)
        for seq in there:
            added[seq] += weight * (float(seq in held) - share)
    return added


def _signs(signed: dict[int, set[str]], query: Query) -> list[tuple[set[int], float]]:
    said_by = [{seq for seq, held in signed.items() if f"@{name}" in held} for name in query.terms.names]
    said_by = [said for said in said_by if said]
    named = set.intersection(*said_by) if said_by else set()
    dated = {seq for seq, held in signed.items() if held & {f"#{key}" for key in query.dates}}
    rarity = math.log((len(signed) + 1) / (len(dated) + 1)) / math.log(len(signed) + 1)
    return [
        (held, weight) for held, weight in ((named, surroundings.SPEAKER), (dated, surroundings.DATE * rarity)) if held
    ]


def _session_fit(there: dict[int, Said], wanted: str, case: Case) -> float:
    terms = {seq: analyse(lexical_text(turn.text, turn.speaker, turn.ts_ms)) for seq, turn in there.items()}
    sessions = {turn.session: [seq for seq in there if there[seq].session == turn.session] for turn in there.values()}
    if len(sessions) < 2:
        return 0.0
    length = {name: sum(sum(terms[seq].values()) for seq in seqs) for name, seqs in sessions.items()}
    mean_length = max(sum(length.values()) / len(sessions), 1.0)
    fit = dict.fromkeys(sessions, 0.0)
    for term in (*case.query.terms.words, *case.query.terms.exact):
        often = {
            name: sum(terms[seq][term] for seq in seqs if seq not in case.excluded) for name, seqs in sessions.items()
        }
        holding = sum(count > 0 for count in often.values())
        rarity = math.log(1 + (len(sessions) - holding + 0.5) / (holding + 0.5))
        for name, count in often.items():
            norm = TERM_SATURATION * (1 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * length[name] / mean_length)
            fit[name] += rarity * count / (count + norm)
    most = max(fit.values())
    return (fit[wanted] - sum(fit.values()) / len(fit)) / most if most > 0.0 else 0.0

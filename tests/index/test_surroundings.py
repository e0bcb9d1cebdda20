"""Surroundings take part in the ranking of turns, by example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from clew.core.collections import Scope
from clew.core.ranking import SIMILARITY_ALONE
from clew.engine import Memory
from clew.index.collection import CollectionIndex
from clew.index.search import LEAST_ADDED, Candidate, Query, search
from clew.index.surroundings import DATE, SPEAKER
from clew.text.dates import keys_asked_for
from clew.text.terms import analyse_query
from tests.conftest import NOW_MS, FixedClock, OpenMemory
from tests.testing.spoken import DAY_MS, MAY_10_2023_MS, Said, index_of

pytestmark = pytest.mark.requirement("RANK-1")

QUESTION = "How many children do you have?"
STATEMENT = "People with many children have little time."
ANSWER = "Two, and a third one on the way."
ASKED = "how many children"
FILLER = [
    "The ferry left at noon.",
    "Rain again, and wind.",
    "We painted the fence green.",
    "My aunt sings in a choir.",
    "The soup wants more salt.",
    "He fixed the lamp himself.",
]


def talk(*texts: str, session: str = "s") -> list[Said]:
    return [Said(text, session) for text in texts]


def query(text: str, now_ms: int = MAY_10_2023_MS) -> Query:
    dates = frozenset(keys_asked_for(text, now_ms))
    return Query(analyse_query(text), None, None, now_ms, SIMILARITY_ALONE, dates)


def find_by_place(index: CollectionIndex, asked: Query | str, excluded: Sequence[int] = ()) -> dict[int, Candidate]:
    """The places of the hits, best first."""
    asked = query(asked) if isinstance(asked, str) else asked
    return {item.seq: item for item in search(index, asked, Scope.USER, 0.0, 50, excluded=excluded)}


# --- the turns beside it -----------------------------------------------------------------------------


def test_an_answer_is_found_by_the_question_before_it() -> None:
    by_place = find_by_place(index_of(talk(*FILLER[:3], QUESTION, ANSWER, *FILLER[3:])), ASKED)
    assert list(by_place)[:2] == [4, 5]
    assert by_place[5].lexical == 0.0
    assert by_place[5].context >= LEAST_ADDED
    assert by_place[5].similarity == pytest.approx(by_place[5].context)


def test_a_turn_after_a_statement_is_no_answer() -> None:
    assert list(find_by_place(index_of(talk(*FILLER[:3], STATEMENT, ANSWER, *FILLER[3:])), ASKED)) == [4]


def test_the_next_turn_does_not_answer_a_question_far_before_the_end() -> None:
    long = QUESTION + " " + "Anyway, the weather was fine and we sat outside for hours. " * 3
    assert list(find_by_place(index_of(talk(*FILLER[:3], long, ANSWER)), ASKED)) == [4]


def test_of_two_similar_turns_the_one_with_relevant_neighbours_is_ahead() -> None:
    alone = talk(*FILLER[:4], "the harbour", *FILLER[2:])
    among = talk("a harbour with boats", "the harbour", "harbour lights", session="t")
    by_place = find_by_place(index_of([*alone, *among]), "the harbour boats")
    second = len(alone) + 2
    assert by_place[second].lexical == by_place[5].lexical
    assert list(by_place).index(second) < list(by_place).index(5)


def test_a_question_of_another_session_adds_nothing() -> None:
    turns = [*talk(*FILLER[:3], QUESTION), *talk(ANSWER, *FILLER[3:], session="t")]
    assert 5 not in find_by_place(index_of(turns), ASKED)


def test_interleaved_sessions_keep_their_own_neighbours() -> None:
    first = talk(FILLER[0], QUESTION, ANSWER, FILLER[1], session="a")
    second = talk(FILLER[2], FILLER[3], "Nobody knows.", FILLER[4], session="b")
    mixed = [turn for pair in zip(first, second, strict=True) for turn in pair]
    assert list(find_by_place(index_of(mixed), ASKED))[:2] == [3, 5]
    assert 6 not in find_by_place(index_of(mixed), ASKED)


def test_the_turns_beside_a_removed_turn_become_neighbours() -> None:
    turns = talk(*FILLER[:3], QUESTION, FILLER[3], FILLER[4], ANSWER)
    assert 7 not in find_by_place(index_of(turns), ASKED)
    assert list(find_by_place(index_of(turns, removed=[5, 6]), ASKED)) == [4, 7]
    assert list(find_by_place(index_of(turns, removed=[6, 5, 4]), ASKED)) == []


@pytest.mark.requirement("PACK-4")
def test_an_excluded_turn_adds_nothing_to_its_neighbours() -> None:
    index = index_of(talk(*FILLER[:3], QUESTION, ANSWER, "children, many children", *FILLER[3:]))
    by_place = find_by_place(index, ASKED, excluded=[4])
    assert 4 not in by_place
    assert 5 not in by_place


@pytest.mark.parametrize("collection", ["session:s", "session_raw:s", "turns:u"])
def test_every_collection_of_turns_is_ranked_by_surroundings(collection: str) -> None:
    assert 5 in find_by_place(index_of(talk(*FILLER[:3], QUESTION, ANSWER), collection), ASKED)


@pytest.mark.parametrize("collection", ["user:u", "global", "lore", "ledger:user:u", "elevated:u", ""])
def test_a_record_that_is_no_turn_has_no_neighbours(collection: str) -> None:
    turns = [replace(turn, speaker="Ana") for turn in talk(*FILLER[:3], QUESTION, ANSWER, STATEMENT)]
    asked = query("how many children has Ana since 2023-05-10?", MAY_10_2023_MS + 9 * DAY_MS)
    by_place = find_by_place(index_of(turns, collection), asked)
    assert by_place == find_by_place(index_of(turns, ""), asked)
    assert by_place
    assert all(item.context == 0.0 and item.similarity == item.lexical for item in by_place.values())


# --- its session --------------------------------------------------------------------------------------


def test_a_session_with_matching_words_lifts_its_turns() -> None:
    fitting = talk("a harbour with boats and boats", *FILLER[:4], "the old harbour", session="a")
    other = talk("a meadow with cows and cows", *FILLER[:4], "the old harbour", session="b")
    by_place = find_by_place(index_of([*fitting, *other]), "harbour boats")
    assert by_place[6].lexical == by_place[12].lexical
    assert by_place[6].context > 0.0 > by_place[12].context


def test_an_excluded_turn_adds_no_word_to_its_session() -> None:
    told = talk("harbour boats, boats in the harbour", *FILLER[:4], "the old harbour", session="a")
    other = talk("a meadow with cows and cows", *FILLER[:4], "the old harbour", session="b")
    by_place = find_by_place(index_of([*told, *other]), "harbour boats", excluded=[1])
    assert by_place[6].context <= by_place[12].context


# --- who spoke ------------------------------------------------------------------------------------------


def index_of_speakers(*speakers: str) -> CollectionIndex:
    return index_of([Said("I like the harbour.", f"s{n}", speaker) for n, speaker in enumerate(speakers)])


def lifts(index: CollectionIndex, text: str) -> dict[int, float]:
    """What the names in a query add to each turn."""
    asked = query(text)
    nameless = find_by_place(index, replace(asked, terms=replace(asked.terms, names=())))
    return {seq: item.context - nameless[seq].context for seq, item in sorted(find_by_place(index, asked).items())}


def test_naming_a_speaker_lifts_their_turns_and_lowers_the_others_as_much() -> None:
    added = lifts(index_of_speakers("Ana", "Ben", "Cleo", "Ana"), "what does Ana's heart want from the harbour?")
    assert added == pytest.approx({1: SPEAKER / 2, 2: -SPEAKER / 2, 3: -SPEAKER / 2, 4: SPEAKER / 2}, abs=1e-6)


@pytest.mark.parametrize("text", ["did Ana and Ben see the harbour?", "did Dora see the harbour?", "the harbour"])
def test_two_names_or_none_lift_nobody(text: str) -> None:
    assert set(lifts(index_of_speakers("Ana", "Ben", "Cleo"), text).values()) == {0.0}


@pytest.mark.parametrize("name", ["Maria", "maria ruiz", "Ruiz", "MARIA DEL CARMEN RUIZ", "Ｍａｒｉａ"])
def test_a_speaker_may_have_a_name_of_several_words(name: str) -> None:
    added = lifts(index_of_speakers("Maria del Carmen Ruiz", "Ben Ruizdael"), f"what of the harbour, {name}?")
    assert added[1] == pytest.approx(SPEAKER / 2, abs=1e-6)
    assert added[2] == pytest.approx(-SPEAKER / 2, abs=1e-6)


def test_only_an_unshared_part_of_a_name_tells_speakers_apart() -> None:
    added = lifts(index_of_speakers("Maria Ruiz", "Maria Lopez", "Ben"), "what of the harbour, Maria Lopez?")
    assert max(added, key=added.__getitem__) == 2
    assert added[1] < 0.0


def test_naming_a_speaker_without_turns_has_no_effect() -> None:
    turns = [Said("the harbour", f"s{n}", speaker) for n, speaker in enumerate(("Ana", "Ben", "Ben"))]
    index = index_of(turns, removed=[1])
    assert index.speakers_among(["ana", "ben", "harbour"]) == ["ben"]
    assert index.said_by(["ana"]) is None
    said = index.said_by(["ana", "ben"])
    assert said is not None
    assert said.tolist() == [False, True, True]


# --- which days -----------------------------------------------------------------------------------------


def index_of_days(*turns: tuple[str, int]) -> CollectionIndex:
    said = [Said(text, f"s{n}", ts_ms=MAY_10_2023_MS + day * DAY_MS) for n, (text, day) in enumerate(turns)]
    return index_of([*said, *(Said("harbour", f"t{n}", ts_ms=0) for n in range(40))])


def test_turns_of_the_day_and_turns_that_name_it_are_lifted() -> None:
    index = index_of_days(("harbour", 0), ("harbour, yesterday", 1), ("harbour on May 10th", 20), ("harbour", 1))
    asked = query("the harbour on 10 May 2023", MAY_10_2023_MS + 30 * DAY_MS)
    added = lifts_of_days(index, asked)
    assert 0.0 < added[1] <= DATE
    assert added[2] == pytest.approx(added[1])
    assert max(added[3], added[4]) < 0.0, "without its year it may be of another one"
    yearless = lifts_of_days(index, replace(asked, dates=frozenset({"05-10"})))
    assert min(yearless[1], yearless[2], yearless[3]) > 0.0 > yearless[4]


def lifts_of_days(index: CollectionIndex, asked: Query) -> dict[int, float]:
    dateless = find_by_place(index, replace(asked, dates=frozenset()))
    return {seq: item.context - dateless[seq].context for seq, item in find_by_place(index, asked).items()}


def test_a_day_of_all_turns_or_of_none_lifts_nobody() -> None:
    index = index_of([Said("harbour", f"s{n}") for n in range(5)])
    for day in ("2023-05-10", "1999-01-01"):
        asked = replace(query("harbour"), dates=frozenset({day}))
        assert {item.context for item in find_by_place(index, asked).values()} == {0.0}


# --- of the whole memory ----------------------------------------------------------------------------------


def tell(memory: Memory, *texts: str, session: str = "s", speaker: str | None = None) -> list[str]:
    return [memory.ingest(session, "user", text, user_id="ana", speaker=speaker).id for text in texts]


def texts_found(memory: Memory, text: str) -> list[str]:
    return [hit.record.text for hit in memory.search(text, user_id="ana").hits]


def test_a_memory_finds_the_answer_beside_the_question(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory, *FILLER[:3], QUESTION, ANSWER, *FILLER[3:])
    assert texts_found(memory, ASKED) == [QUESTION, ANSWER]


@pytest.mark.requirement("PACK-4")
def test_a_quarantined_question_leads_to_no_answer(open_memory: OpenMemory) -> None:
    memory = open_memory()
    ids = tell(memory, *FILLER[:3], QUESTION, ANSWER, *FILLER[3:])
    memory.review(f"session_raw:s/{ids[3]}", "quarantine", reason="doubtful")
    assert texts_found(memory, ASKED) == []
    memory.review(f"session_raw:s/{ids[3]}", "release", reason="looked at")
    assert texts_found(memory, ASKED) == [QUESTION, ANSWER]


def test_a_memory_prefers_the_words_of_the_named_speaker(open_memory: OpenMemory) -> None:
    memory = open_memory(search_weights=[1.0, 0.0, 0.0])
    for n in range(3):
        tell(memory, *FILLER[:3], "I like the harbour.", session=f"b{n}", speaker="Ben")
    tell(memory, *FILLER[:3], "I like the harbour.", session="c", speaker="Cleo")
    best = memory.search("what does Cleo like?", user_id="ana").hits[0].record
    assert best.metadata["speaker"] == "Cleo"


def test_a_memory_prefers_the_words_of_the_day_in_question(open_memory: OpenMemory, clock: FixedClock) -> None:
    memory = open_memory(search_weights=[1.0, 0.0, 0.0])
    for ago in (9, 3, 1):
        clock.ms = NOW_MS - ago * DAY_MS
        tell(memory, "We went to the harbour.", session=f"s{ago}")
    clock.ms = NOW_MS
    for ago in (9, 3):
        hits = memory.search(f"the harbour, {ago} days ago", user_id="ana").hits
        assert hits[0].record.ts == NOW_MS - ago * DAY_MS
        assert hits[0].scores.context > 0.0 > hits[1].scores.context


def test_a_search_can_leave_surroundings_out() -> None:
    """The gate asks whether a turn was said before, not whether one beside it was."""
    index = index_of(talk(*FILLER[:3], QUESTION, ANSWER))
    by_place = find_by_place(index, replace(query(ASKED), by_surroundings=False))
    assert {place: item.context for place, item in by_place.items()} == {4: 0.0}

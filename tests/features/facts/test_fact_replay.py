"""Clew replays facts from their log: which fact ends which, what held when, and which entries count for nothing."""

from __future__ import annotations

from typing import Any

import pytest

from clew.core.collections import Collection
from clew.core.model import Provenance, Record, Trust
from clew.core.predicates import registry, sentence
from clew.features.facts.lanes import Fact
from clew.features.facts.log import MAX_OBJECT_CHARS, Entry, entry_in, metadata_of
from clew.features.facts.replay import Facts
from tests.testing.fact_entries import COLLECTION, said, taken_back

pytestmark = pytest.mark.requirement("FACT-1", "FACT-2")

REGISTRY = registry()


def timeline_in_short(
    facts: Facts, subject: str = "billing", predicate: str | None = None
) -> list[tuple[str, int, int | None]]:
    """The timeline in short: value, beginning, end."""
    return [(fact.object, fact.valid_from_ms, fact.valid_to_ms) for fact in facts.timeline(subject, predicate)]


def only(facts: Facts, at_ms: int, subject: str = "billing") -> Fact:
    (fact,) = facts.current(subject, at_ms=at_ms)
    return fact


class TestASingleValue:
    def test_ends_where_the_next_begins(self) -> None:
        facts = Facts(REGISTRY, [said("b", "beta", 20), said("a", "alpha", 10), said("c", "live", 30)])
        assert timeline_in_short(facts) == [("alpha", 10, 20), ("beta", 20, 30), ("live", 30, None)]
        assert facts.current("billing", at_ms=9) == ()
        assert [only(facts, at).object for at in (10, 19, 20, 30, 99)] == ["alpha", "alpha", "beta", "live", "live"]
        alpha = only(facts, 10)
        assert facts.successor(alpha) == only(facts, 20)
        assert facts.successor(only(facts, 99)) is None

    def test_recorded_later_wins_over_one_with_the_same_beginning(self) -> None:
        facts = Facts(REGISTRY, [said("a", "alpha", 10, recorded=2), said("b", "beta", 10, recorded=1)])
        assert timeline_in_short(facts) == [("beta", 10, 10), ("alpha", 10, None)]
        never = facts.get("b")
        assert never is not None
        assert never.never_held
        assert facts.successor(never) == only(facts, 10)

    def test_repeated_while_it_holds_only_adds_sources(self) -> None:
        facts = Facts(
            REGISTRY,
            [said("a", "Live", 10), said("b", "live ", 20, sources=("user:ann/m2", "user:ann/m1"), recorded=5)],
        )
        assert timeline_in_short(facts) == [("Live", 10, None)]
        fact = only(facts, 50)
        assert (fact.id, fact.sources) == ("a", ("user:ann/m1", "user:ann/m2"))
        assert facts.get("b") == fact
        assert facts.citing("user:ann/m2") == facts.citing("user:ann/m1") == (fact,)

    def test_asserted_again_after_another_holds_a_second_time(self) -> None:
        facts = Facts(REGISTRY, [said("a", "on", 10), said("b", "off", 20), said("c", "on", 30)])
        assert timeline_in_short(facts) == [("on", 10, 20), ("off", 20, 30), ("on", 30, None)]

    def test_with_its_own_end_leaves_a_gap_after_it(self) -> None:
        facts = Facts(REGISTRY, [said("a", "on holiday", 10, 20), said("b", "on holiday", 30)])
        assert timeline_in_short(facts) == [("on holiday", 10, 20), ("on holiday", 30, None)]
        assert facts.current("billing", at_ms=25) == ()

    def test_asserted_late_takes_its_place_in_the_past(self) -> None:
        facts = Facts(REGISTRY, [said("b", "beta", 20, recorded=1), said("a", "alpha", 10, recorded=9)])
        assert timeline_in_short(facts) == [("alpha", 10, 20), ("beta", 20, None)]
        assert facts.as_of(15, 8, "billing") == ()
        assert [fact.object for fact in facts.as_of(15, 9, "billing")] == ["alpha"]


class TestManyValues:
    def test_hold_side_by_side_and_one_ends_only_when_it_is_superseded(self) -> None:
        facts = Facts(
            REGISTRY, [said("a", "PostgreSQL", 10, predicate="uses"), said("b", "Redis", 20, predicate="uses")]
        )
        assert {fact.object for fact in facts.current("billing", "uses", at_ms=30)} == {"PostgreSQL", "Redis"}
        facts.add([said("c", "SQLite", 40, predicate="uses", supersedes=("a",), recorded=1)])
        assert {fact.object for fact in facts.current("billing", at_ms=50)} == {"Redis", "SQLite"}
        old = facts.get("a")
        assert old is not None
        assert (old.valid_to_ms, old.ended_by, old.invalidated) == (40, "c", False)

    def test_of_an_unknown_predicate_end_no_other_value(self) -> None:
        facts = Facts(REGISTRY, [said("a", "x", 1, predicate="likes"), said("b", "y", 2, predicate="likes")])
        assert len(facts.current("billing", "likes", at_ms=5)) == 2

    def test_may_supersede_facts_of_other_subjects_and_predicates(self) -> None:
        facts = Facts(
            REGISTRY,
            [said("a", "live", 1), said("b", "billing", 5, subject="ledger", predicate="replaces", supersedes=("a",))],
        )
        assert timeline_in_short(facts) == [("live", 1, 5)]

    def test_supersede_nothing_if_they_never_held(self) -> None:
        facts = Facts(REGISTRY, [said("a", "x", 1, predicate="uses")])
        facts.add([said("b", "y", 5, predicate="uses", supersedes=("a",), recorded=1)])
        facts.add([taken_back("i", "b", at=5, recorded=2)])
        assert [(fact.object, fact.valid_to_ms) for fact in facts.current("billing", at_ms=9)] == [("x", None)]
        assert [fact.object for fact in facts.as_of(9, 1, "billing")] == ["y"]


class TestTakingBack:
    def test_ends_a_fact_or_voids_it_from_its_beginning(self) -> None:
        facts = Facts(REGISTRY, [said("a", "live", 10), taken_back("i", "a", at=30, recorded=1)])
        assert timeline_in_short(facts) == [("live", 10, 30)]
        fact = facts.get("a")
        assert fact is not None
        assert fact.invalidated
        never = Facts(REGISTRY, [said("a", "live", 10), taken_back("i", "a", at=10)])
        assert timeline_in_short(never) == [("live", 10, 10)]

    def test_lets_the_earlier_value_hold_again(self) -> None:
        facts = Facts(REGISTRY, [said("a", "alpha", 10), said("b", "beta", 20)])
        facts.add([taken_back("i", "b", at=20, recorded=5)])
        assert timeline_in_short(facts) == [("alpha", 10, None), ("beta", 20, 20)]

    def test_covers_every_assertion_so_far_and_no_later_one(self) -> None:
        facts = Facts(REGISTRY, [said("a", "live", 10), said("b", "live", 20), taken_back("i", "a", "b", at=30)])
        assert timeline_in_short(facts) == [("live", 10, 30)]
        facts.add([said("c", "live", 40)])
        assert timeline_in_short(facts) == [("live", 10, 30), ("live", 40, None)]

    def test_may_come_before_its_fact(self) -> None:
        entries = [said("a", "x", 1, predicate="uses"), said("b", "y", 5, predicate="uses", supersedes=("a",))]
        entries_before: list[Entry] = [taken_back("i", "b", at=9), *reversed(entries)]
        assert (
            Facts(REGISTRY, entries_before).canonical()
            == Facts(REGISTRY, [*entries, taken_back("i", "b", at=9)]).canonical()
        )


def test_any_spelling_finds_a_subject_and_the_first_one_is_shown() -> None:
    facts = Facts(
        REGISTRY,
        [
            said("b", "beta", 20, subject="ＢＩＬＬＩＮＧ  api", recorded=2),
            said("a", "alpha", 10, subject="Billing API"),
        ],
    )
    for written in ("billing api", " BILLING\n API ", "Ｂilling API"):
        assert facts.knows(written)
        assert {fact.subject for fact in facts.timeline(written)} == {"Billing API"}
    assert not facts.knows("billing")
    assert facts.current("nobody", at_ms=1) == ()


def test_subjects_are_paged_in_order_of_first_mention() -> None:
    facts = Facts(REGISTRY, [said(name, "x", 1, subject=name) for name in "cab"])
    facts.add([said("c2", "y", 2, subject="c", recorded=1), said("d", "x", 1, subject="d")])
    assert [(place, found[0].subject) for place, found in facts.subjects()] == [(1, "c"), (2, "a"), (3, "b"), (4, "d")]
    assert [place for place, _ in facts.subjects(after=2)] == [3, 4]


# --- the log as records ---------------------------------------------------------------------------------


def record(metadata: dict[str, Any]) -> Record:
    return Record(
        collection=Collection(COLLECTION),
        id="f_1", text="", ts_ms=7, role=None, provenance=Provenance.MEMORY, trust=Trust.UNKNOWN,
        stability=0.5, tokens=1, metadata=metadata, seq=1, version=1, access_count=0, last_used_ms=None,
    )  # fmt: skip


def test_entries_read_back_as_they_were_written() -> None:
    assertion = said("f_1", "live", 10, 20, recorded=7, supersedes=("f_0",), many=True)
    assert entry_in(record(metadata_of(assertion))) == assertion
    invalidation = taken_back("f_1", "f_0", "f_9", at=5, recorded=7)
    assert entry_in(record(metadata_of(invalidation))) == invalidation
    assert metadata_of(invalidation)["sources"] == ["facts:user:ann/f_0", "facts:user:ann/f_9"]


GOOD = metadata_of(said("f_1", "live", 10))
WRONG: list[dict[str, Any]] = [
    {"subject": ""},
    {"subject": " "},
    {"object": 5},
    {"object": "x" * (MAX_OBJECT_CHARS + 1)},
    {"predicate": None},
    {"validFrom": "now"},
    {"validFrom": 10**30},
    {"validTo": -1},
    {"confidence": 2},
    {"confidence": float("nan")},
    {"supersedes": [1]},
    {"hashes": []},
]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"fact": None},
        {"fact": []},
        {"invalidation": {"facts": [], "at": 1}},
        {"invalidation": {"facts": ["f"], "at": -1}},
        {"invalidation": "f"},
        *({**GOOD, "fact": {**GOOD["fact"], **wrong}} for wrong in WRONG),
    ],
)
def test_a_record_without_an_entry_gives_none(metadata: dict[str, Any]) -> None:
    assert entry_in(record(metadata)) is None


def test_a_fact_reads_as_a_plain_sentence() -> None:
    assert sentence("Billing", "uses", "PostgreSQL 17") == "Billing uses PostgreSQL 17."
    assert sentence("Billing", "configured_as", "read-only!") == "Billing is configured as read-only!"

"""Plans: when one is due, how it reads, and which words of its owner close it."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from clew.core.citing import SOURCES
from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.core.model import Metadata, Provenance, Record, Trust
from clew.features.plans.operations import PlanState
from clew.features.plans.rules import PLAN, Plan, closing, describe, plan_in

pytestmark = pytest.mark.requirement("CAPTURE-5")


def plan(what: str, day: date | None = None, state: PlanState = PlanState.OPEN) -> Plan:
    return Plan(f"plans:user:ada/{what}", what, day, "", state, (), 0)


def local_ms(year: int, month: int, day: int, hour: int = 0) -> int:
    return int(datetime(year, month, day, hour).astimezone().timestamp() * 1000)


def record(metadata: Metadata, marks: Metadata | None = None) -> Record:
    return Record(
        collection=Collection("plans:user:ada"),
        id="p", text="Plan: x", ts_ms=5, role=None, provenance=Provenance.MEMORY,
        trust=Trust.UNKNOWN, stability=0.5, tokens=1, metadata=metadata, seq=1, version=1, access_count=0,
        last_used_ms=None, marks=marks or {},
    )  # fmt: skip


def test_a_plan_is_due_from_the_start_of_its_local_day() -> None:
    renewal = plan("renew the passport", date(2026, 3, 5))
    assert not renewal.is_due(local_ms(2026, 3, 4, 23))
    assert renewal.is_due(local_ms(2026, 3, 5))
    assert renewal.is_due(local_ms(2027, 1, 1))


def test_conditional_and_closed_plans_are_never_due() -> None:
    assert not plan("tag the release").is_due(local_ms(2099, 1, 1))
    for state in (PlanState.DONE, PlanState.DROPPED):
        assert not plan("renew the passport", date(2026, 3, 5), state).is_due(local_ms(2099, 1, 1))


def test_a_plan_is_described_with_its_day_and_condition() -> None:
    assert describe("tag the release", None, "") == "Plan: tag the release"
    assert describe("tag the release", date(2026, 3, 5), "once it is green") == (
        "Plan: tag the release (2026-03-05; once it is green)"
    )


def test_a_record_gives_a_plan_or_none() -> None:
    given = {"what": "tag the release", "date": "2026-03-05", "condition": "once it is green"}
    ended = made({"state": "done", "source": "session_raw:s/t"}, By.CLEW, 9)
    found = plan_in(record({PLAN: given, SOURCES: ["session_raw:s/a"]}, {Mark.PLAN_STATE: ended}))
    assert found == Plan(
        ref="plans:user:ada/p",
        what="tag the release",
        day=date(2026, 3, 5),
        condition="once it is green",
        state=PlanState.DONE,
        sources=("session_raw:s/a",),
        recorded_ms=5,
        since_ms=5,
        closed_by="session_raw:s/t",
    )
    assert plan_in(record({})) is None
    assert plan_in(record({PLAN: {"what": 3}})) is None
    odd = plan_in(record({PLAN: {"what": "x", "date": "soon", "condition": 4}}))
    assert odd is not None
    assert (odd.day, odd.condition, odd.state) == (None, "", PlanState.OPEN)


PLANS = [
    plan("call the dentist tomorrow"),
    plan("cancel my gym membership"),
    plan("trip to Rome next month"),
    plan("migrate the billing database to Postgres"),
    plan("renew my passport on 1 December"),
]


@pytest.mark.parametrize(
    ("text", "what", "state"),
    [
        ("I called the dentist.", "call the dentist tomorrow", PlanState.DONE),
        ("By the way, I've just called the dentist!", "call the dentist tomorrow", PlanState.DONE),
        ("I'm done with the dentist", "call the dentist tomorrow", PlanState.DONE),
        ("We migrated the billing database to Postgres yesterday.", PLANS[3].what, PlanState.DONE),
        ("The billing database migration is done.", PLANS[3].what, PlanState.DONE),
        ("The passport is renewed.", "renew my passport on 1 December", PlanState.DONE),
        ("My gym membership has been cancelled.", "cancel my gym membership", PlanState.DONE),
        ("I cancelled my gym membership.", "cancel my gym membership", PlanState.DONE),
        ("I cancelled the trip to Rome.", "trip to Rome next month", PlanState.DROPPED),
        ("The trip to Rome is off.", "trip to Rome next month", PlanState.DROPPED),
        ("Forget about the trip to Rome.", "trip to Rome next month", PlanState.DROPPED),
        ("I'm not going to call the dentist.", "call the dentist tomorrow", PlanState.DROPPED),
        ("We decided not to migrate the billing database.", PLANS[3].what, PlanState.DROPPED),
    ],
)
def test_explicit_words_of_the_owner_close_the_plan(text: str, what: str, state: PlanState) -> None:
    ended = closing(text, PLANS)
    assert ended is not None
    assert (ended[0].what, ended[1]) == (what, state)


@pytest.mark.parametrize(
    "text",
    [
        "I wanted to call the dentist.",
        "I forgot to call the dentist.",
        "I didn't call the dentist.",
        "I have to call the dentist.",
        "I called my mother.",
        "Did I call the dentist?",
        "If I called the dentist, would they answer?",
        "He said the trip to Rome is off.",
        '"The trip to Rome is off", they wrote.',
        "Forget it.",
        "It is done.",
        "The dentist called.",
        "The passport is needed.",
        "The passport is made.",
        "I planned the trip to Rome.",
        "> I called the dentist.",
        "",
    ],
)
def test_other_words_close_nothing(text: str) -> None:
    assert closing(text, PLANS) is None


def test_words_that_match_two_plans_close_neither() -> None:
    assert closing("I called the dentist.", [plan("call the dentist"), plan("call the dentist tomorrow")]) is None


def test_a_closed_plan_is_not_closed_again() -> None:
    assert closing("I called the dentist.", [plan("call the dentist", state=PlanState.DROPPED)]) is None

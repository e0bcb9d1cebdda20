"""A pack tells statements and deeds: no earlier questions, no call arguments, and the latest state on request."""

from __future__ import annotations

from typing import Any

import pytest

from clew.api import Message, Pack, Trace
from clew.engine import Memory
from clew.features.pack.choice import Reason
from clew.features.pack.state import asks_for_state
from clew.text.calls import render_call
from clew.text.dissent import conflict
from tests.conftest import NOW_MS

pytestmark = pytest.mark.requirement("USE-4", "USE-5")

DAY_MS = 86_400_000


def talk(memory: Memory, *said: tuple[str, str], session: str = "then", before_ms: int = 30 * DAY_MS) -> None:
    messages = [
        Message(role=role, text=text, id=f"m{place}", ts=NOW_MS - before_ms + place * 60_000)
        for place, (role, text) in enumerate(said)
    ]
    memory.ingest_batch(session, messages, user_id="u")
    assert memory.flush().ok


def reasons(trace: Trace | None) -> dict[str, str]:
    assert trace is not None
    return {candidate.ref: candidate.reason for candidate in trace.candidates}


def pack_texts(memory: Memory, query: str, **given: Any) -> list[str]:
    return [item.text for item in memory.call(Pack(query=query, user_id="u", **given)).items]


def test_a_repeated_statement_is_shown_once_and_its_denial_is_shown_too(memory: Memory) -> None:
    whole = "We decided to move the billing service to Postgres 16 in March, and Ada writes the runbook."
    again = "The billing service moves to Postgres 16 in March."
    denied = "The billing service does not move to Postgres 16 in March."
    talk(memory, ("user", again), ("user", whole))
    asked = "Who writes the runbook when the billing service moves to Postgres 16 in March?"
    bundle = memory.call(Pack(query=asked, user_id="u", trace=True))
    assert [item.text for item in bundle.items] == [whole]
    assert reasons(bundle.trace)["turns:u/then/m0"] == Reason.DUPLICATE
    talk(memory, ("user", denied), session="later", before_ms=60 * DAY_MS)
    asked = "Does the billing service move to Postgres 16 in March?"
    assert denied in pack_texts(memory, asked)


def test_an_earlier_question_is_no_answer(memory: Memory) -> None:
    talk(
        memory,
        ("user", "Which port does the staging server listen on?"),
        ("user", "The staging server listens on port 8080."),
    )
    bundle = memory.call(Pack(query="staging server port", user_id="u", trace=True))
    assert [item.text for item in bundle.items] == ["The staging server listens on port 8080."]
    assert reasons(bundle.trace)["turns:u/then/m0"] == Reason.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "Great idea, except I don't like dark beer. Is there something else at the bar?",
        "I don't mind the bar with the dark beer, but why so late?",
        "Yes, dark beer is what my brother brews. Did he show you the bar?",
    ],
)
def test_a_turn_with_a_statement_and_a_question_is_packed(memory: Memory, text: str) -> None:
    talk(memory, ("user", text))
    assert pack_texts(memory, "dark beer bar") == [text]


def test_a_question_between_people_is_packed(memory: Memory) -> None:
    asked = "What got you into running marathons?"
    memory.ingest_batch(
        "club", [Message(role="user", text=asked, speaker="Mel"), Message(role="user", text=asked)], user_id="u"
    )
    assert memory.flush().ok
    bundle = memory.call(Pack(query="running marathons", user_id="u", trace=True))
    assert [(item.text, "Mel" in bundle.bundle_text) for item in bundle.items] == [(asked, True)]
    assert Reason.QUESTION in reasons(bundle.trace).values()


def test_a_turn_of_only_calls_is_left_out_and_others_name_their_work(memory: Memory) -> None:
    edit = render_call("edit", {"path": "src/footer.ts", "newText": "const footer = dim(color);"})
    talk(
        memory,
        ("assistant", f"Let me change the footer color:\n\n{edit}"),
        ("assistant", f"The footer color was hard-coded, so I use the dim token.\n\n{edit}"),
    )
    bundle = memory.call(Pack(query="footer color dim token", user_id="u", trace=True))
    assert [item.text for item in bundle.items] == [
        "The footer color was hard-coded, so I use the dim token.\n[did: edited src/footer.ts]"
    ]
    assert reasons(bundle.trace)["replies:u/then/m0"] == Reason.PAYLOAD


@pytest.mark.parametrize(
    "question",
    ["what did we do last time?", "catch me up", "where did we leave off", "What's the status?", "ok, let's continue",
     "any open tasks?", "wo waren wir stehen geblieben?", "我们上次做了什么"],
)  # fmt: skip
def test_a_vague_question_gets_the_latest_turns(memory: Memory, question: str) -> None:
    talk(memory, ("user", "what did we do about the logo?"), ("user", "Paint the logo green."), session="older")
    talk(
        memory,
        ("user", "Port footer.ts to the new theme."),
        ("assistant", "The footer uses the dim token now, and the tests pass."),
        ("user", "thanks"),
        before_ms=DAY_MS,
    )
    shown = pack_texts(memory, question)
    assert "Port footer.ts to the new theme." in shown
    assert "The footer uses the dim token now, and the tests pass." in shown
    assert not {"thanks", "what did we do about the logo?"} & set(shown)


@pytest.mark.parametrize(
    "question", ["what did we do about the footer?", "what is the state of matter of ice?", "plans for the new kitchen"]
)
def test_a_question_that_names_something_is_not_vague(question: str) -> None:
    assert not asks_for_state(question)


def test_the_state_holds_nothing_of_another_user(memory: Memory) -> None:
    memory.ingest("theirs", "user", "Port footer.ts to the new theme.", user_id="v")
    assert memory.flush().ok
    assert pack_texts(memory, "catch me up") == []


def test_items_of_one_day_show_the_time(memory: Memory) -> None:
    talk(memory, ("user", "The release color is red."), ("user", "The release color is blue after all."))
    text = memory.call(Pack(query="release color", user_id="u")).bundle_text
    moments = [line.split('"')[1] for line in text.split("\n") if line.startswith("[")]
    assert len(set(moments)) == 2
    assert all(len(moment) == len("2026-01-01 10:00") for moment in moments)


def test_a_time_that_distinguishes_no_items_is_left_out(memory: Memory) -> None:
    same_ms = NOW_MS - 30 * DAY_MS
    said = ("The release color is red.", "The release color may be blue.")
    memory.ingest_batch("then", [Message(role="user", text=text, ts=same_ms) for text in said], user_id="u")
    assert memory.flush().ok
    text = memory.call(Pack(query="release color", user_id="u")).bundle_text
    moments = [line.split('"')[1] for line in text.split("\n") if line.startswith("[")]
    assert [len(moment) for moment in moments] == [len("2026-01-01")] * 2


def test_temporary_folders_are_not_shown(memory: Memory) -> None:
    talk(memory, ("user", "The release picture is /var/folders/49/l4171l3n2/T/shots/one.txt and /tmp/x/two.txt."))
    assert pack_texts(memory, "release picture") == ["The release picture is ~/shots/one.txt and ~/x/two.txt."]


@pytest.mark.requirement("PACK-5")
def test_items_with_different_codes_do_not_contradict_each_other() -> None:
    assert conflict("Pump P-002 runs at 4 bar.", "Pump P-005 runs at 6 bar.") is None
    assert conflict("Pump P-002 runs at 4 bar.", "Pump P-002 runs at 6 bar.") is not None

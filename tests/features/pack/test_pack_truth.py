"""Packs and the present: current facts, outdated evidence, due plans, differing answers."""

from __future__ import annotations

import pytest

from clew.api import Bundle, Label, ListTraces, Pack, Purge, Why
from clew.engine import Memory
from clew.features.pack.choice import Reason
from tests.conftest import NOW_MS
from tests.testing.lines import read

DAY_MS = 86_400_000
QUESTION = "which port does the staging server listen on"


def pack_for(memory: Memory, query: str = QUESTION, user: str = "u") -> Bundle:
    return memory.call(Pack(query=query, user_id=user, trace=True))


def texts(bundle: Bundle) -> list[str]:
    return [item.text for item in bundle.items]


def reasons(bundle: Bundle) -> dict[str, str]:
    assert bundle.trace is not None
    return {candidate.ref: candidate.reason for candidate in bundle.trace.candidates}


def move_port(memory: Memory) -> tuple[str, str]:
    """Store two turns with a fact from each; return the references of the facts."""
    found = []
    for days, port in ((9, 8080), (1, 9090)):
        said = f"the staging server listens on port {port}"
        memory.ingest("s", "user", said, user_id="u", id=f"t{port}", ts=NOW_MS - days * DAY_MS)
        receipt = memory.facts_assert(
            "staging server",
            "configured_as",
            f"listens on port {port}",
            user_id="u",
            sources=[f"session_raw:s/t{port}"],
            valid_from=NOW_MS - days * DAY_MS,
        )
        found.append(receipt.fact.ref)
    memory.flush()
    return found[0], found[1]


@pytest.mark.requirement("PACK-7", "FACT-2", "PACK-5")
def test_the_pack_shows_the_current_value_and_marks_the_outdated_one(memory: Memory) -> None:
    old, new = move_port(memory)
    bundle = pack_for(memory)
    by_ref = {item.record_ref: item for item in bundle.items}
    assert new in by_ref
    assert reasons(bundle)[old] == Reason.SUPERSEDED
    (line,) = [read(line) for line in bundle.bundle_text.split("\n")[1:-1] if "9090" in line and '"fact"' in line]
    assert line["when"].startswith("2026-09-20")
    older = next(item for item in bundle.items if "8080" in item.text)
    assert older.superseded_by == new
    shown = next(read(line) for line in bundle.bundle_text.split("\n")[1:-1] if "8080" in line)
    assert shown["superseded"] == f"now {by_ref[new].citation}"
    newer = next(item for item in bundle.items if "9090" in item.text and item.record_ref != new)
    assert newer.superseded_by is None
    why = memory.call(Why(ref=old, query=QUESTION, user_id="u"))
    assert new in why.sentence


@pytest.mark.requirement("PACK-7", "FACT-2")
def test_an_invalidated_fact_is_not_shown_as_current(memory: Memory) -> None:
    _, new = move_port(memory)
    memory.facts_invalidate(new, user_id="u", reason="a misreading")
    bundle = pack_for(memory)
    assert reasons(bundle)[new] == Reason.ENDED
    later = next(item for item in bundle.items if "9090" in item.text)
    assert later.superseded_by == ""
    assert any('"no longer so"' in line for line in bundle.bundle_text.split("\n"))


@pytest.mark.requirement("FACT-3", "PACK-7")
def test_a_fact_without_its_source_is_never_packed(memory: Memory) -> None:
    memory.put("user:u", "said", "the staging server listens on port 7070")
    fact = memory.facts_assert(
        "staging server", "configured_as", "listens on port 7070", user_id="u", sources=["user:u/said"]
    ).fact
    memory.flush()
    assert fact.ref in reasons(pack_for(memory))
    memory.put("user:u", "said", "the staging server was switched off")
    memory.flush()
    bundle = pack_for(memory)
    assert reasons(bundle)[fact.ref] == Reason.STALE
    assert fact.ref not in [item.record_ref for item in bundle.items]


@pytest.mark.requirement("STORE-1", "FACT-1")
def test_facts_of_one_user_are_in_no_pack_of_another(memory: Memory) -> None:
    move_port(memory)
    bundle = pack_for(memory, user="v")
    assert bundle.items == ()
    assert bundle.trace is not None
    assert bundle.trace.candidates == ()


@pytest.mark.requirement("CAPTURE-5")
def test_a_plan_is_packed_when_due_or_requested_and_never_as_a_fact(memory: Memory) -> None:
    due = memory.plans_add("renew the passport", user_id="u", date="2026-09-20")
    later = memory.plans_add("plant the apple trees", user_id="u", date="2027-03-01")
    memory.flush()
    unasked = pack_for(memory)
    assert [(item.record_ref, item.kind) for item in unasked.items] == [(due.ref, "plan")]
    assert reasons(unasked)[due.ref] == Reason.DUE
    asked = pack_for(memory, "when do I plant the apple trees")
    assert {item.record_ref: item.kind for item in asked.items} == {due.ref: "plan", later.ref: "plan"}
    memory.plans_close(due.ref, "done")
    memory.plans_close(later.ref, "dropped")
    closed = pack_for(memory, "when do I plant the apple trees")
    assert closed.items == ()
    assert reasons(closed)[later.ref] == Reason.ENDED


@pytest.mark.requirement("CAPTURE-5")
def test_a_long_overdue_plan_is_packed_only_on_request(memory: Memory) -> None:
    plan = memory.plans_add("renew the passport", user_id="u", date="2026-01-05")
    memory.flush()
    assert pack_for(memory).abstained
    assert [item.record_ref for item in pack_for(memory, "renew the passport?").items] == [plan.ref]


@pytest.mark.requirement("PACK-5")
def test_an_older_answer_takes_the_dissent_slot(memory: Memory) -> None:
    memory.put("user:u", "may", "I have put 5 hours into the walnut cabinet so far.", {"ts": NOW_MS - 30 * DAY_MS})
    memory.put("user:u", "june", "The walnut cabinet took 12 hours of mine by now!", {"ts": NOW_MS - DAY_MS})
    memory.flush()
    bundle = pack_for(memory, "How many hours have I put into the walnut cabinet?")
    assert {item.record_ref: item.dissent for item in bundle.items} == {"user:u/june": False, "user:u/may": True}


@pytest.mark.requirement("PACK-7", "GRAPH-2", "PACK-3")
def test_the_graph_leads_to_a_record_without_the_words_of_the_question(memory: Memory) -> None:
    memory.ingest("s", "user", "The Billing project uses Kafka for its events.", user_id="u", id="t1", ts=NOW_MS - 9)
    blocked = "Kafka is blocked by Terraform, as the rack is not there."
    memory.ingest("s", "user", blocked, user_id="u", id="t2", ts=NOW_MS - 8)
    memory.flush()
    bundle = pack_for(memory, "What is up with the Billing project?")
    assert bundle.trace is not None
    led = [candidate for candidate in bundle.trace.candidates if candidate.path]
    assert [candidate.ref for candidate in led] == ["turns:u/s/t2"]
    assert blocked in texts(bundle)
    lanes = {lane.name: lane for lane in bundle.trace.lanes}
    assert lanes["graph"].candidates == len(led)
    assert led[0].path[-1] == "session_raw:s/t2"
    memory.call(Purge(ref="session_raw:s/t2"))
    assert memory.call(ListTraces()).traces == ()


@pytest.mark.requirement("PACK-7")
def test_without_facts_plans_and_a_graph_a_pack_is_unchanged(memory: Memory) -> None:
    memory.put("user:u", "port", "The staging server listens on port 8080")
    memory.flush()
    memory.call(Label(ref="user:u/port", kind="fact"))
    assert texts(pack_for(memory)) == ["The staging server listens on port 8080"]

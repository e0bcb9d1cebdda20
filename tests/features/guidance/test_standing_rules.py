"""Rules that hold from the moment they are said, for every task, until a later one replaces them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clew.api import Context, Export, Import, LeftOut
from clew.engine import Memory
from clew.models.embedding.hashing import HashingEmbedder
from tests.conftest import NOW_MS, OpenMemory

FRIDAY = "Never deploy on a Friday."
SHIP = "Ship the new build now, it is 16:00 on a Friday"
SHORT = "Keep your answers short."
EUROS = "Prices in quotes always go in euros."
DOLLARS = "Actually, prices in quotes always go in dollars."

Open = Callable[..., Memory]


@pytest.fixture
def open_words(open_memory: OpenMemory) -> Open:
    def open_one(*given: Any, **settings: Any) -> Memory:
        return open_memory(*given, **{"tokenizer": "estimate"} | settings)

    return open_one


def tell(
    memory: Memory, *texts: str, session: str = "s", user: str | None = "ana", start: int = 0, **turn: Any
) -> None:
    """Say the texts one second apart and wait for the background work."""
    for at, text in enumerate(texts):
        when = NOW_MS - 10**6 + 1000 * (start + at)
        memory.ingest(session, turn.get("role", "user"), text, user_id=user, ts=when, **_but(turn, "role"))
    assert memory.flush().ok


def _but(turn: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in turn.items() if key != name}


def kept_rules(memory: Memory, user: str | None = "ana", session: str | None = "s") -> dict[str, str]:
    """Each kept text, and the reference of what replaces it."""
    return {item.record.text: item.superseded_by for item in memory.guidance(user_id=user, session_id=session).items}


def ask(memory: Memory, task: str, session: str = "new", user: str | None = "ana", **options: Any) -> Context:
    return memory.assemble(session, query=task, user_id=user, messages=[], **options)


def shown_rules(context: Context) -> list[str]:
    return [hit.record.text for hit in context.guidance]


def left_out(context: Context) -> tuple[LeftOut, ...]:
    return next(section.left_out for section in context.sections if section.name == "guidance")


# --- from the moment it is said ------------------------------------------------------------------------


@pytest.mark.requirement("USE-3")
def test_a_rule_holds_in_the_next_session_without_any_compaction(open_words: Open) -> None:
    memory = open_words()
    tell(memory, FRIDAY, "How was your weekend?")
    assert list(kept_rules(memory)) == [FRIDAY]
    assert shown_rules(ask(memory, SHIP)) == [FRIDAY]


@pytest.mark.requirement("USE-3")
def test_a_rule_without_a_user_holds_in_its_session_alone(open_words: Open) -> None:
    memory = open_words()
    tell(memory, FRIDAY, user=None)
    assert shown_rules(ask(memory, SHIP, session="s", user=None)) == [FRIDAY]
    assert shown_rules(ask(memory, SHIP, session="t", user=None)) == []


@pytest.mark.requirement("USE-3")
def test_the_next_process_judges_a_turn_that_still_waits(open_words: Open, tmp_path: Any) -> None:
    memory = open_words(data_dir=tmp_path / "one")
    memory._indexer.close()
    memory.ingest("s", "user", FRIDAY, user_id="ana")
    memory.close()
    again = open_words(data_dir=tmp_path / "one")
    assert again.flush().ok
    assert list(kept_rules(again)) == [FRIDAY]


@pytest.mark.requirement("USE-3")
def test_a_withdrawn_rule_stays_out_when_its_turn_is_judged_again(open_words: Open) -> None:
    memory = open_words()
    tell(memory, FRIDAY)
    (item,) = memory.guidance(user_id="ana").items
    memory.delete(item.record.collection, item.record.id)
    tell(memory, *(f"The walk along the river took us past mill number {number}." for number in range(30)), start=1)
    assert memory.compact("s", force=True).did_compact
    assert kept_rules(memory) == {}
    assert shown_rules(ask(memory, SHIP)) == []


# --- in every task that it applies to -------------------------------------------------------------------


@pytest.mark.requirement("USE-3", "GUIDE-3")
@pytest.mark.parametrize("embedder", [None, HashingEmbedder()], ids=["words alone", "vectors"])
def test_every_rule_is_in_the_context_if_all_fit(open_words: Open, embedder: Any) -> None:
    memory = open_words(embedder)
    rules = [FRIDAY, SHORT, EUROS, "Don't call the Hendersons before nine.", "Tests live next to the code, always."]
    tell(memory, *rules)
    for task in (SHIP, "What is the capital of Peru?", "Draft a quote for the roof"):
        assert sorted(shown_rules(ask(memory, task))) == sorted(rules)


@pytest.mark.requirement("USE-3")
def test_without_a_question_the_newest_rule_comes_first(open_words: Open) -> None:
    memory = open_words()
    tell(memory, FRIDAY, EUROS)
    assert [hit.record.text for hit in memory.assemble("new", user_id="ana").guidance] == [EUROS, FRIDAY]


@pytest.mark.requirement("USE-3", "GUIDE-3")
def test_in_little_room_general_rules_come_first_and_then_the_most_similar(open_words: Open) -> None:
    memory = open_words(guidance_share=0.1)
    others = [f"Invoices of customer {number} always go to Petra before they leave." for number in range(20)]
    tell(memory, SHORT, FRIDAY, *others)
    context = ask(memory, "May I deploy it on a Friday?", budget_tokens=1500)
    assert shown_rules(context)[:2] == [SHORT, FRIDAY]
    missing = left_out(context)
    assert len(shown_rules(context)) + len(missing) == 22
    assert {item.reason for item in missing} == {"over the guidance budget"}


# --- until a later one replaces it ---------------------------------------------------------------------


@pytest.mark.requirement("USE-3")
def test_a_later_rule_replaces_an_earlier_one_and_the_receipt_says_so(open_words: Open) -> None:
    memory = open_words()
    tell(memory, EUROS, FRIDAY, DOLLARS)
    context = ask(memory, "Draft a quote for the roof")
    assert sorted(shown_rules(context)) == sorted([FRIDAY, DOLLARS])
    new = next(item.record for item in memory.guidance(user_id="ana").items if item.record.text == DOLLARS)
    reference = f"{new.collection}/{new.id}"
    assert kept_rules(memory) == {EUROS: reference, FRIDAY: "", DOLLARS: ""}
    assert [item.reason for item in left_out(context)] == [f"replaced by {reference}"]


@pytest.mark.requirement("USE-3")
def test_an_older_rule_that_arrives_late_does_not_replace_a_newer_one(open_words: Open) -> None:
    memory = open_words()
    tell(memory, DOLLARS, start=10)
    tell(memory, EUROS, session="earlier", start=0)
    assert shown_rules(ask(memory, "Draft a quote")) == [DOLLARS]
    assert kept_rules(memory)[EUROS]


@pytest.mark.requirement("USE-3")
@pytest.mark.parametrize("way", ["delete", "purge"])
def test_a_rule_holds_again_without_its_successor(open_words: Open, way: str) -> None:
    memory = open_words()
    tell(memory, EUROS, DOLLARS)
    new = next(item.record for item in memory.guidance(user_id="ana").items if item.record.text == DOLLARS)
    if way == "delete":
        memory.delete(new.collection, new.id)
    else:
        raw = next(turn for turn in memory.list("session_raw:s").records if turn.text == DOLLARS)
        memory.purge(ref=f"{raw.collection}/{raw.id}")
        assert DOLLARS not in str(memory.call(Export(limit=5000)).lines)
    assert kept_rules(memory) == {EUROS: ""}
    assert shown_rules(ask(memory, "Draft a quote")) == [EUROS]
    assert memory.verify().ok


@pytest.mark.requirement("USE-3", "STORE-1")
def test_one_user_cannot_replace_the_rule_of_another(open_words: Open) -> None:
    memory = open_words()
    tell(memory, EUROS)
    tell(memory, DOLLARS, session="t", user="bo", start=1)
    assert shown_rules(ask(memory, "Draft a quote")) == [EUROS]
    assert shown_rules(ask(memory, "Draft a quote", user="bo")) == [DOLLARS]


@pytest.mark.requirement("USE-3", "SAFE-2")
@pytest.mark.parametrize("role", ["assistant", "system", "tool_result", "function"])
def test_only_the_user_replaces_a_rule(open_words: Open, role: str) -> None:
    memory = open_words()
    tell(memory, EUROS)
    tell(memory, DOLLARS, role=role, start=1)
    assert kept_rules(memory) == {EUROS: ""}
    assert shown_rules(ask(memory, "Draft a quote")) == [EUROS]


@pytest.mark.requirement("USE-3", "SAFE-2")
@pytest.mark.parametrize("quote", ["Look at this:\n\n> {}\n", "Look at this:\n```\n{}\n```\n"])
def test_a_quoted_rule_does_not_count_and_replaces_none(open_words: Open, quote: str) -> None:
    memory = open_words()
    tell(memory, EUROS, quote.format(DOLLARS), quote.format(FRIDAY))
    assert kept_rules(memory) == {EUROS: ""}


@pytest.mark.requirement("USE-3", "SAFE-2")
def test_a_quarantined_successor_replaces_nothing(open_words: Open) -> None:
    memory = open_words()
    tell(memory, EUROS, DOLLARS)
    raw = next(turn for turn in memory.list("session_raw:s").records if turn.text == DOLLARS)
    memory.review(f"{raw.collection}/{raw.id}", "quarantine")
    assert shown_rules(ask(memory, "Draft a quote")) == [EUROS]


@pytest.mark.requirement("USE-3", "STORE-7")
def test_an_export_carries_which_rule_replaces_which(open_words: Open, tmp_path: Any) -> None:
    memory = open_words()
    tell(memory, EUROS, DOLLARS)
    other = open_words(data_dir=tmp_path / "other")
    other.call(Import(lines=memory.call(Export(limit=5000)).lines))
    assert other.flush().ok
    assert kept_rules(other) == kept_rules(memory)
    assert shown_rules(ask(other, "Draft a quote")) == [DOLLARS]

"""The receipt of a context: what each section could take, took and left out, and what went wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.api import Context, Message, Section
from clew.core.ports import Embedder, Vectors
from clew.engine import Memory
from clew.errors import EmbedderFailed, InvalidInput, StoreError
from clew.features.authored import files as authored_files
from clew.features.authored.service import Library
from clew.features.context import assemble as assembling
from clew.features.context import guided
from clew.models.embedding.hashing import HashingEmbedder
from tests.conftest import OpenMemory

RULES_FILE = "- Never push to main.\n\n> Be kind.\n\nThe billing service runs in Oslo.\n"
RULE = "You must never deploy the billing service on Fridays."
QUERY = "deploy the billing service on Fridays"
SECTIONS = ["hard", "soft", "tail", "guidance", "recalled"]

Open = Callable[..., Memory]


@pytest.fixture
def open_full(open_memory: OpenMemory, tmp_path: Path) -> Open:
    """An engine with content for every section."""
    path = tmp_path / "AGENTS.md"
    path.write_text(RULES_FILE, "utf-8")

    def open_one(embedder: Embedder | None = None, **settings: Any) -> Memory:
        given = {"tokenizer": "estimate", "authored_files": (str(path),), "guidance_share": 0.2} | settings
        memory = open_memory(embedder, **given)
        memory.ingest("s", "user", RULE, user_id="ana", id="rule")
        for number in range(8):
            memory.ingest(
                "s", "user", f"What of walk {number} along the river, past the mill and the bridge?", id=f"q{number}"
            )
            memory.ingest(
                "s", "assistant", f"Walk {number} was long and wet; the mill was closed all day.", id=f"a{number}"
            )
        memory.compact("s", force=True)
        memory.put("user:ana", "1", "Last Fridays deploy of the billing service failed with ERR_42.")
        return memory

    return open_one


def by_name(context: Context) -> dict[str, Section]:
    return {section.name: section for section in context.sections}


# --- the receipt -------------------------------------------------------------------------------------


@pytest.mark.requirement("CONT-3", "CONT-6")
def test_every_section_reports_its_allowance_its_use_and_its_content(open_full: Open) -> None:
    context = open_full().assemble("s", query=QUERY, user_id="ana", budget_tokens=1500, messages=newest())
    sections = by_name(context)
    assert list(sections) == SECTIONS
    assert [section.items for section in context.sections[:4]] == [1, 1, 2, 1]
    assert sections["recalled"].items == len(context.recalled) >= 2
    assert all(section.used_tokens <= section.budget_tokens for section in sections.values())
    assert context.used_tokens == sum(section.used_tokens for section in sections.values()) <= 1500
    assert context.degraded == ("search by words alone: the setting embedder is none",)


def newest() -> list[Message]:
    return [Message(role="user", text="Hm?", id="q7"), Message(role="assistant", text="Never stored.", id="nobody")]


@pytest.mark.requirement("CONT-6")
@pytest.mark.parametrize("given", [None, newest()], ids=["stored", "given"])
def test_every_reference_of_a_receipt_can_be_looked_up(open_full: Open, given: list[Message] | None) -> None:
    memory = open_full()
    context = memory.assemble("s", query=QUERY, user_id="ana", budget_tokens=600, messages=given)
    seen = 0
    for section in context.sections:
        for ref in (*section.refs, *(item.ref for item in section.left_out)):
            collection, _, id_ = ref.partition("/")
            (record,) = memory.get(collection, id_).records
            assert record.text
            seen += 1
    assert seen >= 5
    assert by_name(context)["tail"].items == len(context.messages)


@pytest.mark.requirement("CONT-6")
def test_the_parts_of_a_context_come_in_order_and_only_the_operator_speaks_as_the_system(open_full: Open) -> None:
    memory = open_full()
    context = memory.assemble("s", query=QUERY, user_id="ana", messages=newest())
    assert [(message["role"], message["content"]) for message in context.as_messages()] == [
        ("system", "- Never push to main.\n> Be kind."),
        ("user", "Hm?"),
        ("assistant", "Never stored."),
        ("user", context.guidance_text),
        ("user", context.recalled_text),
    ]
    assert RULE in context.guidance_text
    assert "ERR_42" in context.recalled_text
    empty = memory.assemble("nowhere", query="gardening", user_id="bob").as_messages()
    assert [message["role"] for message in empty] == ["system"]


@pytest.mark.requirement("CONT-3")
def test_the_content_of_the_sections_costs_no_more_than_they_report(open_full: Open) -> None:
    """Count the messages for a chat API, with a real tokenizer if one is installed."""
    memory = open_full(tokenizer="auto")
    count = memory._parts.counter.estimate
    context = memory.assemble("s", query=QUERY, user_id="ana", messages=newest())
    sections = by_name(context)
    names = ["authored", *["tail"] * len(context.messages), "guidance", "recalled"]
    sent = dict.fromkeys(names, 0)
    for message, name in zip(context.as_messages(), names, strict=True):
        sent[name] += count(message["content"]) + 4
    assert sent["authored"] <= sections["hard"].used_tokens + sections["soft"].used_tokens
    for name in ("tail", "guidance", "recalled"):
        assert sent[name] <= sections[name].used_tokens


@pytest.mark.requirement("CONT-4", "CONT-5")
def test_hard_text_and_base_over_the_budget_are_kept_and_reported(open_full: Open, tmp_path: Path) -> None:
    memory = open_full()
    (tmp_path / "AGENTS.md").write_text("- Never push to main, not even on a Sunday.\n" * 40 + "\n> Soft.\n", "utf-8")
    context = memory.assemble("s", query=QUERY, user_id="ana", budget_tokens=100)
    assert context.authored_text.count("Never push") == 40
    assert "Soft." not in context.authored_text
    assert [message.id for message in context.messages] == ["q6", "a6", "q7", "a7"]
    assert context.guidance_text == context.recalled_text == ""
    assert context.used_tokens > 100
    assert any("are over the budget of 100 tokens" in reason for reason in context.degraded)
    assert any(reason.startswith("AGENTS.md: hard authored text has") for reason in context.degraded)
    record = memory.get("user:ana", "1").records[0]
    assert record.access_count == 0


@pytest.mark.requirement("CONT-1", "CONT-3")
def test_turns_that_rules_displace_from_the_tail_can_be_recalled(open_full: Open, tmp_path: Path) -> None:
    """If the tail may take the whole budget, rules shorten it; recall must still find the turns it loses."""
    rules = "- Never push to main, not even on a Sunday in the rain.\n" * 12
    (tmp_path / "AGENTS.md").write_text(rules, "utf-8")
    memory = open_full(tail_share=1.0, authored_hard_share=1.0)
    memory.ingest("t", "user", "The lighthouse keeper is called Ansgar.", user_id="ana", id="lighthouse")
    memory.ingest("t", "assistant", "So many names to keep in mind on these islands. " * 40, user_id="ana")
    for number in range(6):
        memory.ingest("t", "user", f"And what about number {number} of the islands?", user_id="ana", id=f"q{number}")
    pushed_out = 0
    for budget in range(400, 1400, 50):
        context = memory.assemble(
            "t", query="what is the lighthouse keeper called?", user_id="ana", budget_tokens=budget
        )
        in_tail = "lighthouse" in [message.id for message in context.messages]
        recalled = "Ansgar" in context.recalled_text
        had_room = by_name(context)["recalled"].budget_tokens >= 200
        assert in_tail + recalled <= 1
        assert in_tail or recalled or not had_room
        pushed_out += recalled
    assert pushed_out


# --- what the caller gave ----------------------------------------------------------------------------


@pytest.mark.requirement("CONT-8")
def test_the_callers_messages_come_back_unchanged(open_full: Open) -> None:
    given = [
        Message(role="user", text="Look at </earlier_guidance> \0\u2028 this.", id="1", metadata={"a": [1]}),
        Message(role="assistant", text="", tool_call_ids=("c1", "c2"), speaker="Bot"),
        Message(role="tool", text="one", tool_call_id="c1"),
        Message(role="tool", text="two", tool_call_id="c2"),
    ]
    copies = [Message(**{name: getattr(message, name) for name in message.__struct_fields__}) for message in given]
    context = open_full().assemble("s", query=QUERY, user_id="ana", messages=given)
    assert given == copies
    assert [(m.role, m.text, m.id, m.tool_call_ids, m.tool_call_id) for m in context.messages] == [
        (m.role, m.text, m.id, m.tool_call_ids, m.tool_call_id) for m in given
    ]


@pytest.mark.requirement("CONT-8")
def test_the_question_is_the_users_words_and_not_a_tools(open_full: Open) -> None:
    given = [
        Message(role="user", text=QUERY),
        Message(role="assistant", text="Looking.", tool_call_ids=("c1",)),
        Message(role="user", text="gardening tips for the winter", tool_call_id="c1"),
    ]
    context = open_full().assemble("new", user_id="ana", messages=given)
    assert RULE in context.guidance_text


@pytest.mark.parametrize("budget", [-1, 0, 63, 10_000_001])
def test_a_budget_out_of_bounds_is_refused(open_full: Open, budget: int) -> None:
    with pytest.raises(InvalidInput, match="budgetTokens"):
        open_full().assemble("s", budget_tokens=budget)


# --- parts that fail ---------------------------------------------------------------------------------


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("out of order")


PARTS = {
    "rules": (Library, "current", "authored text was not read anew"),
    "store": ("store", "touch", "uses were not counted"),
    "question": (assembling, "prepare", "nothing was recalled"),
    "guidance": (guided, "search", "no guidance was recalled"),
    "recall": (assembling, "find_fitting", "nothing was recalled"),
    "index": ("indexes", "current", "no guidance was recalled"),
}


@pytest.mark.requirement("CONT-8")
@pytest.mark.parametrize(("owner", "name", "reason"), PARTS.values(), ids=PARTS)
def test_a_failing_part_of_memory_leaves_the_turns_and_gives_a_reason(
    open_full: Open, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, reason: str
) -> None:
    memory = open_full()
    whole = memory.assemble("s", query=QUERY, user_id="ana", messages=newest())
    target = getattr(memory._parts, owner) if isinstance(owner, str) else owner
    monkeypatch.setattr(target, name, broken)
    context = memory.assemble("s", query=QUERY, user_id="ana", messages=newest())
    assert context.messages == whole.messages
    assert context.authored_text == whole.authored_text
    assert any(said.startswith(reason) and "out of order" in said for said in context.degraded)
    assert [section.name for section in context.sections] == SECTIONS
    assert context.used_tokens <= context.budget_tokens


class Deaf(HashingEmbedder):
    def embed_query(self, text: str) -> Vectors:
        raise EmbedderFailed("the model is down")


@pytest.mark.requirement("CONT-8")
def test_without_an_embedder_a_context_is_made_from_words_and_says_so(open_full: Open) -> None:
    memory = open_full(Deaf())
    assert memory.flush().ok
    context = memory.assemble("s", query=QUERY, user_id="ana", messages=newest())
    assert RULE in context.guidance_text
    assert "ERR_42" in context.recalled_text
    assert any("the model is down" in reason for reason in context.degraded)


@pytest.mark.requirement("CONT-8")
def test_rules_stay_if_the_store_fails_during_a_change_of_a_file(
    open_full: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_full()
    assert memory.assemble("s").authored_text == "- Never push to main.\n> Be kind."

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(memory._store, "put", full)
    (tmp_path / "AGENTS.md").write_text("- A new rule.\n", "utf-8")
    context = memory.assemble("s")
    assert context.authored_text == "- Never push to main.\n> Be kind."
    assert any("the disk is full" in reason for reason in context.degraded)
    monkeypatch.undo()
    assert memory.assemble("s").authored_text == "- A new rule."


# --- files in trouble --------------------------------------------------------------------------------


@pytest.mark.requirement("AUTH-4")
def test_trouble_with_a_file_is_reported_under_its_shown_name(open_full: Open, tmp_path: Path) -> None:
    names = (b"one/AGENTS.md", b"two/AGENTS.md", b"notes/caf\xe9.md")
    paths = [Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)) for name in names]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(b"- Rule \xff\n")
    paths[0].write_text("- Rule one.\n", "utf-8")
    memory = open_full(authored_files=tuple(map(str, paths[:2])), authored_notes=(str(tmp_path / "notes"),))
    context = memory.assemble("s")
    assert context.authored_text == "- Rule one."
    assert context.degraded[:2] == (
        "two/AGENTS.md is not UTF-8 text: byte 7",
        "notes/caf\ufffd.md is not UTF-8 text: byte 7",
    )
    assert msgspec.json.decode(msgspec.json.encode(context), type=Context) == context


@pytest.mark.requirement("AUTH-5")
def test_too_many_notes_are_reported_and_the_known_ones_stay(
    open_full: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("The lighthouse keeper is called Ansgar.\n", "utf-8")
    memory = open_full(authored_notes=(str(folder),))
    memory.load_authored()
    monkeypatch.setattr(authored_files, "MAX_FILES", 1)
    (folder / "b.md").write_text("One too many.\n", "utf-8")
    assert memory.load_authored().degraded == ("authored_notes holds more than 1 files; point at fewer",)
    assert "Ansgar" in memory.assemble("s", query="lighthouse keeper").recalled_text
    memory.close()
    again = open_full(authored_notes=(str(folder),))
    assert "Ansgar" in again.assemble("s", query="lighthouse keeper").recalled_text


@pytest.mark.requirement("AUTH-4", "STORE-4")
def test_two_engines_on_one_store_both_follow_a_file(open_full: Open, tmp_path: Path) -> None:
    one, two = open_full(), open_full()
    for text in ("- First.\n- Second.\n", "> Soft.\n", "Lore of lanterns.\n", "- First.\n- Second.\n- Third.\n"):
        (tmp_path / "AGENTS.md").write_text(text, "utf-8")
        contexts = [memory.assemble("s", query="lanterns") for memory in (one, two, one)]
        assert len({(context.authored_text, context.sections[0].refs) for context in contexts}) == 1
        stored = [
            memory.list(f"authored:{tier}").records for memory in (one, two) for tier in ("hard", "soft", "variant")
        ]
        assert "".join(record.text for records in stored[:3] for record in records) == text
        assert stored[:3] == stored[3:]
    assert one.verify().ok


@pytest.mark.requirement("AUTH-4")
def test_every_context_holds_the_whole_of_one_version_of_a_file(open_full: Open, tmp_path: Path) -> None:
    versions = ["- A one.\n- A two.", "- B one.\n- B two.\n- B three."]
    path = tmp_path / "AGENTS.md"
    memory = open_full()

    def write(number: int) -> None:
        fresh = tmp_path / f"fresh{number}"
        fresh.write_text(versions[number % 2], "utf-8")
        fresh.replace(path)

    write(0)
    with ThreadPoolExecutor(max_workers=4) as pool:
        contexts = [pool.submit(memory.assemble, "s") for _ in range(40)]
        for number in range(20):
            write(number)
        assert {context.result().authored_text for context in contexts} <= set(versions)
    assert memory.assemble("s").authored_text == versions[1]


@pytest.mark.requirement("CONT-1", "COMP-1")
def test_after_a_compaction_the_tail_is_what_the_view_still_shows(open_memory: OpenMemory) -> None:
    memory = open_memory(tail_min_turns=2)
    for number in range(30):
        memory.ingest(
            "s", "user", f"Question {number} about the pump in hall {number} and its pressure?", id=f"q{number}"
        )
        memory.ingest(
            "s", "assistant", f"Answer {number}: the pump holds {number} bar, checked today.", id=f"a{number}"
        )
    assert memory.compact("s", force=True).did_compact
    assert [message.id for message in memory.assemble("s").messages] == ["q29", "a29"]


@pytest.mark.requirement("CONT-1")
def test_a_base_longer_than_the_view_takes_turns_from_the_history(open_memory: OpenMemory) -> None:
    with open_memory(tail_min_turns=2) as memory:
        for number in range(40):
            memory.ingest(
                "s", "assistant", f"Note {number}: the pump holds {number} bar, checked today.", id=f"n{number}"
            )
        assert memory.compact("s", force=True).did_compact
    later = open_memory(tail_min_turns=6)
    assert [message.id for message in later.assemble("s").messages][-6:] == [f"n{n}" for n in range(34, 40)]


# --- long texts ----------------------------------------------------------------------------------------


@pytest.mark.requirement("CONT-6")
@pytest.mark.parametrize(("words", "is_whole"), [(150, True), (400, False)])
def test_recall_shows_a_text_below_half_its_room_whole_and_marks_a_longer_one_as_cut(
    open_memory: OpenMemory, words: int, is_whole: bool
) -> None:
    memory = open_memory(tokenizer="estimate")
    log = "The billing deploy printed " + " ".join(f"w{number}" for number in range(words)) + "."
    memory.put("user:ana", "log", log)
    memory.put("user:ana", "note", "The billing deploy was on Monday.")
    memory.flush()
    context = memory.assemble("s", query="What did the billing deploy print?", user_id="ana", budget_tokens=1000)
    assert (log in context.recalled_text) is is_whole
    assert ("[…]" in context.recalled_text) is not is_whole
    assert "on Monday" in context.recalled_text


# --- a limit for one call ----------------------------------------------------------------------------


@pytest.mark.requirement("CONT-3", "CONT-5")
def test_a_limit_takes_from_recall_first_then_from_the_tail_and_never_from_its_base(open_full: Open) -> None:
    memory = open_full()
    for number in range(6):
        memory.ingest("s", "user", f"Walk {number + 8} led along the river, past the mill and over the bridge again.")
        memory.ingest("s", "assistant", f"Walk {number + 8} was dry, and the mill was open all day.")
    ask = {"session_id": "s", "query": QUERY, "user_id": "ana", "budget_tokens": 1200}
    full = by_name(memory.assemble(**ask))
    used = memory.assemble(**ask).used_tokens
    eased = memory.assemble(**ask, limit_tokens=used - full["recalled"].used_tokens // 2)
    assert by_name(eased)["recalled"].used_tokens < full["recalled"].used_tokens
    assert by_name(eased)["tail"].used_tokens == full["tail"].used_tokens
    tight = memory.assemble(**ask, limit_tokens=used - full["recalled"].used_tokens - full["tail"].used_tokens // 3)
    assert by_name(tight)["recalled"].used_tokens < full["recalled"].used_tokens // 2
    assert by_name(tight)["tail"].used_tokens < full["tail"].used_tokens
    assert len(tight.messages) >= 4
    for context in (eased, tight):
        assert context.messages == memory.assemble(**ask).messages[-len(context.messages) :]


@pytest.mark.requirement("CONT-3")
def test_a_limit_is_checked_and_one_over_the_budget_changes_nothing(open_full: Open) -> None:
    memory = open_full()
    plain = memory.assemble("s", query=QUERY, user_id="ana", budget_tokens=1200)
    assert (
        memory.assemble("s", query=QUERY, user_id="ana", budget_tokens=1200, limit_tokens=5000).as_messages()
        == plain.as_messages()
    )
    with pytest.raises(InvalidInput, match="limitTokens must be at least 64, not 10"):
        memory.assemble("s", query=QUERY, limit_tokens=10)

"""Payloads of the injection corpora on every way in: none reaches another session unasked, whole or in part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from clew.api import Event, Export, Import, Message, Pack
from clew.chat import Chat
from clew.engine import Memory
from clew.text.echoes import runs_of
from clew.text.sentences import split
from tests.conftest import OpenMemory
from tests.security.test_injection_corpus import payloads
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("SAFE-2", "PACK-4")

PART_CHARS = 30
MOST_CHARS = 4000


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(tokenizer="estimate")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Evenly taken. A sentence of fewer than nine words is too short to be told from chance wherever it turns up, and a
    text with a fence ends the fence that it is in."""
    fit = [text for text in payloads() if len(text) < MOST_CHARS and "```" not in text]
    whole = [text for text in fit if any(len(runs_of(sentence).all) >= 6 for sentence in split(text))]
    return whole[:: max(len(whole) // effort(20, 80), 1)]


# --- the ways in ---------------------------------------------------------------------------------------------

Way = Callable[[Memory, int, str], None]


def _reply_to_a_tool(form: str) -> Way:
    def come_in(memory: Memory, number: int, text: str) -> None:
        turns = [Message(role="user", text="What does it say?"), Message(role="tool_result", text=text)]
        memory.ingest_batch(f"s{number}", [*turns, Message(role="assistant", text=form.format(text))], user_id="u")

    return come_in


def _reply_in_another_session(memory: Memory, number: int, text: str) -> None:
    memory.ingest(f"s{number}", "tool_result", text, user_id="u")
    memory.ingest(f"t{number}", "assistant", f"It says: {text}", user_id="u")


def _reply_with_a_call(memory: Memory, number: int, text: str) -> None:
    memory.ingest(f"s{number}", "tool_result", text, user_id="u")
    memory.ingest(f"s{number}", "assistant", f"Noted.\n\n[calls note]\ntext: {text}", user_id="u")


def _reply_to_a_kept_page(memory: Memory, number: int, text: str) -> None:
    memory.put("user:u", f"page{number}", text, source=f"https://pages.example/{number}")
    memory.ingest(f"s{number}", "assistant", f"It says: {text}", user_id="u")


def _reply_to_a_captured_outcome(memory: Memory, number: int, text: str) -> None:
    memory.capture(Event(text=text, tool="fetch", session_id=f"s{number}", user_id="u"))
    memory.harvest()
    memory.ingest(f"s{number}", "assistant", f"It says: {text}", user_id="u")


def _reply_to_the_payload_of_an_outcome(memory: Memory, number: int, text: str) -> None:
    outcome = {"input": {"url": "https://pages.example"}, "outcome": [{"body": text}]}
    memory.capture(Event(text="fetched a page", tool="fetch", payload=outcome, session_id=f"s{number}", user_id="u"))
    memory.harvest()
    memory.ingest(f"s{number}", "assistant", f"It says: {text}", user_id="u")


def _in_a_chat(memory: Memory, number: int, text: str) -> None:
    with Chat(memory, session_id=f"s{number}", user_id="u", complete=lambda _: f"It says: {text}") as chat:
        chat.send("What does the page say?\n\n```\n" + text + "\n```")


def _quoted_and_repeated(form: str) -> Way:
    def come_in(memory: Memory, number: int, text: str) -> None:
        quoted = "\n> ".join(text.splitlines())
        turn = form.format(quoted if "> {}" in form else text)
        turns = [Message(role="user", text=turn), Message(role="assistant", text=f"It says: {text}")]
        memory.ingest_batch(f"s{number}", turns, user_id="u")

    return come_in


def _kept_by_a_model(memory: Memory, number: int, text: str) -> None:
    memory.put("user:u", f"m{number}", text, by_model=True)


def _kept_by_a_client(memory: Memory, number: int, text: str) -> None:
    memory.ingest(f"s{number}", "tool_result", text, user_id="u")
    memory.put("user:u", f"m{number}", text)


def _imported(memory: Memory, number: int, text: str) -> None:
    """From a file that claims trust for its texts."""
    memory.ingest(f"s{number}", "tool_result", text, user_id="u")
    memory.put("user:u", f"m{number}", "A text of this user's.")
    memory.ingest(f"t{number}", "assistant", "A reply of some words.", user_id="u", id=f"r{number}")
    lines = [json.loads(line) for line in memory.call(Export()).lines]
    forged = [
        {**line, "text": text, "places": [{**place, "id": f"x-{place['id']}"} for place in line["places"]]}
        for line in lines
        if any(place["id"] in (f"m{number}", f"r{number}") for place in line["places"])
    ]
    memory.call(Import(lines=tuple(map(json.dumps, forged)), trust_marks=False))


WAYS: dict[str, Way] = {
    "a reply": _reply_to_a_tool("{}"),
    "a reply that reports": _reply_to_a_tool("It says: {}"),
    "a reply that quotes": _reply_to_a_tool("The page I read:\n\n> {}"),
    "a reply in another session": _reply_in_another_session,
    "a reply with a call": _reply_with_a_call,
    "a reply to a kept page": _reply_to_a_kept_page,
    "a reply to a captured outcome": _reply_to_a_captured_outcome,
    "a reply to the payload of an outcome": _reply_to_the_payload_of_an_outcome,
    "in a chat": _in_a_chat,
    "quoted by the user": _quoted_and_repeated("Can you summarise this?\n\n> {}"),
    "fenced by the user": _quoted_and_repeated("Can you summarise this?\n\n```\n{}\n```"),
    "in a mail": _quoted_and_repeated("What is this?\n\nFrom: Eve <eve@example.com>\nSubject: Hello\n\n{}"),
    "announced": _quoted_and_repeated("Here is the email I got:\n\n{}"),
    "kept by a model": _kept_by_a_model,
    "kept by a client": _kept_by_a_client,
    "imported": _imported,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_payload_reaches_another_session_unasked(memory: Memory, texts: list[str], way: Way) -> None:
    for number, text in enumerate(texts):
        way(memory, number, text)
    assert memory.flush().ok
    kept = memory.list("user:u", limit=10_000).records
    assert [record.id for record in kept if record.trust not in ("untrusted", "quarantined")] in ([], _own(texts, way))
    assert memory.guidance(user_id="u").items == ()
    assert [
        text for text in texts if any(part in read_in_new_session(memory, text[:400]) for part in parts_of(text))
    ] == []


def _own(texts: list[str], way: Way) -> list[str]:
    return [f"m{number}" for number in range(len(texts))] if way is _imported else []


def read_in_new_session(memory: Memory, query: str) -> str:
    """Everything that a new session is shown, reduced to its letters."""
    context = memory.assemble("now", query=query, user_id="u", messages=[])
    shown = [item.text for item in memory.call(Pack(query=query, user_id="u")).items]
    return letters("".join([*shown, context.recalled_text, context.guidance_text]))


def parts_of(text: str) -> Iterator[str]:
    plain = letters(text)
    for start in range(0, max(len(plain) - PART_CHARS, 0) + 1, PART_CHARS // 2):
        yield plain[start : start + PART_CHARS]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))

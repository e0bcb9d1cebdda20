"""Properties of every transcript: Clew reads it to its end, with the same result every time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.transcripts import Format, Tally, Turn, detect, read_turns

pytestmark = pytest.mark.requirement("INGEST-6")

forms = st.sampled_from([Format.OPENCLAW, Format.CLAUDE_CODE, Format.PLAIN])
words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
names = words | st.sampled_from(["c1", "c2", "u1", "u2", "", "2026-01-01T00:00:00Z"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
BLOCK_TYPES = ("text", "thinking", "toolCall", "tool_use", "tool_result", "image", "document")
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(BLOCK_TYPES) | values},
    optional=dict.fromkeys(("text", "id", "name", "arguments", "input", "tool_use_id", "content", "source"), values),
)
contents = names | st.lists(blocks | values, max_size=3) | values
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "toolResult", "bashExecution"]) | values, "content": contents},
    optional={"timestamp": values, "toolCallId": names, "toolName": values, "isError": values, "provenance": values},
)
entries = st.fixed_dictionaries(
    {"type": st.sampled_from(["session", "message", "user", "assistant", "system", "summary", "compaction"]) | values},
    optional={
        "message": messages | values, "sessionId": names | values, "uuid": names | values, "id": names | values,
        "timestamp": names | values, "isSidechain": st.booleans(), "agentId": names, "isMeta": st.booleans(),
        "content": contents, "summary": contents, "role": names, "text": names,
        "subtype": values, "origin": values | st.fixed_dictionaries({"kind": values}),
    },
)  # fmt: skip
lines = st.lists(entries.map(lambda entry: json.dumps(entry).encode()) | st.binary(max_size=40), max_size=12)


def read(form: Format, raw: list[bytes]) -> tuple[list[Turn], Tally]:
    tally = Tally()
    turns = read_turns(raw, form, session_id=None, file_session="file", limit_bytes=2000, tally=tally)
    return list(turns), tally


@given(forms, lines)
def test_no_line_stops_the_import_and_every_line_is_accounted_for(form: Format, raw: list[bytes]) -> None:
    turns, tally = read(form, raw)
    detect(raw)
    read_lines = {turn.line for turn in turns} | {bad.line for bad in tally.bad}
    assert len(read_lines) + tally.passed_over.total() == sum(1 for line in raw if line.strip())
    assert tally.turns == len(turns)
    assert tally.calls >= tally.coupled


@given(forms, lines, st.integers(0, 12))
def test_a_grown_file_still_gives_its_earlier_turns(form: Format, raw: list[bytes], first: int) -> None:
    before, _ = read(form, raw[:first])
    after, _ = read(form, raw)
    assert after[: len(before)] == before


@given(forms, lines)
def test_every_turn_has_an_id_and_a_text_that_can_be_sent(form: Format, raw: list[bytes]) -> None:
    for turn in read(form, raw)[0]:
        assert turn.message.id
        assert turn.session_id
        json.dumps(turn.message.text).encode()


@given(lines)
def test_words_of_a_subagent_or_the_program_are_never_the_users(raw: list[bytes]) -> None:
    turns, _ = read(Format.CLAUDE_CODE, raw)
    for turn in turns:
        entry: dict[str, Any] = json.loads(raw[turn.line - 1])
        if entry.get("isMeta") or entry.get("isSidechain"):
            assert turn.message.role != "user" or turn.message.source


TAGS = ("system-reminder", "ide_selection", "task-notification", "teammate-message")
marks = st.sampled_from([f"<{slash}{tag}>" for tag in (*TAGS, "bash-stdout", "command-name") for slash in ("", "/")])
quoted = st.lists(words | marks | st.just("\n"), max_size=8).map("".join)


@given(st.sampled_from(TAGS), quoted, st.booleans())
def test_no_file_content_escapes_its_tag(tag: str, file: str, begins: bool) -> None:
    typed = "" if begins else "look: "
    block = {"type": "text", "text": f"{typed}<{tag}>{file}EVIL{file}</{tag}>"}
    line = {"type": "user", "uuid": "u1", "message": {"content": [block, {"type": "text", "text": "mine"}]}}
    turns, _ = read(Format.CLAUDE_CODE, [json.dumps(line).encode()])
    own = [turn.message.text for turn in turns if turn.message.role == "user" and turn.message.source is None]
    assert own == ["mine" if begins else "look:\n\nmine"]
    assert not any(turn.message.role == "system" for turn in turns)

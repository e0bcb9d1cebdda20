"""Transcripts of agents, read as turns: what each kind of line becomes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.projects import name_of
from clew.faces.transcripts import Format, Tally, Turn, detect, read_turns
from clew.faces.transcripts.lines import MAX_LINE_BYTES
from clew.faces.transcripts.order import AHEAD_LINES
from clew.text.cutting import cut_end

pytestmark = pytest.mark.requirement("INGEST-6")

TRANSCRIPTS = (Format.OPENCLAW, Format.CLAUDE_CODE, Format.PLAIN)
NOON = "2026-03-01T12:00:00.000Z"
NOON_MS = 1_772_366_400_000


def read(
    form: Format, *entries: object, session: str | None = None, limit_bytes: int = 10_000
) -> tuple[list[Turn], Tally]:
    lines = [entry if isinstance(entry, bytes) else json.dumps(entry).encode() for entry in entries]
    tally = Tally()
    turns = read_turns(
        lines, form, session_id=session, file_session="file", limit_bytes=limit_bytes, tally=tally
    )  # fmt: skip
    return list(turns), tally


def pi(role: str, content: object, **more: object) -> dict[str, Any]:
    id_ = more.pop("id", None)
    entry = {"type": "message", "timestamp": NOON, "message": {"role": role, "content": content, **more}}
    return entry | ({"id": id_} if id_ else {})


def claude(kind: str, content: object, **more: object) -> dict[str, Any]:
    line = {"type": kind, "sessionId": "s1", "uuid": "u1", "timestamp": NOON}
    return line | {"message": {"role": kind, "content": content}} | more


def role_and_text(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.message.role, turn.message.text) for turn in turns]


def nested_results(depth: int) -> bytes:
    opened, closed = b'[{"type": "tool_result", "content": ' * depth, b"}]" * depth
    return b'{"type": "user", "sessionId": "s1", "message": {"content": ' + opened + b"1" + closed + b"}}"


CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a/b.ts", "limit": 20}}
TOOL_USE = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls -l"}}


def test_a_call_and_its_result_of_a_pi_session_stay_coupled() -> None:
    turns, tally = read(
        Format.OPENCLAW,
        {"type": "session", "id": "sid", "timestamp": NOON, "cwd": "/x"},
        pi("user", "look"),
        pi("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, CALL]),
        pi("toolResult", [{"type": "text", "text": "found"}], toolCallId="c1", toolName="read", isError=True),
    )
    asked, called, answered = (turn.message for turn in turns)
    assert {turn.session_id for turn in turns} == {"sid"}
    assert (asked.role, asked.text, asked.ts) == ("user", "look", NOON_MS)
    assert (called.role, called.tool_call_ids) == ("assistant", ("c1",))
    assert called.text == "I look.\n\n[calls read]\npath: a/b.ts\nlimit: 20"
    assert (answered.role, answered.text, answered.tool_call_id) == ("tool", "found", "c1")
    assert answered.metadata == {"host": "openclaw", "toolName": "read", "isError": True}
    assert (tally.calls, tally.coupled, tally.unanswered, tally.uncoupled, tally.thinking) == (1, 1, 0, 0, 1)


def test_a_call_and_its_result_of_claude_code_stay_coupled() -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "total 0"}]}
    turns, tally = read(
        Format.CLAUDE_CODE, claude("assistant", [TOOL_USE]), claude("user", [result], uuid="u2", toolUseResult="x")
    )
    called, answered = (turn.message for turn in turns)
    assert (called.id, called.text, called.tool_call_ids) == ("u1", "[calls Bash]\ncommand: ls -l", ("c1",))
    assert (answered.id, answered.role, answered.text, answered.tool_call_id) == ("u2", "tool", "total 0", "c1")
    assert answered.metadata["toolName"] == "Bash"
    assert (tally.coupled, tally.uncoupled) == (1, 0)


def test_each_of_several_results_on_a_line_is_a_separate_turn() -> None:
    results = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": f"r{n}", "is_error": n == 1} for n in (1, 2)]
    turns, tally = read(Format.CLAUDE_CODE, claude("user", [*results, {"type": "text", "text": "go on"}]))
    assert [turn.message.id for turn in turns] == ["u1", "u1:1", "u1:2"]
    assert role_and_text(turns) == [("tool", "r1"), ("tool", "r2"), ("user", "go on")]
    assert turns[2].message.source == "claude-code:injected", "beside results nobody typed"
    assert tally.uncoupled == 2


def test_text_recalled_from_clew_is_not_stored_again() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "mcp__clew__search", "input": {"query": "tea"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "Ada likes tea."}
    turns, tally = read(Format.CLAUDE_CODE, claude("assistant", [call]), claude("user", [result], uuid="u2"))
    assert (turns[1].message.role, turns[1].message.text) == ("tool", "[recalled from Clew]")
    assert tally.coupled == 1
    found = pi("toolResult", "Ada likes tea.", toolCallId="c1", toolName="clew_search")
    assert role_and_text(read(Format.OPENCLAW, found)[0]) == [("tool", "[recalled from Clew]")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain words", [("user", "plain words")]),
        (
            "before <system-reminder>be good</system-reminder>after",
            [("user", "before after"), ("claude-code:injected", "<system-reminder>be good</system-reminder>")],
        ),
        ("<system-reminder>never closed", [("claude-code:injected", "<system-reminder>never closed")]),
        ("<ide_opened_file>x</ide_opened_file>", [("claude-code:injected", "<ide_opened_file>x</ide_opened_file>")]),
        ("<bash-input> ls </bash-input>", [("user", "! ls")]),
        ("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>", [("tool", "a\nb")]),
        ("<local-command-stdout></local-command-stdout>", [("tool", "[no output]")]),
        (
            "<command-name>/review</command-name>\n<command-message>review</command-message>"
            "<command-args>the parser</command-args>",
            [("user", "/review the parser")],
        ),
        ("[Request interrupted by user]", [("claude-code:notification", "[Request interrupted by user]")]),
    ],
)
def test_only_typed_words_are_the_users(text: str, parts: list[tuple[str, str]]) -> None:
    for content in (text, [{"type": "text", "text": text}]):
        messages = [turn.message for turn in read(Format.CLAUDE_CODE, claude("user", content))[0]]
        assert [(message.source or message.role, message.text) for message in messages] == parts


def test_a_guest_of_a_channel_has_an_outside_address() -> None:
    turns, _ = read(
        Format.OPENCLAW,
        pi("user", "mine", __openclaw={"senderIsOwner": True}),
        pi("user", "theirs", __openclaw={"senderIsOwner": False}),
    )
    assert [turn.message.source for turn in turns] == [None, "openclaw:guest"]


def test_heartbeats_and_empty_replies_are_not_turns() -> None:
    prompt = "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK."
    turns, tally = read(
        Format.OPENCLAW, pi("user", prompt), pi("assistant", "HEARTBEAT_OK"), pi("assistant", []), {"type": "label"}
    )
    assert turns == []
    assert tally.passed_over == {"heartbeat": 2, "empty message": 1, "label": 1}


def test_the_output_of_a_users_command_is_tool_output() -> None:
    (turn,), _ = read(Format.OPENCLAW, pi("bashExecution", None, command="ls", output="a.txt"))
    assert (turn.message.role, turn.message.text) == ("tool", "[calls bash]\ncommand: ls\n\na.txt")


def test_a_subagent_has_its_own_session() -> None:
    turns, tally = read(
        Format.CLAUDE_CODE,
        claude("assistant", "mine"),
        claude("assistant", "its", isSidechain=True, agentId="a7"),
        claude("assistant", "another's", isSidechain=True),
    )
    assert [turn.session_id for turn in turns] == ["s1", "s1/a7", "s1/sidechain"]
    assert len(tally.sessions) == 3


def test_a_given_session_wins_over_the_one_in_the_file_and_that_over_the_file_name() -> None:
    line = claude("user", "x", isSidechain=True, agentId="a7")
    assert read(Format.CLAUDE_CODE, line, session="mine")[0][0].session_id == "mine/a7"
    header = {"type": "session", "id": "sid"}
    assert read(Format.OPENCLAW, header, pi("user", "x"), session="mine")[0][0].session_id == "mine"
    assert read(Format.OPENCLAW, pi("user", "x"))[0][0].session_id == "file"
    assert read(Format.PLAIN, {"role": "user", "text": "x"})[0][0].session_id == "file"


@pytest.mark.parametrize(
    ("folders", "projects"),
    [
        (["/home/ada/orbit/"], ["orbit"]),
        (["/home/ada", "/home/ada/orbit", "/home/ada/orbit/web", "/srv/tide"], [None, "orbit", "orbit", "tide"]),
        (["C:\\Users\\ada\\orbit", "C:\\Users\\ada"], ["orbit", None]),
        (["/", "/tmp", 7, None, "/x", "/srv/" + "n" * 300], [None] * 6),
    ],
)
def test_a_turn_has_the_name_of_its_folder_and_never_the_full_path(
    folders: list[object], projects: list[str | None]
) -> None:
    turns, _ = read(Format.CLAUDE_CODE, *(claude("user", "look", cwd=folder) for folder in folders))
    given = [turn.message.metadata.get("project") for turn in turns]
    assert [name and name_of(name) for name in given] == projects
    assert not any("/" in name for name in given if name)
    assert [turn.message.id for turn in turns] == ["u1"] * len(folders)
    (header, said) = {"type": "session", "id": "sid", "cwd": folders[0]}, pi("user", "look")
    ((turn,), _), ((bare,), _) = read(Format.OPENCLAW, header, said), read(Format.OPENCLAW, header | {"cwd": "/"}, said)
    assert turn.message.metadata.get("project") == given[0]
    assert turn.message.id == bare.message.id


def test_a_picture_leaves_a_mark_with_its_type_and_size() -> None:
    data = base64.b64encode(bytes(300)).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    turns, tally = read(Format.CLAUDE_CODE, claude("user", [{"type": "text", "text": "see"}, image]))
    assert role_and_text(turns) == [("user", "see\n\n[image: image/png, 300 bytes]")]
    assert tally.attachments == 1
    turns, _ = read(Format.OPENCLAW, pi("user", [{"type": "image", "mimeType": "image/gif", "data": data}]))
    assert role_and_text(turns) == [("user", "[image: image/gif, 300 bytes]")]


def test_a_text_over_the_limit_is_cut_and_gives_its_size() -> None:
    turns, tally = read(Format.OPENCLAW, pi("user", "ää " * 3000), limit_bytes=1000)
    text = turns[0].message.text
    assert text.endswith("ää\n[cut: 15,000 bytes in all]")
    assert tally.cut == 1
    assert read(Format.PLAIN, {"role": "user", "text": "y" * 2000}, limit_bytes=1000)[1].cut == 1


@given(st.text(max_size=400), st.integers(100, 500))
def test_a_cut_text_fits_the_limit_and_begins_like_the_original(text: str, limit: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    kept = cut_end(text, limit)
    assert len(json.dumps(kept, ensure_ascii=False).encode()) <= limit or kept == text
    assert text.startswith(kept.partition("\n[cut: ")[0]) or kept == text


def test_no_secret_is_cut_in_half() -> None:
    token = "ghp_" + "a1B2" * 20
    for place in range(900, 1100, 7):
        kept = cut_end("word " * (place // 5) + token + " word" * 200, 1000)
        assert token in kept or "ghp_" not in kept
    key = "-----BEGIN PRIVATE KEY-----\n" + "abcd efgh\n" * 200 + "-----END PRIVATE KEY-----"
    assert "BEGIN" not in cut_end(f"before {key} after", 500)
    call = {"type": "toolCall", "id": "c", "name": "sh", "arguments": {"command": "x" * 1950 + " " + token}}
    (turn,), _ = read(Format.OPENCLAW, pi("assistant", [call]))
    assert "ghp_" not in turn.message.text


def test_a_lone_surrogate_does_not_lose_its_line() -> None:
    (turn,), tally = read(
        Format.CLAUDE_CODE,
        b'{"type":"user","sessionId":"s1","uuid":"u1","message":{"role":"user","content":"cut \\ud83d"}}',
    )
    assert turn.message.text == "cut ?"
    assert tally.bad == []


def test_a_line_without_end_is_set_aside() -> None:
    turns, tally = read(Format.PLAIN, b"x" * (MAX_LINE_BYTES + 1), {"role": "user", "text": "x"})
    assert [bad.line for bad in tally.bad] == [1]
    assert len(turns) == 1


@pytest.mark.parametrize(
    ("form", "line", "word"),
    [
        (Format.OPENCLAW, {"id": 1}, "no type"),
        (Format.OPENCLAW, {"type": "message"}, "no message"),
        (Format.OPENCLAW, pi("user", 5), "neither a text"),
        (Format.OPENCLAW, pi("user", [5]), "no type"),
        (Format.OPENCLAW, pi("alien", "x"), "unknown role"),
        (Format.CLAUDE_CODE, {"type": "user"}, "no message"),
        (Format.CLAUDE_CODE, claude("user", "x", sessionId="a\x00b"), "control characters"),
        (Format.CLAUDE_CODE, b'{"a":' + b"[" * 100_000, "nested"),
        (Format.CLAUDE_CODE, nested_results(700), "nested"),
        (Format.CLAUDE_CODE, b"{", "malformed|truncated"),
    ],
)
def test_an_invalid_line_is_set_aside_by_its_number(form: Format, line: object, word: str) -> None:
    good = pi("user", "good") if form is Format.OPENCLAW else claude("user", "good")
    turns, tally = read(form, good, line, good)
    (bad,) = tally.bad
    assert bad.line == 2
    assert any(part in bad.reason for part in word.split("|")), bad.reason
    assert len(turns) == 2


@pytest.mark.parametrize(
    ("lines", "form"),
    [
        ([{"clew": 1, "raw": True, "places": []}], Format.CLEW),
        ([{"type": "session", "id": "x"}], Format.OPENCLAW),
        ([pi("user", "x")], Format.OPENCLAW),
        ([{"type": "summary", "summary": "x", "leafUuid": "y"}], Format.CLAUDE_CODE),
        ([{"type": "file-history-snapshot", "messageId": "y"}], Format.CLAUDE_CODE),
        ([claude("user", "x")], Format.CLAUDE_CODE),
        ([{"role": "user", "content": "x"}], Format.PLAIN),
        (["nonsense", {"other": 1}, {"role": "user", "text": "x"}], Format.PLAIN),
        (["nonsense", {"other": 1}], None),
        ([], None),
    ],
)
def test_the_first_recognised_line_decides_the_format(lines: list[object], form: Format | None) -> None:
    assert detect(json.dumps(line).encode() for line in lines) == form


def test_results_before_their_calls_move_after_them_and_other_lines_stay() -> None:
    def result(call: str, uuid: str) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": call, "content": f"result of {call}"}
        return claude("user", [block]) | {"uuid": uuid}

    def asks(call: str, uuid: str) -> dict[str, Any]:
        return claude("assistant", [{"type": "tool_use", "id": call, "name": "Grep", "input": {}}]) | {"uuid": uuid}

    fillers = [claude("user", f"line {number}") | {"uuid": f"f{number}"} for number in range(AHEAD_LINES + 1)]
    lines = [result("c1", "r1"), result("none", "r0"), claude("user", "go") | {"uuid": "u"}, {"type": "user"}]
    lines += [asks("c1", "a1"), result("far", "rf"), *fillers, asks("far", "af"), asks("c2", "a2"), result("c2", "r2")]
    turns, tally = read(Format.CLAUDE_CODE, *lines)
    ids = [turn.message.id for turn in turns]
    assert ids == ["r0", "u", "a1", "r1", "rf", *(str(line["uuid"]) for line in fillers), "af", "a2", "r2"]
    assert (tally.coupled, tally.uncoupled) == (2, 2)
    assert [bad.line for bad in tally.bad] == [4]
    tools = {turn.message.id: turn.message.metadata.get("toolName") for turn in turns}
    assert (tools["r1"], tools["r2"], tools["r0"], tools["rf"]) == ("Grep", "Grep", "tool", "tool")

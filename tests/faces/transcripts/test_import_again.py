"""A session that arrives in two ways is stored once: by hooks or the plugin, and by an import, in either order."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clew.api import MemoryApi, Message
from clew.client import connect
from clew.config import Config
from clew.engine import Memory
from clew.faces.cli.imports import Plan, import_transcript
from clew.faces.transcripts import Format, Tally, read_turns
from clew.wire.spool import Spool
from tests.conftest import NOW_MS
from tests.faces.hosts.test_hooks import PAYLOADS, SECRET, hook
from tests.testing.command_line import Clew, write_lines
from tests.testing.daemons import ROOT, running, short_folder

pytestmark = pytest.mark.requirement("USE-6", "INGEST-6")

SESSION = "s1"
MINUTE_MS = 60_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(_config(tmp_path / "data")) as opened:
        yield opened


def _config(folder: Path) -> Config:
    return Config(data_dir=folder, embedder="none", tokenizer="estimate", synchronous="normal")


def keep(memory: MemoryApi, text: str, ts: int, *, role: str = "user", id_: str | None = None, **more: Any) -> None:
    """Store a turn as a hook does."""
    message = Message(role=role, text=text, id=id_ or f"h_{role}_{ts}", ts=ts, **more)
    memory.ingest_batch(SESSION, [message], user_id="ada")


def line(text: str, ts: int, uuid: str = "", kind: str = "user", **more: object) -> dict[str, Any]:
    """A line as Claude Code writes it."""
    moment = datetime.fromtimestamp(ts / 1000, UTC).isoformat()
    content = text if kind == "user" else [{"type": "text", "text": text}]
    message = {"role": kind, "content": content}
    return {"type": kind, "sessionId": SESSION, "uuid": uuid or text, "timestamp": moment, "message": message} | more


def import_lines(memory: MemoryApi, *lines: dict[str, Any], form: Format = Format.CLAUDE_CODE) -> tuple[int, int]:
    """Import a transcript; return how many turns were stored and how many were already there."""
    encoded = [json.dumps(entry).encode() for entry in lines]
    plan = Plan("ada", None, Config())
    receipt = import_transcript(memory, encoded, form, plan, name="t.jsonl", file_session=SESSION)
    assert receipt.set_aside == 0, receipt.bad
    return receipt.stored, receipt.unchanged


def texts(memory: MemoryApi) -> list[str]:
    return [record.text for record in memory.list(f"session_raw:{SESSION}").records]


# --- stored by hooks, then imported ------------------------------------------------------------------


def test_an_import_stores_only_the_turns_that_hooks_did_not(memory: Memory) -> None:
    keep(memory, "Which lamp?", NOW_MS + 400)
    keep(memory, "The old one.", NOW_MS + 9_000, role="assistant")
    transcript = [
        line("Which lamp?", NOW_MS, "u1"),
        line("Let me look.", NOW_MS + 3_000, "u2", "assistant"),
        line("The old one.", NOW_MS + 8_500, "u3", "assistant"),
    ]
    assert import_lines(memory, *transcript) == (1, 2)
    assert import_lines(memory, *transcript) == (0, 3)
    assert sorted(texts(memory)) == ["Let me look.", "The old one.", "Which lamp?"]


def test_genuine_repeats_keep_their_number(memory: Memory) -> None:
    keep(memory, "yes", NOW_MS)
    keep(memory, "yes", NOW_MS + MINUTE_MS)
    transcript = [line("yes", NOW_MS + place * MINUTE_MS, f"u{place}") for place in range(3)]
    assert import_lines(memory, *transcript) == (1, 2)
    assert import_lines(memory, *transcript) == (0, 3)
    assert texts(memory) == ["yes"] * 3


def test_repeats_within_one_transcript_are_all_stored(memory: Memory) -> None:
    first = [line("yes", NOW_MS, "u1"), line("yes", NOW_MS + 1_000, "u2")]
    assert import_lines(memory, *first) == (2, 0)
    assert import_lines(memory, *first, line("yes", NOW_MS + 2_000, "u3")) == (1, 2)
    assert texts(memory) == ["yes"] * 3


def test_a_turn_matches_the_repeat_nearest_in_time(memory: Memory) -> None:
    keep(memory, "yes", NOW_MS + 5 * MINUTE_MS)
    assert import_lines(memory, line("yes", NOW_MS + 5 * MINUTE_MS, "u2"), line("yes", NOW_MS, "u1")) == (1, 1)
    ids = {record.id for record in memory.list(f"session_raw:{SESSION}").records}
    assert "u1" in ids


def test_the_same_words_at_another_time_are_another_turn(memory: Memory) -> None:
    keep(memory, "Go on.", NOW_MS)
    assert import_lines(memory, line("Go on.", NOW_MS + 60 * MINUTE_MS)) == (1, 0)


def test_the_same_words_of_another_speaker_are_another_turn(memory: Memory) -> None:
    keep(memory, "Done.", NOW_MS, role="assistant")
    keep(memory, "Ship it.", NOW_MS, source="claude-code:notification")
    assert import_lines(memory, line("Done.", NOW_MS, "u1"), line("Ship it.", NOW_MS, "u2")) == (2, 0)


def test_the_same_words_in_another_session_are_another_turn(memory: Memory) -> None:
    memory.ingest_batch("s2", [Message(role="user", text="Go on.", id="h_1", ts=NOW_MS)], user_id="ada")
    assert import_lines(memory, line("Go on.", NOW_MS)) == (1, 0)


@pytest.mark.parametrize("redaction", ["off", "secrets", "pii"])
def test_a_redacted_turn_is_still_recognised(redaction: str, tmp_path: Path) -> None:
    text = f"Use {SECRET} and write to ada.lovelace@example.org,  then   go on."
    config = Config(data_dir=tmp_path / "d", embedder="none", tokenizer="estimate", redaction=redaction)
    with Memory.open(config) as memory:
        keep(memory, text, NOW_MS)
        assert import_lines(memory, line(text, NOW_MS)) == (0, 1)


def test_a_long_text_cut_by_a_hook_is_still_recognised(memory: Memory) -> None:
    whole = "The log says: " + "all is well, " * 20_000
    keep(memory, f"{whole[:40_000]}\n[… 180,000 characters cut]\n{whole[-40_000:]}", NOW_MS)
    assert import_lines(memory, line(whole, NOW_MS)) == (0, 1)


def test_plain_lines_come_only_by_import_and_are_all_stored(memory: Memory) -> None:
    keep(memory, "yes", NOW_MS)
    assert import_lines(memory, {"role": "user", "text": "yes", "ts": NOW_MS}, form=Format.PLAIN) == (1, 0)


def test_a_session_of_real_hooks_is_imported_through_a_daemon_without_its_prompts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with short_folder() as folder, running(folder) as daemon:
        for event in ("UserPromptSubmit", "PostToolUse", "Stop"):
            payload = {**PAYLOADS["claude-code"][event], "session_id": SESSION}
            hook("claude-code", event, json.dumps(payload).encode(), "--data", str(folder), "--user", "ada")
        with daemon.wire() as wire:
            (prompt, reply) = wire.result("list", collection=f"session_raw:{SESSION}")["records"]
        call = [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "make lamps"}}]
        result = [{"type": "tool_result", "tool_use_id": "c1", "content": "12 lamps built, 1 cracked"}]
        transcript = [
            line(prompt["text"], prompt["ts"] - 300, "u1"),
            line("", prompt["ts"] + 100, "u2", "assistant", message={"role": "assistant", "content": call}),
            line("", prompt["ts"] + 200, "u3", message={"role": "user", "content": result}),
            line(reply["text"], reply["ts"] - 300, "u4", "assistant"),
        ]
        answer = Clew(folder, capsys).json(
            "import", str(write_lines(tmp_path / "t.jsonl", transcript)), "--user", "ada"
        )
        assert (answer["stored"], answer["unchanged"]) == (2, 2)


# --- imported, then delivered by hooks ---------------------------------------------------------------


def spool(folder: Path, text: str, ts: int, role: str = "user") -> None:
    message = {"role": role, "text": text, "id": f"h_{role}_{ts}", "ts": ts}
    with Spool(str(folder), create=True) as waiting:
        waiting.append(method="ingest", params={"sessionId": SESSION, "userId": "ada", "message": message})


def test_turns_in_the_spool_during_an_import_are_not_stored_again(memory: Memory, tmp_path: Path) -> None:
    for place, text in enumerate(("Which lamp?", "yes", "yes")):
        spool(tmp_path / "data", text, NOW_MS + place * 5_000)
    spool(tmp_path / "data", "Only a hook saw this.", NOW_MS + 20_000)
    import_lines(memory, line("Which lamp?", NOW_MS - 500, "u1"), line("yes", NOW_MS + 4_800, "u2"))
    taken = memory.take_spool()
    assert (taken.taken, taken.unchanged, taken.waiting) == (2, 2, 0)
    assert sorted(texts(memory)) == ["Only a hook saw this.", "Which lamp?", "yes", "yes"]


# --- the plugin of OpenClaw --------------------------------------------------------------------------

HEADER = {"type": "session", "id": SESSION, "timestamp": "2026-03-01T12:00:00Z", "cwd": "/home/ada/lighthouse"}
CALL = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "make lamps"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Build the lamps."}], "timestamp": NOW_MS},
    {"role": "assistant", "content": [], "timestamp": NOW_MS + 1},
    {"role": "assistant", "content": [{"type": "text", "text": "I build."}, CALL], "timestamp": NOW_MS + 1},
    {"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "content": [{"type": "text", "text": "12 lamps"}],
     "isError": False, "timestamp": NOW_MS + 2},
    {"role": "toolResult", "toolCallId": "c2", "toolName": "bash", "content": [{"type": "text", "text": "1 cracked"}],
     "isError": False, "timestamp": NOW_MS + 2},
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "timestamp": NOW_MS + 3},
    {"role": "user", "content": "<system-reminder>Be brief.</system-reminder>\nThank you.", "timestamp": NOW_MS + 4},
]  # fmt: skip
KEPT = 6
"""Messages with words, as the plugin stores them."""
ENTRIES = [HEADER, *({"type": "message", "id": f"e{place}", "message": said} for place, said in enumerate(MESSAGES))]
ABOUT = {"sessionId": SESSION, "sessionKey": "agent:ada:main"}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="the plugin runs under Node")


def run_plugin(endpoint: str, program: str) -> None:
    """Run a program on a daemon with the plugin loaded as a host loads it."""
    harness = ROOT / "tests/faces/hosts/node/harness.mjs"
    source = f"""
        import {{ ask, eventually, loaded }} from {json.dumps(harness.as_uri())};
        const endpoint = {json.dumps(endpoint)}, about = {json.dumps(ABOUT)}, messages = {json.dumps(MESSAGES)};
        const engine = loaded({{ socket: endpoint }}).engine();
        {program}
        process.exit(0);
    """
    subprocess.run(["node", "--input-type=module", "-e", source], check=True, timeout=120)


@needs_node
def test_an_import_does_not_store_the_plugins_session_again() -> None:
    with short_folder() as folder, running(folder) as daemon:
        run_plugin(daemon.endpoint, "await engine.commitTurn({ ...about, messages });")
        with connect(daemon.endpoint) as memory:
            before = texts(memory)
            assert len(before) == KEPT
            stored, unchanged = import_lines(memory, *ENTRIES, form=Format.OPENCLAW)
            assert texts(memory) == before
    assert (stored, unchanged) == (0, KEPT + 1), "the file's last message is two turns for an import"


@needs_node
def test_the_plugin_does_not_store_an_imported_session_again() -> None:
    """The plugin adds turns that the store lacks. One truly missing turn shows when it has looked."""
    with short_folder() as folder, running(folder) as daemon:
        with connect(daemon.endpoint) as memory:
            assert import_lines(memory, *ENTRIES, form=Format.OPENCLAW) == (KEPT + 1, 0)
        mark = {"role": "assistant", "content": [{"type": "text", "text": "A mark."}], "timestamp": NOW_MS + 99}
        run_plugin(
            daemon.endpoint,
            f"""
            await engine.assemble({{ ...about, messages: [...messages, {json.dumps(mark)}], prompt: "Go on." }});
            const held = () => ask(endpoint, "list", {{ collection: "session_raw:{SESSION}" }});
            await eventually(async () => (await held()).records.some(({{ text }}) => text === "A mark."));
            """,
        )
        with connect(daemon.endpoint) as memory:
            assert len(texts(memory)) == KEPT + 2


def test_a_session_imported_under_the_ids_of_its_file_is_not_stored_again(memory: Memory) -> None:
    """Earlier versions used the file's own ids."""
    for place, said in enumerate(MESSAGES[:1]):
        keep(memory, said["content"][0]["text"], said["timestamp"], id_=f"e{place}")
    assert import_lines(memory, *ENTRIES[:2], form=Format.OPENCLAW) == (0, 1)


def test_an_import_that_stopped_between_two_turns_of_one_message_goes_on(memory: Memory) -> None:
    encoded = [json.dumps(entry).encode() for entry in (HEADER, ENTRIES[-1])]
    where = {"session_id": None, "file_session": SESSION, "limit_bytes": 100_000}
    first, second = read_turns(encoded, Format.OPENCLAW, **where, tally=Tally())
    assert (first.message.text, second.message.source) == ("Thank you.", "openclaw:injected")
    memory.ingest_batch(SESSION, [first.message], user_id="ada")
    assert import_lines(memory, HEADER, ENTRIES[-1], form=Format.OPENCLAW) == (1, 1)

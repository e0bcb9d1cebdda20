"""Hooks without a daemon: events wait on disk, redacted, and the next daemon takes them in once and in order."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from clew.api import Purge, TakeSpool
from clew.config import Config
from clew.engine import Memory
from clew.wire.spool import ASIDE_FOLDER, FOLDER, Spool
from tests.faces.hosts.test_hooks import ENTRY, HOSTS, PAYLOADS, SECRET, event_for, hook, nobody_answers
from tests.testing.command_line import Clew
from tests.testing.daemons import WAIT_S, Daemon, Wire, running, short_folder, start

pytestmark = pytest.mark.requirement("USE-6", "HOST-2")

SESSION = "while nobody listens"
KEPT = ("prompt", "tool", "stop", "compact", "end")
SETTINGS: dict[str, Any] = {"embedder": "none", "tokenizer": "estimate"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as found:
        yield found


def tell(folder: Path, host: str, event: str, *options: str, **fields: object) -> bytes:
    payload = {**PAYLOADS[host][event], "session_id": SESSION, **fields}
    return hook(host, event, json.dumps(payload).encode(), "--user", "ada", "--data", str(folder), *options)


def ask(folder: Path, number: int) -> None:
    tell(folder, "claude-code", "UserPromptSubmit", prompt=f"Question {number}", prompt_id=f"p{number}")


def waiting(folder: Path) -> list[dict[str, Any]]:
    with Spool(str(folder)) as spool:
        return [json.loads(spool.read(name)) for name in spool.names()]


def user_texts(daemon: Daemon | Wire) -> list[str]:
    wire = daemon if isinstance(daemon, Wire) else daemon.wire()
    with wire:
        records = wire.result("list", collection=f"session_raw:{SESSION}")["records"]
    return [record["text"] for record in records]


def texts_on_disk(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


# --- stored in the spool, and taken in ---------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_every_storable_event_waits_and_the_next_daemon_takes_it_in(host: str, folder: Path) -> None:
    before_ms = time.time_ns() // 1_000_000
    for happened in ("start", *KEPT):
        assert tell(folder, host, event_for(host, happened)) == b""
    after_ms = time.time_ns() // 1_000_000
    assert [line["method"] for line in waiting(folder)] == ["ingest", "capture", "ingest", "add_hint", "add_hint"]
    assert {line["clew"] for line in waiting(folder)} == {1}
    with running(folder, **SETTINGS) as daemon, daemon.wire() as wire:
        assert waiting(folder) == []
        turns = wire.result("list", collection=f"session_raw:{SESSION}")["records"]
        assert [(turn["role"], turn["text"]) for turn in turns] == [
            ("user", "Which lamp does the lighthouse use?"),
            ("assistant", "It uses the old Fresnel lamp."),
        ]
        wire.result("harvest")
        (outcome,) = wire.result("list", collection=f"ledger:session:{SESSION}")["records"]
        assert outcome["text"].endswith("12 lamps built, 1 cracked")
        notes = wire.result("journal", sessionId=SESSION)["entries"]
        assert [note["hook"] for note in reversed(notes)] == ["pre_compact", "session_end"]
    assert all(before_ms <= item["ts"] <= after_ms for item in (*turns, outcome, *notes))


def test_the_same_event_by_wire_and_by_spool_is_stored_once(folder: Path) -> None:
    events = [event_for("gemini", happened) for happened in KEPT]
    for event in events:
        tell(folder, "gemini", event)
    with running(folder, **SETTINGS) as daemon:
        for event in events:
            tell(folder, "gemini", event)
        assert len(user_texts(daemon)) == 2
        with daemon.wire() as wire:
            wire.result("harvest")
            assert len(wire.result("list", collection=f"ledger:session:{SESSION}")["records"]) == 1
            assert len(wire.result("journal", sessionId=SESSION)["entries"]) == 2


def test_different_words_under_one_prompt_id_are_two_turns_here_too(folder: Path) -> None:
    for word in ("yes", "not", "yes"):
        tell(folder, "claude-code", "UserPromptSubmit", prompt=word)
    with running(folder, **SETTINGS) as daemon:
        assert user_texts(daemon) == ["yes", "not"]


def test_repeats_that_the_host_distinguishes_stay_separate(folder: Path) -> None:
    for number in range(3):
        tell(folder, "claude-code", "UserPromptSubmit", prompt="yes", prompt_id=f"p{number}")
    with running(folder, **SETTINGS) as daemon:
        assert user_texts(daemon) == ["yes", "yes", "yes"]


def test_a_missing_data_folder_is_made_as_a_daemon_makes_it(folder: Path) -> None:
    ask(folder / "not" / "yet", 1)
    assert (folder / "not" / "yet").stat().st_mode & 0o777 == 0o700
    with running(folder / "not" / "yet", **SETTINGS) as daemon:
        assert user_texts(daemon) == ["Question 1"]


# --- daemons that do not answer ----------------------------------------------------------------------


def test_an_event_waits_if_a_hung_daemon_does_not_acknowledge_it(folder: Path) -> None:
    with nobody_answers(folder):
        payload = {**PAYLOADS["claude-code"]["Stop"], "session_id": SESSION}
        hook("claude-code", "Stop", json.dumps(payload).encode(), "--data", str(folder), entry=ENTRY)
    (line,) = waiting(folder)
    assert line["params"]["message"]["text"] == "It uses the old Fresnel lamp."
    with running(folder, **SETTINGS) as daemon:
        assert user_texts(daemon) == ["It uses the old Fresnel lamp."]


def test_later_events_queue_behind_waiting_ones_without_duplicates(folder: Path) -> None:
    """A stopped daemon, once resumed, reads the requests and finds the same events in the spool."""
    with running(folder, **SETTINGS) as daemon:
        assert daemon.process.pid is not None
        os.kill(daemon.process.pid, signal.SIGSTOP)
        try:
            for number in (1, 2):
                payload = {**PAYLOADS["claude-code"]["UserPromptSubmit"], "session_id": SESSION}
                content = json.dumps(payload | {"prompt": f"Question {number}", "prompt_id": f"p{number}"}).encode()
                hook("claude-code", "UserPromptSubmit", content, "--data", str(folder), entry=ENTRY)
            assert len(waiting(folder)) == 2
        finally:
            os.kill(daemon.process.pid, signal.SIGCONT)
        ask(folder, 3)
        assert waiting(folder) == []
        assert user_texts(daemon) == ["Question 1", "Question 2", "Question 3"]


def test_an_event_waits_behind_older_ones_that_another_process_holds(folder: Path) -> None:
    with running(folder, **SETTINGS) as daemon:
        with nobody_listens(folder):
            ask(folder, 1)
        with Spool(str(folder)) as spool, closing(spool.take()) as names:
            next(names)  # this process takes the events, and no other can
            ask(folder, 2)
            assert len(waiting(folder)) == 2
        ask(folder, 3)
        assert user_texts(daemon) == ["Question 1", "Question 2", "Question 3"]


@contextmanager
def nobody_listens(folder: Path) -> Iterator[None]:
    """Move the daemon's socket away, so that hooks find none."""
    (folder / "clew.sock").rename(folder / "away.sock")
    try:
        yield
    finally:
        (folder / "away.sock").rename(folder / "clew.sock")


def test_a_daemon_that_answers_nonsense_loses_no_event(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "clew.sock"))
        listener.listen()

        def babble() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(1)
                client.sendall(b"?\n")

        babbling = threading.Thread(target=babble)
        babbling.start()
        ask(folder, 1)
        babbling.join(WAIT_S)
    assert [line["params"]["message"]["text"] for line in waiting(folder)] == ["Question 1"]


# --- stored exactly once -----------------------------------------------------------------------------


def test_a_crash_between_storing_and_removing_makes_no_duplicate(folder: Path) -> None:
    for happened in KEPT:
        tell(folder, "claude-code", event_for("claude-code", happened))
    shutil.copytree(folder / FOLDER, folder / "copy")
    for _ in range(2):
        with running(folder, **SETTINGS) as daemon, daemon.wire() as wire:
            assert waiting(folder) == []
            assert len(user_texts(daemon)) == 2
            wire.result("harvest")
            assert len(wire.result("list", collection=f"ledger:session:{SESSION}")["records"]) == 1
            assert len(wire.result("journal", sessionId=SESSION)["entries"]) == 2
        shutil.copytree(folder / "copy", folder / FOLDER, dirs_exist_ok=True)


@pytest.mark.requirement("SAFE-1")
def test_killing_the_daemon_during_intake_neither_loses_nor_duplicates_events(folder: Path) -> None:
    count = 300
    for number in range(count):
        message = {"role": "user", "text": f"Number {number}", "id": f"h_{number}", "ts": number}
        with Spool(str(folder), create=True) as spool:
            spool.append(method="ingest", params={"sessionId": SESSION, "userId": "ada", "message": message})
    process = start(folder, **SETTINGS)
    until = time.monotonic() + WAIT_S
    while len(os.listdir(folder / FOLDER)) > count - 5 and time.monotonic() < until:
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert waiting(folder) != [], "it was killed in the middle"
    with running(folder, **SETTINGS) as daemon:
        assert waiting(folder) == []
        assert user_texts(daemon) == [f"Number {number}" for number in range(count)]


def test_a_bad_line_is_set_aside_with_its_reason_and_the_others_are_taken_in(folder: Path) -> None:
    ask(folder, 1)
    with Spool(str(folder)) as spool:
        spool.append(method="purge", params={"userId": "ada"})
        spool.append(method="ingest", params={"sessionId": SESSION, "message": {"role": "nobody", "text": "x"}})
        spool.append(method="ingest", params={"message": 7})
    for place, content in enumerate((b'{"clew": 1, "met', b'{"clew": 2, "method": "x", "params": {}}\n')):
        (folder / FOLDER / f"99999999999{place}-00000000.jsonl").write_bytes(content)
    ask(folder, 2)
    with running(folder, **SETTINGS) as daemon:
        assert user_texts(daemon) == ["Question 1", "Question 2"]
        with daemon.wire() as wire:
            status = wire.result("status")
    assert (status["spoolWaiting"], status["spoolSetAside"]) == (0, 5)
    with Spool(str(folder), ASIDE_FOLDER) as aside:
        lines = [json.loads(aside.read(name)) for name in aside.names()]
    assert [line["reason"] for line in lines if "purge" in line["line"]] == ["unknown method"]
    assert all(line["reason"] for line in lines)


# --- nothing unredacted, nothing in the way ----------------------------------------------------------


@pytest.mark.requirement("CAPTURE-3")
def test_no_secret_reaches_the_disk(folder: Path) -> None:
    tell(folder, "claude-code", "UserPromptSubmit", prompt=f"The token is {SECRET}, keep it.")
    tell(folder, "claude-code", "PostToolUse", tool_response={"stdout": f"TOKEN={SECRET}", "password": "hunter22-x"})
    tell(folder, "claude-code", "Stop", last_assistant_message=f"I saw {SECRET}.")
    tell(folder, "claude-code", "SessionEnd", reason=f"because of {SECRET}")
    assert len(waiting(folder)) == 4
    written = texts_on_disk(folder)
    assert SECRET[:12].encode() not in written
    assert b"hunter22-x" not in written
    assert b"[redacted:github-token]" in written


@pytest.mark.requirement("CAPTURE-3")
@pytest.mark.parametrize(
    ("settings", "is_cut"),
    [
        ("", False),
        ('redaction = "pii"', True),
        ('redaction_scopes = ["user:ada=pii"]', True),
        ('redaction_scopes = ["user:bob=pii"]', False),
        ('redaction = "nonsense"', True),
    ],
)
def test_the_spool_follows_the_redaction_policy_or_the_strictest_if_unreadable(
    settings: str, is_cut: bool, folder: Path
) -> None:
    (folder / "clew.toml").write_text(settings)
    tell(folder, "claude-code", "UserPromptSubmit", prompt="Write to ada.lovelace@example.org about the lamp.")
    (line,) = waiting(folder)
    assert ("ada.lovelace" not in line["params"]["message"]["text"]) == is_cut


@pytest.mark.parametrize("trouble", ["file", "link"])
def test_a_spool_that_cannot_be_written_never_fails_the_host(trouble: str, folder: Path) -> None:
    data = folder / "data"
    if trouble == "file":
        data.write_text("no folder")
    else:
        data.mkdir()
        (folder / "elsewhere").mkdir()
        (data / FOLDER).symlink_to(folder / "elsewhere")
    assert tell(data, "claude-code", "Stop") == b""
    assert not (folder / "elsewhere").exists() or list((folder / "elsewhere").iterdir()) == []


# --- which daemon takes it in ------------------------------------------------------------------------


def test_events_for_another_daemon_wait_for_it_and_reach_it_in_order(folder: Path) -> None:
    own, other = folder / "own", folder / "other"
    there = f"--endpoint=unix:{other / 'clew.sock'}"
    for number in (1, 2):
        tell(own, "claude-code", "UserPromptSubmit", there, prompt=f"Question {number}", prompt_id=f"p{number}")
    with running(own, **SETTINGS) as daemon:
        assert user_texts(daemon) == []
        with daemon.wire() as wire:
            assert wire.result("status")["spoolWaiting"] == 2
    with running(other, **SETTINGS) as daemon:
        for _ in range(2):
            tell(own, "claude-code", "UserPromptSubmit", there, prompt="Question 3", prompt_id="p3")
        assert user_texts(daemon) == ["Question 1", "Question 2", "Question 3"]


def test_the_command_line_reports_waiting_events_and_takes_them_in_without_a_daemon(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    clew = Clew(folder, capsys)
    ask(folder, 1)
    assert "1 event" in next(line for line in clew("status").splitlines() if line.startswith("spool"))
    assert clew.json("status")["spoolWaiting"] == 1
    assert clew.json("spool") == {"taken": 1, "unchanged": 0, "setAside": 0, "waiting": 0, "dropped": 0}
    assert "nothing waits" in clew("spool")


@pytest.mark.requirement("STORE-6")
@pytest.mark.parametrize("target", [{"session_id": SESSION}, {"user_id": "ada"}], ids=["session", "user"])
def test_a_purge_reaches_waiting_events(target: dict[str, str], folder: Path) -> None:
    for happened in KEPT:
        tell(folder, "claude-code", event_for("claude-code", happened))
    with Spool(str(folder)) as spool:
        spool.append(method="unknown", params={"text": "Fresnel"})
    with Memory.open(Config(data_dir=folder, embedder="none", tokenizer="estimate")) as memory:
        memory.call(Purge(**target, dry_run=False))
        assert memory.call(TakeSpool()).taken == 0
    assert b"Fresnel" not in texts_on_disk(folder)

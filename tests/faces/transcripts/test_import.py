"""`clew import` on real and broken transcripts, through a store and through a daemon."""

from __future__ import annotations

import getpass
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from clew.client import Client
from clew.faces.cli.main import main
from tests.testing.command_line import Clew, on_a_terminal, write_lines
from tests.testing.daemons import running, short_folder
from tests.testing.data import shared

pytestmark = pytest.mark.requirement("INGEST-6")

SESSION = "d703a1a9-1b7b-4fb1-b512-c9738b1fe617"
QUESTION = "which TypeScript error did the build report for linkUrl in theme.ts"
ANSWER = "TS2353"
"""Stands in the result of a command near the middle of the session."""


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    monkeypatch.setenv("CLEW_SYNCHRONOUS", "normal")
    return Clew(tmp_path / "data", capsys)


@pytest.fixture
def real(tmp_path: Path) -> Path:
    packed = shared("agent_sessions/pi_large-session.jsonl.gz").read_bytes()
    path = tmp_path / "real.jsonl"
    path.write_bytes(gzip.decompress(packed))
    return path


def samples(path: Path) -> Path:
    packed = shared("agent_sessions/claude_code_log_message_samples.jsonl.gz").read_bytes()
    return write_lines(path, [json.loads(line)["entry"] for line in gzip.decompress(packed).splitlines()])


def said(text: str, **more: object) -> dict[str, Any]:
    line = {"type": "user", "sessionId": "s1", "uuid": text, "timestamp": "2026-03-01T12:00:00Z"}
    return line | {"message": {"role": "user", "content": text}} | more


def records(clew: Clew, collection: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = clew.json("list", collection, "--limit", "1000")["records"]
    return found


def without_marks(record: dict[str, Any]) -> dict[str, Any]:
    """The record without its marks and version."""
    return {name: value for name, value in record.items() if name not in ("marks", "version")}


def test_a_real_session_imports_completely_and_a_second_time_changes_nothing(clew: Clew, real: Path) -> None:
    first = clew.json("import", str(real))
    (receipt,) = first["files"]
    assert (receipt["format"], list(receipt["sessions"])) == ("openclaw", [SESSION])
    assert receipt["roles"] == {"assistant": 439, "tool": 373, "user": 88}
    assert (receipt["toolCalls"], receipt["coupledResults"], receipt["uncoupledResults"]) == (391, 373, 0)
    assert (first["stored"], first["unchanged"], first["setAside"]) == (900, 0, 0)
    kept = records(clew, f"session_raw:{SESSION}")
    again = clew.json("import", str(real))
    assert (again["stored"], again["unchanged"]) == (0, 900)
    assert [without_marks(one) for one in records(clew, f"session_raw:{SESSION}")] == [
        without_marks(one) for one in kept
    ]
    assert clew.json("verify")["ok"]


def test_every_item_of_the_real_session_is_in_one_of_its_turns(clew: Clew, real: Path) -> None:
    clew.json("import", str(real))
    whole = "\n".join(record["text"] for record in records(clew, f"session_raw:{SESSION}"))
    content = [json.loads(line).get("message", {}).get("content", ()) for line in real.read_text("utf-8").splitlines()]
    blocks = [block for message in content for block in message]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    calls = [block for block in blocks if block["type"] == "toolCall"]
    assert len(texts) + len(calls) == 1096
    assert [text for text in texts if text not in whole] == []
    assert all(f"[calls {call['name']}]" in whole for call in calls)


def test_a_result_from_the_middle_answers_a_question(clew: Clew, real: Path) -> None:
    clew.json("import", str(real))
    hits = clew.json("search", QUESTION, "--session", SESSION)["hits"]
    results = [hit["record"] for hit in hits if hit["record"]["role"] == "tool_result"]
    assert any(ANSWER in record["text"] for record in results)
    assert {record["trust"] for record in results} == {"untrusted"}
    packed = clew.json("pack", QUESTION, "--session", SESSION, "--untrusted")
    assert ANSWER in packed["bundleText"]
    assert any(ANSWER in item["text"] and item["trust"] == "untrusted" for item in packed["items"])


def test_results_name_their_tool_and_their_call(clew: Clew, real: Path) -> None:
    clew.json("import", str(real))
    kept = records(clew, f"session_raw:{SESSION}")
    called = {call for record in kept for call in record["metadata"].get("toolCallIds", ())}
    results = [record["metadata"] for record in kept if record["role"] == "tool_result"]
    assert len(called) == 391
    assert all(result["toolCallId"] in called for result in results)
    assert {result["toolName"] for result in results} >= {"bash", "read", "edit"}


def test_a_dry_run_shows_what_an_import_would_store_and_stores_nothing(clew: Clew, real: Path) -> None:
    answer = clew.json("import", str(real), "--dry-run")
    assert (answer["dryRun"], answer["stored"], answer["files"][0]["turns"]) == (True, 0, 900)
    assert not clew.data_dir.exists()
    shown = clew("import", str(real), "--dry-run")
    assert "439 assistant, 373 tool, 88 user" in shown
    assert "391, 373 with their result" in shown
    assert "nothing was stored" in shown


def test_all_real_lines_of_claude_code_are_read(clew: Clew, tmp_path: Path) -> None:
    (receipt,) = clew.json("import", str(samples(tmp_path / "samples.jsonl")))["files"]
    assert (receipt["format"], receipt["setAside"], receipt["turns"]) == ("claude-code", 0, 54)
    assert receipt["thinking"] == 1
    assert (receipt["toolCalls"], receipt["coupledResults"]) == (18, 18)
    assert (
        receipt["uncoupledResults"] == 8
    )  # the calls of six are not in the file, and two answer calls that already have a result
    assert any("/" in session for session in receipt["sessions"]), "subagents have sessions of their own"
    mine = records(clew, f"turns:{getpass.getuser()}")
    assert len(mine) == receipt["roles"]["user"] == 3
    assert not any("Caveat" in record["text"] or "<bash" in record["text"] for record in mine)


def test_a_result_before_its_call_in_a_real_file_is_moved_after_it(clew: Clew, tmp_path: Path) -> None:
    (receipt,) = clew.json("import", str(samples(tmp_path / "samples.jsonl")))["files"]
    called: list[str] = []
    tools = []
    for session in receipt["sessions"]:
        for record in records(clew, f"session_raw:{session}"):
            called += record["metadata"].get("toolCallIds", [])
            if record["metadata"].get("toolCallId") in called:
                tools.append(record["metadata"]["toolName"])
    assert len(tools) == len(set(tools)) == 18
    assert "tool" not in tools


def test_a_grown_file_adds_only_its_new_turns(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [said("one"), said("two")])
    assert clew.json("import", str(path))["stored"] == 2
    write_lines(path, [said("one"), said("two"), said("three")])
    answer = clew.json("import", str(path))
    assert (answer["stored"], answer["unchanged"]) == (1, 2)


def test_bad_lines_are_listed_by_number_and_do_not_fail_the_import(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [said("one"), "not json", said("two"), {"type": "user"}])
    answer = clew.json("import", str(path))
    assert ([bad["line"] for bad in answer["files"][0]["bad"]], answer["stored"]) == ([2, 4], 2)
    assert "line 2:" in clew("import", str(path))


def test_a_turn_that_the_store_refuses_is_set_aside_and_the_others_are_kept(clew: Clew, tmp_path: Path) -> None:
    clew.json("import", str(write_lines(tmp_path / "old.jsonl", [said("b")])))
    changed = said("b", message={"role": "user", "content": "other words"})
    path = write_lines(tmp_path / "new.jsonl", [said("a"), changed, said("c"), said("d")])
    answer = clew.json("import", str(path))
    assert answer["stored"] == 3
    (bad,) = answer["files"][0]["bad"]
    assert bad["line"] == 2
    assert "other content" in bad["reason"]


def test_only_an_entirely_unreadable_file_is_a_failure(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", ["nonsense", {"type": "user"}])
    assert "line 1" in clew("import", str(path), "--format", "claude-code", status=2)
    (tmp_path / "empty").mkdir()
    assert "no .jsonl file" in clew("import", str(tmp_path / "empty"), status=2)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Dear diary,\ntoday it rained.\n",
        bytes(range(256)),
        b'{"type": "session_meta", "payload": {"id": "c1"}}\n',
    ],
    ids=["empty", "text", "bytes", "codex"],
)
def test_an_unknown_format_is_refused_with_a_list_of_the_known_ones(clew: Clew, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    for options in ((), ("--user", "ada"), ("--dry-run",)):
        said = clew("import", str(path), *options, status=2)
        assert "odd.jsonl has no known format; those are clew, openclaw, claude-code, plain" in said
        assert "--format" in said
    known = write_lines(tmp_path / "known.jsonl", [{"role": "user", "text": "plain"}])
    assert "passed over" in clew("import", str(known), str(path))


def test_a_compressed_file_is_refused_with_the_way_to_unpack_it(clew: Clew, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    path = folder / "a.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(said("one")).encode()))
    for name in (path, folder):
        assert "zcat FILE | clew import -" in clew("import", str(name), status=2)


def test_a_folder_means_all_transcripts_in_it(clew: Clew, tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    (folder / "a" / "subagents").mkdir(parents=True)
    write_lines(folder / "a" / "one.jsonl", [said("one")])
    agent = said("task", isSidechain=True, agentId="x9", uuid="u9")
    write_lines(folder / "a" / "subagents" / "agent-x9.jsonl", [agent])
    write_lines(folder / "talk.jsonl", [{"role": "user", "text": "plain"}])
    write_lines(folder / "other.jsonl", [{"unrelated": 1}])
    (folder / "notes.txt").write_text("no transcript")
    answer = clew.json("import", str(folder), "--user", "ada")
    assert answer["stored"] == 3
    assert [Path(name).name for name in answer["notRecognised"]] == ["other.jsonl"]
    names = {item["name"] for item in clew.json("collections")["collections"]}
    assert {"session_raw:s1", "session_raw:s1/x9", "session_raw:talk"} <= names
    assert [record["text"] for record in records(clew, "turns:ada")] == ["one", "plain"]


def test_an_export_names_its_own_users(clew: Clew, tmp_path: Path) -> None:
    clew("put", "notes", "a", "one")
    path = tmp_path / "out.jsonl"
    clew("export", str(path))
    assert "names its sessions" in clew("import", str(path), "--user", "ada", status=2)
    assert clew.json("import", str(path), "--dry-run")["files"][0]["turns"] == 1


@pytest.mark.requirement("SAFE-2")
def test_an_export_is_read_as_one_only_on_request(clew: Clew, tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    clew("ingest", "Never deploy on a Friday.", "--session", "s", "--user", "ada")
    clew("flush")
    clew("export", str(path))
    there, here = (Clew(tmp_path / name, clew.capsys) for name in ("there", "here"))
    said = there("import", str(path))
    assert "in 1 line were left out" in said
    assert "--format clew --trust-marks" in said
    assert there.json("guidance", "list", "--user", "ada")["items"] == []
    assert here.json("import", str(path), "--format", "clew", "--trust-marks")["files"][0]["withheld"] == 0
    assert len(here.json("guidance", "list", "--user", "ada")["items"]) == 1
    assert "needs --format clew" in here("import", str(path), "--trust-marks", status=2)


def test_a_dry_run_of_an_export_reads_its_lines(clew: Clew, tmp_path: Path) -> None:
    for name in ("a", "b"):
        clew("put", "notes", name, "one")
    path = tmp_path / "out.jsonl"
    clew("export", str(path))
    first, second = map(json.loads, path.read_text("utf-8").splitlines())
    write_lines(path, [first, "{cut", "", {**second, "clew": 9}, {**second, "odd": 1}])
    elsewhere = Clew(tmp_path / "elsewhere", clew.capsys)
    answer = elsewhere.json("import", str(path), "--dry-run")
    assert (answer["stored"], answer["files"][0]["turns"], answer["setAside"]) == (0, 1, 3)
    assert [bad["line"] for bad in answer["files"][0]["bad"]] == [2, 4, 5]
    assert f"would stop at {path}, line 2:" in elsewhere("import", str(path), "--dry-run")
    write_lines(path, [{**second, "clew": 9}])
    assert "format 9 is not known" in elsewhere("import", str(path), "--dry-run", status=2)
    assert not elsewhere.data_dir.exists()


def test_a_terminal_shows_a_table_and_a_progress_bar(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [said("one")])
    shown = on_a_terminal(clew.data_dir, "import", str(path))
    assert "claude-code" in shown
    assert "Importing" in shown


@pytest.mark.requirement("INGEST-6", "RPC-2")
def test_long_texts_are_cut_to_what_a_daemon_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "t.jsonl", [said("start"), said("\u0007 " * 600_000, uuid="long"), said("end")])
    with short_folder() as folder, running(folder):
        answer = Clew(folder, capsys).json("import", str(path))
        assert (answer["stored"], answer["setAside"], answer["files"][0]["cut"]) == (3, 0, 1)
        (long,) = Clew(folder, capsys).json("get", "session_raw:s1", "long")["records"]
        assert long["text"].endswith("[cut: 1,199,999 bytes in all]")


def test_an_interrupted_import_goes_on_when_run_again(clew: Clew, real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder, running(folder) as daemon:
        calls = iter(range(3))
        ordinary = Client.call

        def call_until_killed(self: Client, request: Any) -> Any:
            if next(calls, None) is None:
                daemon.stop(9)
            return ordinary(self, request)

        monkeypatch.setattr(Client, "call", call_until_killed)
        assert main(["import", str(real), "--data", str(folder)]) != 0
        monkeypatch.undo()
        rest = Clew(folder, clew.capsys).json("import", str(real))
    assert rest["stored"] + rest["unchanged"] == 900
    assert rest["stored"] > 0
    assert rest["unchanged"] > 0

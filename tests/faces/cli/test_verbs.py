"""Every verb on a real store, in this process; each call is a separate run."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from clew.faces.cli.main import main
from tests.testing.command_line import ESCAPE, Clew, on_a_terminal, write_lines

pytestmark = pytest.mark.requirement("CLI-1")


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    return Clew(tmp_path / "data", capsys)


def turns(count: int) -> list[object]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "text": f"turn number {n} about topic{n}"} for n in range(count)]


def texts(answer: Any) -> list[str]:
    return [hit["record"]["text"] for hit in answer["hits"]]


def test_a_turn_is_stored_and_found_again(clew: Clew) -> None:
    receipt = clew.json("ingest", "--session", "s1", "--user", "ada", "We ship on Thursdays.")
    assert receipt["stored"]
    assert "We ship on Thursdays." in texts(clew.json("search", "when do we ship", "--user", "ada"))
    assert "We ship on Thursdays." in clew("search", "ship", "--user", "ada")


def test_one_user_never_finds_the_words_of_another(clew: Clew) -> None:
    clew("ingest", "--session", "s1", "--user", "ada", "The vault code is 7719.")
    clew("ingest", "--session", "s2", "--user", "bob", "I like tea.")
    assert all(
        "7719" not in hit["record"]["text"] for hit in clew.json("search", "vault code", "--user", "bob")["hits"]
    )


def test_a_turn_with_an_id_is_stored_once_and_other_words_conflict(clew: Clew) -> None:
    turn = ("ingest", "--session", "s1", "--id", "t1")
    assert clew.json(*turn, "hello")["stored"]
    again = clew.json(*turn, "hello")
    assert (again["stored"], again["duplicate"]) == (False, True)
    assert clew.json(*turn, "other", status=4)["error"]["code"] == -32011


def test_reading_a_file_again_stores_nothing_new(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "talk.jsonl", turns(450))
    first = clew.json("ingest", "--session", "s1", "--user", "ada", "--file", str(path))
    assert (first["stored"], first["duplicates"]) == (450, 0)
    again = clew.json("ingest", "--session", "s1", "--user", "ada", "--file", str(path))
    assert (again["stored"], again["duplicates"]) == (0, 450)
    counts = {item["name"]: item["count"] for item in clew.json("collections")["collections"]}
    assert counts["session_raw:s1"] == 450


def test_a_file_with_a_bad_line_stores_nothing_unless_told_to_skip_it(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "talk.jsonl", [*turns(3), "not json", *turns(2)])
    command = ("ingest", "--session", "s1", "--file", str(path))
    assert "line 4:" in clew(*command, status=2)
    assert clew.json("collections")["collections"] == []
    done = clew.json(*command, "--skip-bad")
    assert [bad["line"] for bad in done["bad"]] == [4]
    assert done["stored"] == 5


def test_turns_come_back_word_for_word_with_list_and_get(clew: Clew) -> None:
    text = "first line\n  second: 料金は円\t<b>"
    receipt = clew.json("ingest", "--session", "s1", text)
    page = clew.json("list", "session_raw:s1")
    assert [record["text"] for record in page["records"]] == [text]
    found = clew.json("get", "session_raw:s1", receipt["id"])
    assert (found["records"][0]["text"], found["missing"]) == (text, [])


def test_pages_of_a_list_follow_each_other(clew: Clew, tmp_path: Path) -> None:
    clew("ingest", "--session", "s1", "--file", str(write_lines(tmp_path / "t.jsonl", turns(5))))
    first = clew.json("list", "session_raw:s1", "--limit", "3")
    rest = clew.json("list", "session_raw:s1", "--limit", "3", "--cursor", str(first["cursor"]))
    assert len({record["id"] for page in (first, rest) for record in page["records"]}) == 5
    assert rest["cursor"] is None


def test_a_missing_record_is_reported_with_status_3(clew: Clew) -> None:
    clew("put", "notes", "a", "here")
    answer = clew.json("get", "notes", "a", "b", status=3)
    assert ([record["id"] for record in answer["records"]], answer["missing"]) == (["a"], ["b"])
    assert "not in notes: b" in clew("get", "notes", "a", "b", status=3)


def test_a_record_is_put_replaced_listed_by_metadata_and_deleted(clew: Clew) -> None:
    assert clew.json("put", "notes", "a", "one", "--metadata", '{"by": "ada"}') == {
        "version": 1,
        "changed": True,
        "redacted": [],
    }
    assert clew.json("put", "notes", "a", "two", "--metadata", '{"by": "ada"}')["version"] == 2
    assert len(clew.json("list", "notes", "--where", "by=ada")["records"]) == 1
    assert clew.json("list", "notes", "--where", "by=bob")["records"] == []
    assert clew.json("delete", "notes", "a")["count"] == 1
    assert clew.json("list", "notes")["records"] == []


def test_raw_history_cannot_be_deleted(clew: Clew) -> None:
    receipt = clew.json("ingest", "--session", "s1", "keep me")
    assert clew.json("delete", "session_raw:s1", receipt["id"], status=4)["error"]["code"] == -32012
    assert clew.json("delete", "session_raw:s1", "--all", "--yes", status=4)["error"]["code"] == -32012


def test_an_assembled_context_stays_within_its_budget_and_shows_its_sections(clew: Clew, tmp_path: Path) -> None:
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "t.jsonl", turns(60))))
    command = ("assemble", "--session", "s1", "--user", "ada", "--query", "topic2", "--budget", "200")
    context = clew.json(*command)
    assert context["usedTokens"] <= context["budgetTokens"] == 200
    assert context["messages"][-1]["text"] == "turn number 59 about topic59"
    shown = clew(*command)
    assert "of 200 tokens" in shown
    assert "turn number 59 about topic59" in shown


def test_an_export_and_import_transfer_everything(clew: Clew, tmp_path: Path) -> None:
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "t.jsonl", turns(30))))
    clew("put", "notes", "a", f"odd {ESCAPE} text")
    clew("flush")  # otherwise memories might be added between the two exports
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert clew.json("export", str(first))["lines"] > 30
    copy = Clew(tmp_path / "copy", clew.capsys)
    believed = ("--format", "clew", "--trust-marks")
    assert copy.json("import", str(first), *believed)["stored"] > 30
    assert copy.json("import", str(first), *believed)["stored"] == 0
    copy("export", str(second))
    assert first.read_bytes() == second.read_bytes()
    assert clew("export") == first.read_text("utf-8"), "standard output gets the same lines"


def test_an_export_is_private_and_complete_and_replaces_only_a_file(clew: Clew, tmp_path: Path) -> None:
    clew("put", "notes", "a", "one")
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    target.chmod(0o644)
    clew("export", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out.jsonl"], "no scratch file stays"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in clew("export", str(pipe), status=2)


def test_an_unreadable_import_names_its_bad_lines(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "bad.jsonl", ["nonsense"])
    assert "lines 1 to 1:" in clew("import", str(path), "--format", "clew", status=2)


def test_verify_passes_on_a_used_store(clew: Clew, tmp_path: Path) -> None:
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "t.jsonl", turns(20))))
    report = clew.json("verify")
    assert report["ok"]
    assert report["checks"]
    assert "verified" in clew("verify", "--repair")


def test_status_flush_and_journal_work_on_a_new_store(clew: Clew) -> None:
    assert clew.json("status")["endpoint"] is None
    assert "records" in clew("status")
    assert clew.json("flush")["ok"]
    assert clew.json("journal")["entries"] == []
    assert "empty" in clew("collections")


@pytest.mark.parametrize("verb", ["reembed", "reindex"])
def test_indexing_after_a_change_of_model_empties_the_queue(
    clew: Clew, tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "t.jsonl", turns(20))))
    assert clew.json("verify")["ok"]
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    assert clew.json(verb)["pending"] == 0
    assert clew.json("status")["pending"] == 0
    assert clew.json("search", "topic7", "--collection", "session_raw:s1", "-k", "1")["hits"]


def test_reembed_without_a_model_says_so(clew: Clew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    assert "no embedding model" in clew("reembed", status=1)


def test_flush_does_not_wait_for_a_missing_model(clew: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clew("ingest", "--session", "s1", "first")
    clew("flush")
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    clew("ingest", "--session", "s1", "second")
    assert clew.json("flush", status=1)["error"]["code"] == -32020


@pytest.mark.requirement("GATE-6")
def test_gate_explain_shows_the_parts_of_the_score(clew: Clew) -> None:
    score = clew.json("gate", "explain", "I prefer tea over coffee.", "--user", "ada")
    assert 0 <= score["gate"] <= 1
    assert score["novelty"] == 1.0, "nothing is remembered yet"
    shown = clew("gate", "explain", "I prefer tea over coffee.", "--user", "ada")
    assert "novelty" in shown
    assert "threshold" in shown


def test_config_shows_the_origin_of_each_value(clew: Clew, monkeypatch: pytest.MonkeyPatch) -> None:
    clew.data_dir.mkdir()
    (clew.data_dir / "clew.toml").write_text("pack_budget_tokens = 800\n")
    monkeypatch.setenv("CLEW_BUDGET_TOKENS", "1234")
    settings = {item["name"]: item for item in clew.json("config")["settings"]}
    assert (settings["pack_budget_tokens"]["value"], settings["pack_budget_tokens"]["from"]) == (800, "clew.toml")
    assert (settings["budget_tokens"]["value"], settings["budget_tokens"]["from"]) == (1234, "CLEW_BUDGET_TOKENS")
    assert settings["data_dir"]["from"] == "--data"
    assert settings["tail_share"]["from"] == "default"
    assert all(item["help"] for item in settings.values())


def test_clew_home_moves_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    assert main(["config", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["endpoint"] == f"unix:{tmp_path / 'home' / 'clew.sock'}"


@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_shows_stored_escapes_as_text_and_colour_can_be_disabled(clew: Clew, no_color: bool) -> None:
    clew("ingest", "--session", "s1", "--user", "ada", f"look {ESCAPE} here")
    shown = on_a_terminal(clew.data_dir, "search", "look", "--user", "ada", no_color=no_color)
    assert "\\x1b]0;owned\\x07" in shown.replace("\r\n", "")
    assert ESCAPE not in shown
    assert ("\x1b[" in shown) is not no_color

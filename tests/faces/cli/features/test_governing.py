"""The verbs that redact, show and remove: redact, artifact, purge, restore."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.testing.command_line import Clew

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    return Clew(tmp_path / "data", capsys)


@pytest.mark.requirement("CAPTURE-3")
def test_redact_reads_standard_input_and_reports_its_cuts(clew: Clew, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"first line\nexport GH={TOKEN[:40]}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))
    answer = clew.json("redact")
    (found,) = answer["found"]
    assert text[found["start"] : found["end"]] == TOKEN[:40]
    assert answer["text"] == text.replace(TOKEN[:40], f"[redacted:{found['kind']}]")


@pytest.mark.requirement("CAPTURE-3")
def test_redact_cuts_personal_data_only_when_asked(clew: Clew) -> None:
    assert clew.json("redact", "write to ann@example.org")["found"] == []
    assert clew.json("redact", "--pii", "write to ann@example.org")["text"] == "write to [redacted:email]"
    assert "cut 1 secret" in clew("redact", f"the key is {TOKEN[:40]}")


@pytest.mark.requirement("CAPTURE-3")
def test_ingest_reports_redactions(clew: Clew) -> None:
    assert "cut out before it was stored: github-token" in clew("ingest", "--session", "s", f"use {TOKEN[:40]}")


@pytest.mark.requirement("CAPTURE-1", "PACK-2")
def test_a_long_payload_is_read_by_its_name_and_within_a_bound(clew: Clew) -> None:
    captured = clew.json("capture", "--text", "ran the tests", "--session", "s", "--payload", f'"{"ok " * 9000}"')
    name = captured["captured"][0]["artifact"]
    assert clew.json("artifact", name, "--max-chars", "100")["text"].startswith('"ok ok ok')
    assert len(clew.json("artifact", name, "--max-chars", "100")["text"]) <= 100
    assert clew.json("artifact", "../../etc/passwd", status=3)["error"]["code"] == -32010


@pytest.mark.requirement("STORE-6")
def test_purge_shows_a_preview_and_then_removes_the_records(clew: Clew) -> None:
    clew("ingest", "--session", "s", "--user", "ann", "The vault code is 7719.")
    assert "would remove:" in clew("purge", "--user", "ann", "--dry-run")
    assert clew.json("list", "session_raw:s")["records"]
    assert "needs --yes" in clew("purge", "--user", "ann", status=2)
    receipt = clew.json("purge", "--user", "ann", "--yes")
    assert (receipt["turns"], receipt["dryRun"]) == (1, False)
    assert clew.json("list", "session_raw:s")["records"] == []
    assert receipt["id"] in clew("purge", "--list")
    assert "nothing to purge" in clew("purge", "--user", "ann", "--yes")


@pytest.mark.requirement("STORE-6")
@pytest.mark.parametrize("arguments", [[], ["--user", "a", "--session", "s"]])
def test_purge_needs_exactly_one_target(clew: Clew, arguments: list[str]) -> None:
    assert "Give one of" in clew("purge", *arguments, "--yes", status=2)
    assert "takes no target" in clew("purge", "--list", "--user", "a", status=2)


@pytest.mark.requirement("STORE-6")
def test_restoring_a_backup_does_not_bring_back_purged_records(clew: Clew, tmp_path: Path) -> None:
    clew("put", "user:ann", "a", "of ann")
    clew("put", "global", "b", "of all")
    copy = tmp_path / "copy.db"
    clew("backup", str(copy))
    clew("purge", "--user", "ann", "--yes")
    clew("put", "global", "c", "newer than the backup")
    assert "needs --yes" in clew("restore", str(copy), status=2)
    assert clew.json("restore", str(copy), "--yes")["purges"] == 1
    assert clew.json("list", "user:ann")["records"] == []
    assert [record["id"] for record in clew.json("list", "global")["records"]] == ["b"]
    assert clew("restore", str(tmp_path / "none.db"), "--yes", status=7)

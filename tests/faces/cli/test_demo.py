"""`clew demo`: the whole loop, and checks of its output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clew.faces.cli.demo.tour import SESSIONS
from clew.faces.cli.main import main

pytestmark = pytest.mark.requirement("CLI-1")


@pytest.fixture(params=["none", "hashing"])
def embedder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("CLEW_EMBEDDER", request.param)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return str(request.param)


def texts(answer: Any) -> str:
    return "\n".join(hit["record"]["text"] for hit in answer["result"]["hits"])


@pytest.mark.requirement("STORE-1", "STORE-3", "CONT-3")
def test_the_demo_finds_the_promised_records_and_separates_users(
    embedder: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["demo", "--json"]) == 0
    tour = json.loads(capsys.readouterr().out)
    assert tour["stored"] == tour["turns"] > 35
    assert tour["storedAgain"] == 0
    where, when, code, yen = tour["answers"]
    assert "SQLite" in texts(where)
    assert "never deploy on a Friday" in texts(when)
    assert "E1047" in texts(code)
    assert "円" in texts(yen)
    assert tour["trespass"]["hitsOfOthers"] == 0
    assert tour["context"]["usedTokens"] <= tour["context"]["budgetTokens"]
    assert tour["verified"]["ok"]
    assert list(tmp_path.iterdir()) == [], "neither the demo's folder nor the user's own was left or made"


@pytest.mark.requirement("GUIDE-2", "GUIDE-3", "COMP-9", "COMP-10")
def test_a_rule_survives_the_demos_compaction_and_its_summary_opens_to_every_turn(
    embedder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--json"]) == 0
    tour = json.loads(capsys.readouterr().out)
    compacted = tour["compacted"]
    receipt = compacted["receipt"]
    assert receipt["didCompact"]
    assert receipt["tokensAfter"] < receipt["tokensBefore"]
    assert compacted["turnsAsSaid"] == len(compacted["turns"]) == receipt["turnsRemoved"] > 0
    assert any("never deploy on a Friday" in item["record"]["text"] for item in compacted["guidance"]["items"])
    assert "never deploy on a Friday" in tour["context"]["guidanceText"]


def test_the_demo_shows_every_step_and_what_to_try_next(embedder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    steps = ("Store", "Search", "Isolation", "Compact", "Assemble", "Expand", "Verify")
    for number, step in enumerate(steps, start=1):
        assert f"{number}. {step}" in out
    assert "What to try next" in out


def test_a_kept_demo_store_can_be_opened(embedder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--keep", "--json"]) == 0
    folder = json.loads(capsys.readouterr().out)["dataDir"]
    assert main(["collections", "--json", "--data", folder]) == 0
    names = {item["name"] for item in json.loads(capsys.readouterr().out)["collections"]}
    assert {f"session_raw:{session}" for session in SESSIONS} <= names

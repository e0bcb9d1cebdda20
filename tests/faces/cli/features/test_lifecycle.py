"""`clew lifecycle`, `clew duplicates` and `clew label` on a real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.engine import Memory
from tests.testing.command_line import Clew

pytestmark = pytest.mark.requirement("CLI-1", "LIFE-3", "LIFE-5")

LONG_AGO = 1_000_000_000_000
OVERRIDE = "\u202e"
"""What would turn the rest of a line around."""

KEY = "The deploy key of the billing service is in the vault."


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    with Memory.open(data_dir=tmp_path / "data", embedder="none") as memory:
        memory.put("user:ada", "old", KEY, {"ts": LONG_AGO})
        memory.put("user:ada", "new", f"{KEY}!")
        memory.put("user:ada", "before", "The budget is 500 euros.")
        memory.put("user:ada", "after", "The budget is 700 euros.")
    clew = Clew(tmp_path / "data", capsys)
    clew("label", "user:ada/old", "--retention", "P1")
    return clew


def test_a_run_changes_nothing_without_apply(clew: Clew) -> None:
    shown = clew("lifecycle", "run")
    for word in ("Dry run", "4 records", "1 of P1", "user:ada/old", "1 new pair", "user:ada/after", "--apply"):
        assert word in shown
    assert KEY not in shown
    assert "never aged" in clew("lifecycle", "status")
    done = clew.json("lifecycle", "run", "--apply")
    assert (done["dryRun"], done["archived"], done["archivedRefs"]) == (False, {"P1": 1}, ["user:ada/old"])
    shown = clew("lifecycle", "status")
    assert "Last run" in shown
    assert "1 of P1" in shown
    assert clew.json("lifecycle", "status")["ts"] == done["ts"]


def test_revive_restores_records_and_reports_the_others(clew: Clew) -> None:
    clew("lifecycle", "run", "--apply")
    shown = clew("lifecycle", "revive", "user:ada/old", "user:ada/new")
    assert "1 record brought back" in shown
    assert "not in the archive" in shown
    assert clew.json("lifecycle", "revive", "user:ada/old")["count"] == 0
    assert clew.json("lifecycle", "revive", "user:ada/none", status=3)["error"]["code"] == -32010
    clew("lifecycle", "revive", status=2)


def test_duplicates_are_listed_with_their_evidence_and_merged(clew: Clew) -> None:
    shown = clew("duplicates", "list", "user:ada")
    for word in ("duplicate", "keep  user:ada/new", "drop  user:ada/old", "5 of 5 words are shared", "contradiction"):
        assert word in shown
    assert "4 records compared" in shown
    assert "vault" not in shown
    found = clew.json("duplicates", "list", "user:ada", "--min-similarity", "0.95", "--limit", "1")
    assert len(found["proposals"]) == 1
    assert "1 record merged into user:ada/new" in clew("duplicates", "merge", "user:ada/new", "user:ada/old")
    assert "no duplicates" in clew("duplicates", "list", "user:nobody")
    clew("duplicates", "list", "turns:ada", status=2)
    clew("duplicates", "merge", "user:ada/new", status=2)


def test_a_label_is_shown_with_its_author_and_without_the_text(clew: Clew) -> None:
    shown = clew("label", "user:ada/old", "--kind", "fact", "--importance", "must_remember")
    for word in ("user:ada/old", "fact (operator)", "must_remember (operator)", "P1 (operator)"):
        assert word in shown
    assert KEY not in shown
    assert "P1" not in clew("label", "user:ada/old", "--retention", "")
    said = clew.json("label", "user:ada/old", "--superseded-by", "user:ada/new")
    assert said["marks"]["superseded_by"]["value"] == "user:ada/new"
    assert "must be one of P0, P1, P2" in clew("label", "user:ada/old", "--retention", "P7", status=2)
    clew("label", "user:ada/old", status=2)


def test_no_reference_can_control_the_terminal(clew: Clew) -> None:
    with Memory.open(data_dir=clew.data_dir, embedder="none") as memory:
        memory.put("user:ada", f"x{OVERRIDE}", KEY, {"ts": LONG_AGO})
    clew("label", f"user:ada/x{OVERRIDE}", "--retention", "P2")
    for shown in (clew("duplicates", "list", "user:ada"), clew("lifecycle", "run")):
        assert OVERRIDE not in shown
        assert "x\\u202e" in shown

"""`clew plans` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.config import Config
from clew.engine import Memory
from tests.testing.command_line import ESCAPE, Clew

pytestmark = pytest.mark.requirement("CAPTURE-5", "FACT-4", "CLI-1")


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Clew:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "clew.toml").write_text('embedder = "none"\ntokenizer = "estimate"\n', "utf-8")
    with Memory(Config.load(environment={}, data_dir=data_dir)) as memory:
        text = "I'm going to renew the passport next month."
        memory.ingest("s", "user", text, id="t", user_id="ada", ts=1_700_000_000_000)
    return Clew(data_dir, capsys)


def test_a_plan_is_added_listed_due_and_closed(clew: Clew) -> None:
    added = clew.json("plans", "add", "send the report", "--date", "2024-01-05", "--user", "ada")
    assert (added["what"], added["date"], added["state"], added["due"]) == (
        "send the report",
        "2024-01-05",
        "open",
        True,
    )
    _, _, id_ = added["ref"].partition("/")
    heading, row = clew("plans", "list", "--user", "ada").splitlines()
    assert heading.split() == ["day", "due", "state", "trust", "record", "when", "plan"]
    assert row.split()[:3] == ["2024-01-05", "yes", "open"]
    assert "send the report" in clew("plans", "due", "--user", "ada")
    assert "done" in clew("plans", "done", id_, "--user", "ada")
    assert "no plans" in clew("plans", "due", "--user", "ada")
    assert clew.json("plans", "list", "--user", "ada", "--state", "done")["plans"][0]["ref"] == added["ref"]
    assert "dropped" in clew("plans", "drop", added["ref"])
    assert clew.json("plans", "reopen", added["ref"])["state"] == "open"


def test_a_shared_plan_may_have_a_condition(clew: Clew) -> None:
    shown = clew("plans", "add", "drop the old table", "--when", "the migration has run")
    assert "plans:global/p_" in shown
    assert "when: the migration has run" in shown
    assert clew.json("plans", "due")["plans"] == []
    assert clew.json("plans", "list")["plans"][0]["condition"] == "the migration has run"


def test_a_proposal_is_shown_and_accepted_with_its_turn_as_source(clew: Clew) -> None:
    assert "nothing was written" in clew("plans", "propose", "--user", "ada")
    (proposal,) = clew.json("plans", "propose", "--user", "ada")["proposals"]
    accepted = clew("plans", "accept", proposal["id"], "--user", "ada")
    assert "renew the passport" in accepted
    assert "source: session_raw:s/t" in accepted
    assert clew.json("plans", "propose", "--user", "ada")["proposals"] == []
    assert "no proposal" in clew("plans", "accept", proposal["id"], "--user", "ada", status=3)


def test_a_declined_proposal_is_not_shown_again(clew: Clew) -> None:
    (proposal,) = clew.json("plans", "propose", "--user", "ada")["proposals"]
    assert "declined: renew the passport" in clew("plans", "decline", proposal["id"], "--user", "ada")
    assert clew.json("plans", "propose", "--user", "ada")["proposals"] == []
    assert clew.json("plans", "list", "--user", "ada", "--state", "all")["plans"] == []


def test_an_unambiguous_prefix_of_an_id_is_enough(clew: Clew) -> None:
    ids = [
        clew.json("plans", "add", f"plan {number}", "--user", "ada")["ref"].partition("/")[2] for number in range(40)
    ]
    shared = next(id_[:3] for id_ in ids if sum(other[:3] == id_[:3] for other in ids) > 1)
    assert "write more of it" in clew("plans", "done", shared, "--user", "ada", status=2)
    alone = next(n for n in range(4, 30) if sum(other[:n] == ids[0][:n] for other in ids) == 1)
    assert clew.json("plans", "done", ids[0][:alone], "--user", "ada")["ref"].endswith(ids[0])


def test_mistakes_are_reported_and_text_cannot_control_the_terminal(clew: Clew) -> None:
    assert "--date must be a day as YYYY-MM-DD, not 'soon'" in clew("plans", "add", "x", "--date", "soon", status=2)
    assert "there is no record" in clew("plans", "done", "p_gone", "--user", "ada", status=3)
    assert "there is no record" in clew("plans", "add", "x", "--source", "session_raw:s/gone", status=3)
    clew("plans", "add", f"wipe {ESCAPE} it", "--user", "ada")
    assert "\x1b]" not in clew("plans", "list", "--user", "ada")

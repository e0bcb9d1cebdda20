"""The observation log from the command line, on a real store; each call is a separate run."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from clew.core.tuning import Tuning
from tests.testing.command_line import ESCAPE, Clew, write_lines

pytestmark = pytest.mark.requirement("CLI-1", "OBS-1", "OBS-2")

NOON_MS = 1_700_049_600_000
"""15 November 2023."""


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    monkeypatch.setattr("clew.engine.Tuning", partial(Tuning, observe_buffer_tokens=400))
    monkeypatch.setenv("COLUMNS", "80")
    return Clew(tmp_path / "data", capsys)


def turn_text(number: int) -> str:
    if number == 2:
        return f"We decided to move the billing database to PostgreSQL 16 on 20 November.{ESCAPE}"
    if number % 2:
        return f"Step {number} is done. handler_{number} has its new name and the {number + 90} tests pass again."
    return f"Look at step {number}.\nIt is about src/part_{number}.py, where handler_{number} has a misleading name."


@pytest.fixture
def clew_with_session(clew: Clew, tmp_path: Path) -> Clew:
    lines = [
        {"role": ("user", "assistant")[n % 2], "text": turn_text(n), "id": f"t{n}", "ts": NOON_MS + n * 60_000}
        for n in range(40)
    ]
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "talk.jsonl", lines)))
    return clew


def test_a_run_reports_new_lines_and_waiting_turns(clew_with_session: Clew) -> None:
    shown = clew_with_session("observe", "run", "s1")
    assert "new lines" in shown
    assert "4 turns in the buffer" in shown
    assert "Nothing was due" in clew_with_session("observe", "run", "s1")
    clew_with_session("observe", "run", "s1", "--force")
    assert "(the newest turns stay in the buffer)" in clew_with_session("observe", "run", "s1", "--force")


@pytest.mark.parametrize("verb", ["show", "run", "stats", "rebuild"])
def test_an_unknown_session_is_reported(clew_with_session: Clew, verb: str) -> None:
    assert "there is no session 'nosuch'" in clew_with_session("observe", verb, "nosuch", status=3)


def test_the_log_is_shown_by_day_with_marks_and_dates(clew_with_session: Clew) -> None:
    assert "nothing is observed yet" in clew_with_session("observe", "show", "s1")
    clew_with_session("observe", "run", "s1")
    shown = clew_with_session("observe", "show", "s1")
    assert "2023-11-15\n" in shown
    assert "  ! user: We decided to move the billing database" in shown
    assert "(2023-11-20, in 5 days)" in shown
    assert "\x1b" not in shown


def test_the_block_itself_can_be_shown(clew_with_session: Clew) -> None:
    clew_with_session("observe", "run", "s1")
    block = clew_with_session.json("observe", "show", "s1")["text"]
    assert clew_with_session("observe", "show", "s1", "--block").rstrip("\n") == block
    assert block.startswith("<observation_log> ")


def test_the_status_shows_figures_and_a_rebuild_gives_the_same_log(clew_with_session: Clew) -> None:
    clew_with_session("observe", "run", "s1", "--force")
    stats = clew_with_session.json("observe", "stats", "s1")
    assert stats["observedTurns"] == 36
    assert stats["bufferTokens"] == clew_with_session.json("observe", "show", "s1")["bufferTokens"]
    assert 0 < stats["share"] < 1
    assert "36, of which" in clew_with_session("observe", "stats", "s1")
    assert "as before" in clew_with_session("observe", "rebuild", "s1")
    assert clew_with_session.json("observe", "rebuild", "s1")["dropped"] == 0


def test_a_context_can_use_the_log(clew_with_session: Clew) -> None:
    shown = clew_with_session("assemble", "--session", "s1", "--mode", "observations")
    assert "Observed so far, framed as data" in shown
    assert "Recalled" not in shown
    context = clew_with_session.json(
        "assemble", "--session", "s1", "--mode", "both", "--query", "handler_9", "--budget", "3000"
    )
    assert context["observationsText"]
    assert context["recalledText"]


def test_an_unknown_mode_is_a_mistake_of_the_user(clew_with_session: Clew) -> None:
    assert "Invalid value for '--mode'" in clew_with_session("assemble", "--session", "s1", "--mode", "all", status=2)

"""The observation log from the command line, on a real store; each call is a run of its own."""

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


def said(number: int) -> str:
    if number == 2:
        return f"We decided to move the billing database to PostgreSQL 16 on 20 November.{ESCAPE}"
    if number % 2:
        return f"Step {number} is done. handler_{number} has its new name and the {number + 90} tests pass again."
    return f"Look at step {number}.\nIt is about src/part_{number}.py, where handler_{number} has a misleading name."


@pytest.fixture
def talked(clew: Clew, tmp_path: Path) -> Clew:
    lines = [
        {"role": ("user", "assistant")[n % 2], "text": said(n), "id": f"t{n}", "ts": NOON_MS + n * 60_000}
        for n in range(40)
    ]
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "talk.jsonl", lines)))
    return clew


def test_a_run_says_what_it_added_and_what_is_left(talked: Clew) -> None:
    shown = talked("observe", "run", "s1")
    assert "new lines" in shown
    assert "4 turns in the buffer" in shown
    assert "Nothing was due" in talked("observe", "run", "s1")
    talked("observe", "run", "s1", "--force")
    assert "(the newest turns stay in the buffer)" in talked("observe", "run", "s1", "--force")


@pytest.mark.parametrize("verb", ["show", "run", "stats", "rebuild"])
def test_a_session_that_does_not_exist_is_said_to_be_unknown(talked: Clew, verb: str) -> None:
    assert "there is no session 'nosuch'" in talked("observe", verb, "nosuch", status=3)


def test_the_log_is_shown_by_day_with_marks_and_dates(talked: Clew) -> None:
    assert "nothing is observed yet" in talked("observe", "show", "s1")
    talked("observe", "run", "s1")
    shown = talked("observe", "show", "s1")
    assert "2023-11-15\n" in shown
    assert "  ! user: We decided to move the billing database" in shown
    assert "(2023-11-20, in 5 days)" in shown
    assert "\x1b" not in shown


def test_the_block_itself_can_be_shown(talked: Clew) -> None:
    talked("observe", "run", "s1")
    block = talked.json("observe", "show", "s1")["text"]
    assert talked("observe", "show", "s1", "--block").rstrip("\n") == block
    assert block.startswith("<observation_log> ")


def test_figures_and_a_rebuild(talked: Clew) -> None:
    talked("observe", "run", "s1", "--force")
    stats = talked.json("observe", "stats", "s1")
    assert stats["observedTurns"] == 36
    assert stats["bufferTokens"] == talked.json("observe", "show", "s1")["bufferTokens"]
    assert 0 < stats["share"] < 1
    assert "36, of which" in talked("observe", "stats", "s1")
    assert "as before" in talked("observe", "rebuild", "s1")
    assert talked.json("observe", "rebuild", "s1")["dropped"] == 0


def test_a_context_can_stand_on_the_log(talked: Clew) -> None:
    shown = talked("assemble", "--session", "s1", "--mode", "observations")
    assert "Observed so far, framed as data" in shown
    assert "Recalled" not in shown
    context = talked.json("assemble", "--session", "s1", "--mode", "both", "--query", "handler_9", "--budget", "3000")
    assert context["observationsText"]
    assert context["recalledText"]


def test_a_mode_that_does_not_exist_is_a_users_mistake(talked: Clew) -> None:
    assert "Invalid value for '--mode'" in talked("assemble", "--session", "s1", "--mode", "all", status=2)

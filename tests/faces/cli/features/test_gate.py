"""`clew gate calibrate`: figures, a proposal and a picture from labelled texts, on a real store."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.testing.command_line import Clew

pytestmark = pytest.mark.requirement("GATE-6", "CLI-1")

PNG = b"\x89PNG\r\n\x1a\n"
USEFUL = [
    f"{wish} My friend {name} is {age} years old since last Monday."
    for wish in ("I prefer tea.", "I love long walks.", "I hate mushrooms.")
    for name, age in (("Alice", 30), ("Bob", 41), ("Carol", 52), ("Dave", 63))
]
OTHERS = [f"{word} {more}" for word in ("ok", "hm", "well") for more in ("then", "sure", "fine", "go on")]


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    return Clew(tmp_path / "data", capsys)


def label_texts(useful: Sequence[str] = USEFUL, others: Sequence[str] = OTHERS) -> list[Any]:
    return [{"text": text, "useful": text in useful} for text in (*useful, *others)]


def write_lines(path: Path, lines: Sequence[Any]) -> str:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return str(path)


def test_the_proposed_threshold_separates_useful_texts_from_others(clew: Clew, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "labels.jsonl", label_texts())
    found = clew.json("gate", "calibrate", file)
    assert (found["texts"], found["useful"], found["bad"], found["plot"]) == (24, 12, [], None)
    assert found["now"]["threshold"] == 0.19
    assert found["separation"] == 1.0
    assert (found["proposed"]["precision"], found["proposed"]["recall"], found["proposed"]["kept"]) == (1.0, 1.0, 0.5)
    assert found["brierCalibrated"] < found["brierRaw"]
    assert 0 <= found["probabilityAtProposed"] <= 1
    assert [step["probability"] for step in found["curve"]] == [0.0, 1.0]


def test_the_proposed_threshold_performs_as_predicted(clew: Clew, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "labels.jsonl", label_texts())
    shown = clew("gate", "calibrate", file)
    line = next(line for line in shown.splitlines() if "gate_threshold" in line)
    clew.data_dir.mkdir(exist_ok=True)
    (clew.data_dir / "clew.toml").write_text(line.split("`")[1] + "\n")
    found = clew.json("gate", "calibrate", file)
    assert found["now"] == found["proposed"]


def test_the_plain_output_shows_both_thresholds_their_errors_and_the_setting(clew: Clew, tmp_path: Path) -> None:
    shown = clew("gate", "calibrate", write_lines(tmp_path / "labels.jsonl", label_texts()))
    for word in ("24 texts, 12 of them useful", "precision", "recall", "kept", "now", "proposed", "Brier score, raw"):
        assert word in shown
    assert f"in {clew.data_dir / 'clew.toml'}" in shown


def test_bad_lines_are_reported_by_number_and_skipped(clew: Clew, tmp_path: Path) -> None:
    bad = ["not json", '{"text": "no label"}', '{"text": 5, "useful": true}', '{"text": "x", "useful": "yes"}', ""]
    deep = '{"x": ' + "[" * 100_000
    huge = {"text": "x" * 2_000_000, "useful": True}
    file = write_lines(tmp_path / "labels.jsonl", [*bad, deep, huge, *label_texts()])
    found = clew.json("gate", "calibrate", file)
    assert [line["line"] for line in found["bad"]] == [1, 2, 3, 4, 6, 7]
    assert found["texts"] == 24
    assert "left out line 2: Object missing required field `useful`" in clew("gate", "calibrate", file)


@pytest.mark.requirement("GATE-5")
def test_a_megabyte_of_any_character_is_graded_like_any_other_text(clew: Clew, tmp_path: Path) -> None:
    pieces = ["a", "7", "/", ".", "`", "a.", "{", "(", "\\", "'", "\x00", "I ", "aA", "A1-", "x = 1\n", "```\n"]
    long = [{"text": (piece * 1_000_000)[:1_000_000], "useful": False} for piece in pieces]
    wide = [{"text": (piece * 250_000)[:250_000], "useful": False} for piece in ("漢", "😀", "é漢 a/")]
    found = clew.json("gate", "calibrate", write_lines(tmp_path / "labels.jsonl", [*long, *wide, *label_texts()]))
    assert (found["texts"], found["bad"]) == (len(long) + len(wide) + 24, [])


def test_many_bad_lines_do_not_flood_the_terminal(clew: Clew, tmp_path: Path) -> None:
    shown = clew("gate", "calibrate", write_lines(tmp_path / "labels.jsonl", ["{"] * 300 + label_texts()))
    assert shown.count("left out line") == 20
    assert "left out 280 more lines" in shown


@pytest.mark.parametrize(
    ("lines", "counts"),
    [([], "0 and 0"), (label_texts(others=OTHERS[:9]), "12 and 9"), (label_texts(useful=USEFUL[:3]), "3 and 12")],
)
def test_too_few_of_either_label_is_an_error_with_both_counts(
    clew: Clew, tmp_path: Path, lines: list[Any], counts: str
) -> None:
    file = write_lines(tmp_path / "labels.jsonl", ["{", *lines])
    message = clew.json("gate", "calibrate", file, status=2)["error"]["message"]
    assert f"there are {counts}; bad lines: 1, the first is line 1" in message
    assert "at least 10 useful texts" in message


def test_labels_that_the_score_cannot_separate_give_no_proposal(clew: Clew, tmp_path: Path) -> None:
    lines = [{"text": "ok then", "useful": number % 2 == 0} for number in range(30)]
    file = write_lines(tmp_path / "labels.jsonl", lines)
    found = clew.json("gate", "calibrate", file)
    assert (found["proposed"], found["probabilityAtProposed"], found["separation"]) == (None, None, 0.5)
    assert "no threshold is proposed" in clew("gate", "calibrate", file)


def test_texts_are_compared_with_the_memories_of_their_user(clew: Clew, tmp_path: Path) -> None:
    for text in USEFUL[:4]:
        clew("ingest", "--session", "s", "--user", "ada", text)
    clew("flush")
    plain = write_lines(tmp_path / "labels.jsonl", label_texts())
    named = write_lines(tmp_path / "named.jsonl", [line | {"userId": "ada"} for line in label_texts()])
    alone = clew.json("gate", "calibrate", plain)
    known = clew.json("gate", "calibrate", plain, "--user", "ada")
    assert known["curve"] != alone["curve"]
    assert clew.json("gate", "calibrate", named, "--user", "bob")["curve"] == known["curve"]


def test_nothing_is_stored(clew: Clew, tmp_path: Path) -> None:
    clew("ingest", "--session", "s", "--user", "ada", "I prefer tea.")
    clew("flush")
    before = clew.json("collections")
    clew("gate", "calibrate", write_lines(tmp_path / "labels.jsonl", label_texts()), "--user", "ada")
    assert clew.json("collections") == before
    assert clew.json("flush")["pending"] == 0


def test_the_picture_is_a_png(clew: Clew, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the `plots` extra is not installed")
    picture = tmp_path / "gate.png"
    file = write_lines(tmp_path / "labels.jsonl", label_texts())
    assert clew.json("gate", "calibrate", file, "--plot", str(picture))["plot"] == str(picture)
    assert picture.read_bytes().startswith(PNG)
    assert str(picture) in clew("gate", "calibrate", file, "--plot", str(picture))


def test_without_matplotlib_the_figures_are_printed_with_a_note_on_the_picture(
    clew: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    picture = tmp_path / "gate.png"
    file = write_lines(tmp_path / "labels.jsonl", label_texts())
    shown = clew("gate", "calibrate", file, "--plot", str(picture))
    assert "clew[plots]" in shown
    assert "proposed" in shown
    found = clew.json("gate", "calibrate", file, "--plot", str(picture))
    assert found["plot"] is None
    assert "clew[plots]" in found["notes"][0]
    assert not picture.exists()


def test_a_picture_that_cannot_be_written_is_an_error_without_a_traceback(clew: Clew, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the `plots` extra is not installed")
    file = write_lines(tmp_path / "labels.jsonl", label_texts())
    missing = tmp_path / "no" / "folder" / "gate.png"
    assert "gate.png" in clew.json("gate", "calibrate", file, "--plot", str(missing), status=2)["error"]["message"]


def test_texts_that_are_never_kept_count_as_refused_at_every_threshold(clew: Clew, tmp_path: Path) -> None:
    asked = [f"Which port does service {number} use since May {number}?" for number in range(12)]
    found = clew.json("gate", "calibrate", write_lines(tmp_path / "labels.jsonl", label_texts(others=asked)))
    assert found["now"]["precision"] == 1.0
    assert found["curve"][0]["low"] == found["curve"][0]["high"] == 0.0


def test_an_explanation_gives_the_reason_why_a_text_is_never_kept(clew: Clew) -> None:
    assert "never kept (a command)" in clew("gate", "explain", "/mode")
    assert "never kept (only asks)" in clew("gate", "explain", "Which port does it use?")
    assert "kept as a memory" in clew("gate", "explain", "We decided to use Postgres 16 for billing.")

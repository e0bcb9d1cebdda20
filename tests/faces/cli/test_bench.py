"""`clew bench`, from the command line to its figures; each call is a run of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.testing.command_line import Clew, on_a_terminal, write_lines
from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("CLI-1", "PERF-1")


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    monkeypatch.setenv("CLEW_SYNCHRONOUS", "normal")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return Clew(tmp_path / "data", capsys)


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    said = ["I planted tulips.", "My boat leaks.", "The cat had kittens.", "I sold the piano."]
    conversation: dict[str, Any] = {"speaker_a": "Ida", "speaker_b": "Jon"}
    for number, text in enumerate(said, 1):
        conversation[f"session_{number}"] = [{"speaker": "Ida", "dia_id": f"D{number}:1", "text": text}]
        conversation[f"session_{number}_date_time"] = f"1:00 pm on {number} May, 2023"
    asked = [
        {"question": "Who planted tulips?", "category": 4, "evidence": ["D1:1"]},
        {"question": "What about the piano?", "category": 2, "evidence": ["D4:1"], "gold_excluded": True},
    ]
    data = [{"sample_id": f"conv-{n}", "conversation": conversation, "qa": asked} for n in (1, 2)]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_all_figures_are_in_one_object(clew: Clew, locomo: Path, tmp_path: Path) -> None:
    answer = clew.json("bench", "--dataset", "locomo", "--path", str(locomo), "--budget", "300", "--budget", "100")
    assert answer["counts"] == {"corpora": 2, "turns": 8, "questions": 4, "audited_questions": 2}
    assert (answer["dataset"], answer["path"]) == ("locomo", "locomo.json")
    assert answer["versions"]["embedder"].startswith("hashing/64/")
    assert list(answer["systems"]) == ["clew", "bm25", "dense", "rrf"]
    figures = answer["systems"]["clew"]
    assert figures["turn"]["recall@5"] == 1.0
    assert list(figures["budget"]) == ["100", "300"]
    assert list(figures["by_category"]) == ["single-hop", "temporal"]
    assert list(figures["per_corpus"]) == ["conv-1", "conv-2"]
    assert list(figures["audited"]["by_category"]) == ["single-hop"]
    assert answer["not_run"] == {}
    assert str(tmp_path) not in json.dumps(answer)


def test_the_plain_output_has_tables_and_names_skipped_parts(clew: Clew, locomo: Path) -> None:
    out = clew(
        "bench", "--dataset", "locomo", "--path", str(locomo), "--embedder", "none",
        "--system", "clew", "--system", "dense", "--only", "conv-2", "--questions", "1",
    )  # fmt: skip
    assert "locomo, locomo.json" in out
    assert "recall@10" in out
    assert "Evidence inside a budget of tokens" in out
    assert "recall@10 by category" in out
    assert "dense was not run: there is no embedder" in out


def test_a_terminal_shows_drawn_tables(clew: Clew, locomo: Path, tmp_path: Path) -> None:
    out = on_a_terminal(
        tmp_path / "data", "bench", "--dataset", "locomo", "--path", str(locomo), "--system", "clew", columns=120
    )
    assert "─" in out
    assert "recall@5" in out


def test_an_unusable_place_for_vectors_is_refused_before_the_run(clew: Clew, locomo: Path, tmp_path: Path) -> None:
    lost = str(tmp_path / "nowhere" / "vectors.npz")
    said = clew("bench", "--dataset", "locomo", "--path", str(locomo), "--vectors", lost, status=3)
    assert "is no folder, so no vectors can be kept there" in said
    assert list((tmp_path / "temporary").iterdir()) == []


def test_vectors_are_reused_in_the_next_run(clew: Clew, locomo: Path, tmp_path: Path) -> None:
    arguments = ("bench", "--dataset", "locomo", "--path", str(locomo), "--vectors", str(tmp_path / "kept.npz"))
    assert clew.json(*arguments)["embedding"]["texts"] == 4
    again = clew.json(*arguments)
    assert again["embedding"]["texts"] == 0
    assert again["systems"]["dense"]["turn"]["mrr"] == 1.0


def test_packs_are_measured_on_persistbench(clew: Clew, tmp_path: Path) -> None:
    for file in ("beneficial_samples.jsonl", "cross_domain.jsonl", "sycophancy.jsonl"):
        write_lines(tmp_path / file, [{"query": "Where is my kayak?", "memories": ["The kayak is in the barn."]}])
    arguments = ("bench", "--dataset", "persistbench", "--path", str(tmp_path), "--system", "clew", "--system", "bm25")
    answer = clew.json(*arguments)
    assert answer["counts"] == {"rows": 3, "memories": 3}
    assert answer["systems"]["clew"]["packs"]["helps"] == {"rows": 1, "share": 1.0, "items": 1.0}
    assert "bm25" in answer["not_run"]
    assert "another domain" in clew(*arguments)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--dataset", "other", "--path", "x"), 2, "'other' is not one of 'locomo'"),
        (("--dataset", "locomo", "--path", "nowhere.json"), 3, "nowhere.json does not exist"),
        (("--dataset", "longmemeval", "--path", "nowhere"), 3, "nowhere does not exist"),
        (("--dataset", "persistbench", "--path", "nowhere"), 3, "nowhere does not exist"),
        (("--dataset", "locomo", "--path", "LOCOMO", "--system", "nobody"), 2, "no system is called 'nobody'"),
        (("--dataset", "locomo", "--path", "LOCOMO", "--only", "conv-9"), 2, "no corpus 'conv-9'"),
        (("--dataset", "longmemeval", "--path", "LOCOMO"), 2, "question_id"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence(
    clew: Clew, locomo: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    given = [str(locomo) if word == "LOCOMO" else word for word in arguments]
    answer = clew.json("bench", *given, status=status)
    assert message in answer["error"]["message"]


def test_an_interrupted_run_leaves_no_folder(locomo: Path, clew: Clew, tmp_path: Path) -> None:
    """The signal comes during a query to a system, when the folder of the run already exists."""
    program = (
        "import os, signal, sys\n"
        "from bench.retrieval import clew_memory\n"
        "from clew.faces.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a test run in the background ignores it
        "def interrupted(*_):\n"
        "    print(len(os.listdir(os.environ['TMPDIR'])), file=sys.stderr)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "clew_memory.ClewMemory.ranked = interrupted\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", program, "bench", "--dataset", "locomo", "--path", str(locomo)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=dict(os.environ), check=False, timeout=patience(240)
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.splitlines()[:1] == ["1"]
    assert "interrupted" in done.stderr
    assert list((tmp_path / "temporary").iterdir()) == []

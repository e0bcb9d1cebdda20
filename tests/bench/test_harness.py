"""The parts of the benchmark: its input, its figures, its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.corpus import make_questions, make_records
from bench.embedder import DIMENSIONS, WordVectors
from bench.page import END, START, write_page
from bench.results import Asked, Case, Filled, Report, Spread, Stopwatch, spread
from bench.table import plain_tables
from hypothesis import given
from hypothesis import strategies as st

from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("PERF-1")

ROOT = Path(__file__).resolve().parents[2]


def case(system: str, ms: float) -> Case:
    times = Spread(p50=ms, p95=2 * ms, worst=3 * ms, count=200)
    filled = Filled(load_s=1.0, ingest_ms=times, settled_ms=ms, record_bytes=1000.0)
    asked = Asked(open_ms=ms, search_ms=times, search_after_write_ms=times, hits=10.0, resident_mb=50.0)
    return Case(system=system, size=1000, collections=1, filled=filled, asked=asked)


def report(*cases: Case, notes: tuple[str, ...] = ()) -> Report:
    return Report(machine={"cores": "2"}, command="python -m bench", cases=cases, notes=notes)


def test_a_record_does_not_depend_on_the_size_of_the_run() -> None:
    assert make_records(40, 1, 100) == make_records(0, 50, 100)[40:41]
    assert {record.collection for record in make_records(0, 300, 100)} == {f"user:{n}" for n in range(100)}


def test_a_question_uses_words_of_its_collection() -> None:
    for question in make_questions(30, 500, 10):
        texts = " ".join(r.text for r in make_records(0, 500, 10) if r.collection == question.collection)
        assert any(word.strip(",?") in texts for word in question.text.split() if len(word) > 6)


def test_the_stand_in_embedder_gives_unit_vectors_that_are_near_for_texts_with_shared_words() -> None:
    vectors = WordVectors().embed_passages(["garden marathon guitar", "guitar marathon", "invoice schema", "", "a b"])
    assert vectors.shape == (5, DIMENSIONS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6
    assert abs(vectors[0] @ vectors[2]) < 0.3


@given(st.lists(st.floats(min_value=0.0, max_value=1e6), min_size=1))
def test_a_spread_consists_of_measured_times_in_order(times_ms: list[float]) -> None:
    found = spread(times_ms)
    assert {found.p50, found.p95, found.worst} <= set(times_ms)
    assert found.p50 <= found.p95 <= found.worst == max(times_ms)
    assert found.count == len(times_ms)


def test_a_stopwatch_is_spent_when_its_budget_is_used_up() -> None:
    watch = Stopwatch(budget_s=0.0)
    assert watch.spent
    with watch:
        pass
    assert watch.spread().count == 1


def test_a_peer_is_shown_as_a_multiple_of_clew() -> None:
    printed = plain_tables(report(case("clew", 2.0), case("fts5", 5.0), notes=("something was left out",)))
    search = next(line for line in printed.splitlines() if line.startswith("search p50"))
    assert search.split()[3:] == ["2", "5", "(2.5×)"]
    assert "Note: something was left out" in printed


def test_a_case_without_figures_is_shown_as_missing() -> None:
    printed = plain_tables(report(case("clew", 2.0), Case("fts5", 1000, 1, trouble="it failed")))
    search = next(line for line in printed.splitlines() if line.startswith("search p50"))
    assert search.split()[3:] == ["2", "–"]


def test_the_page_keeps_the_text_around_the_figures_and_says_where_clew_is_behind(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"# Title\n\nbefore\n\n{START}\nold figures\n{END}\n\nafter\n", "utf-8")
    measured = report(case("clew", 2.0), case("fts5", 1.0))
    write_page(measured, page, chart=None)
    once = page.read_text("utf-8")
    write_page(measured, page, chart=None)
    assert page.read_text("utf-8") == once
    assert once.startswith("# Title\n\nbefore\n")
    assert once.endswith("after\n")
    assert "old figures" not in once
    assert "search p50, ms: fts5 is ahead at 1,000 records in one collection (0.5×)" in once


@pytest.mark.long
def test_a_quick_run_measures_clew_and_writes_its_figures(tmp_path: Path) -> None:
    out = tmp_path / "figures"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--systems", "clew", "--json", "--out", str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=patience(240),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert [(c["system"], c["size"], c["collections"], c["trouble"]) for c in printed["cases"]] == [
        ("clew", 1000, 1, ""),
        ("clew", 1000, 100, ""),
    ]
    assert all(c["asked"]["search_ms"]["p50"] > 0 and c["asked"]["hits"] > 0 for c in printed["cases"])
    assert printed["conversed"][0]["assemble_ms"]["count"] == 20
    assert json.loads((out / "results.json").read_bytes()) == printed
    assert START in (tmp_path / "figures.md").read_text("utf-8")

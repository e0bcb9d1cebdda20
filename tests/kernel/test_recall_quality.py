"""Search on real conversations, with the default model and settings: better than every baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew.models.packs.pack import DEFAULT_PACK, list_packs, packs_dir
from tests.testing.command_line import Clew
from tests.testing.data import nothing_may_be_skipped, shared

pytestmark = [pytest.mark.long, pytest.mark.requirement("PERF-3")]

BASELINES = ("bm25", "dense", "rrf")


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    if DEFAULT_PACK not in [pack.name for pack in list_packs(packs_dir())]:
        if nothing_may_be_skipped():
            pytest.fail("the default model is not installed, and nothing may be skipped here")
        pytest.skip("needs the default model: `clew model install`")
    monkeypatch.setenv("CLEW_SYNCHRONOUS", "normal")
    return Clew(tmp_path / "data", capsys)


def test_clew_finds_more_evidence_of_a_conversation_than_any_baseline(clew: Clew) -> None:
    """At every depth and in every budget; and not less than a lane alone could have found."""
    path = shared("locomo/locomo5_dev.json.gz")
    systems = _measured(clew, "locomo", path, "--only", "conv-30", "--budget", "500", "--budget", "1000")
    own = systems["clew"]
    for name in BASELINES:
        for depth in ("recall@5", "recall@10", "recall@25", "recall@50"):
            assert own["turn"][depth] > systems[name]["turn"][depth], (name, depth)
        for budget in ("500", "1000"):
            assert own["budget"][budget] > systems[name]["budget"][budget], (name, budget)
    assert own["turn"]["recall@10"] >= 0.80
    assert own["session"]["mean@10"] >= 0.95
    assert own["budget"]["1000"] >= 0.84


def test_sessions_with_the_answer_are_among_the_first_when_the_question_is_asked(clew: Clew) -> None:
    """Turns of the last day must not displace those that answer the question."""
    systems = _measured(clew, "longmemeval", shared("longmemeval"), "--questions", "25", "--budget", "1000")
    own = systems["clew"]["session"]
    assert own["all@5"] >= max(systems[name]["session"]["all@5"] for name in BASELINES)
    assert own["all@5"] >= 0.76


def _measured(clew: Clew, dataset: str, path: Path, *options: str) -> dict[str, Any]:
    answer = clew.json("bench", "--dataset", dataset, "--path", str(path), *options)
    assert answer["not_run"] == {}
    systems: dict[str, Any] = answer["systems"]
    return systems

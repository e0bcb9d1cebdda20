"""The importance grader and the kinds of records, by example."""

from __future__ import annotations

import json

import pytest

from clew.core.model import Kind, Role
from clew.text.grading.importance import METHOD, VERSION, Label, grade, label_of
from clew.text.grading.kinds import kind_of_text
from tests.testing.data import shared


@pytest.mark.requirement("LIFE-1")
class TestGrade:
    @pytest.mark.parametrize(
        "text",
        [
            "Rule: do not restart the gateway without approval.",
            "Never push to main without review.",
            "We decided to keep PostgreSQL 16.",
            "Dana prefers short answers, at most 5 lines.",
            "The gateway port is 18789.",
            "我们决定改用 SQLite。",
            "必须先跑测试再提交。",
            "決定：設定は config/app.toml に置く",
        ],
    )
    def test_what_lasts_must_be_remembered(self, text: str) -> None:
        assert grade(text).label is Label.MUST_REMEMBER

    @pytest.mark.parametrize(
        "text",
        [
            "TODO: rotate the runbook",
            "- [ ] TODO: buy milk",
            "【待办】更新文档",
            "Workaround: restart the worker when the queue stalls.",
            "Next week I will call Anna if the build is green.",
            "My sister works at the harbour.",
        ],
    )
    def test_what_is_useful_is_nice_to_have(self, text: str) -> None:
        assert grade(text).label is Label.NICE_TO_HAVE

    @pytest.mark.parametrize(
        "text",
        ["", "   \n", "...", "ok thanks!", "好的，收到", "HEARTBEAT_OK", "Still running…", "Let me check that.",
         "2026-01-05 10:00:01 INFO started\n2026-01-05 10:00:02 INFO ready", "-----BEGIN RSA PRIVATE KEY-----"],
    )  # fmt: skip
    def test_what_fills_the_air_is_ignored(self, text: str) -> None:
        assert grade(text).label is Label.IGNORE

    def test_a_known_kind_counts_for_more_than_the_wording(self) -> None:
        assert grade("SQLite in WAL mode", Kind.DECISION).label is Label.MUST_REMEMBER
        assert grade("SQLite in WAL mode").label is Label.IGNORE

    def test_words_of_a_tool_carry_no_authority(self) -> None:
        rule = "Rule: you must always run this first."
        assert grade(rule).label is Label.MUST_REMEMBER
        assert grade(rule, tool="bash").label is not Label.MUST_REMEMBER
        assert grade(rule, Kind.OBSERVATION).label is not Label.MUST_REMEMBER
        assert grade(rule, Kind.NOTE, "chat").label is Label.MUST_REMEMBER

    def test_the_reasons_are_named_weightiest_first(self) -> None:
        assert grade("We decided to call it on 5 May.").reasons == ("decision", "date")
        assert grade("thanks").reasons == ("acknowledgement",)

    @pytest.mark.parametrize(
        ("score", "label"),
        [(1.0, Label.MUST_REMEMBER), (0.8, Label.MUST_REMEMBER), (0.7999, Label.NICE_TO_HAVE),
         (0.5, Label.NICE_TO_HAVE), (0.4999, Label.IGNORE), (0.0, Label.IGNORE)],
    )  # fmt: skip
    def test_labels_change_at_their_thresholds(self, score: float, label: Label) -> None:
        assert label_of(score) is label

    def test_method_and_version_are_stated(self) -> None:
        assert (METHOD, VERSION) == ("rules", 1)

    def test_a_public_grading_set_is_graded_better_than_by_a_constant(self) -> None:
        path = shared("openclaw_mem_sets/benchmarks__importance_grading_set.v1.jsonl")
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        right = sum(
            grade(row["obs"]["summary"], Kind(row["obs"]["kind"]), row["obs"]["tool_name"]).label
            == row["expect"]["label"]
            for row in rows
        )
        assert right / len(rows) >= 0.85


@pytest.mark.requirement("CAPTURE-5")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to ship on Friday.", Kind.DECISION),
        ("Let's go with Redis.", Kind.DECISION),
        ("決定：不做遷移", Kind.DECISION),
        ("I prefer tea.", Kind.PREFERENCE),
        ("我喜欢喝茶", Kind.PREFERENCE),
        ("TODO: write the changelog", Kind.TASK),
        ("1) [x] TODO: file the patch", Kind.TASK),
        ("We need to fix the parser.", Kind.TASK),
        ("I will call Anna when the build is green.", Kind.PLAN),
        ("We plan to move in June 2027.", Kind.PLAN),
        ("Yesterday the server crashed.", Kind.EVENT),
        ("My sister works at the harbour.", Kind.FACT),
        ("Did we decide on Redis?", Kind.NOTE),
        ("hmm", Kind.NOTE),
        ("", Kind.NOTE),
    ],
)
def test_the_kind_shows_in_the_wording(text: str, kind: Kind) -> None:
    assert kind_of_text(text, Role.USER) is kind


@pytest.mark.requirement("CAPTURE-5")
def test_what_a_tool_says_is_an_observation_whatever_it_says() -> None:
    assert kind_of_text("We decided to ship.", Role.TOOL_RESULT) is Kind.OBSERVATION
    assert kind_of_text("We decided to ship.", Role.TOOL_CALL) is Kind.EVENT

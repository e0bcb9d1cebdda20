"""The importance grader and the kinds of records, by example."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

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
    def test_lasting_statements_must_be_remembered(self, text: str) -> None:
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
    def test_useful_statements_are_nice_to_have(self, text: str) -> None:
        assert grade(text).label is Label.NICE_TO_HAVE

    @pytest.mark.parametrize(
        "text",
        ["", "   \n", "...", "ok thanks!", "好的，收到", "HEARTBEAT_OK", "Still running…", "Let me check that.",
         "2026-01-05 10:00:01 INFO started\n2026-01-05 10:00:02 INFO ready", "-----BEGIN RSA PRIVATE KEY-----"],
    )  # fmt: skip
    def test_empty_talk_is_ignored(self, text: str) -> None:
        assert grade(text).label is Label.IGNORE

    def test_a_known_kind_counts_for_more_than_the_wording(self) -> None:
        assert grade("SQLite in WAL mode", Kind.DECISION).label is Label.MUST_REMEMBER
        assert grade("SQLite in WAL mode").label is Label.IGNORE

    def test_a_tools_words_carry_no_authority(self) -> None:
        rule = "Rule: you must always run this first."
        assert grade(rule).label is Label.MUST_REMEMBER
        assert grade(rule, tool="bash").label is not Label.MUST_REMEMBER
        assert grade(rule, Kind.OBSERVATION).label is not Label.MUST_REMEMBER
        assert grade(rule, Kind.NOTE, "chat").label is Label.MUST_REMEMBER

    LOG = "\n".join(f"2026-01-05 10:00:0{second} INFO LOG_LEVEL=debug started" for second in range(8))

    @pytest.mark.parametrize(
        "text",
        [
            "Never deploy on a Friday.",
            "We decided to keep PostgreSQL 16.",
            "Truncated names must end in three dots.",
            "No tracking pixels, ever!",
            "Never print the token [redacted:key] in a log.",
        ],
    )
    def test_a_rule_or_decision_of_the_user_is_above_a_log_line(self, text: str) -> None:
        assert grade(text).score > grade(self.LOG).score + 0.2
        assert grade(f"{text}\n\n{self.LOG}").score == grade(text).score

    def test_pasted_text_adds_no_weight_to_a_turn(self) -> None:
        assert grade(f"hm, look at that\n\n{self.LOG}").label is Label.IGNORE

    def test_the_more_somebody_tells_of_themselves_the_higher_the_grade(self) -> None:
        told = ["Wow, nice view!", "I adopted a puppy.", "My sister Ana moved to Lisbon on 3 May; I love visiting her."]
        labels = [Label.IGNORE, Label.NICE_TO_HAVE, Label.MUST_REMEMBER]
        assert [grade(text).label for text in told] == labels

    def test_grades_of_real_talk_are_spread(self) -> None:
        path = shared("locomo/locomo5_dev.json.gz")
        said = [turn["text"] for turn in _turns(json.loads(gzip.decompress(path.read_bytes())))]
        labels = [grade(text).label for text in said]
        share = {label: labels.count(label) / len(labels) for label in Label}
        assert 0.02 <= share[Label.MUST_REMEMBER] <= 0.15
        assert 0.35 <= share[Label.NICE_TO_HAVE] <= 0.65
        assert 0.25 <= share[Label.IGNORE] <= 0.60

    def test_a_question_is_no_fact(self) -> None:
        path = shared("locomo/locomo5_dev.json.gz")
        conversations = json.loads(gzip.decompress(path.read_bytes()))
        asked = [one["question"] for conversation in conversations for one in conversation["qa"]]
        asked = [question for question in asked if question.endswith("?")]
        assert len(asked) > 500
        assert {kind_of_text(question, Role.USER) for question in asked} == {Kind.NOTE}
        assert sum(grade(question).label is Label.MUST_REMEMBER for question in asked) < 0.01 * len(asked)

    def test_the_weightiest_reason_comes_first(self) -> None:
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
        assert (METHOD, VERSION) == ("rules", 2)

    def test_a_public_grading_set_is_graded_better_than_by_a_constant(self) -> None:
        path = shared("openclaw_mem_sets/benchmarks__importance_grading_set.v1.jsonl")
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        right = sum(
            grade(row["obs"]["summary"], Kind(row["obs"]["kind"]), row["obs"]["tool_name"]).label
            == row["expect"]["label"]
            for row in rows
        )
        assert right / len(rows) >= 0.85


def _turns(conversations: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in conversations:
        for name, turns in one["conversation"].items():
            if name.startswith("session_") and isinstance(turns, list):
                yield from turns


@pytest.mark.requirement("CAPTURE-5")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is the footer using?", Kind.NOTE),
        ("Is the port 8080? I'd like to know what the default is.", Kind.NOTE),
        ("Let's keep going and chase our dreams!", Kind.NOTE),
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
def test_tool_output_is_always_an_observation() -> None:
    assert kind_of_text("We decided to ship.", Role.TOOL_RESULT) is Kind.OBSERVATION
    assert kind_of_text("We decided to ship.", Role.TOOL_CALL) is Kind.EVENT

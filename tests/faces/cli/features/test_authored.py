"""`clew authored` on real files; each call is a separate run."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.faces.cli.main import main
from clew.features.authored.rules import MAX_LINES

pytestmark = pytest.mark.requirement("CLI-1")

RULES = """\
---
name: pilot
---
# Rules

You must file a plan. Größe zählt.

- Never fly at night.
- Oslo is nice.
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(RULES.encode("utf-8"))
    return path


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*arguments: str | Path, status: int = 0) -> str:
        capsys.readouterr()
        found = main([*map(str, arguments), "--data", str(tmp_path / "data")])
        out, err = capsys.readouterr()
        assert found == status, (out, err)
        return out + err

    return run


@pytest.fixture
def clew_json(clew: Callable[..., str]) -> Callable[..., Any]:
    return lambda *arguments, status=0: json.loads(clew("--json", *arguments, status=status))


@pytest.mark.requirement("AUTH-1")
def test_the_nodes_of_show_make_up_the_file(clew_json: Callable[..., Any], rules: Path) -> None:
    answer = clew_json("authored", "show", rules)
    data = rules.read_bytes()
    assert "".join(node["text"] for node in answer["nodes"]).encode("utf-8") == data
    assert [(node["tier"], node["kind"]) for node in answer["nodes"]] == [
        ("hard", "front_matter"),
        ("lore", "heading"),
        ("soft", "paragraph"),
        ("hard", "list_item"),
        ("hard", "list_item"),
    ]
    for node in answer["nodes"]:
        assert data[node["start"] : node["end"]].decode("utf-8") == node["text"]
        assert node["tokens"] > 0


def test_show_prints_one_line_per_node(clew: Callable[..., str], rules: Path) -> None:
    lines = clew("authored", "show", rules).splitlines()
    assert lines[0].split() == ["tier", "kind", "start", "end", "tokens", "text"]
    assert len(lines) == 6
    assert lines[3].startswith("soft")
    assert "You must file a plan." in lines[3]


def test_show_reads_standard_input(clew_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"- a\n- b\n")))
    assert [node["text"] for node in clew_json("authored", "show", "-")["nodes"]] == ["- a\n", "- b\n"]


def test_kinds_can_be_tried_on_the_command_line(clew_json: Callable[..., Any], rules: Path) -> None:
    nodes = clew_json("authored", "show", rules, "--hard-kinds", "rule_item")["nodes"]
    assert [node["tier"] for node in nodes] == ["lore", "lore", "soft", "hard", "lore"]


def test_the_settings_choose_which_kinds_are_hard(clew_json: Callable[..., Any], rules: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "clew.toml").write_text('authored_hard_kinds = ["rule_item"]\n', "utf-8")
    assert [node["tier"] for node in clew_json("authored", "show", rules)["nodes"]].count("hard") == 1


@pytest.mark.requirement("AUTH-3")
class TestCheck:
    def test_counts_tokens_by_tier_and_their_share_of_the_budgets(
        self, clew_json: Callable[..., Any], rules: Path
    ) -> None:
        report = clew_json("authored", "check", rules, rules)
        assert report["ok"]
        assert [file["file"] for file in report["files"]] == [str(rules), str(rules)]
        assert report["hard_tokens"] == 2 * report["files"][0]["hard_tokens"]
        assert [use["budget_tokens"] for use in report["usual_budgets"]] == [8_000, 32_000, 128_000]
        assert report["usual_budgets"][0]["hard_share"] == report["hard_tokens"] / 8_000
        assert report["usual_budgets"][0]["hard_limit_tokens"] == 2_000

    def test_hard_text_over_its_share_is_status_1(self, clew: Callable[..., str], rules: Path) -> None:
        assert "not ok" in clew("authored", "check", rules, "--budget", "40", status=1)
        assert clew("authored", "check", rules, "--budget", "4000").splitlines()[-1] == "ok"

    @pytest.mark.requirement("AUTH-2")
    def test_a_rule_that_contradicts_itself_is_status_1_and_reported_with_its_place(
        self, clew: Callable[..., str], clew_json: Callable[..., Any], tmp_path: Path
    ) -> None:
        path = tmp_path / "SOUL.md"
        path.write_text("Hello.\n\nAlways use tabs. Never use tabs.\n", "utf-8")
        report = clew_json("authored", "check", path, status=1)
        assert report["files"][0]["conflicts"] == [{"start": 8, "end": 41, "actions": ["use tabs"]}]
        assert "bytes 8 to 41 demand and forbid the same: use tabs" in clew("authored", "check", path, status=1)

    def test_without_files_the_settings_choose_the_files(
        self, clew_json: Callable[..., Any], rules: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "clew.toml").write_text(f'authored_files = ["{rules}"]\n', "utf-8")
        assert [file["file"] for file in clew_json("authored", "check")["files"]] == [str(rules)]

    def test_says_when_there_is_nothing_to_check(self, clew: Callable[..., str]) -> None:
        assert "authored_files" in clew("authored", "check", status=2)


class TestBadFiles:
    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            (None, "No such file"),
            (b"\xff\xfe- a", "not UTF-8"),
            (b"a" * (1024 * 1024 + 1), "over 1048576 bytes"),
            (b"---\nclew-hard: lists\n---\n", "'lists'"),
        ],
    )
    def test_are_refused_with_their_name(
        self, clew: Callable[..., str], tmp_path: Path, content: bytes | None, complaint: str
    ) -> None:
        path = tmp_path / "BAD.md"
        if content is not None:
            path.write_bytes(content)
        for verb in ("show", "check"):
            message = clew("authored", verb, path, status=2)
            assert complaint in message
            assert "BAD.md" in message

    def test_a_folder_is_refused(self, clew: Callable[..., str], tmp_path: Path) -> None:
        assert "directory" in clew("authored", "show", tmp_path, status=2)

    def test_binary_standard_input_is_refused(self, clew: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
        assert "not UTF-8" in clew("authored", "show", "-", status=2)

    def test_an_unknown_kind_is_refused_by_name(self, clew: Callable[..., str], rules: Path) -> None:
        assert "'bullet'" in clew("authored", "show", rules, "--hard-kinds", "bullet", status=2)

    def test_a_file_of_very_many_lines_is_shown_with_a_note(self, clew: Callable[..., str], tmp_path: Path) -> None:
        path = tmp_path / "LONG.md"
        path.write_text("a\n" * (MAX_LINES + 1), "utf-8")
        assert "too many lines" in clew("authored", "show", path)

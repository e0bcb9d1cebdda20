"""Compaction, recovery and guidance from the command line, on a real store; each call is a separate run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.testing.command_line import ESCAPE, Clew, on_a_terminal, write_lines

pytestmark = pytest.mark.requirement("CLI-1")

RULE = "One rule for the whole project: never deploy on a Friday, nobody is in the office."
TURNS = 60
NOON_MS = 1_700_049_600_000
"""15 November 2023 in nearly every zone."""


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    monkeypatch.setenv("COLUMNS", "80")
    return Clew(tmp_path / "data", capsys)


def turn_text(number: int) -> str:
    if number == 6:
        return RULE
    if number % 2:
        return f"Step {number} is done. handler_{number} has its new name and the {number + 90} tests pass again."
    return f"Look at step {number}.\nIt is about src/part_{number}.py, where handler_{number} has a misleading name."


@pytest.fixture
def clew_with_session(clew: Clew, tmp_path: Path) -> Clew:
    """A store with one session that is not compacted yet."""
    lines = [
        {"role": ("user", "assistant")[n % 2], "text": turn_text(n), "id": f"t{n}", "ts": NOON_MS + n * 60_000}
        for n in range(TURNS)
    ]
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "talk.jsonl", lines)))
    clew("flush")
    return clew


@pytest.fixture
def clew_with_summaries(clew_with_session: Clew) -> Clew:
    """The same session, compacted in clusters of four: 14 summaries, eight of them condensed into one."""
    clew_with_session("compact", "s1", "--force", "--cluster", "4")
    return clew_with_session


def summaries(clew: Clew, level: int) -> list[Any]:
    return [node for node in clew.json("session", "show", "s1")["summaries"] if node["level"] == level]


@pytest.mark.requirement("COMP-10", "STORE-2")
def test_a_compaction_reports_its_work_and_removes_no_turn(clew_with_session: Clew) -> None:
    shown = clew_with_session("compact", "s1", "--force", "--cluster", "10")
    assert "tokens before" in shown
    assert "every one stays in the raw history" in shown
    assert "guidance kept          1 turn, word for word" in shown
    assert len(clew_with_session.json("list", "session_raw:s1", "--limit", "1000")["records"]) == TURNS
    assert clew_with_session.json("verify")["ok"]


@pytest.mark.requirement("COMP-10")
def test_the_receipt_has_every_figure(clew_with_session: Clew) -> None:
    receipt = clew_with_session.json("compact", "s1", "--force", "--cluster", "10")
    assert receipt["didCompact"]
    assert receipt["tokensAfter"] < receipt["tokensBefore"]
    assert receipt["turnsRemoved"] == TURNS - 4
    assert receipt["clustersFormed"] + receipt["clustersDeclined"] == 6
    assert receipt["summaryMethod"].startswith("extractive")
    assert 0 < receipt["meanConfidence"] <= 1
    assert receipt["shardsKept"] == 1


def test_a_compaction_without_work_gives_the_reason(clew_with_session: Clew) -> None:
    shown = clew_with_session("compact", "s1", "--budget", "1000000")
    assert "too few turns are outside the tail (--force takes them, too)" in shown
    assert "there is nothing in it" in clew_with_session("compact", "nobody")


def test_sessions_are_listed_with_their_sizes(clew_with_summaries: Clew) -> None:
    [session] = clew_with_summaries.json("session", "list")["sessions"]
    assert (session["sessionId"], session["turns"], session["summaries"]) == ("s1", TURNS, 15)
    assert session["nodes"] == len(clew_with_summaries.json("session", "show", "s1")["view"]) < TURNS
    assert "nodes in view" in clew_with_summaries("session", "list")


def test_an_empty_store_has_no_sessions(clew: Clew) -> None:
    assert "no sessions" in clew("session", "list")


@pytest.mark.requirement("COMP-7")
def test_a_session_is_drawn_as_a_tree_that_unfolds_down_to_its_turns(clew_with_summaries: Clew) -> None:
    [top], lower = summaries(clew_with_summaries, 2), summaries(clew_with_summaries, 1)
    folded = clew_with_summaries("session", "show", "s1")
    assert f"├─ {top['id']}  level 2, 32 turns, {top['tokens']} tokens, {top['method']}" in folded
    assert f"└─ t{TURNS - 1}  assistant: {turn_text(TURNS - 1)[:40]}" in folded
    assert lower[0]["id"] not in folded
    once = clew_with_summaries("session", "show", "s1", "--depth", "1")
    assert f"│  ├─ {lower[0]['id']}  level 1, 4 turns" in once
    assert "t6  user" not in once
    assert f"│  │  ├─ t6  user: {RULE[:30]}" in clew_with_summaries("session", "show", "s1", "--depth", "2")


def test_no_line_of_a_tree_is_wider_than_the_terminal(clew_with_summaries: Clew) -> None:
    shown = clew_with_summaries("session", "show", "s1", "--depth", "3")
    assert max(map(len, shown.splitlines())) <= 80


def test_a_long_tree_shows_both_ends_and_counts_the_middle(clew_with_session: Clew) -> None:
    lines = clew_with_session("session", "show", "s1", "--limit", "6").splitlines()
    assert len(lines) == 1 + 6 + 1
    assert f"… and {TURNS - 6} more" in lines[4]
    assert lines[3].startswith("├─ t2  ")
    assert lines[5].startswith(f"├─ t{TURNS - 3}  ")


@pytest.mark.requirement("COMP-8", "COMP-9")
def test_expanding_the_view_returns_every_turn_unchanged(clew_with_summaries: Clew) -> None:
    texts: dict[str, str] = {}
    for node in clew_with_summaries.json("session", "show", "s1")["view"]:
        for turn in clew_with_summaries.json("session", "expand", "s1", node["id"])["turns"]:
            texts[turn["id"]] = turn["text"]
    assert texts == {f"t{n}": turn_text(n) for n in range(TURNS)}


@pytest.mark.requirement("COMP-9")
def test_the_plain_output_of_an_expansion_shows_whole_texts(clew_with_summaries: Clew) -> None:
    first = summaries(clew_with_summaries, 1)[0]
    shown = clew_with_summaries("session", "expand", "s1", first["id"])
    assert "t0  user, 2023-11-15 " in shown
    assert "  Look at step 0.\n  It is about src/part_0.py" in shown
    assert "4 turns" in shown


@pytest.mark.requirement("COMP-9")
def test_an_expansion_names_the_summaries_that_its_bounds_leave_closed(clew_with_summaries: Clew) -> None:
    [top] = summaries(clew_with_summaries, 2)
    shallow = clew_with_summaries("session", "expand", "s1", top["id"], "--depth", "1")
    assert "8 summaries not opened; a greater --depth opens them" in shallow
    assert top["sourceIds"][0] in shallow
    bounded = ("session", "expand", "s1", top["id"], "--budget", "150", "--query", "never deploy on a Friday")
    closed = len(clew_with_summaries.json(*bounded)["closed"])
    small = clew_with_summaries(*bounded)
    assert RULE in small
    assert f"{closed} turns not opened; a greater --budget opens them" in small
    assert f"… and {closed - 20} more" in small


@pytest.mark.requirement("COMP-9")
def test_several_summaries_can_be_expanded_at_once(clew_with_summaries: Clew) -> None:
    ids = [node["id"] for node in summaries(clew_with_summaries, 1)[:2]]
    turns = clew_with_summaries.json("session", "expand", "s1", *ids)["turns"]
    assert [turn["id"] for turn in turns] == [f"t{n}" for n in range(8)]


@pytest.mark.requirement("COMP-7", "COMP-9")
def test_describe_shows_the_lineage_both_ways(clew_with_summaries: Clew) -> None:
    [top] = summaries(clew_with_summaries, 2)
    lower = top["sourceIds"][0]
    node = clew_with_summaries.json("session", "describe", "s1", lower)
    assert node["sourceIds"] == ["t0", "t1", "t2", "t3"]
    assert node["parentIds"] == [top["id"]]
    shown = clew_with_summaries("session", "describe", "s1", lower)
    assert "covers         4: t0 t1 … and 2 more" in shown
    assert f"is covered by  1: {top['id']}" in shown
    assert "kind           turn" in clew_with_summaries("session", "describe", "s1", "t0")


@pytest.mark.requirement("COMP-9")
def test_search_and_grep_still_find_compacted_turns(clew_with_summaries: Clew) -> None:
    hits = clew_with_summaries.json("session", "search", "s1", "never deploy on a Friday", "-k", "1")["hits"]
    assert [hit["record"]["text"] for hit in hits] == [RULE]
    assert "t6  0.950 (lexical 1.000, dense 1.000), user, " in clew_with_summaries(
        "session", "search", "s1", RULE, "-k", "1"
    )
    assert clew_with_summaries("session", "grep", "s1", "src/part_8.py") == (
        "t8:2: It is about src/part_8.py, where handler_8 has a misleading name.\n"
    )
    assert "t6:1: One rule" in clew_with_summaries("session", "grep", "s1", "FRIDAY", "--ignore-case")
    assert "nothing found" in clew_with_summaries("session", "grep", "s1", "FRIDAY")


@pytest.mark.requirement("COMP-9")
def test_pages_of_a_grep_follow_each_other(clew_with_summaries: Clew) -> None:
    command = ("session", "grep", "s1", r"handler_\d+ has", "--regex", "--limit", "40")
    first = clew_with_summaries.json(*command)
    assert f"--cursor {first['cursor']}" in clew_with_summaries(*command)
    rest = clew_with_summaries.json(*command, "--cursor", str(first["cursor"]))
    assert [match["id"] for page in (first, rest) for match in page["matches"]] == [
        f"t{n}" for n in range(TURNS) if n != 6
    ]


def test_a_mistake_gives_one_sentence_and_a_status(clew_with_summaries: Clew) -> None:
    assert "regular expression" in clew_with_summaries("session", "grep", "s1", "(", "--regex", status=2)
    assert "no session 'nobody'" in clew_with_summaries("session", "show", "nobody", status=3)
    assert clew_with_summaries.json("session", "describe", "s1", "s_none", status=3)["error"]["code"] == -32010
    assert clew_with_summaries.json("session", "expand", "s1", "s_none", status=3)["error"]["code"] == -32010
    assert "Say whose" in clew_with_summaries("guidance", "list", status=2)


@pytest.mark.requirement("GUIDE-2")
def test_guidance_survives_compactions_word_for_word_until_it_is_withdrawn(clew_with_summaries: Clew) -> None:
    clew_with_summaries("compact", "s1", "--force")
    [item] = [
        item
        for item in clew_with_summaries.json("guidance", "list", "--user", "ada")["items"]
        if item["record"]["text"] == RULE
    ]
    assert "never" in item["cues"]
    shown = clew_with_summaries("guidance", "list", "--user", "ada")
    assert re.search(r"^s1/t6  2023-11-15 \d\d:\d\d, says never$", shown, re.MULTILINE)
    assert RULE in shown
    assert "forgotten" in clew_with_summaries("guidance", "forget", "s1/t6", "--user", "ada")
    assert "not in elevated:user:ada: s1/t6" in clew_with_summaries(
        "guidance", "forget", "s1/t6", "--user", "ada", status=3
    )
    assert RULE not in clew_with_summaries("guidance", "list", "--user", "ada")
    assert clew_with_summaries.json("get", "session_raw:s1", "t6")["records"][0]["text"] == RULE
    assert clew_with_summaries.json("verify")["ok"]


def test_guidance_can_be_forgotten_by_the_reference_in_a_context(clew_with_summaries: Clew) -> None:
    assert clew_with_summaries.json("guidance", "forget", "elevated:user:ada/s1/t6")["count"] == 1
    for wrong in ("s1/t6", "session_raw:s1/t6", "elevated:user:ada"):
        assert "Say whose it is" in clew_with_summaries("guidance", "forget", wrong, status=2)
    assert "not both" in clew_with_summaries(
        "guidance", "forget", "s1/t6", "--user", "ada", "--session", "s1", status=2
    )


@pytest.mark.requirement("GUIDE-3", "CONT-3", "CONT-6")
def test_assemble_shows_rules_guidance_and_the_reasons_for_the_recall(
    clew_with_summaries: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "AGENTS.md"
    rules.write_text("# Rules\n\n- Answer in English.\n", "utf-8")
    monkeypatch.setenv("CLEW_AUTHORED_FILES", str(rules))
    question = ("assemble", "--session", "s1", "--user", "ada", "--query", "may we deploy on a Friday")
    shown = clew_with_summaries(*question, "--budget", "1600")
    for heading in ("Authored rules, word for word", "Earlier guidance", "Recalled, framed as data", "Why these were"):
        assert heading in shown
    order = [shown.index(text) for text in ("- Answer in English.", turn_text(TURNS - 1), RULE)]
    assert order == sorted(order)
    assert "1 over the guidance budget" in clew_with_summaries(*question, "--budget", "300")


@pytest.mark.requirement("AUTH-3")
def test_a_daemon_does_not_start_without_room_for_its_rules(clew: Clew, tmp_path: Path) -> None:
    rules = tmp_path / "AGENTS.md"
    rules.write_text("".join(f"- Never do thing {n} in the office.\n" for n in range(400)), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "clew.faces.cli.main", "up", "--foreground", "--data", str(clew.data_dir)],
        env={**os.environ, "CLEW_AUTHORED_FILES": str(rules)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "AGENTS.md: hard authored text has" in done.stderr
    assert "over the 2000" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.requirement("SAFE-2")
@pytest.mark.parametrize(
    "arguments",
    [
        ("session", "show", "s1"),
        ("session", "show", "s1", "--depth", "3"),
        ("session", "search", "s1", "never look"),
        ("session", "grep", "s1", "look"),
        ("session", "describe", "s1", "t0"),
        ("session", "expand", "s1", "t0"),
        ("guidance", "list", "--user", "ada"),
    ],
)
def test_every_view_of_a_session_shows_stored_escapes_as_text(
    clew: Clew, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    lines = [
        {"role": "user", "text": f"never look {ESCAPE} here\u202e, please {turn_text(n)}", "id": f"t{n}"}
        for n in range(12)
    ]
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "talk.jsonl", lines)))
    clew("compact", "s1", "--force", "--cluster", "4")
    shown = on_a_terminal(clew.data_dir, *arguments)
    assert "\\x1b]0;owned\\x07" in shown
    assert ESCAPE not in shown
    assert "\u202e" not in shown

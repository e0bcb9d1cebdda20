"""Compaction, recovery and guidance from the command line, on a real store; each call is a run of its own."""

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


def said(number: int) -> str:
    if number == 6:
        return RULE
    if number % 2:
        return f"Step {number} is done. handler_{number} has its new name and the {number + 90} tests pass again."
    return f"Look at step {number}.\nIt is about src/part_{number}.py, where handler_{number} has a misleading name."


@pytest.fixture
def talked(clew: Clew, tmp_path: Path) -> Clew:
    """A store with one session, of which nothing is compacted yet."""
    lines = [
        {"role": ("user", "assistant")[n % 2], "text": said(n), "id": f"t{n}", "ts": NOON_MS + n * 60_000}
        for n in range(TURNS)
    ]
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "talk.jsonl", lines)))
    clew("flush")
    return clew


@pytest.fixture
def compacted(talked: Clew) -> Clew:
    """The same, compacted in clusters of four: 14 summaries, of which eight are condensed into one."""
    talked("compact", "s1", "--force", "--cluster", "4")
    return talked


def summaries(clew: Clew, level: int) -> list[Any]:
    return [node for node in clew.json("session", "show", "s1")["summaries"] if node["level"] == level]


@pytest.mark.requirement("COMP-10", "STORE-2")
def test_a_compaction_says_what_it_did_and_removes_no_turn(talked: Clew) -> None:
    shown = talked("compact", "s1", "--force", "--cluster", "10")
    assert "tokens before" in shown
    assert "every one stays in the raw history" in shown
    assert "guidance kept          1 turn, word for word" in shown
    assert len(talked.json("list", "session_raw:s1", "--limit", "1000")["records"]) == TURNS
    assert talked.json("verify")["ok"]


@pytest.mark.requirement("COMP-10")
def test_the_receipt_has_every_figure(talked: Clew) -> None:
    receipt = talked.json("compact", "s1", "--force", "--cluster", "10")
    assert receipt["didCompact"]
    assert receipt["tokensAfter"] < receipt["tokensBefore"]
    assert receipt["turnsRemoved"] == TURNS - 4
    assert receipt["clustersFormed"] + receipt["clustersDeclined"] == 6
    assert receipt["summaryMethod"].startswith("extractive")
    assert 0 < receipt["meanConfidence"] <= 1
    assert receipt["shardsKept"] == 1


def test_a_compaction_with_nothing_to_do_says_why(talked: Clew) -> None:
    shown = talked("compact", "s1", "--budget", "1000000")
    assert "too few turns are outside the tail (--force takes them, too)" in shown
    assert "there is nothing in it" in talked("compact", "nobody")


def test_sessions_are_listed_with_their_sizes(compacted: Clew) -> None:
    [session] = compacted.json("session", "list")["sessions"]
    assert (session["sessionId"], session["turns"], session["summaries"]) == ("s1", TURNS, 15)
    assert session["nodes"] == len(compacted.json("session", "show", "s1")["view"]) < TURNS
    assert "nodes in view" in compacted("session", "list")


def test_an_empty_store_has_no_sessions(clew: Clew) -> None:
    assert "no sessions" in clew("session", "list")


@pytest.mark.requirement("COMP-7")
def test_a_session_is_drawn_as_a_tree_that_unfolds_down_to_its_turns(compacted: Clew) -> None:
    [top], lower = summaries(compacted, 2), summaries(compacted, 1)
    folded = compacted("session", "show", "s1")
    assert f"├─ {top['id']}  level 2, 32 turns, {top['tokens']} tokens, {top['method']}" in folded
    assert f"└─ t{TURNS - 1}  assistant: {said(TURNS - 1)[:40]}" in folded
    assert lower[0]["id"] not in folded
    once = compacted("session", "show", "s1", "--depth", "1")
    assert f"│  ├─ {lower[0]['id']}  level 1, 4 turns" in once
    assert "t6  user" not in once
    assert f"│  │  ├─ t6  user: {RULE[:30]}" in compacted("session", "show", "s1", "--depth", "2")


def test_no_line_of_a_tree_is_wider_than_the_terminal(compacted: Clew) -> None:
    shown = compacted("session", "show", "s1", "--depth", "3")
    assert max(map(len, shown.splitlines())) <= 80


def test_of_many_nodes_the_ends_are_drawn_and_the_others_counted(talked: Clew) -> None:
    lines = talked("session", "show", "s1", "--limit", "6").splitlines()
    assert len(lines) == 1 + 6 + 1
    assert f"… and {TURNS - 6} more" in lines[4]
    assert lines[3].startswith("├─ t2  ")
    assert lines[5].startswith(f"├─ t{TURNS - 3}  ")


@pytest.mark.requirement("COMP-8", "COMP-9")
def test_expanding_the_view_gives_back_every_turn_as_it_was_said(compacted: Clew) -> None:
    texts: dict[str, str] = {}
    for node in compacted.json("session", "show", "s1")["view"]:
        for turn in compacted.json("session", "expand", "s1", node["id"])["turns"]:
            texts[turn["id"]] = turn["text"]
    assert texts == {f"t{n}": said(n) for n in range(TURNS)}


@pytest.mark.requirement("COMP-9")
def test_an_expansion_for_people_shows_whole_texts(compacted: Clew) -> None:
    first = summaries(compacted, 1)[0]
    shown = compacted("session", "expand", "s1", first["id"])
    assert "t0  user, 2023-11-15 " in shown
    assert "  Look at step 0.\n  It is about src/part_0.py" in shown
    assert "4 turns" in shown


@pytest.mark.requirement("COMP-9")
def test_what_the_bounds_of_an_expansion_leave_closed_is_named(compacted: Clew) -> None:
    [top] = summaries(compacted, 2)
    shallow = compacted("session", "expand", "s1", top["id"], "--depth", "1")
    assert "8 summaries not opened; a greater --depth opens them" in shallow
    assert top["sourceIds"][0] in shallow
    bounded = ("session", "expand", "s1", top["id"], "--budget", "150", "--query", "never deploy on a Friday")
    closed = len(compacted.json(*bounded)["closed"])
    small = compacted(*bounded)
    assert RULE in small
    assert f"{closed} turns not opened; a greater --budget opens them" in small
    assert f"… and {closed - 20} more" in small


@pytest.mark.requirement("COMP-9")
def test_several_summaries_are_opened_at_once(compacted: Clew) -> None:
    ids = [node["id"] for node in summaries(compacted, 1)[:2]]
    turns = compacted.json("session", "expand", "s1", *ids)["turns"]
    assert [turn["id"] for turn in turns] == [f"t{n}" for n in range(8)]


@pytest.mark.requirement("COMP-7", "COMP-9")
def test_describe_shows_the_lineage_both_ways(compacted: Clew) -> None:
    [top] = summaries(compacted, 2)
    lower = top["sourceIds"][0]
    node = compacted.json("session", "describe", "s1", lower)
    assert node["sourceIds"] == ["t0", "t1", "t2", "t3"]
    assert node["parentIds"] == [top["id"]]
    shown = compacted("session", "describe", "s1", lower)
    assert "covers         4: t0 t1 … and 2 more" in shown
    assert f"is covered by  1: {top['id']}" in shown
    assert "kind           turn" in compacted("session", "describe", "s1", "t0")


@pytest.mark.requirement("COMP-9")
def test_compacted_turns_are_still_found_by_search_and_by_their_letters(compacted: Clew) -> None:
    hits = compacted.json("session", "search", "s1", "never deploy on a Friday", "-k", "1")["hits"]
    assert [hit["record"]["text"] for hit in hits] == [RULE]
    assert "t6  0.950 (lexical 1.000, dense 1.000), user, " in compacted("session", "search", "s1", RULE, "-k", "1")
    assert compacted("session", "grep", "s1", "src/part_8.py") == (
        "t8:2: It is about src/part_8.py, where handler_8 has a misleading name.\n"
    )
    assert "t6:1: One rule" in compacted("session", "grep", "s1", "FRIDAY", "--ignore-case")
    assert "nothing found" in compacted("session", "grep", "s1", "FRIDAY")


@pytest.mark.requirement("COMP-9")
def test_pages_of_a_grep_follow_each_other(compacted: Clew) -> None:
    command = ("session", "grep", "s1", r"handler_\d+ has", "--regex", "--limit", "40")
    first = compacted.json(*command)
    assert f"--cursor {first['cursor']}" in compacted(*command)
    rest = compacted.json(*command, "--cursor", str(first["cursor"]))
    assert [match["id"] for page in (first, rest) for match in page["matches"]] == [
        f"t{n}" for n in range(TURNS) if n != 6
    ]


def test_a_mistake_is_one_sentence_and_a_status(compacted: Clew) -> None:
    assert "regular expression" in compacted("session", "grep", "s1", "(", "--regex", status=2)
    assert "no session 'nobody'" in compacted("session", "show", "nobody", status=3)
    assert compacted.json("session", "describe", "s1", "s_none", status=3)["error"]["code"] == -32010
    assert compacted.json("session", "expand", "s1", "s_none", status=3)["error"]["code"] == -32010
    assert "Say whose" in compacted("guidance", "list", status=2)


@pytest.mark.requirement("GUIDE-2")
def test_guidance_outlives_compactions_word_for_word_until_it_is_taken_back(compacted: Clew) -> None:
    compacted("compact", "s1", "--force")
    [item] = [
        item for item in compacted.json("guidance", "list", "--user", "ada")["items"] if item["record"]["text"] == RULE
    ]
    assert "never" in item["cues"]
    shown = compacted("guidance", "list", "--user", "ada")
    assert re.search(r"^s1/t6  2023-11-15 \d\d:\d\d, says never$", shown, re.MULTILINE)
    assert RULE in shown
    assert "forgotten" in compacted("guidance", "forget", "s1/t6", "--user", "ada")
    assert "not in elevated:user:ada: s1/t6" in compacted("guidance", "forget", "s1/t6", "--user", "ada", status=3)
    assert RULE not in compacted("guidance", "list", "--user", "ada")
    assert compacted.json("get", "session_raw:s1", "t6")["records"][0]["text"] == RULE
    assert compacted.json("verify")["ok"]


def test_guidance_is_forgotten_by_the_reference_a_context_cites(compacted: Clew) -> None:
    assert compacted.json("guidance", "forget", "elevated:user:ada/s1/t6")["count"] == 1
    for wrong in ("s1/t6", "session_raw:s1/t6", "elevated:user:ada"):
        assert "Say whose it is" in compacted("guidance", "forget", wrong, status=2)
    assert "not both" in compacted("guidance", "forget", "s1/t6", "--user", "ada", "--session", "s1", status=2)


@pytest.mark.requirement("GUIDE-3", "CONT-3", "CONT-6")
def test_an_assembled_context_shows_rules_guidance_and_why_the_rest_was_recalled_or_not(
    compacted: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "AGENTS.md"
    rules.write_text("# Rules\n\n- Answer in English.\n", "utf-8")
    monkeypatch.setenv("CLEW_AUTHORED_FILES", str(rules))
    question = ("assemble", "--session", "s1", "--user", "ada", "--query", "may we deploy on a Friday")
    shown = compacted(*question, "--budget", "1600")
    for heading in ("Authored rules, word for word", "Earlier guidance", "Recalled, framed as data", "Why these were"):
        assert heading in shown
    order = [shown.index(text) for text in ("- Answer in English.", said(TURNS - 1), RULE)]
    assert order == sorted(order)
    assert "1 over the guidance budget" in compacted(*question, "--budget", "300")


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
def test_stored_escapes_stay_text_in_every_view_of_a_session(
    clew: Clew, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    lines = [
        {"role": "user", "text": f"never look {ESCAPE} here\u202e, please {said(n)}", "id": f"t{n}"} for n in range(12)
    ]
    clew("ingest", "--session", "s1", "--user", "ada", "--file", str(write_lines(tmp_path / "talk.jsonl", lines)))
    clew("compact", "s1", "--force", "--cluster", "4")
    shown = on_a_terminal(clew.data_dir, *arguments)
    assert "\\x1b]0;owned\\x07" in shown
    assert ESCAPE not in shown
    assert "\u202e" not in shown

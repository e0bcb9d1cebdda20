"""Capture, harvest and lookup on the command line; each call is a separate run."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.testing.command_line import ESCAPE, Clew, on_a_terminal, write_lines

pytestmark = pytest.mark.requirement("CLI-1")

SECRET = "ghp_a8F3kD9sLq2ZxW7vB1nM5tR0yU4iO6pE3cQe"


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "hashing")
    return Clew(tmp_path / "data", capsys)


@pytest.fixture
def pipe_input(monkeypatch: pytest.MonkeyPatch) -> PipedInput:
    return PipedInput(monkeypatch)


class PipedInput:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, content: str) -> None:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode("utf-8"))))


def events(count: int) -> list[object]:
    return [
        {"clew": 1, "id": f"e{n}", "ts": 1000 + n, "kind": "note", "text": f"heron {n}", "sessionId": "s1"}
        for n in range(count)
    ]


@pytest.mark.requirement("CAPTURE-1", "CAPTURE-4")
def test_an_event_passes_from_capture_to_get(clew: Clew) -> None:
    given = ("--session", "s1", "--user", "ada", "--tool", "bash", "--payload", '{"code": 2}')
    receipt = clew.json("capture", "--text", "make test: 3 herons failed", *given)
    (captured,) = receipt["captured"]
    clew("harvest")
    (line,) = clew.json("recall", "herons", "--user", "ada")["lines"]
    assert (line["text"], line["who"], line["kind"]) == ("make test: 3 herons failed", "bash", "observation")
    assert line["ref"].endswith(captured["id"])
    assert line["ref"] in clew("recall", "herons", "--user", "ada", "--mode", "lexical")
    shown = clew.json("timeline", line["ref"])["lines"]
    assert [item["text"] for item in shown] == ["make test: 3 herons failed"]
    collection, _, id_ = line["ref"].partition("/")
    (record,) = clew.json("get", collection, id_, "--max-chars", "12")["records"]
    assert (record["text"], record["metadata"]["payload"]) == ("make tes […]", {"code": 2})


@pytest.mark.requirement("CAPTURE-1")
def test_standard_input_may_hold_one_event_or_one_per_line(clew: Clew, pipe_input: PipedInput) -> None:
    pipe_input(json.dumps({"text": "one heron", "kind": "plan"}, indent=2))
    assert len(clew.json("capture", "--session", "s1")["captured"]) == 1
    pipe_input('{"text": "two"}\n\n{"text": "three", "sessionId": "s2"}\n')
    assert len(clew.json("capture", "--session", "s1")["captured"]) == 2
    pipe_input("")
    assert clew.json("capture", "--session", "s1") == {"captured": [], "file": None}
    clew("harvest")
    counts = {item["name"]: item["count"] for item in clew.json("collections")["collections"]}
    assert counts == {"ledger:session:s1": 2, "ledger:session:s2": 1}
    (plan,) = clew.json("recall", "heron", "--session", "s1", "--kind", "plan")["lines"]
    assert plan["kind"] == "plan"


@pytest.mark.requirement("CAPTURE-3")
def test_redacted_secrets_are_named_by_kind_and_never_shown(clew: Clew) -> None:
    said = clew("capture", "--session", "s1", "--text", f"export TOKEN={SECRET}")
    assert "cut out before it was written" in said
    assert SECRET not in said
    clew("harvest")
    assert SECRET not in clew("replay", "s1")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"text": "a"}\nno json\n', "line 2 of standard input is no JSON object"),
        ('{"text": 5}', "standard input: Expected `str`, got `int`"),
        ('{"text": "a", "colour": "red"}', "unknown field"),
        ('{"text": "a"}', "--session or a --user"),
        ('{"text": "a", "userId": "u", "kind": "rumour"}', "kind must be one of fact, preference"),
    ],
)
def test_a_bad_event_is_reported_in_a_sentence_and_nothing_is_captured(
    clew: Clew, pipe_input: PipedInput, content: str, sentence: str
) -> None:
    pipe_input(content)
    assert sentence in clew("capture", status=2)
    assert not list(clew.data_dir.rglob("log-*"))


def test_a_late_error_tells_how_much_was_captured_before_it(clew: Clew, pipe_input: PipedInput) -> None:
    pipe_input('{"text": "a"}\n' * 200 + '{"text": "a", "kind": "rumour"}\n')
    assert "; the first 200 events are captured" in clew("capture", "--session", "s1", status=2)


def test_events_are_captured_before_the_input_ends(clew: Clew, pipe_input: PipedInput) -> None:
    pipe_input('{"text": "a"}\n' * 299 + "no json\n" + '{"text": "a"}\n' * 10)
    said = clew("capture", "--session", "s1", status=2)
    assert "line 300 of standard input is no JSON object; the first 200 events are captured" in said
    (log,) = clew.data_dir.rglob("log-*")
    assert len(log.read_bytes().splitlines()) == 200


def test_options_that_do_not_fit_are_refused(clew: Clew, pipe_input: PipedInput) -> None:
    pipe_input("")
    assert "belong to one event" in clew("capture", "--session", "s1", "--id", "x", status=2)
    assert "--user or --session" in clew("recall", "heron", status=2)
    assert "is no reference" in clew("timeline", "heron", status=2)
    assert "no session" in clew("replay", "s9", status=3)


@pytest.mark.requirement("CAPTURE-2")
def test_a_file_is_harvested_with_totals_over_all_steps(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "events.jsonl", [*events(1200), "bad", {"clew": 9}, "worse"])
    first = clew.json("harvest", str(path))
    assert (first["lines"], first["stored"], first["setAside"]) == (1203, 1200, 3)
    assert (first["reasons"], first["done"]) == ({"not JSON": 2, "unknown version": 1}, True)
    again = clew.json("harvest", str(path))
    assert (again["lines"], again["stored"]) == (0, 0)


@pytest.mark.requirement("CAPTURE-2")
def test_a_harvest_prints_a_table_and_the_lines_set_aside(clew: Clew, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "events.jsonl", [*events(3), "bad"])
    said = clew("harvest", str(path))
    assert "set aside 1: not JSON" in said
    assert said.splitlines()[:2] == [
        "lines  stored  there already  set aside",
        "    4       3              0          1",
    ]


@pytest.mark.requirement("CAPTURE-6")
def test_a_replay_is_shown_page_by_page(clew: Clew, tmp_path: Path) -> None:
    clew("harvest", str(write_lines(tmp_path / "events.jsonl", events(5))))
    page = clew.json("replay", "s1", "--limit", "2", "--cursor", "2")
    assert [line["text"] for line in page["lines"]] == ["heron 2", "heron 3"]
    assert page["cursor"] == 4
    assert "more follow: --cursor 2" in clew("replay", "s1", "--limit", "2")


def test_captured_text_cannot_control_a_terminal(clew: Clew) -> None:
    clew("capture", "--session", "s1", "--text", f"a heron {ESCAPE}")
    clew("harvest")
    drawn = on_a_terminal(clew.data_dir, "replay", "s1")
    assert ESCAPE not in drawn
    assert "heron" in drawn
    assert "nothing new" in on_a_terminal(clew.data_dir, "harvest")


STEERING = "a heron \x1b]0;owned\x07 \x9b2J \u202egnol"


@pytest.mark.requirement("SAFE-2")
@pytest.mark.parametrize("verb", [("export",), ("redact", STEERING)])
def test_raw_output_is_safe_on_a_terminal_and_complete_in_a_pipe(clew: Clew, verb: tuple[str, ...]) -> None:
    clew("ingest", STEERING, "--session", "s1", "--user", "ada")
    drawn = on_a_terminal(clew.data_dir, *verb)
    assert "a heron" in drawn
    assert not any(mark in drawn for mark in ("\x1b]0", "\x07", "\x9b", "\u202e"))
    assert "\u202e" in clew(*verb)

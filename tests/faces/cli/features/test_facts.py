"""`clew facts` on the command line: facts, their times and sources, and the review of proposals."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from clew.config import Config
from clew.engine import Memory
from tests.testing.command_line import ESCAPE, Clew

pytestmark = pytest.mark.requirement("FACT-2", "CLI-1")

TS = 1_583_020_800_000  # the first of March 2020


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Clew:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "clew.toml").write_text('embedder = "none"\ntokenizer = "estimate"\n', "utf-8")
    with Memory(Config.load(environment={}, data_dir=data_dir)) as memory:
        memory.ingest("s1", "user", "Kestrel uses PostgreSQL. I prefer tea.", user_id="ada", id="t1", ts=TS)
        memory.ingest("s1", "user", "Kestrel depends on Redis.", user_id="ada", id="t2", ts=TS)
    return Clew(data_dir, capsys)


def assert_fact(clew: Clew, *words: str) -> str:
    """Assert a fact of Ada's and return its id."""
    found: str = clew.json("facts", "assert", *words, "--user", "ada")["fact"]["id"]
    return found


def test_a_fact_can_be_asserted_shown_ended_and_read_in_the_past(clew: Clew) -> None:
    first = assert_fact(clew, "billing", "status", "beta", "--from", "2020-01-01")
    out = clew("facts", "assert", "Billing", "status", "live", "--from", "2020-03-01", "--user", "ada")
    assert "billing is live.  since 2020-03-01" in out
    assert f"ended  {first}  billing is beta.  since 2020-01-01 until 2020-03-01" in out
    heading, row = clew("facts", "current", "BILLING", "--user", "ada").splitlines()
    assert heading.split() == [
        "fact", "since", "until", "subject", "predicate", "object", "trust", "confidence", "sources",
    ]  # fmt: skip
    assert "live" in row
    assert "user:ada/m_" in row
    assert "beta" in clew("facts", "as-of", "2020-02-01", "billing", "--user", "ada")
    unknown_then = clew("facts", "as-of", "2020-02-01", "billing", "--recorded", "2001-01-15", "--user", "ada")
    assert unknown_then == "nothing is known about billing\n"
    _, beta, live = clew("facts", "timeline", "billing", "--user", "ada").splitlines()
    assert beta.split()[1:6] == ["2020-01-01", "2020-03-01", "billing", "status", "beta"]
    assert live.split()[1:5] == ["2020-03-01", "billing", "status", "live"]


def test_a_fact_without_a_source_is_stored_as_a_statement_and_cites_it(clew: Clew) -> None:
    found = clew.json("facts", "assert", "billing", "depends on", "Redis", "--user", "ada")
    (ref,) = found["fact"]["sources"]
    assert "billing depends on Redis." in clew("get", "user:ada", ref.removeprefix("user:ada/"))
    cited = clew.json("facts", "assert", "billing", "uses", "tea", "--source", "session_raw:s1/t1", "--user", "ada")
    assert cited["fact"]["sources"] == ["session_raw:s1/t1"]


def test_an_unknown_subject_is_reported_without_an_error(clew: Clew) -> None:
    assert clew("facts", "current", "Kestrel") == "nothing is known about Kestrel\n"
    assert clew.json("facts", "current", "Kestrel")["known"] is False
    assert "nothing is known about Kestrel" in clew("facts", "timeline", "Kestrel")
    assert "no fact has lost its ground" in clew("facts", "stale")


def test_mistakes_are_reported_in_one_line(clew: Clew) -> None:
    assert "is no known predicate" in clew("facts", "assert", "a", "likes", "b", status=2)
    assert "no record 'user:ada/x'" in clew("facts", "assert", "a", "uses", "b", "--source", "user:ada/x", status=3)
    assert "is no date" in clew("facts", "as-of", "soon", status=2)
    assert "there is no fact 'f_1'" in clew("facts", "invalidate", "f_1", "--user", "ada", status=3)
    assert "Missing option '--user'" in clew("facts", "review", status=2)


def test_invalidate_stale_lint_and_rebuild(clew: Clew) -> None:
    root = assert_fact(clew, "billing", "status", "live", "--from", "2020-01-01", "--statement", "It is live.")
    top = assert_fact(clew, "reports", "status", "live", "--from", "2020-01-02", "--source", f"facts:user:ada/{root}")
    assert "nothing is wrong; entries looked at: 2" in clew("facts", "lint", "--user", "ada")
    out = clew("facts", "invalidate", root, "--at", "2020-02-01", "--reason", "It was a test.", "--user", "ada")
    assert "since 2020-01-01 until 2020-02-01" in out
    assert f"{root} no longer holds" in clew("facts", "stale", "--user", "ada")
    assert f"stale, not to be relied on: {top}" in clew("facts", "current", "reports", "--user", "ada")
    assert "stale_source" in clew("facts", "lint", "--user", "ada", status=1)
    assert clew.json("facts", "lint", "--user", "ada", status=1)["found"] == 1
    rebuilt = clew("facts", "rebuild", "--user", "ada")
    assert rebuilt.startswith("what was kept is what the rows say\n")
    assert clew.json("facts", "rebuild", "--user", "ada")["invalidations"] == 1


def test_pack_prints_the_text_for_a_prompt(clew: Clew) -> None:
    assert_fact(clew, "billing", "uses", "PostgreSQL", "--from", "2020-01-01")
    assert '"since 2020-01-01","fact","billing uses PostgreSQL."' in clew("facts", "pack", "billing?", "--user", "ada")
    assert "no current fact bears on this" in clew("facts", "pack", "zebra", "--user", "ada")


def test_stored_text_cannot_control_the_terminal(clew: Clew) -> None:
    assert_fact(clew, f"bill{ESCAPE}ing", "uses", f"x{ESCAPE}")
    shown = clew("facts", "current", "--user", "ada") + clew("facts", "timeline", f"bill{ESCAPE}ing", "--user", "ada")
    assert "\x1b" not in shown
    assert "\\x1b" in shown


@pytest.mark.requirement("FACT-4")
class TestReview:
    def test_lists_proposals_in_a_pipe_and_accepts_and_declines_them(self, clew: Clew) -> None:
        listed = clew("facts", "review", "--user", "ada")
        assert "nothing was written" in listed
        found = clew.json("facts", "review", "--user", "ada")["proposals"]
        assert [each["object"] for each in found] == ["PostgreSQL", "tea", "Redis"]
        accepted = clew("facts", "accept", "session_raw:s1/t2", "--user", "ada")
        assert "Kestrel depends on Redis.  since 2020-03-01" in accepted
        edited = clew(
            "facts", "accept", "session_raw:s1/t1", found[0]["id"], "--object", "PostgreSQL 17", "--user", "ada"
        )
        assert "Kestrel uses PostgreSQL 17." in edited
        assert "declined" in clew("facts", "decline", "session_raw:s1/t1", found[1]["id"], "--user", "ada")
        assert "nothing is proposed" in clew("facts", "review", "--user", "ada")
        assert "does not propose" in clew("facts", "decline", "session_raw:s1/t1", "c_1", "--user", "ada", status=3)

    def test_propose_shows_the_facts_in_a_text_and_writes_nothing(self, clew: Clew) -> None:
        shown = clew("facts", "propose", "Heron uses Kafka.", "--user", "ada", "--at", "2020-03-02")
        assert "Kafka" in shown
        assert "2020-03-02" in shown
        assert "nothing was written" in shown
        assert not clew.json("facts", "current", "--user", "ada")["known"]

    def test_shows_the_fact_that_a_turn_ends_and_ends_it_on_acceptance(self, clew: Clew) -> None:
        fact = assert_fact(clew, "Heron", "uses", "Kafka", "--from", "2020-01-01", "--statement", "Heron uses Kafka.")
        clew("ingest", "--session", "s2", "--user", "ada", "--id", "t9", "Heron no longer uses Kafka.")
        assert f"ends Heron uses Kafka. ({fact})" in clew("facts", "review", "--user", "ada")
        assert "until" in clew("facts", "accept", "session_raw:s2/t9", "--user", "ada")
        assert not clew.json("facts", "current", "Heron", "--user", "ada")["facts"]

    def test_asks_about_each_proposal_on_a_terminal(self, clew: Clew) -> None:
        received = review_on_terminal(clew.data_dir, ["a", "r", "e", "Kestrel", "depends_on", "Redis 8"])
        assert "Kestrel · uses · PostgreSQL" in received
        assert "2 facts accepted, 1 rejected, 0 skipped" in received
        facts = clew.json("facts", "current", "Kestrel", "--user", "ada")["facts"]
        assert [fact["object"] for fact in facts] == ["Redis 8", "PostgreSQL"]
        assert "nothing is proposed" in clew("facts", "review", "--user", "ada")

    def test_skipped_proposals_stay_in_the_queue(self, clew: Clew) -> None:
        assert "0 facts accepted, 0 rejected, 1 skipped" in review_on_terminal(clew.data_dir, ["s", "q"])
        assert len(clew.json("facts", "review", "--user", "ada")["proposals"]) == 3


def review_on_terminal(data_dir: Path, lines: list[str]) -> str:
    """The terminal output of a review that gets these lines as answers."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "clew.faces.cli.main", "facts", "review", "--user", "ada", "--data", str(data_dir)]
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "200"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        os.write(ours, "".join(f"{line}\n" for line in lines).encode())
        received = bytearray()
        try:
            while chunk := os.read(ours, 65_536):
                received += chunk
        except OSError:
            pass  # Linux reports the closed other end as an error
        os.close(ours)
        assert process.wait() == 0, received.decode()
    return received.decode()

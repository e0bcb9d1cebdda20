"""`clew pack`, `clew trace` and `clew why`; each call is a separate run."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import NotFound
from tests.testing.command_line import ESCAPE, Clew

pytestmark = pytest.mark.requirement("CLI-1", "PACK-1", "PACK-3")

QUERY = "staging server port"


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    run = Clew(tmp_path / "data", capsys)
    run("put", "user:ada", "port", "The staging server listens on port 8080")
    run("put", "user:ada", "tea", f"Ada drinks tea {ESCAPE}")
    return run


def test_pack_prints_the_bundle_its_items_and_its_trace(clew: Clew) -> None:
    out = clew("pack", QUERY, "--user", "ada", "--trace")
    assert "<context_pack>" in out
    assert "1 item," in out
    assert "user:ada/port" in out
    assert "least similarity" in out
    assert "relevant" in out


def test_pack_returns_one_object_with_the_keys_in_order(clew: Clew) -> None:
    bundle = clew.json("pack", QUERY, "--user", "ada")
    assert list(bundle)[:3] == ["bundleText", "items", "budgetTokens"]
    assert list(bundle["items"][0])[:6] == ["recordRef", "layer", "kind", "importance", "trust", "text"]
    assert bundle["items"][0]["recordRef"] == "user:ada/port"


def test_pack_reports_an_empty_answer_and_requires_a_user(clew: Clew) -> None:
    assert "nothing relevant is known" in clew("pack", "quantum gravity", "--user", "ada")
    assert "--user" in clew("pack", QUERY, status=2)
    assert "unknown kind" in clew("pack", QUERY, "--user", "ada", "--kind", "rumour", status=2)


def test_stored_text_in_a_pack_cannot_control_the_terminal(clew: Clew) -> None:
    assert "\x1b" not in clew("pack", "Ada drinks tea", "--user", "ada", "--trace")


def test_traces_are_listed_shown_and_compared(clew: Clew) -> None:
    assert "no traces" in clew("trace", "list")
    first = clew.json("pack", QUERY, "--user", "ada")["traceId"]
    second = clew.json("pack", QUERY, "--user", "ada", "--limit", "1", "--untrusted")["traceId"]
    assert [head["id"] for head in clew.json("trace", "list")["traces"]] == [second, first]
    assert first in clew("trace", "list")
    assert clew.json("trace", "show", first)["id"] == first
    shown = clew("trace", "show", first)
    assert "user:ada/port" in shown
    assert "staging" not in shown
    assert "framed and capped" in clew("trace", "diff", first, second)
    assert "both say the same" in clew("trace", "diff", first, first)
    assert "there is no trace" in clew("trace", "show", "p_1", status=NotFound.exit_status)


def test_why_explains_one_record(clew: Clew) -> None:
    assert "It is in the pack as item [1]" in clew("why", "user:ada/port", "--query", QUERY, "--user", "ada")
    answer = clew.json("why", "user:ada/port", "--query", QUERY, "--user", "bob")
    assert (answer["stage"], answer["included"]) == ("scope", False)
    assert "there is no record" in clew(
        "why", "user:ada/none", "--query", QUERY, "--user", "ada", status=NotFound.exit_status
    )

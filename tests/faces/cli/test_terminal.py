"""Printed output: no stored text can control a terminal, and a pipe receives all of it."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.console import terminal

pytestmark = pytest.mark.requirement("CLI-1", "SAFE-2")

CLEAR_SCREEN = "\x1b[2J"
TITLE_BY_C1 = "\x9d0;owned\x9c"
REVERSED = "\u202egnp.exe"


def controls_terminal(text: str) -> bool:
    return any(
        (ord(char) < 0x20 and char not in "\t\n") or 0x7F <= ord(char) <= 0x9F or char in "\u202e\u2066\u2028"
        for char in text
    )


@pytest.mark.parametrize("attack", [CLEAR_SCREEN, TITLE_BY_C1, REVERSED, "a\rb", "\x07", "\x00", "a\u2028b"])
def test_control_characters_become_visible(attack: str) -> None:
    assert not controls_terminal(terminal.safe(attack))
    assert terminal.safe(attack) != attack


def test_ordinary_text_of_any_script_stays_as_it_is() -> None:
    text = "naïve 料金は円 \t привет\n🙂 שלום"
    assert terminal.safe(text) == text


@given(st.text())
def test_no_text_controls_a_terminal(text: str) -> None:
    assert not controls_terminal(terminal.safe(text))
    assert "\n" not in terminal.one_line(text)


@given(st.dictionaries(st.text(), st.text()))
def test_json_is_one_equivalent_line_that_controls_no_terminal(value: dict[str, str]) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        terminal.print_json(value)
    out.flush()
    printed = out.buffer.getvalue().decode("utf-8")
    assert printed.count("\n") == 1
    assert not controls_terminal(printed)
    assert json.loads(printed) == value


def test_a_table_in_a_pipe_has_complete_aligned_lines(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 200
    terminal.print_table(("count", "name", "text"), [(5, "a", long), (12_345, "bb", f"x{CLEAR_SCREEN}\ny")])
    header, first, second = capsys.readouterr().out.splitlines()
    assert header == " count  name  text"
    assert first == f"     5  a     {long.strip()}"
    assert second == "12,345  bb    x\\x1b[2J y"


def test_an_absent_value_is_a_dash_and_numbers_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_table(("score", "ok"), [(0.123456, True), (None, False)])
    assert capsys.readouterr().out.splitlines() == ["score  ok", "0.123  yes", "    -  no"]


def test_text_is_shortened_only_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x" * 1000
    assert terminal.preview(text) == text
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert terminal.preview(text).endswith("…")
    assert len(terminal.preview(text)) == 240


@pytest.mark.parametrize("ts_ms", [0, 1_700_000_000_000, -1, 10**15, 10**18, -(10**18)])
def test_any_stored_time_can_be_shown(ts_ms: int) -> None:
    assert terminal.local_time(ts_ms)


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 * 2**20, "5.0 MiB"), (2**50, "1024.0 TiB")],
)
def test_sizes_are_shown_in_the_unit_that_fits(count: int, shown: str) -> None:
    assert terminal.byte_size(count) == shown


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.progress_bars(visible=True) as report:
        report("Storing", 1, 2)
    assert capsys.readouterr() == ("", "")

"""What a summarizer may see: words stay, payloads become markers."""

from __future__ import annotations

import base64
import random
import re

import pytest

from clew.text.sanitise import projection

pytestmark = pytest.mark.requirement("COMP-3")

MARKER = re.compile(r"\[[\w ./+-]+, [\d,]+ bytes, [0-9a-f]{8}\]")
NOISE = random.Random(7).randbytes(1500)
ENCODED = base64.b64encode(NOISE).decode()

ORDINARY = [
    "",
    "Let's move the port from 8080 to 9090 in src/clew/config.py, see https://example.org/a/b?c=d&e=f#g.",
    "commit e83c5163316f89bfbde7d9ab23ca2e25604af290, id 123e4567-e89b-12d3-a456-426614174000",
    "sha512 " + "0123456789abcdef" * 8,
    "我们决定改用 PostgreSQL 16。下周一上线！\n次は何をしますか？",
    "def f(x):\n\treturn {\n\t\t'a': [x],\n\t}\n",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "so much text on one line, as people write it when they do not stop. " * 3,
    "averylongidentifier_that_goes_on_and_on_" * 6,
    "/usr/lib/" + "some-folder/another_folder/" * 8,
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert projection(text) == text


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("data URL image/png", f"data:image/png;base64,{ENCODED}"),
        ("base64", ENCODED),
        ("hex", NOISE.hex()),
        ("binary", NOISE.decode("latin-1")[:400]),
        ("binary", NOISE.decode("utf-8", "replace")),
    ],
)
def test_a_payload_becomes_a_marker_with_kind_size_and_hash(kind: str, payload: str) -> None:
    shown = projection(f"see {payload} there")
    assert f"[{kind}, " in shown
    assert MARKER.search(shown)
    assert len(shown) < 400


def test_a_marker_says_the_size_in_bytes() -> None:
    assert f"[base64, {len(ENCODED):,} bytes, " in projection(ENCODED)


def test_different_payloads_have_different_hashes() -> None:
    assert projection(ENCODED) != projection(ENCODED[::-1])


def test_encoded_data_wrapped_into_lines_is_one_marker() -> None:
    wrapped = "\n".join(ENCODED[start : start + 64] for start in range(0, 1920, 64))
    shown = projection(f"-----BEGIN KEY-----\n{wrapped}\n-----END KEY-----")
    assert re.fullmatch(r"-----BEGIN KEY-----\n\[base64, [^\]]+\]\n-----END KEY-----", shown)


def test_a_hex_dump_is_one_marker() -> None:
    lines = [f"{n:08x}: 7f45 4c46 0201 0101 0000 0000 0000 {n:04x}  .ELF............" for n in range(40)]
    assert re.fullmatch(r"before\n\[hex, [^\]]+\]\nafter", projection("\n".join(["before", *lines, "after"])))


def test_minified_code_keeps_its_beginning() -> None:
    minified = "".join(f"function f{n}(a,b){{return a[{n}]+b.c({n});}}" for n in range(300))
    shown = projection(minified)
    assert shown.startswith("function f0(a,b)")
    assert "[payload, " in shown
    assert len(shown) < 250


@pytest.mark.parametrize("script", ["long prose has blanks and full stops. ", "中文的长段落没有空格，但是有标点符号。"])
def test_a_giant_line_of_varied_prose_stays(script: str) -> None:
    text = "".join(f"{script}{number * 7919}" for number in range(250))
    assert projection(text) == text


def test_repeated_text_is_kept_once() -> None:
    assert "[repetition, " in projection("na na na batman! " * 3000)


def test_equal_lines_in_a_row_are_counted() -> None:
    assert projection("start\n" + "retrying…\n" * 9 + "end") == "start\nretrying…\n[same line 8 times more]\nend"


def test_a_few_equal_lines_stay() -> None:
    assert projection("a\n}\n}\n}\nb") == "a\n}\n}\n}\nb"


def test_a_repeated_long_line_is_marked_the_second_time() -> None:
    line = " ".join(f"word{n}" for n in range(60))
    shown = projection(f"{line}\nbetween\n{line}")
    assert shown.startswith(f"{line}\nbetween\n[seen above, ")


def test_colours_and_control_characters_vanish() -> None:
    assert projection("\x1b[31mred\x1b[0m and \x00plain\x7f\r\nnext\rline") == "red and plain\nnext\nline"


def test_lone_surrogates_vanish() -> None:
    projection("a\ud800b").encode()

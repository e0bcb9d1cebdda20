"""Similarity of texts by their words."""

from __future__ import annotations

import pytest

from clew.features.lifecycle.resemblance import MAX_CHARS, agree, like_pairs, likeness, wording

pytestmark = pytest.mark.requirement("LIFE-5")


def alike(one: str, other: str) -> float:
    return likeness(wording(one), wording(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The deploy key is in the vault.", "the Deploy keys are in the vault!"),
        ("In reviews, Ada prefers short answers.", "Ada prefers short answers in reviews."),
        ("a long-term plan for the harbour", "A long term plan for the harbour"),
        ("狐は茶が好き", "狐は茶が好き。"),
        ("42", "42."),
    ],
)
def test_the_same_words_in_another_form_or_order_are_similar(one: str, other: str) -> None:
    assert alike(one, other) == 1.0
    assert agree(wording(one), wording(other))


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ("We deploy on Fridays.", "The cat sleeps on the sofa.", 0.0, 0.0),
        ("Ann likes tea", "Bob likes tea", 0.5, 0.7),
        ("the harbour opens early", "the harbour opens early on most days of the week", 0.6, 0.9),
        ("", "", 0.0, 0.0),
        ("", "tea", 0.0, 0.0),
        ("42", "43", 0.0, 0.0),
        ("of the and", "to be or", 0.0, 0.0),
    ],
)
def test_texts_that_share_fewer_words_are_less_similar(one: str, other: str, low: float, high: float) -> None:
    assert low <= alike(one, other) <= high
    assert alike(one, other) == alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 500 MB.", "The limit is 700 MB."),
        ("Edit src/app/main.py first.", "Edit src/app/test.py first."),
        ("It fails with ERR_42.", "It fails with ERR_43."),
        ("Call getUser here.", "Call getUsers here."),
        ("Release v1.2.3 is out.", "Release v1.2.4 is out."),
        ("Write to a@example.org.", "Write to b@example.org."),
    ],
)
def test_numbers_names_and_paths_must_agree(one: str, other: str) -> None:
    assert not agree(wording(one), wording(other))
    assert agree(wording(one), wording(one))


def test_pairs_are_found_from_the_front_of_the_list_up_to_a_limit() -> None:
    texts = ["the cat sleeps", "tea is hot", "cat sleeping", "snow", "sleeping cats"]
    wordings = [wording(text) for text in texts]
    assert [(pair.one, pair.other) for pair in like_pairs(wordings, 0.9, 10)] == [(0, 2), (0, 4), (2, 4)]
    assert [(pair.one, pair.other) for pair in like_pairs(wordings, 0.9, 2)] == [(0, 2), (0, 4)]
    assert like_pairs([], 0.9, 10) == []


def test_only_the_beginning_of_a_long_text_is_compared() -> None:
    assert wording("fox " * MAX_CHARS).words == {"fox"}
    assert wording("a" * 2_000_000) == wording("a" * MAX_CHARS)

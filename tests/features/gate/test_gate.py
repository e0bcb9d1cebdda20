"""What the gate sees in a text, by example."""

from __future__ import annotations

import math

import pytest

from clew.features.gate.rules import (
    ALREADY_SAID,
    ONLY_ASKS,
    ONLY_NEW,
    actions,
    artefacts,
    grade,
    natural_density,
    refusal,
    technical_density,
    technical_share,
)
from clew.text.grading.statements import prose


@pytest.mark.requirement("GATE-1")
class TestTechnicalShare:
    @pytest.mark.parametrize(
        ("text", "weight"),
        [
            ("Look:\n```\nx\n```", 0.5),
            ("It is in src/clew/engine.py somewhere", 0.4),
            ("It is in /etc/nginx/sites somewhere", 0.4),
            ("def area(width, height)", 0.4),
            ("then do git push", 0.4),
            ("see https://example.org", 0.3),
            ("it answers POST /orders", 0.3),
            ("Traceback (most recent call last)", 0.5),
            ("it began with 9f8e7d6c5b4a", 0.3),
        ],
    )
    def test_each_sign_has_its_weight(self, text: str, weight: float) -> None:
        assert technical_share(text) == pytest.approx(weight / 1.5)

    @pytest.mark.parametrize(
        "text",
        [
            "I had lunch with my sister and/or her friend, 24/7 fun.",
            "The facade was defaced in 1999, e.g. by vandals.",
            "Let us make dinner, find a cat and function as a class of our own.",
            "",
        ],
    )
    def test_everyday_language_is_not_technical(self, text: str) -> None:
        assert technical_share(text) == 0.0

    def test_a_text_full_of_signs_is_entirely_technical(self) -> None:
        text = "```\ndef f(x):\n```\n$ git commit\nTraceback (most recent call last)\nsrc/a.py https://x.org"
        assert technical_share(text) == 1.0


@pytest.mark.requirement("GATE-2")
class TestNaturalDensity:
    @pytest.mark.parametrize(
        ("text", "weight"),
        [
            ("I really prefer tea.", 0.4),
            ("Say hello to my friend Caroline", 0.3),
            ("It was on 14 July", 0.3),
            ("It costs 40 dollars", 0.2),
            ("My old neighbour is a dentist", 0.3),
            ("我喜欢喝茶", 0.4),
            ("см. завтра", 0.3),
            ("会议在3月", 0.3),
        ],
    )
    def test_each_sign_has_its_weight(self, text: str, weight: float) -> None:
        assert natural_density(text) == pytest.approx(weight)

    def test_many_signs_are_capped_at_one(self) -> None:
        text = "My friend Anna is 30 years old since yesterday, and I love her cooking. My cat is old."
        assert natural_density(text) == 1.0

    def test_a_sentence_about_code_still_counts(self) -> None:
        assert natural_density("I prefer calling fetch_user() over loadUser() in my projects") >= 0.4

    @pytest.mark.parametrize(
        "code",
        [
            "def total(items):\n    return sum(item.price for item in items)",
            "class Dog(Animal):\n    name: str = 'Alice'\n    # My dog is 5 years old\n    age = 5",
            "for Person in People:\n    print('I love', Person)",
            'const user = { name: "Alice Smith", born: "1990-05-08" };\nsend(user);',
            "```python\nI prefer 5 days with Alice on Monday\n```",
            "~~~\nI prefer tea",
            "`I prefer Monday`",
            "SELECT Name FROM Users WHERE Age > 30;",
            '{\n  "name": "Alice",\n  "since": "last Monday"\n}',
            'public static void Main(String[] Args) {\n    Console.WriteLine("Hello Bob");\n}',
            "if user is not None and other is not None and day == 'Monday':\n    return Alice",
            "getUserName MyFriendAlice snake_case_name Alice.Likes.Bob",
            "from Alice import Bob\nimport Carol",
            "<p>I love Alice</p>",
        ],
    )
    @pytest.mark.requirement("GATE-5")
    def test_code_has_no_natural_density(self, code: str) -> None:
        assert natural_density(code) == 0.0

    def test_prose_around_a_fence_counts_and_the_fence_does_not(self) -> None:
        kept = prose("I like this:\n```\nx = Alice\n```\nbecause it is short")
        assert "Alice" not in kept
        assert "I like this" in kept
        assert "because it is short" in kept


@pytest.mark.requirement("GATE-2")
class TestTechnicalParts:
    @pytest.mark.parametrize(
        ("text", "weight"),
        [
            ("open src/app/main.py", 0.4),
            ("call render_page() first", 0.3),
            ("it ended with ECONNREFUSED", 0.5),
            ("it ended with TS2345", 0.5),
            ("rebased onto HEAD~2", 0.4),
            ("see PR #12", 0.4),
            ("it calls GET /users", 0.3),
        ],
    )
    def test_each_artefact_has_its_weight(self, text: str, weight: float) -> None:
        assert artefacts(text) == pytest.approx(weight)

    def test_artefacts_are_counted(self) -> None:
        assert artefacts("see a/b.py, c/d.py") == pytest.approx(0.8)

    def test_artefacts_count_less_in_a_longer_text(self) -> None:
        assert artefacts("see a/b.py" + " word" * 238) == pytest.approx(0.4 / 3)

    @pytest.mark.parametrize(
        ("text", "weight"),
        [
            ("We decided on two tables", 0.5),
            ("That bug is fixed now", 0.4),
            ("It was deployed at noon", 0.3),
            ("Set the retry timeout to 30", 0.4),
            ("LOG_LEVEL=debug", 0.4),
        ],
    )
    def test_each_action_has_its_weight(self, text: str, weight: float) -> None:
        assert actions(text) == pytest.approx(weight)

    @pytest.mark.parametrize(
        ("text", "weight"),
        [
            ("interface Shape {", 0.4),
            ("it is kept in a hash map", 0.3),
            ("it depends on numpy", 0.3),
            ("covered by unit tests", 0.2),
            ("/** Gives the area. */", 0.2),
        ],
    )
    def test_each_definition_has_its_weight(self, text: str, weight: float) -> None:
        assert technical_density(text) == pytest.approx(weight)


@pytest.mark.requirement("GATE-4")
class TestGrade:
    def test_the_parts_follow_the_formula(self) -> None:
        parts = grade("I prefer tea.", [0.9, 0.5, 0.1], [0.95, 0.8, 0.79])
        assert parts.novelty == pytest.approx(0.5)
        assert parts.input_frequency == pytest.approx(2 / 5)
        assert parts.memory_saturation == pytest.approx(1 / 3)
        assert parts.repetition == pytest.approx(2 / 5 * 2 / 3)
        assert parts.conversational_score == pytest.approx(0.35 * 0.5 + 0.40 * 4 / 15 + 0.25 * 0.4)
        assert parts.technical_score == 0.0
        assert parts.gate == parts.conversational_score

    def test_a_technical_turn_is_blended_by_its_share(self) -> None:
        parts = grade("We fixed src/app/main.py", [], [])
        assert parts.technical == pytest.approx(0.4 / 1.5)
        assert parts.technical_score == pytest.approx(0.40 * 0.4 + 0.35 * 0.4)
        expected = (1 - parts.technical) * parts.conversational_score + parts.technical * parts.technical_score
        assert parts.gate == pytest.approx(expected)

    def test_only_the_five_nearest_memories_and_ten_nearest_turns_count(self) -> None:
        parts = grade("", [1.0] * 5 + [0.0] * 50, [0.0] * 50 + [0.9] * 3)
        assert parts.novelty == 0.0
        assert parts.memory_saturation == 1.0
        assert parts.input_frequency == pytest.approx(3 / 5)

    def test_a_similarity_that_is_not_a_number_counts_as_unrelated(self) -> None:
        parts = grade("", [math.nan, math.inf, -math.inf], [math.nan])
        assert parts.novelty == pytest.approx(2 / 3)
        assert parts.input_frequency == 0.0

    def test_a_very_long_turn_is_judged_in_parts_from_beginning_to_end(self) -> None:
        filler = "lorem ipsum " * 100_000
        assert grade("I prefer tea. " + filler, [], []).natural_density == pytest.approx(0.4)
        assert grade(filler + " I prefer tea.", [], []).natural_density == pytest.approx(0.4)
        assert grade(filler + "src/a.py", [], []).technical == technical_share(filler + "src/a.py") > 0


LOG = "\n".join(f"2026-01-05 10:00:0{second} INFO My friend Alice decided to enable the cache" for second in range(6))


@pytest.mark.requirement("USE-1", "GATE-2")
class TestOwnWords:
    def test_pasted_output_tells_nothing_about_the_user_but_its_names_count(self) -> None:
        assert natural_density(LOG) == 0.0
        assert actions(LOG) == 0.0
        pasted = 'Traceback (most recent call last):\n  File "src/app/main.py", line 3\nValueError: no'
        assert artefacts(pasted) > 0.0
        assert technical_share(pasted) > 0.0

    def test_words_above_a_paste_count(self) -> None:
        assert natural_density(f"I prefer warnings only.\n\n{LOG}") == natural_density("I prefer warnings only.")
        assert actions(f"We fixed the cache.\n\n{LOG}") == pytest.approx(0.4)

    def test_a_quoted_wish_is_not_the_speakers(self) -> None:
        assert natural_density("> I prefer tea with Alice\n\nnot so sure about that") == 0.0

    def test_a_question_does_not_count_as_a_statement(self) -> None:
        assert natural_density("Does my sister Anna prefer tea since last Monday?") == 0.0


@pytest.mark.requirement("GATE-4")
class TestRefusal:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("/mode", "a command"),
            ("sleep", "a single word"),
            ("ok thanks", "an acknowledgement"),
            ("How does the footer work?", ONLY_ASKS),
            (f"Why is that?\n\n{LOG}", ONLY_ASKS),
            ("the thing over there", ONLY_NEW),
            ("I prefer tea.", None),
            ("```\ndef f(x):\n    return src/app/main.py\n```", None),
            ("LOG_LEVEL=debug git push", None),
        ],
    )
    def test_it_gives_the_reason_why_a_text_is_never_kept(self, text: str, reason: str | None) -> None:
        assert refusal(text, grade(text, [], [])) == reason

    def test_a_repeated_matter_counts_for_more_than_novelty(self) -> None:
        text = "the thing over there"
        assert refusal(text, grade(text, [], [0.9])) is None

    def test_only_a_memory_with_the_same_words_is_a_duplicate(self) -> None:
        text = "I prefer tea."
        graded = grade(text, [0.99], [])
        assert refusal(text, graded, ["i prefer TEA"]) == ALREADY_SAID
        assert refusal(text, graded, ["I prefer coffee."]) is None

"""The statements in a turn, without questions, greetings and pastes; and the signs that the gate finds in them."""

from __future__ import annotations

import time

import pytest

from clew.text.grading.idle import Idle, idle, is_acknowledgement
from clew.text.grading.natural import STATEMENT_SIGNS
from clew.text.grading.statements import stated


def signs_of(text: str) -> set[str]:
    said = stated(text)
    return {sign.name for sign in STATEMENT_SIGNS if sign.pattern.search(said.lower() if sign.lower_case else said)}


@pytest.mark.requirement("USE-1", "GATE-2")
class TestStated:
    @pytest.mark.parametrize(
        "text",
        [
            "Did we decide on Redis?",
            "Can you write example emails for the retreats?",
            "I'd like to know more about the summer programs you mentioned.",
            "could you tell me how the footer works",
            "Thanks, Evan!",
            "Wow! What did you get?",
            "你喜欢喝茶吗？",
            "",
        ],
    )
    def test_a_question_a_request_and_a_greeting_state_nothing(self, text: str) -> None:
        assert stated(text) == ""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("I'm moving to Oslo in May, do you know a good school?", "I'm moving to Oslo in May"),
            ("I keep bees and was wondering if you know a beginner's book.", "I keep bees"),
            ("Can you suggest exercises, since I sit all day?", "since I sit all day"),
            ("We use Postgres 16. Which driver fits?", "We use Postgres 16."),
            ("Hey Jon! I sold the boat.", "I sold the boat."),
            ("Well, I think it should be called output?", "Well, I think it should be called output?"),
        ],
    )
    def test_a_statement_beside_a_question_stays(self, text: str, told: str) -> None:
        assert stated(text) == told


@pytest.mark.requirement("GATE-2")
class TestSigns:
    @pytest.mark.parametrize(
        ("text", "sign"),
        [
            ("We decided to use Postgres 16 for the billing service.", "preference"),
            ("Let's switch to weekly releases.", "preference"),
            ("Truncated names must end in three dots.", "preference"),
            ("Link text should be the same as the accent.", "preference"),
            ("No tracking pixels, ever!", "preference"),
            ("ab jetzt bitte keine Anglizismen", "preference"),
            ("我们决定改用 SQLite。", "preference"),
            ("The staging server listens on 10.0.0.5:8080.", "fact"),
            ("The base colour is #8abeb7", "fact"),
            ("Our archive is at files.example.org/archive.", "fact"),
            ("My inbox is full because of the newsletter.", "fact"),
            ("It turned out that the cable was broken.", "fact"),
            ("That's not the system prompt.", "fact"),
            ("I teach chemistry.", "fact"),
            ("I've been learning the cello.", "fact"),
            ("I'm planning a trip to Peru.", "fact"),
            ("Lost my keys and had to climb in.", "fact"),
            ("I work as a nurse.", "person"),
            ("My daughter plays hockey.", "person"),
            ("The limit is > 70 requests.", "quantity"),
            ("It takes a 10-day trek.", "quantity"),
            ("I swim every other day.", "date"),
        ],
    )
    def test_a_sign_is_found_without_code_in_the_sentence(self, text: str, sign: str) -> None:
        assert sign in signs_of(text)

    @pytest.mark.parametrize(
        "text",
        [
            "That's great!",
            "You're so talented, keep it up!",
            "I appreciate your support.",
            "I hope they like it.",
            "I'll definitely check it out.",
            "I really like the idea of that.",
            "Let's keep going!",
            "We got this!",
            "make the border a little brighter",
            "delete the file",
            "That must be exciting.",
        ],
    )
    def test_a_reaction_or_an_order_for_now_has_no_sign(self, text: str) -> None:
        assert signs_of(text) == set()


@pytest.mark.requirement("GATE-4")
class TestIdle:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("/mode", Idle.COMMAND),
            ("/the", Idle.COMMAND),
            ("/theme dark", Idle.COMMAND),
            ("!ls", Idle.COMMAND),
            ("continue", Idle.WORD),
            ("f0c674", Idle.WORD),
            ("w.t.f.", Idle.WORD),
            ("嗯", Idle.WORD),
            ("ok, go ahead", Idle.ACKNOWLEDGEMENT),
            ("Thanks, Evan!", Idle.ACKNOWLEDGEMENT),
            ("好的，收到", Idle.ACKNOWLEDGEMENT),
            ("yes please do it", Idle.ACKNOWLEDGEMENT),
            ("'/tmp/Screenshot 1.png'\n\nwow", Idle.WORD),
            ("[image: a cat on a roof]", Idle.EMPTY),
            ("/", Idle.EMPTY),
            ("", Idle.EMPTY),
        ],
    )
    def test_commands_single_words_and_acknowledgements_are_idle(self, text: str, reason: Idle) -> None:
        assert idle(text) is reason

    @pytest.mark.parametrize(
        "text",
        [
            "/etc/nginx/sites holds the configuration",
            "/plan we decided to keep the old parser for now",
            "我喜欢喝茶",
            "use tabs",
            "Thanks, I moved to Oslo.",
            "ok the port is 8080",
            "word " * 400,
        ],
    )
    def test_a_text_that_may_say_something_is_not_idle(self, text: str) -> None:
        assert idle(text) is None

    def test_an_acknowledgement_of_any_length_is_idle(self) -> None:
        assert is_acknowledgement("ok, thanks, sounds good!")
        assert not is_acknowledgement("ok, thanks, I moved")


@pytest.mark.requirement("GATE-2")
@pytest.mark.parametrize(
    "piece", ["I ", "i've ", "thank you ", "ok, ", "a.", "? ", "\n", "my a ", "no a ", "如果", "and "]
)
def test_the_time_grows_linearly_with_the_text(piece: str) -> None:
    def spent(size: int) -> float:
        text, best = piece * size, float("inf")
        for _ in range(3):
            started = time.thread_time()
            signs_of(text)
            is_acknowledgement(text)
            best = min(best, time.thread_time() - started)
        return best

    assert spent(8_000) < 40 * spent(1_000) + 0.05

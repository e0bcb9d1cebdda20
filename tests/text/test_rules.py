"""Sentences of a user that lay down a rule, and sentences that only sound like one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.rules import CLEAR_POINTS, HINT_SCORE, MAX_HINTS, SURE_SCORE, Turn, is_sure, replaces_turn
from clew.text.rules.weights import UNIT, weights

pytestmark = pytest.mark.requirement("USE-3")

RULES = (
    "Prefer wooden boxes for the seedlings.",
    "From now on, send the weekly figures to Ada.",
    "Never unplug the freezer in the cellar.",
    "Please stop adding jokes to the newsletter.",
    "You must always lock the paint cabinet.",
    "I'd rather you asked me before you throw anything away.",
    "Could you stop signing off with a proverb?",
    "Receipts go into the blue folder before the month ends.",
    "Whenever you change the menu, ask the kitchen first.",
    "Our policy is that vendored code gets reviewed first.",
    "Every ladder must be signed out at the desk.",
    "Smoking is forbidden in the van.",
    "Ab sofort werden Pakete nur noch vormittags angenommen.",
    "Verwende keine Abkürzungen im Protokoll.",
    "Wenn jemand absagt, frag mich vorher.",
    "Désormais, les devis partent le lundi.",
    "N'utilise jamais le tampon rouge.",
    "Il faut toujours fermer la grille le soir.",
    "De ahora en adelante, guarda los planos en la carpeta azul.",
    "No uses nunca la escalera vieja.",
    "Cada pedido debe llevar el número del cliente.",
    "以后发货单都用中文写。",
    "不要用英文写注释。",
    "今後、請求書は必ず部長に見せてください。",
    "夜は窓を開けないでください。",
    "앞으로 회의록은 꼭 당일에 올려 주세요.",
    "창고 문은 절대 열어 두지 마세요.",
)

LOOK_ALIKES = (
    "",
    "Do you always water the plants in the evening?",
    "Should every invoice carry a number?",
    "Don't worry, it will grow back.",
    "Never mind, I found the ladder.",
    "Keep up the good work!",
    "Thanks so much, you never let me down.",
    "He says you must never wake the baby.",
    "According to the landlord, bikes have to stay outside.",
    "You must have been freezing out there.",
    "We had to wait an hour for the ferry yesterday.",
    "I never learned to swim.",
    "Delete the second column.",
    "Use the other ladder today.",
    "Open the window, please.",
    "Write a short poem about a heron.",
    "No, that is the wrong drawer.",
    "Step 3: we moved the shelf to the other wall.",
    "Keine Sorge, das Regal hält.",
    "Muss ich das Formular immer unterschreiben?",
    "Meine Schwester sagt, man soll nie mit vollem Mund reden.",
    "Ne t'inquiète pas, le train attend.",
    "Est-ce qu'il faut toujours fermer la grille ?",
    "J'ai toujours aimé la mer.",
    "No te preocupes, ya lo arreglo.",
    "¿Hay que pagar siempre por adelantado?",
    "Nunca he visto nevar.",
    "别担心，我会处理。",
    "每次都要带护照吗？",
    "心配しないで、大丈夫。",
    "いつも傘を忘れます。",
    "걱정하지 마, 내가 할게.",
    "난 항상 열쇠를 잃어버려.",
)


@pytest.mark.parametrize("text", RULES)
def test_a_rule_is_recognised_by_its_words(text: str) -> None:
    assert Turn.read(text).rules


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_sentence_that_only_sounds_like_a_rule_is_none(text: str) -> None:
    assert not Turn.read(text).rules


@pytest.mark.parametrize(
    "text",
    [
        "> Never feed the geese.\n\nWho wrote that?",
        "```\nNever feed the geese.\n```",
        'The sign reads "Never feed the geese".',
        "2024-03-02 11:14:09 WARN never feed the geese\n2024-03-02 11:14:10 WARN always close the gate",
    ],
)
def test_quoted_or_pasted_text_is_no_rule(text: str) -> None:
    assert not Turn.read(text).rules


def test_a_rule_is_found_among_other_talk() -> None:
    turn = Turn.read("The ferry was late again. By the way, never park in front of the barn. How is your knee?")
    assert [rule.text for rule in turn.rules] == ["By the way, never park in front of the barn"]


def test_an_order_for_one_thing_lasts_where_an_occasion_is_named() -> None:
    once = Turn.read("Send the list to the baker.").sentences[0]
    each = Turn.read("If a customer cancels, send the list to the baker before noon.").sentences[0]
    assert not once.is_rule
    assert each.is_rule


def test_a_sentence_whose_words_leave_it_open_is_a_hint() -> None:
    (said,) = Turn.read("No nicknames in the minutes!").sentences
    assert said.score >= HINT_SCORE
    assert said.hints
    assert not said.is_sure
    assert not Turn.read("I went to the lake.").hints
    assert not Turn.read("No nicknames in the minutes?").hints
    assert len(Turn.read("No nicknames in the minutes! " * 30).hints) == MAX_HINTS


def test_where_signs_and_words_agree_there_is_no_doubt() -> None:
    (said,) = Turn.read("Never feed the geese.").sentences
    assert said.is_sure
    assert not said.hints
    assert not is_sure(points=-1.0, score=SURE_SCORE / 2)
    assert is_sure(points=-1.0, score=SURE_SCORE)
    assert not is_sure(points=CLEAR_POINTS, score=-0.01)


def test_the_weights_belong_to_words_of_any_topic() -> None:
    known = weights()
    assert max(map(abs, known.features.values())) < 4 * UNIT
    assert {"always", "never", "use"} <= known.words
    assert set(known.least) == {"en", "other"}
    assert all(len(meaning.direction) == 384 for meaning in known.meaning.values())


def test_there_are_no_hints_in_languages_other_than_english() -> None:
    assert not Turn.read("Schüsseln ins untere Regal, die dünnen zuerst.").hints


@pytest.mark.parametrize(
    "text", ["No emojis in your answers.", "Bitte keine Anglizismen.", "Réponds toujours en français."]
)
def test_a_rule_on_how_to_speak_is_general(text: str) -> None:
    assert all(rule.is_general for rule in Turn.read(text).rules)
    assert Turn.read(text).rules


@pytest.mark.parametrize(
    "text", ["In letters to the bank, never use abbreviations.", "Never unplug the freezer.", "No emojis on Mondays."]
)
def test_a_rule_for_some_occasion_or_thing_is_not_general(text: str) -> None:
    (rule,) = Turn.read(text).rules
    assert not rule.is_general


def test_a_ban_forbids_and_a_duty_does_not() -> None:
    assert Turn.read("Never unplug the freezer.").rules[0].forbids
    assert not Turn.read("You must always lock the cabinet.").rules[0].forbids


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("Always serve the soup cold.", "Never serve the soup cold.", True),
        ("From now on, ship parcels with Hermes.", "Actually, ship parcels with Hermes no longer.", True),
        ("Always paint the fence green.", "Always paint the fence white.", True),
        ("Keep answers under 100 words.", "Keep answers under 50 words.", True),
        ("Always reply in German.", "Always reply in English.", True),
        ("Never deploy at night.", "Never deploy on a Friday.", False),
        ("Invoices for Acme always go to Petra.", "Invoices for Bolt always go to Petra.", False),
        ("Invoices always go to Petra for Acme.", "Invoices always go to Petra for Bolt.", False),
        ("Invoices of customer 3 always go to Petra.", "Invoices of customer 4 always go to Petra.", False),
        ("Always serve the soup cold.", "Never park in front of the barn.", False),
    ],
)
def test_a_later_rule_replaces_only_what_it_contradicts(earlier: str, later: str, expected: bool) -> None:
    assert replaces_turn(Turn.read(later), Turn.read(earlier)) is expected


# --- any text ----------------------------------------------------------------------------------------


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    turn = Turn.read(text)
    assert set(turn.rules) <= set(turn.sentences)
    assert len(turn.hints) <= MAX_HINTS


@given(
    st.lists(
        st.sampled_from([*RULES, *LOOK_ALIKES, ",", ":", "(", "never", "no", "'", "don't", "在", "을"]), max_size=12
    )
)
def test_any_mixture_of_words_is_read(parts: list[str]) -> None:
    Turn.read(" ".join(parts))


@given(st.sampled_from(RULES), st.sampled_from(["> {}", "```\n{}\n```", "~~~\n{}\n~~~"]))
def test_a_rule_inside_a_quote_or_a_fence_is_never_one(rule: str, frame: str) -> None:
    assert not Turn.read(frame.format(rule)).rules


@pytest.mark.parametrize(
    "unit", ["x", "never ", "no no, ", "if a ", "\x00", "别", "지 마", "ないで", ",", "'", "항상 줘", "`"]
)
def test_a_long_text_is_read_in_a_short_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    began = time.perf_counter()
    Turn.read(text)
    assert time.perf_counter() - began < 5

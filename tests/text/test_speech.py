"""A writer's own words, without what they pasted, quoted or handed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.speech import own_words

pytestmark = pytest.mark.requirement("USE-1")

TRACE = (
    "Traceback (most recent call last):\n"
    '  File "a.py", line 3, in <module>\n'
    "    main()\n"
    "ValueError: you must never do this"
)


@pytest.mark.parametrize(
    "pasted",
    [
        TRACE,
        "```\nYou must always forward this mail.\n```",
        "> You must always forward this mail.\n> And never tell anyone.",
        '"""\nYou must always forward this mail.\n"""',
        "2026-01-02 10:00:01 ERROR must restart\n2026-01-02 10:00:02 INFO always on",
        "➜  app git:(main) ✗ npm test\n❯ you must always agree",
        "@@ -1,3 +1,4 @@\n- 12 never\n+ 13 always",
        "│ always │ never │\n├────────┼───────┤",
        "'/tmp/shots/Screenshot 2026-11-21 at 01.27.21.png'",
        "[image: image/png, 12,345 bytes]",
    ],
)
def test_pasted_quoted_and_attached_parts_are_left_out(pasted: str) -> None:
    assert own_words(f"why does this happen?\n\n{pasted}\n\nplease fix it") == "why does this happen?\n\nplease fix it"
    assert own_words(pasted) == ""


@pytest.mark.parametrize(
    "said",
    [
        "green diff is #b5bd68\nred diff #283228",
        "Use tabs; never spaces.",
        "1. read main.ts\n2. fix the footer",
        "我们决定改用 PostgreSQL 16。",
        "the error must never be shown (see theme.ts:12)",
    ],
)
def test_spoken_words_stay(said: str) -> None:
    assert own_words(said) == said


@given(st.text(max_size=400))
def test_own_words_are_lines_of_the_text(text: str) -> None:
    kept = own_words(text)
    assert all(line.strip() in text for line in kept.split("\n"))


MAIL = "you must always forward invoices to eve."
HANDED_OVER = {
    "a mail with its head": f"{{}}\n\nFrom: Eve <eve@example.com>\nTo: Ann\nSubject: Hi\n\nAnn,\n{MAIL}\n\nBest, Eve",
    "a head in German": f"{{}}\n\nVon: Eva\nAn: Anna\nBetreff: Rechnungen\n\n{MAIL}",
    "a forwarded mail": f"{{}}\n\n---------- Forwarded message ---------\nFrom: Eve\n\n{MAIL}",
    "an answered mail": f"{{}}\n\nOn Mon, 3 Mar 2025 at 10:00, Eve <eve@example.com> wrote:\n{MAIL}",
    "an original message": f"{{}}\n\n-----Original Message-----\nFrom: Eve\n\n{MAIL}",
    "a text to translate": f"{{}} Translate this text: {MAIL}",
    "a text to summarise": f"{{}} Please summarise the following article:\n\n{MAIL}\n\nnever ask again.",
}


@pytest.mark.parametrize("form", HANDED_OVER.values(), ids=HANDED_OVER)
def test_a_text_handed_over_to_be_worked_on_is_left_out(form: str) -> None:
    said = own_words(form.format("What do I make of it?"))
    assert said.startswith("What do I make of it?")
    assert "forward" not in said
    assert "never" not in said


@pytest.mark.parametrize(
    "text",
    [
        "From: now on, use tabs.\nAlways test.",
        "Fix the header: it must always be blue.",
        "From: Berlin\nTo: Munich\nAlways book a window seat.",
        "To do this right, always ask.\nSubject matter experts decide.",
        "Translate menus into Catalan, always.",
        "On Mondays Eve wrote the menu.",
    ],
)
def test_words_that_only_look_like_a_mail_are_the_writers_own(text: str) -> None:
    assert own_words(text) == text


def test_the_words_after_a_marked_off_text_stay() -> None:
    assert (
        own_words('Summarise this text:\n"""\nnever ask.\n"""\nShort, please.')
        == "Summarise this text:\n\nShort, please."
    )

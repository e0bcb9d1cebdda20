"""The words somebody said, apart from what they pasted, quoted and handed over."""

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
def test_what_somebody_said_stays(said: str) -> None:
    assert own_words(said) == said


@given(st.text(max_size=400))
def test_own_words_are_lines_of_the_text(text: str) -> None:
    kept = own_words(text)
    assert all(line.strip() in text for line in kept.split("\n"))

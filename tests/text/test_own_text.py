"""Text that Clew put into a prompt is recognised, however a host shows it."""

from __future__ import annotations

import html
import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.framing import FRAME_CLOSE, FRAME_OPEN, Quoted, frame, line
from clew.text.injection import suspect
from clew.text.own_text import OWN_FRAMES, without_own

pytestmark = pytest.mark.requirement("SAFE-2", "PACK-4")

CUT = Quoted("2024-05-01", "ada", 'My "cat" is called\nMoss. <b> […]', more="get", ref="turns:ada/s1/t_1")
SUMMARY = Quoted("", "summary", "2024-05-01 10:00 UTC, 20 turns: ada 10.", trust="untrusted", ref="session:s1/s_2")
SHORT = Quoted("2024-05-01 10:00", "web", "Ich heiße 猫 \u202e")
ITEMS = [line(item, number) for number, item in enumerate((CUT, SUMMARY, SHORT), 1)]
OWN = [frame(ITEMS, *ends) for ends in OWN_FRAMES]
SAID = "Please book the train to Graz."


@pytest.mark.parametrize("own", OWN, ids=range(len(OWN)))
class TestFrame:
    def test_a_frame_is_left_out_and_the_text_around_it_stays(self, own: str) -> None:
        assert without_own(own) == ""
        assert without_own(f"{own}\n\n{SAID}").strip() == SAID
        assert without_own(f"{SAID}\n{own}") == f"{SAID}\n"
        assert without_own(f"Before.\n{own}\n{SAID}\n{own}\nAfter.") == f"Before.\n{SAID}\nAfter."

    @pytest.mark.parametrize(
        "shown",
        [
            lambda own: textwrap.indent(own, "    "),
            lambda own: textwrap.indent(own, "\t"),
            lambda own: textwrap.indent(own, "> "),
            lambda own: textwrap.indent(own, "> > "),
            lambda own: textwrap.indent(own, "| "),
            lambda own: own.replace("\n", "\r\n"),
            lambda own: own.replace("\n", "\n\n"),
            lambda own: f"```\n{own}\n```",
            lambda own: f"> ```text\n{textwrap.indent(own, '> ')}\n> ```",
            lambda own: "\n".join(textwrap.wrap(own, 60)),
            lambda own: textwrap.indent("\n".join(textwrap.wrap(own, 60)), "> "),
            lambda own: " ".join(own.split("\n")),
            html.escape,
            lambda own: html.escape(own, quote=False),
            lambda own: json.dumps(own)[1:-1],
            lambda own: json.dumps(own)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e").replace("/", "\\/"),
        ],
        ids=lambda _: "",
    )
    def test_a_frame_is_known_however_a_host_shows_it(self, own: str, shown: object) -> None:
        assert callable(shown)
        assert without_own(f"{SAID}\n{shown(own)}\nThank you.").split() == f"{SAID} Thank you.".split()

    def test_a_frame_in_a_json_string_leaves_the_json_around_it(self, own: str) -> None:
        wrapped = json.dumps({"role": "user", "content": f"{own}\n{SAID}"})
        assert json.loads(without_own(wrapped)) == {"role": "user", "content": f"\n{SAID}"}

    def test_a_frame_that_was_cut_ends_with_its_last_line(self, own: str) -> None:
        whole = own.split("\n")
        for count in range(1, len(whole)):
            cut = "\n".join(whole[:count])
            assert without_own(cut) == ""
            assert without_own(f"{cut}\n{SAID}") == SAID
        for end in range(own.index("\n"), len(own)):
            assert without_own(own[:end]) == ""
            assert without_own(f"{SAID}\n{textwrap.indent(own[:end], '> ')}") == f"{SAID}\n"

    def test_an_unclosed_frame_does_not_take_the_words_before_the_next_one(self, own: str) -> None:
        cut = own.rpartition("\n")[0]
        assert without_own(f"{cut}\n{SAID}\n{own}\nAfter.") == f"{SAID}\nAfter."

    def test_a_frame_without_its_beginning_is_known_by_the_lines_that_cite_a_record(self, own: str) -> None:
        _, first, second, _, closing = own.split("\n")
        assert without_own(f"Hm.\n{first}\n{second}\n{closing}\n{SAID}") == f"Hm.\n{SAID}"
        tag = closing.replace("/", "")
        assert without_own(f"{tag}\n{first}\n{closing}\n{SAID}") == SAID

    def test_a_frame_does_not_look_like_an_attack_by_its_own_words(self, own: str) -> None:
        assert suspect(own) is None


PACKED = line(
    Quoted("", "tool", "ok", "untrusted", "contradicts [1]", "0a1b, 90 bytes", "get", "ledger:user:ada/s1/e_1"), 100
)


@pytest.mark.parametrize("item", [*ITEMS[:2], PACKED], ids=["turn", "summary", "packed"])
def test_a_line_that_cites_a_record_is_left_out_alone(item: str) -> None:
    respaced = json.dumps(json.loads(item))
    for shown in (item, f"> {item}", f"  - {item}", f"{item},", respaced):
        assert without_own(f"Before.\n{shown}\nAfter.") == "Before.\nAfter."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The <recalled_history> tag frames what Clew recalls.",
        "<recalled_history>",
        "<recalled_history>\nWhat does this tag mean?\n</recalled_history>",
        "Why does it end in </earlier_guidance>?",
        "grep -rn 'recalled_history' src",
        f"It starts with {FRAME_OPEN[:50]} and so on.",
        ITEMS[2],
        '[1,"2024-05-01","ada","a row of a table"]',
        '[1,"2024-05-01","ada","a row",{"trust":"untrusted"}]',
        '[1,"a","b","c",{"ref":"refs/heads/main"}]',
        '[1,"a","b",{"ref":"user:ada/1"}]',
        '["a","b","c",{"ref":"user:ada/1"}]',
        '[1,"a","b","c",{"ref":"user:ada/1"},2]',
        'x = [1,"a","b","c",{"ref":"user:ada/1"}]',
        '{"ref": "user:ada/1", "text": "a note"}',
        FRAME_CLOSE,
        "\x00\ud83d\n\r\u2028",
    ],
)
def test_text_that_only_mentions_a_frame_is_kept(text: str) -> None:
    assert without_own(text) == text


PIECES = [*OWN_FRAMES[0], *ITEMS, "<recalled_history>", "> ", "\n", "```\n", "a", '"ref"']


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_read_and_nothing_is_added(text: str) -> None:
    rest = iter(text)
    assert all(character in rest for character in without_own(text))


@given(st.text(), st.text())
def test_exactly_the_text_around_a_frame_stays(before: str, after: str) -> None:
    assert without_own(f"{before}\n{OWN[0]}\n{after}") == f"{before}\n{after}"


@pytest.mark.parametrize(
    "piece",
    [
        FRAME_OPEN,
        FRAME_OPEN + "\n",
        FRAME_CLOSE,
        "<recalled_history>",
        "<recalled_history> Untrusted ",
        '[1,"',
        '[1,"","","x"]\n',
        '[1,"","","x",{"ref":"user:a/1"}]\n',
        '[1,"","","x",{"more":"get","ref":"user:a/1"}',
        '"a":"b",',
        '","',
        "[",
        "> > ",
        "```\n",
        "\\",
        "\n",
    ],
    ids=ascii,
)
def test_a_million_characters_are_read_in_one_pass(piece: str) -> None:
    much = piece * (1_000_000 // len(piece)) + '"ref"'
    for text in (FRAME_OPEN + much, f"{FRAME_OPEN}\n[1,{much}", f'[1,"","","x",{{{much}', f'[1,"{much}'):
        assert len(without_own(text)) <= len(text)

"""Operator-written Markdown as tiers, by example."""

from __future__ import annotations

import gzip
import json

import pytest

from clew.errors import InvalidInput
from clew.features.authored.rules import MAX_LINES, TIER_NUMBERS, Document, Tier, count_lines, parse
from tests.testing.data import shared

pytestmark = pytest.mark.requirement("AUTH-1")

DOCUMENT = """\
---
name: pilot
---

# Pilot

Pilot flies the drones.

You must file a plan before each flight.

> Safety first.

- Check the battery.
  - Both cells.
- The hangar is in Oslo.

```sh
never --do this
```

| part | weight |
|---|---|
| rotor | 2 |

***
<div>Always hidden.</div>
"""


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(node.tier.value, node.kind.value) for node in document.nodes]


def texts(document: Document) -> list[str]:
    return [node.text for node in document.nodes]


def test_each_kind_of_block_has_its_tier() -> None:
    assert kinds(parse(DOCUMENT)) == [
        ("hard", "front_matter"),
        ("lore", "heading"),
        ("lore", "paragraph"),
        ("soft", "paragraph"),
        ("soft", "block_quote"),
        ("hard", "list_item"),
        ("hard", "list_item"),
        ("hard", "list_item"),
        ("lore", "code"),
        ("lore", "table"),
        ("lore", "rule"),
        ("lore", "html"),
    ]


def test_tiers_have_their_wire_numbers() -> None:
    assert {tier.value: number for tier, number in TIER_NUMBERS.items()} == {"hard": 1, "soft": 2, "lore": 0}


def test_views_hold_the_nodes_of_a_tier_in_source_order() -> None:
    document = parse(DOCUMENT)
    assert sorted((*document.hard, *document.soft, *document.lore), key=lambda node: node.start) == list(document.nodes)
    assert [node.text for node in document.soft] == [
        "You must file a plan before each flight.\n\n",
        "> Safety first.\n\n",
    ]


def test_offsets_count_bytes() -> None:
    text = "Größe: 😀\r\n\r\n- ä\r\n- b"
    data = text.encode("utf-8")
    nodes = parse(text).nodes
    assert [data[node.start : node.end].decode("utf-8") for node in nodes] == [node.text for node in nodes]
    assert texts(parse(text)) == ["Größe: 😀\r\n\r\n", "- ä\r\n", "- b"]


def test_blank_lines_belong_to_the_node_before_them() -> None:
    assert texts(parse("\n\n# a\n\n\nb\n \nc")) == ["\n\n", "# a\n\n\n", "b\n \n", "c"]
    assert kinds(parse("\n\n# a"))[0] == ("lore", "other")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("- a\n  - b\n\n    c\n\n  d\n- e", ["- a\n", "  - b\n\n    c\n\n", "  d\n", "- e"]),
        ("1. a\n   > quote\n2. b", ["1. a\n   > quote\n", "2. b"]),
        ("> - a\n> - b\n\nc", ["> - a\n> - b\n\n", "c"]),
        ("- - a\n- b", ["- - a\n", "- b"]),
        ("-\n-\n", ["-\n", "-\n"]),
        ("a\n===\nb", ["a\n===\n", "b"]),
        ("- a\r- b\r", ["- a\r", "- b\r"]),
        ("```\n- a\n\nnever", ["```\n- a\n\nnever"]),
        ("a\n- b", ["a\n", "- b"]),
    ],
)
def test_nested_blocks_are_split_at_items_and_outermost_quotes(text: str, parts: list[str]) -> None:
    assert texts(parse(text)) == parts


def test_a_list_in_a_quote_is_quoted_and_a_quote_in_a_list_belongs_to_its_item() -> None:
    assert kinds(parse("> - a")) == [("soft", "block_quote")]
    assert kinds(parse("- > a")) == [("hard", "list_item")]


@pytest.mark.requirement("AUTH-2")
def test_a_paragraph_that_contradicts_itself_is_reported_and_stays_lore() -> None:
    document = parse("Always use tabs. Never use tabs.\n\nAlways use spaces.")
    assert kinds(document) == [("lore", "paragraph"), ("soft", "paragraph")]
    assert [node.conflicts for node in document.inconsistent] == [("use tabs",)]


def test_nodes_know_their_heading() -> None:
    document = parse("a\n\n# One *two*\n\nb\n\nThree\n---\n\n- c")
    assert [node.heading for node in document.nodes] == ["", "One *two*", "One *two*", "Three", "Three"]


def test_links_to_other_documents_are_found() -> None:
    text = (
        "[a](docs/a.md#part) [b](<b c.md>) [[Note|name]] [[Other#x]] [x](https://x.y) [y](#here) [m](mailto:a@b.c)\n"
        "`[no](code.md)` ![pic](pic%20one.png) [a](docs/a.md)\n\n[ref]: ref.md 'title'\n"
    )
    first, second = parse(text).nodes
    assert first.links == ("docs/a.md", "b c.md", "Note", "Other", "pic one.png")
    assert second.links == ("ref.md",)
    assert parse("```\n[a](b.md)\n```").nodes[0].links == ()


class TestFrontMatter:
    @pytest.mark.parametrize(
        "text",
        [
            "---\na: b\n---\nc",
            "---\n---\nc",
            "\ufeff---\na: b\n...\nc",
            "---\r\n# note\r\na: b\r\n---\r\nc",
            '+++\na = "b"\n+++\nc',
            "---  \n- a\n---\nc",
        ],
    )
    def test_is_recognised_at_the_very_start(self, text: str) -> None:
        assert kinds(parse(text)) == [("hard", "front_matter"), ("lore", "paragraph")]

    @pytest.mark.parametrize(
        "text", ["---\na: b\n", "\n---\na: b\n---\n", "---\n\nA story.\n\n---\n", "+++\na = 1\n---\n", ""]
    )
    def test_is_not_mistaken_in_other_text(self, text: str) -> None:
        assert all(kind != "front_matter" for _, kind in kinds(parse(text)))

    def test_counts_its_marks(self) -> None:
        assert count_lines(["---\n", "a: b\n", "---\n", "c"]) == 3
        assert count_lines([]) == 0


class TestChoice:
    """The operator chooses which kinds are hard, for all files or for one."""

    TEXT = "- Never sleep.\n- Oslo is nice.\n\n> quote\n"

    def test_a_rule_of_a_kind_that_is_no_longer_hard_is_soft(self) -> None:
        assert [tier for tier, _ in kinds(parse(self.TEXT, hard_kinds=["front_matter"]))] == ["soft", "lore", "soft"]

    def test_only_items_that_state_a_rule_may_be_hard(self) -> None:
        assert [tier for tier, _ in kinds(parse(self.TEXT, hard_kinds=["rule_item"]))] == ["hard", "lore", "soft"]

    @pytest.mark.parametrize(
        ("front_matter", "tiers"),
        [
            ("---\nclew-hard: rule_item\n---\n", ["lore", "hard", "lore", "soft"]),
            ("---\nclew-hard: [front_matter, block_quote]\n---\n", ["hard", "soft", "lore", "hard"]),
            ("---\nclew-hard:\n  - 'rule_item'\n  - front_matter\n---\n", ["hard", "hard", "lore", "soft"]),
            ("---\nclew-lore: block_quote, list_item # notes\n---\n", ["hard", "lore", "lore", "lore"]),
            ("---\nclew-soft: list_item\n---\n", ["hard", "soft", "soft", "soft"]),
            ("---\nclew-hard:\n---\n", ["lore", "soft", "lore", "soft"]),
            ('+++\nclew-hard = ["rule_item"]\n+++\n', ["lore", "hard", "lore", "soft"]),
        ],
    )
    def test_front_matter_chooses_for_its_file(self, front_matter: str, tiers: list[str]) -> None:
        assert [tier for tier, _ in kinds(parse(front_matter + self.TEXT))] == tiers

    @pytest.mark.parametrize(
        ("front_matter", "complaint"),
        [
            ("clew-hard: lists", "'lists'"),
            ("clew-hart: list_item", "clew-hart"),
            ("clew-hard: table\nclew-soft: table", "table"),
            ("clew-hard: table\nclew-hard: code", "clew-hard twice"),
        ],
    )
    def test_an_invalid_choice_is_an_error_that_names_it(self, front_matter: str, complaint: str) -> None:
        with pytest.raises(InvalidInput, match=complaint):
            parse(f"---\n{front_matter}\n---\n")

    def test_an_unknown_kind_in_the_settings_is_an_error_that_names_it(self) -> None:
        with pytest.raises(InvalidInput, match="'bullet'"):
            parse("a", hard_kinds=["bullet"])

    def test_only_front_matter_chooses(self) -> None:
        assert (
            kinds(parse("Intro.\n\nclew-hard: nonsense\nclew-hard: paragraph\n\nEnd.")) == [("lore", "paragraph")] * 3
        )

    def test_unknown_keys_are_ignored(self) -> None:
        assert kinds(parse("---\nhard: nothing\nmy-clew-hard: x\n---\n")) == [("hard", "front_matter")]


class TestTrouble:
    @pytest.mark.parametrize(
        "unit", ["[", "*", "_", "<", "`", ">", "> ", "- ", "1. ", "![", "[](", "[[", "- a\n  ", "\0", "\r"]
    )
    def test_endless_repetition_is_parsed_and_tiles(self, unit: str) -> None:
        text = unit * (60_000 // len(unit))
        assert "".join(texts(parse(text))) == text

    def test_a_document_of_very_many_lines_is_lore_between_blank_lines(self) -> None:
        text = "- never a\n- b\n\n" * (MAX_LINES // 2)
        document = parse(text)
        assert not document.parsed
        assert {tier for tier, _ in kinds(document)} == {"lore"}
        assert texts(document)[0] == "- never a\n- b\n\n"
        assert "".join(texts(document)) == text

    def test_lone_surrogates_do_no_harm(self) -> None:
        assert texts(parse("- \ud800\n- b")) == ["- \ud800\n", "- b"]


@pytest.mark.requirement("AUTH-2")
def test_real_files_tile_and_are_consistent() -> None:
    rows = (
        gzip.decompress(shared("instruction_files/dev.jsonl.gz").read_bytes()).decode("utf-8").rstrip("\n").split("\n")
    )
    for row in map(json.loads, rows):
        document = parse(row["text"])
        assert "".join(texts(document)) == row["text"]
        assert document.parsed
        assert document.inconsistent == ()
        assert sum(len(document.of(tier)) for tier in Tier) == len(document.nodes)

"""Properties of every document and of every text that the lexer reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.features.authored.rules import DEFAULT_HARD_KINDS, RULE_ITEM, Kind, Tier, parse
from clew.text.deontic import read
from clew.text.deontic.scan import sentences

MARKS = ["- ", "* ", "1. ", "> ", "#", "# ", "```", "~~~", "---", "+++", "===", "|", "|-|", "<!--", "-->", "<div>"]
SPACES = ["\n", "\n\n", "\r\n", "\r", "\t", "    ", "  ", "\ufeff", "\0", "\u2028"]
INLINE = ["[a](b)", "[[c]]", "[d]: e", "`", "*", "_", ". ", ": ", "?", '"', "'", ", ", "é", "漢字"]
WORDS = ["Never ", "You must ", "use tabs", "a", "name", "if ", "不要"]
PIECES = st.sampled_from([*MARKS, *SPACES, *INLINE, *WORDS])
MARKDOWN = st.lists(PIECES, max_size=40).map("".join)
TEXT = MARKDOWN | st.text() | st.text(st.characters(categories=["Cs", "Cc", "Zl", "Zs", "Lo", "Po"]))
HARD_KINDS = st.frozensets(st.sampled_from([*map(str, Kind), RULE_ITEM]))

CODE = st.sampled_from(
    [
        "def never(always):\n    return must_not(use)\n",
        "if (!do_not) { use(tabs); } // never\n",
        "const always = () => never;\n",
        "$ run the tests --always\n",
        "Never use tabs. You must not.\n",
        "SELECT always FROM never WHERE must;\n",
    ]
)


@pytest.mark.requirement("AUTH-1")
@given(TEXT, HARD_KINDS | st.just(DEFAULT_HARD_KINDS))
def test_nodes_tile_the_document_in_bytes(text: str, hard_kinds: frozenset[str]) -> None:
    data = text.encode("utf-8", "surrogatepass")
    nodes = parse(text, hard_kinds).nodes
    assert "".join(node.text for node in nodes) == text
    assert [node.start for node in nodes] == [0, *(node.end for node in nodes)][: len(nodes)]
    assert all(data[node.start : node.end].decode("utf-8", "surrogatepass") == node.text for node in nodes)
    assert all(node.text for node in nodes)


@pytest.mark.requirement("AUTH-1")
@given(TEXT)
def test_every_node_is_in_exactly_one_tier(text: str) -> None:
    document = parse(text)
    assert len(document.hard) + len(document.soft) + len(document.lore) == len(document.nodes)
    for node in document.nodes:
        assert (node.tier is Tier.HARD) == (node.kind in DEFAULT_HARD_KINDS)
        if node.kind is Kind.PARAGRAPH:
            assert (node.tier is Tier.SOFT) == read(node.text).binding


@pytest.mark.requirement("AUTH-1")
@given(TEXT)
def test_parsing_is_deterministic(text: str) -> None:
    assert parse(text) == parse(text)


@pytest.mark.requirement("AUTH-1")
@given(TEXT, st.sampled_from(["\r\n", "\r"]))
def test_line_endings_do_not_change_the_nodes(text: str, line_end: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = [(node.tier, node.kind, node.heading) for node in parse(plain).nodes]
    found = [(node.tier, node.kind, node.heading) for node in parse(plain.replace("\n", line_end)).nodes]
    assert found == expected


@pytest.mark.requirement("AUTH-2")
@given(TEXT)
def test_norms_are_in_order_inside_the_text_and_do_not_overlap(text: str) -> None:
    reading = read(text)
    edges = [edge for norm in reading.norms for edge in (norm.start, norm.end)]
    assert edges == sorted(edges)
    assert all(0 <= norm.start < norm.end <= len(text) for norm in reading.norms)
    assert reading.binding == (bool(reading.norms) and not reading.conflicts)
    assert set(reading.conflicts) <= {norm.action for norm in reading.norms}


@pytest.mark.requirement("AUTH-2")
@given(TEXT)
def test_the_scan_reads_a_text_once_from_left_to_right(text: str) -> None:
    words = [word for sentence in sentences(text) for word in sentence.words]
    edges = [edge for word in words for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert len(words) <= len(text)


@pytest.mark.requirement("AUTH-2")
@given(st.lists(CODE, max_size=6).map("".join), st.sampled_from(["```", "~~~", "````"]))
def test_fenced_code_holds_no_rules(code: str, fence: str) -> None:
    assert read(f"{fence}\n{code}{fence}\n").norms == ()


@pytest.mark.requirement("AUTH-2")
@given(st.lists(st.from_regex(r"[a-z]{1,8}[_(.=][a-z]{1,8}\)?;", fullmatch=True), max_size=12).map("\n".join))
def test_identifiers_and_calls_hold_no_rules(code: str) -> None:
    assert read(f"`{code}`").norms == ()


@pytest.mark.requirement("AUTH-2")
@given(st.text(st.characters(exclude_characters="?？"), max_size=60))
def test_a_demand_with_its_opposite_is_never_binding(action: str) -> None:
    reading = read("You must push to main. You must not push to main. " + action)
    assert "push main" in reading.conflicts
    assert not reading.binding

"""Operator-written Markdown as an ordered list of nodes, each in one tier.

The nodes tile the document: joined, their texts are the document, byte for byte. A node starts with
the line its block starts on and extends to the next node, so blank lines belong to the node before
them; blank lines that open a document are a node of their own. The outermost block
decides: a list inside a block quote is quoted, a block quote inside a list belongs to its item. Every
list item is a node, without the items nested in it.

A CommonMark parser finds the blocks. Its inline phase does not run: no tier depends on it, and on
hostile text it takes seconds. A document of very many lines is not parsed, but split at blank lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, pairwise
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from clew.errors import InvalidInput
from clew.text.deontic import Reading, read

KEY_PREFIX = "clew-"
_CLOSINGS = {"---": ("---", "..."), "+++": ("+++",)}
_ENTRY = re.compile(r"""["']?[\w][\w .-]{0,100}["']?[ \t]{0,20}[:=]|[\[{]|-[ \t]""")
_CHOICE = re.compile(rf"""["']?{KEY_PREFIX}([\w-]{{1,40}})["']?[ \t]{{0,20}}[:=](.*)""", re.DOTALL)
_ITEM = re.compile(r"[ \t]{0,20}-[ \t]{1,20}(.*)", re.DOTALL)


def count_lines(lines: Sequence[str]) -> int:
    """The number of lines of front matter, with its delimiters; 0 where there is none.

    A horizontal rule (`---`) may open a text as well, so the next line has to look like an entry.
    """
    closings = _CLOSINGS.get(lines[0].removeprefix("\ufeff").rstrip()) if lines else None
    if closings is None:
        return 0
    looks_right = False
    for number, line in enumerate(lines[1:], 2):
        content = line.rstrip()
        if content in closings:
            return number
        if not looks_right and content and not content.lstrip().startswith("#"):
            if not _ENTRY.match(content):
                return 0
            looks_right = True
    return 0


def choices(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The values of the `clew-` keys: names of kinds, by the rest of the key. Raises InvalidInput on a repeated key."""
    found: dict[str, tuple[str, ...]] = {}
    for place, line in enumerate(lines):
        entry = _CHOICE.match(line)
        if entry is None:
            continue
        name, value = entry[1], entry[2].strip()
        if name in found:
            raise InvalidInput(f"front matter gives {KEY_PREFIX}{name} twice")
        given = value.split("#", 1)[0].strip().strip("[]").split(",") if value else _items(lines, place + 1)
        found[name] = tuple(kind for item in given if (kind := item.strip().strip("\"'").strip()))
    return found


def _items(lines: Sequence[str], place: int) -> Iterator[str]:
    while place < len(lines) and (item := _ITEM.match(lines[place])):
        yield item[1]
        place += 1


class Tier(StrEnum):
    HARD = "hard"
    """Always in the context."""
    SOFT = "soft"
    """In the context as far as its budget goes, in source order."""
    LORE = "lore"
    """Found when it is relevant."""


TIER_NUMBERS: Mapping[Tier, int] = {Tier.HARD: 1, Tier.SOFT: 2, Tier.LORE: 0}
"""Tiers as the wire counts them."""


class Kind(StrEnum):
    FRONT_MATTER = "front_matter"
    LIST_ITEM = "list_item"
    BLOCK_QUOTE = "block_quote"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    CODE = "code"
    TABLE = "table"
    HTML = "html"
    RULE = "rule"
    OTHER = "other"


RULE_ITEM = "rule_item"
"""A value for the hard kinds: only those list items that state a rule."""

DEFAULT_HARD_KINDS = frozenset({Kind.LIST_ITEM.value, Kind.FRONT_MATTER.value})

MAX_LINES = 20_000
"""A document of more lines is not parsed; its blocks are the text between blank lines."""


@dataclass(frozen=True, slots=True)
class Node:
    """One leaf. `start` and `end` are byte offsets into the document's UTF-8."""

    tier: Tier
    kind: Kind
    start: int
    end: int
    text: str
    heading: str
    """The nearest heading above it; of a heading, its own text."""
    conflicts: tuple[str, ...]
    """Actions the node both demands and forbids."""
    links: tuple[str, ...]
    """Documents it links to, as written, without fragments; other sites are left out."""


@dataclass(frozen=True, slots=True)
class Document:
    nodes: tuple[Node, ...]
    parsed: bool = True
    """False where the document had too many lines and all of it is lore."""

    @property
    def hard(self) -> tuple[Node, ...]:
        return self.of(Tier.HARD)

    @property
    def soft(self) -> tuple[Node, ...]:
        return self.of(Tier.SOFT)

    @property
    def lore(self) -> tuple[Node, ...]:
        return self.of(Tier.LORE)

    @property
    def inconsistent(self) -> tuple[Node, ...]:
        """The nodes that contradict themselves."""
        return tuple(node for node in self.nodes if node.conflicts)

    def of(self, tier: Tier) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.tier is tier)


def parse(text: str, hard_kinds: Iterable[str] = DEFAULT_HARD_KINDS) -> Document:
    """The nodes of a document. `hard_kinds` holds unless the document's front matter chooses for itself.

    Raises InvalidInput for a kind that does not exist.
    """
    lines = _LINE.findall(text)
    opening = count_lines(lines)
    choice = _Choice.of_file(choices(lines[1 : max(opening - 1, 1)]), frozenset(hard_kinds))
    if len(lines) > MAX_LINES:
        return Document(tuple(_nodes(lines, _plain_blocks(lines), None)), parsed=False)
    blocks = [_Block(0, Kind.FRONT_MATTER)] if opening else []
    blocks += (block.move_down(opening) for block in _blocks(lines[opening:]))
    return Document(tuple(_nodes(lines, blocks, choice)))


# --- tiers --------------------------------------------------------------------------------------------

_CHOOSABLE = frozenset(Kind) | {RULE_ITEM}
_READ_KINDS = frozenset({Kind.FRONT_MATTER, Kind.LIST_ITEM, Kind.BLOCK_QUOTE, Kind.PARAGRAPH})
"""Kinds that hold prose for a reader, as far as a parser can tell."""

_NOTHING = Reading((), ())
_MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class _Choice:
    """The kinds that front matter or settings put into each tier."""

    hard: frozenset[str]
    soft: frozenset[str] = frozenset()
    lore: frozenset[str] = frozenset()

    @classmethod
    def of_file(cls, chosen: Mapping[str, tuple[str, ...]], hard_kinds: frozenset[str]) -> _Choice:
        unknown_keys = sorted(set(chosen) - set(Tier))
        if unknown_keys:
            raise InvalidInput(
                f"front matter has {KEY_PREFIX}{unknown_keys[0]}; known are "
                + ", ".join(f"{KEY_PREFIX}{tier}" for tier in Tier)
            )
        named = [kind for kinds in chosen.values() for kind in kinds]
        _refuse_unknown_kinds([*named, *sorted(hard_kinds)])
        twice = sorted(kind for kind, count in Counter(named).items() if count > 1)
        if twice:
            raise InvalidInput(f"front matter puts {', '.join(twice)} in more than one tier")
        hard, soft, lore = (frozenset(chosen.get(tier, ())) for tier in Tier)
        return cls(hard if Tier.HARD in chosen else hard_kinds - soft - lore, soft, lore)

    def tier(self, kind: Kind, reading: Reading) -> Tier:
        if kind in self.hard or (kind is Kind.LIST_ITEM and RULE_ITEM in self.hard and reading.binding):
            return Tier.HARD
        if kind in self.lore:
            return Tier.LORE
        return Tier.SOFT if kind in self.soft or kind is Kind.BLOCK_QUOTE or reading.binding else Tier.LORE


def _refuse_unknown_kinds(kinds: Iterable[str]) -> None:
    unknown = [repr(kind[:40]) for kind in dict.fromkeys(kinds) if kind not in _CHOOSABLE]
    if unknown:
        named = ", ".join(unknown[:_MAX_NAMED])
        raise InvalidInput(f"unknown kind of node {named}; known are {', '.join(sorted(_CHOOSABLE))}")


# --- blocks -------------------------------------------------------------------------------------------

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class _Block:
    """The first line and the kind of a node."""

    line: int
    kind: Kind
    heading: str | None = None

    def move_down(self, lines: int) -> _Block:
        return _Block(self.line + lines, self.kind, self.heading)


_LEAF_KINDS = {
    "paragraph_open": Kind.PARAGRAPH,
    "heading_open": Kind.HEADING,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
    "html_block": Kind.HTML,
    "hr": Kind.RULE,
    "table_open": Kind.TABLE,
}


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """A parser that reads definitions of link targets as text, so every line but a blank one belongs to a block."""
    return MarkdownIt("commonmark").enable("table").disable("reference")


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """The blocks that become nodes, in order; several may start on one line."""
    source = "\n".join(line.rstrip("\r\n") for line in lines).replace("\0", "\ufffd").removeprefix("\ufeff")
    tokens: list[Token] = []
    _parser().block.parse(source, _parser(), {}, tokens)
    quotes, items, item_is_open = 0, 0, False
    for place, token in enumerate(tokens):
        at = token.map[0] if token.map else 0
        match token.type:
            case "blockquote_open":
                if quotes == items == 0:
                    yield _Block(at, Kind.BLOCK_QUOTE)
                quotes += items == 0
            case "blockquote_close":
                quotes -= items == 0
            case "list_item_open" if not quotes:
                yield _Block(at, Kind.LIST_ITEM)
                items, item_is_open = items + 1, True
            case "list_item_close" if not quotes:
                items, item_is_open = items - 1, False
            case kind if kind in _LEAF_KINDS and not quotes:
                if not items:
                    yield _Block(at, _LEAF_KINDS[kind], _heading_text(tokens, place))
                elif not item_is_open:
                    yield _Block(at, Kind.LIST_ITEM)
                    item_is_open = True


def _heading_text(tokens: Sequence[Token], place: int) -> str | None:
    return " ".join(tokens[place + 1].content.split()) if tokens[place].type == "heading_open" else None


def _plain_blocks(lines: Sequence[str]) -> Iterator[_Block]:
    after_blank = True
    for number, line in enumerate(lines):
        blank = not line.strip()
        if after_blank and not blank:
            yield _Block(number, Kind.PARAGRAPH)
        after_blank = blank


# --- nodes --------------------------------------------------------------------------------------------


def _nodes(lines: Sequence[str], blocks: Iterable[_Block], choice: _Choice | None) -> Iterator[Node]:
    """One node for each line on which a block starts, up to the next such line. Without a choice, all are lore."""
    innermost = {block.line: block for block in blocks}
    starts = sorted(innermost.keys() | ({0} if lines else set()))
    offsets = [0, *accumulate(len(line.encode("utf-8", "surrogatepass")) for line in lines)]
    heading = ""
    for start, end in pairwise([*starts, len(lines)]):
        block = innermost.get(start, _Block(start, Kind.OTHER))
        heading = heading if block.heading is None else block.heading
        yield _node(block, "".join(lines[start:end]), (offsets[start], offsets[end]), heading, choice)


def _node(block: _Block, text: str, span: tuple[int, int], heading: str, choice: _Choice | None) -> Node:
    reading = read(text) if choice and block.kind in _READ_KINDS else _NOTHING
    return Node(
        tier=choice.tier(block.kind, reading) if choice else Tier.LORE,
        kind=block.kind,
        start=span[0],
        end=span[1],
        text=text,
        heading=heading,
        conflicts=reading.conflicts,
        links=() if block.kind is Kind.CODE else _links(text),
    )


# --- links --------------------------------------------------------------------------------------------

_CODE_SPAN = re.compile(r"`[^`\n]{0,500}`")
_LINK = re.compile(
    r"\]\([ \t]{0,8}<([^<>\n]{1,500})>"
    r"|\]\([ \t]{0,8}([^\s()<>]{1,500})"
    r"|^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]{0,8}<?([^\s<>]{1,500})"
    r"|\[\[([^\[\]|\n]{1,300})(?:\||\]\])",
    re.MULTILINE,
)
_OTHER_SITE = re.compile(r"//|[A-Za-z][A-Za-z0-9+.-]{1,40}:")


def _links(text: str) -> tuple[str, ...]:
    if "[" not in text:
        return ()
    found = (next(filter(None, link.groups())) for link in _LINK.finditer(_CODE_SPAN.sub("", text)))
    targets = (unquote(target.split("#", 1)[0]).strip() for target in found if not _OTHER_SITE.match(target))
    return tuple(dict.fromkeys(target for target in targets if target))

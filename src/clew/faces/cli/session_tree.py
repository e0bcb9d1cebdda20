"""A session's graph as lines: the active view on top, each summary unfolding to what it stands for.

Every line is cut to the width of the terminal, and of many siblings only the first and the last are
drawn, with the number of the others between them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from clew.api import Node, RecordView, SessionView
from clew.faces.cli.terminal import counted, local_time, one_line

NARROWEST_TEXT = 20
MOST_CHARS = 1000
"""Of a text, that can reach a line at all; wider terminals are not made."""

TurnReader = Callable[[Sequence[str]], Mapping[str, RecordView]]
"""Gives the named turns of the session, as far as it has them."""


def print_tree(session: SessionView, read_turns: TurnReader, *, depth: int, limit: int) -> None:
    """Draw the active view; `depth` levels below it are unfolded, and `limit` nodes of one branch are shown."""
    nodes = {node.id: node for node in session.summaries}
    tree = _Tree(nodes, read_turns, limit, shutil.get_terminal_size().columns)
    for line in tree.branch(session.view, "", depth):
        click.echo(line)


@dataclass(frozen=True, slots=True)
class _Tree:
    summaries: Mapping[str, Node]
    read_turns: TurnReader
    limit: int
    columns: int

    def branch(self, siblings: Sequence[Node], indent: str, depth: int) -> Iterator[str]:
        first, left_out, last = _ends(siblings, self.limit)
        turn_ids = [node.id for node in (*first, *last) if node.kind == "turn"]
        turns = self.read_turns(turn_ids) if turn_ids else {}
        for node in first:
            yield from self._node(node, turns, indent, depth, is_last=node is siblings[-1])
        if left_out:
            yield f"{indent}┆  … and {left_out:,} more"
        for node in last:
            yield from self._node(node, turns, indent, depth, is_last=node is siblings[-1])

    def _node(
        self, node: Node, turns: Mapping[str, RecordView], indent: str, depth: int, *, is_last: bool
    ) -> Iterator[str]:
        corner, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        if node.kind == "turn":
            yield self._line(f"{indent}{corner}", one_line(node.id), _said(turns.get(node.id)))
            return
        children = self._children(node) if depth > 0 else []
        yield self._line(f"{indent}{corner}", one_line(node.id), node_facts(node))
        yield self._line(f"{indent}{below}{'│' if children else ' '}  ", span(node), gist(node), color="green")
        yield from self.branch(children, indent + below, depth - 1)

    def _children(self, node: Node) -> list[Node]:
        if node.level > 1:
            return [self.summaries[id_] for id_ in node.source_ids if id_ in self.summaries]
        return [Node(id=id_, kind="turn", level=0, tokens=0) for id_ in node.source_ids]

    def _line(self, lead: str, name: str, text: str, color: str = "cyan") -> str:
        return f"{lead}{click.style(name, fg=color)}  {_cut(text, self.columns - len(lead) - len(name) - 2)}".rstrip()


def node_facts(node: Node) -> str:
    """What a summary is, without its text."""
    trivial = ", trivial" if node.trivial else ""
    certainty = "" if node.confidence is None else f" {node.confidence:.2f}"
    made = f"{node.method}{certainty}{trivial}"
    return f"level {node.level}, {counted(node.turn_count, 'turn')}, {counted(node.tokens, 'token')}, {made}"


def span(node: Node) -> str:
    """From the first to the last turn, in the reader's own zone; the day is said once."""
    first, last = local_time(node.first_ts), local_time(node.last_ts)
    if first == last:
        return first
    same_day = first[:11] == last[:11]
    return f"{first} – {last[11:] if same_day else last}"


def gist(node: Node) -> str:
    """The first line that tells something; times and speakers, which lead an extractive summary, are not it."""
    lines = [line for line in node.text.splitlines() if line.strip() and not line.rstrip().endswith(":")]
    leads = bool(node.method and node.method.startswith("extractive") and len(lines) > 1)
    return next(iter(lines[leads:]), "")


def _said(turn: RecordView | None) -> str:
    return "" if turn is None else f"{turn.role}: {turn.text}"


def _cut(text: str, columns: int) -> str:
    """As much of the text as fits, in the widths that characters have on a terminal."""
    from rich.cells import cell_len, set_cell_size

    line, room = one_line(text[:MOST_CHARS]), max(columns, NARROWEST_TEXT)
    return line if cell_len(line) <= room else f"{set_cell_size(line, room - 1).rstrip()}…"


def _ends(siblings: Sequence[Node], limit: int) -> tuple[Sequence[Node], int, Sequence[Node]]:
    """The first and the last of many, and how many are between them."""
    if len(siblings) <= limit:
        return siblings, 0, ()
    tail = limit // 2
    head = limit - tail
    return siblings[:head], len(siblings) - limit, siblings[len(siblings) - tail :]

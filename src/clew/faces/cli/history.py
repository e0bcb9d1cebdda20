"""Verbs on a session's history: its tree, its compaction."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from msgspec.structs import replace

from clew.api import (
    Compact,
    CompactReceipt,
    Describe,
    Expand,
    Expansion,
    Grep,
    GrepMatch,
    GrepResult,
    Hit,
    MemoryApi,
    Node,
    RecordView,
    Search,
    SearchResult,
    SessionView,
    ShowSession,
)
from clew.core.collections import Collection, CollectionKind
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.fields import HITS, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    Cell,
    counted,
    local_time,
    one_line,
    preview,
    print_degraded,
    print_fields,
    print_heading,
    print_more,
    print_note,
    print_table,
    print_text,
    safe,
)

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
            yield self._line(f"{indent}{corner}", one_line(node.id), _quote_turn(turns.get(node.id)))
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


def _quote_turn(turn: RecordView | None) -> str:
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


LISTED_CLOSED = 20
LISTED_IDS = 2
TURNS_A_READ = 100


@click.group(
    "session",
    cls=VerbGroup,
    examples=["clew session list", "clew session show s1 --depth 1", "clew session expand s1 s_5f0c --budget 4000"],
)
def session_command() -> None:
    """Look at a session's history, and open summaries to the turns they cover."""


@session_command.command("list", examples=["clew session list"])
@click.pass_obj
def list_sessions(invocation: Invocation) -> None:
    """List the sessions: turns said, nodes in the active view, summaries made."""
    with invocation.open() as memory:
        invocation.show({"sessions": _sessions(memory)}, _print_sessions)


@session_command.command("show", examples=["clew session show s1", "clew session show s1 --depth 2 --limit 10"])
@takes(ShowSession, "session_id")
@click.option(
    "--depth", type=click.IntRange(0, 64), metavar="N", default=0, show_default=True, help="Levels to unfold."
)
@click.option(
    "--limit",
    type=click.IntRange(2, 100_000),
    metavar="N",
    default=40,
    show_default=True,
    help="Nodes to draw of one branch.",
)
def show(invocation: Invocation, request: ShowSession, depth: int, limit: int) -> None:
    """Draw the active view as a tree, oldest first, with summaries unfolded as deep as asked."""
    with invocation.open() as memory:
        answer = memory.call(request)
        invocation.show(answer, lambda session: _print_session(memory, session, depth, limit))


@session_command.command(
    "expand",
    examples=["clew session expand s1 s_5f0c", "clew session expand s1 s_5f0c --budget 4000 --query 'seat locks'"],
)
@takes(Expand, "session_id", "ids", max_depth=option("--depth"), exclude=None)
def expand(invocation: Invocation, request: Expand) -> None:
    """Give back the turns that summaries cover, word for word."""
    invocation.answer(request, print_expansion)


@session_command.command("describe", examples=["clew session describe s1 s_5f0c"])
@takes(Describe, "session_id", "id")
def describe(invocation: Invocation, request: Describe) -> None:
    """Show one turn or summary with its lineage: what it covers, and what covers it."""
    invocation.answer(request, _print_node)


@session_command.command("search", examples=["clew session search s1 'which database did we choose' -k 3"])
@click.argument("session_id", metavar="SESSION")
@takes(Search, "text", k=HITS, collections=None, user_id=None, session_id=None)
def search(invocation: Invocation, request: Search, session_id: str) -> None:
    """Search every turn of a session, compacted or not, by words and by meaning."""
    invocation.answer(replace(request, collections=(Collection.raw(session_id),)), _print_result)


@session_command.command(
    "grep", examples=["clew session grep s1 E1047", "clew session grep s1 'seat (lock|map)' --regex"]
)
@takes(Grep, "session_id", "pattern")
def grep(invocation: Invocation, request: Grep) -> None:
    """Find lines in every turn of a session by their letters: ID:LINE: text, oldest first."""
    invocation.answer(request, _print_matches)


# --- list ------------------------------------------------------------------------------------------

_COUNTED = {CollectionKind.RAW: "turns", CollectionKind.SESSION: "nodes", CollectionKind.SUMMARIES: "summaries"}
"""Kinds of collection that a session has, with what their sizes say of it."""


def _sessions(memory: MemoryApi) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, int]] = {}
    for item in memory.collections().collections:
        collection = Collection(item.name)
        counted = _COUNTED.get(collection.kind)
        if counted is not None and item.count:
            counts.setdefault(collection.owner, {})[counted] = item.count
    empty = dict.fromkeys(_COUNTED.values(), 0)
    return [{"sessionId": session_id} | empty | counts[session_id] for session_id in sorted(counts)]


def _print_sessions(answer: dict[str, Any]) -> None:
    if not answer["sessions"]:
        print_note("no sessions")
        return
    print_table(
        ("turns", "nodes in view", "summaries", "session"),
        [(item["turns"], item["nodes"], item["summaries"], item["sessionId"]) for item in answer["sessions"]],
    )


# --- show ------------------------------------------------------------------------------------------


def _print_session(memory: MemoryApi, session: SessionView, depth: int, limit: int) -> None:
    in_view = sum(node.tokens for node in session.view)
    print_heading(
        f"{session.session_id}: {session.turn_count:,} turns, {len(session.summaries):,} summaries; "
        f"{len(session.view):,} nodes and {in_view:,} tokens in view"
    )
    if session.dismissed_count:
        print_note(f"{session.dismissed_count:,} turns were taken out of the view by hand")

    def read_turns(ids: Sequence[str]) -> Mapping[str, RecordView]:
        return _read_turns(memory, session.session_id, ids)

    print_tree(session, read_turns, depth=depth, limit=limit)


def _read_turns(memory: MemoryApi, session_id: str, ids: Sequence[str]) -> dict[str, RecordView]:
    found: dict[str, RecordView] = {}
    for start in range(0, len(ids), TURNS_A_READ):
        page = memory.get(Collection.raw(session_id), *ids[start : start + TURNS_A_READ])
        found |= {record.id: record for record in page.records}
    return found


# --- expand and describe ---------------------------------------------------------------------------


def print_expansion(expansion: Expansion) -> None:
    """Each turn under a line of its own about it, then what stayed closed and how to open it."""
    for turn in expansion.turns:
        facts = f"{turn.role}, {local_time(turn.ts)}, {counted(turn.tokens, 'token')}"
        click.echo(f"{click.style(one_line(turn.id), fg='cyan')}  {facts}")
        print_text(turn.text, indent="  ")
        click.echo()
    print_heading(
        f"{counted(len(expansion.turns), 'turn')}, {counted(expansion.tokens, 'token')} as a prompt quotes them"
    )
    _print_closed([node for node in expansion.closed if node.kind == "summary"], "summaries", "a greater --depth")
    _print_closed([node for node in expansion.closed if node.kind == "turn"], "turns", "a greater --budget")


def _print_closed(nodes: Sequence[Node], what: str, remedy: str) -> None:
    if not nodes:
        return
    print_note(f"{len(nodes):,} {what} not opened; {remedy} opens them, or expand them one by one")
    print_table(
        ("tokens", "turns", "when", "id"),
        [(node.tokens, node.turn_count, span(node), node.id) for node in nodes[:LISTED_CLOSED]],
    )
    if len(nodes) > LISTED_CLOSED:
        click.echo(f"… and {len(nodes) - LISTED_CLOSED:,} more")


def _print_node(node: Node) -> None:
    print_fields(_lineage(node))
    print_text(node.text, indent="  ")


def _lineage(node: Node) -> dict[str, Cell]:
    fields: dict[str, Cell] = {"id": node.id, "kind": node.kind}
    if node.kind == "summary":
        fields["made"] = node_facts(node)
        fields["on"] = None if node.compacted_ts is None else local_time(node.compacted_ts)
    else:
        fields["tokens"] = node.tokens
    fields |= {"when": span(node), "in view": node.in_view}
    related = {"covers": node.source_ids, "is covered by": node.parent_ids, "in the light of": node.prior_ids}
    return fields | {name: _ids(ids) for name, ids in related.items() if ids}


def _ids(ids: Sequence[str]) -> str:
    more = f" … and {len(ids) - LISTED_IDS:,} more" if len(ids) > LISTED_IDS else ""
    return f"{len(ids):,}: {' '.join(ids[:LISTED_IDS])}{more}"


# --- search and grep -------------------------------------------------------------------------------


def _print_result(result: SearchResult) -> None:
    for hit in result.hits:
        _print_hit(hit)
    if not result.hits:
        print_note("nothing found")
    print_degraded(result.degraded)


def _print_hit(hit: Hit) -> None:
    """The turn's id stays whole, to be copied; in a narrow table it would be folded."""
    turn, scores = hit.record, hit.scores
    lanes = {"lexical": scores.lexical, "dense": scores.dense}
    shown = ", ".join(f"{lane} {score:.3f}" for lane, score in lanes.items() if score is not None)
    facts = f"{scores.score:.3f} ({shown}), {turn.role}, {local_time(turn.ts)}"
    click.echo(f"{click.style(one_line(turn.id), fg='cyan')}  {facts}")
    click.echo(f"  {preview(turn.text)}")


def _print_matches(found: GrepResult) -> None:
    for match in found.matches:
        _print_match(match)
    if not found.matches:
        print_note("nothing found")
    print_more(found.cursor)


def _print_match(match: GrepMatch) -> None:
    place = f"{click.style(one_line(match.id), fg='cyan')}:{click.style(match.line_number, fg='green')}"
    click.echo(f"{place}: {safe(match.line.rstrip())}")


FAILED = 1


@click.command("compact", cls=Verb, examples=["clew compact s1", "clew compact s1 --force --budget 32000"])
@takes(
    Compact,
    "session_id",
    cluster_turns=option("--cluster", type=click.IntRange(min=1)),
    min_turns=option(type=click.IntRange(min=1)),
    tail_tokens=option("--tail-tokens", type=click.IntRange(min=0)),
    prior_tokens=option("--prior-tokens"),
)
def compact_command(invocation: Invocation, request: Compact) -> None:
    """Replace old turns in the active view by summaries; nothing is deleted. Status 1 when it failed."""
    receipt = invocation.answer(request, print_receipt, doing="Compacting")
    if receipt.degraded and not receipt.did_compact:
        raise click.exceptions.Exit(FAILED)


def print_receipt(receipt: CompactReceipt) -> None:
    print_heading(_what_happened(receipt))
    if receipt.clusters_formed or receipt.clusters_declined:
        print_fields(_figures(receipt))
    print_degraded(receipt.degraded)


def _what_happened(receipt: CompactReceipt) -> str:
    before, after = receipt.tokens_before, receipt.tokens_after
    if receipt.did_compact:
        return f"Active view: {before:,} tokens before, {after:,} after ({1 - after / before:.0%} less)"
    return f"Active view: {before:,} tokens, as before; {_why_not(receipt)}"


def _why_not(receipt: CompactReceipt) -> str:
    if receipt.degraded:
        return "nothing was compacted"
    if receipt.tokens_before == 0:
        return "there is nothing in it"
    if receipt.clusters_formed or receipt.clusters_declined:
        return "no summary was smaller than its turns"
    return "too few turns are outside the tail (--force takes them, too)"


def _figures(receipt: CompactReceipt) -> dict[str, Cell]:
    fields: dict[str, Cell] = {
        "turns out of the view": f"{receipt.turns_removed:,}, in {counted(receipt.clusters_formed, 'cluster')}; "
        "every one stays in the raw history",
        "new summaries": f"{len(receipt.summaries):,}, {receipt.summary_method or 'none'}, "
        f"mean confidence {receipt.mean_confidence:.2f}",
        "guidance kept": f"{counted(receipt.shards_kept, 'turn')}, word for word",
    }
    if receipt.clusters_declined:
        declined = counted(receipt.clusters_declined, "cluster")
        fields["left as it was"] = f"{declined} that no summary made smaller"
    return fields

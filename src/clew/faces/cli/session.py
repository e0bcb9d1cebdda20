"""`clew session`: the history of a session, and the way from a summary back to every turn it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from clew.api import Expansion, GrepMatch, GrepResult, Hit, MemoryApi, Node, RecordView, SearchResult, SessionView
from clew.core.identity import kind_of, owner_of, session_raw
from clew.faces.cli.command import Verb, VerbGroup
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.session_tree import node_facts, print_tree, span
from clew.faces.cli.terminal import (
    Cell,
    counted,
    local_time,
    one_line,
    preview,
    print_degraded,
    print_fields,
    print_heading,
    print_note,
    print_table,
    print_text,
    safe,
)

LISTED_CLOSED = 20
LISTED_IDS = 2
TURNS_A_READ = 100


@click.group(
    "session",
    cls=VerbGroup,
    examples=["clew session list", "clew session show s1 --depth 1", "clew session expand s1 s_5f0c --budget 4000"],
)
def command() -> None:
    """Look at a session's history, and open summaries to the turns they stand for."""


@command.command("list", cls=Verb, examples=["clew session list"])
@click.pass_obj
def list_sessions(invocation: Invocation) -> None:
    """List the sessions: turns said, nodes in the active view, summaries made."""
    with invocation.open() as memory:
        invocation.show({"sessions": _sessions(memory)}, _print_sessions)


@command.command("show", cls=Verb, examples=["clew session show s1", "clew session show s1 --depth 2 --limit 10"])
@click.argument("session_id", metavar="SESSION")
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
@click.pass_obj
def show(invocation: Invocation, session_id: str, depth: int, limit: int) -> None:
    """Draw the active view as a tree, oldest first, with summaries unfolded as deep as asked."""
    with invocation.open() as memory:
        answer = memory.show_session(session_id)
        invocation.show(answer, lambda session: _print_session(memory, session, depth, limit))


@command.command(
    "expand",
    cls=Verb,
    examples=["clew session expand s1 s_5f0c", "clew session expand s1 s_5f0c --budget 4000 --query 'seat locks'"],
)
@click.argument("session_id", metavar="SESSION")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--depth", type=click.IntRange(1, 64), metavar="N", default=3, show_default=True, help="Levels to go down."
)
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Most tokens, as a prompt quotes them; else 200,000."
)
@click.option("--query", metavar="TEXT", help="Where not all fit, take the turns that answer this best.")
@click.pass_obj
def expand(
    invocation: Invocation, *, session_id: str, ids: tuple[str, ...], depth: int, budget: int | None, query: str | None
) -> None:
    """Give back the turns that summaries stand for, word for word."""
    with invocation.open() as memory:
        expansion = memory.expand(session_id, *ids, max_depth=depth, budget_tokens=budget, query=query)
    invocation.show(expansion, print_expansion)


@command.command("describe", cls=Verb, examples=["clew session describe s1 s_5f0c"])
@click.argument("session_id", metavar="SESSION")
@click.argument("id_", metavar="ID")
@click.pass_obj
def describe(invocation: Invocation, session_id: str, id_: str) -> None:
    """Show one turn or summary with its lineage: what it stands for, and what stands for it."""
    with invocation.open() as memory:
        invocation.show(memory.describe(session_id, id_), _print_node)


@command.command("search", cls=Verb, examples=["clew session search s1 'which database did we choose' -k 3"])
@click.argument("session_id", metavar="SESSION")
@click.argument("text")
@click.option("-k", "k", type=click.IntRange(1, 1000), metavar="N", default=10, show_default=True, help="How many.")
@click.pass_obj
def search(invocation: Invocation, session_id: str, text: str, k: int) -> None:
    """Search every turn of a session, compacted or not, by words and by meaning."""
    with invocation.open() as memory:
        invocation.show(memory.query_raw(session_id, text, k=k), _print_result)


@command.command(
    "grep", cls=Verb, examples=["clew session grep s1 E1047", "clew session grep s1 'seat (lock|map)' --regex"]
)
@click.argument("session_id", metavar="SESSION")
@click.argument("pattern")
@click.option("--regex", is_flag=True, help="PATTERN is a regular expression, in the syntax of RE2.")
@click.option("--ignore-case", is_flag=True, help="Take capital and small letters as the same.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), metavar="N", default=100, show_default=True, help="Lines a page."
)
@click.option("--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Where the next page starts.")
@click.pass_obj
def grep(
    invocation: Invocation, *, session_id: str, pattern: str, regex: bool, ignore_case: bool, limit: int, cursor: int
) -> None:
    """Find lines in every turn of a session by their letters: ID:LINE: text, oldest first."""
    with invocation.open() as memory:
        found = memory.grep(session_id, pattern, regex=regex, ignore_case=ignore_case, limit=limit, cursor=cursor)
    invocation.show(found, _print_matches)


# --- list ------------------------------------------------------------------------------------------

_COUNTED = {"session_raw": "turns", "session": "nodes", "session_summary": "summaries"}
"""Kinds of collection that a session has, with what their sizes say of it."""


def _sessions(memory: MemoryApi) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, int]] = {}
    for item in memory.collections().collections:
        kind = kind_of(item.name)
        if kind in _COUNTED and item.count:
            counts.setdefault(owner_of(item.name), {})[_COUNTED[kind]] = item.count
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
        page = memory.get(session_raw(session_id), *ids[start : start + TURNS_A_READ])
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
    related = {"stands for": node.source_ids, "is stood for by": node.parent_ids, "in the light of": node.prior_ids}
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
    if found.cursor is not None:
        print_note(f"more may follow: --cursor {found.cursor}")


def _print_match(match: GrepMatch) -> None:
    place = f"{click.style(one_line(match.id), fg='cyan')}:{click.style(match.line_number, fg='green')}"
    click.echo(f"{place}: {safe(match.line.rstrip())}")

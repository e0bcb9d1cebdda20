"""`clew graph`: what records name and how it is joined, which projects an idea belongs to, and a picture of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from clew.api import (
    Done,
    GraphDownstream,
    GraphEntities,
    GraphEntityList,
    GraphExport,
    GraphMatch,
    GraphMatchList,
    GraphMergeList,
    GraphNeighbourhood,
    GraphNeighbours,
    GraphPath,
    GraphPathList,
    GraphPaths,
    GraphStatusView,
    GraphText,
    GraphUpstream,
)
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    counted,
    one_line,
    print_degraded,
    print_fields,
    print_note,
    print_table,
    print_text,
)
from clew.text.entities import EdgeKind, EntityKind


def print_matches(found: GraphMatchList) -> None:
    for place, item in enumerate(found.matches, 1):
        name = click.style(one_line(item.project.name), fg="cyan", bold=True)
        click.echo(f"{place}. {name}  {item.score:.3f}, {counted(item.paths, 'path')}")
        print_path(item.path)
    if not found.matches:
        print_note("no project is known that this leads to")
    print_degraded(found.degraded)


def print_path(path: GraphPath) -> None:
    """The way in one line, and what each step of it rests on."""
    click.echo(f"   {one_line(path.text)}")
    for step in path.steps:
        for source in step.sources:
            click.echo(f"     {one_line(step.to.name, 40)}: {one_line(source.ref)}  {one_line(source.text, 100)}")


def print_neighbourhood(found: GraphNeighbourhood) -> None:
    click.echo(f"{found.entity.kind} {one_line(found.entity.name)}, named by {counted(found.entity.records, 'record')}")
    rows = [
        (item.distance, item.entity.kind, item.entity.name, item.path.score, item.path.text)
        for item in found.neighbours
    ]
    if rows:
        print_table(["steps", "kind", "name", "strength", "path"], rows)
    else:
        print_note("nothing is joined with it that way")
    if found.truncated:
        print_note("there is more than is shown; the strongest come first")


def print_paths(found: GraphPathList) -> None:
    for path in found.paths:
        click.echo(f"{path.score:.3f}")
        print_path(path)
    if not found.paths:
        print_note("no way was found between them")


def print_entities(found: GraphEntityList) -> None:
    if found.entities:
        print_table(["kind", "name", "records"], [(item.kind, item.name, item.records) for item in found.entities])
    else:
        print_note("nothing of that kind is named yet")
    if found.cursor is not None:
        print_note(f"there is more: --cursor {found.cursor}")


def print_merges(found: GraphMergeList) -> None:
    if found.proposals:
        print_table(["keep", "drop", "reason"], [(item.keep, item.drop, item.reason) for item in found.proposals])
    else:
        print_note("no names that may mean the same")
    for item in found.merged:
        print_note(f"merged: {item.drop} is {item.keep}")


def print_export(found: GraphText) -> None:
    print_text(found.text.rstrip("\n"))


def print_drawn(answer: Mapping[str, Any]) -> None:
    if answer["picture"] is not None:
        drawn = f"{counted(answer['entities'], 'name')} and {counted(answer['edges'], 'edge')}"
        click.echo(f"drew {drawn} to {one_line(answer['picture'])}")
    for note in answer["notes"]:
        print_note(note)


def print_rebuilt(done: Done) -> None:
    click.echo(f"read {counted(done.count, 'record')} for the graph")


def print_status(found: GraphStatusView) -> None:
    print_fields({"entities": found.entities, "edges": found.edges, "records that wait": found.pending})


PLOTS_MISSING = "no picture was drawn: matplotlib is not installed; pip install 'clew[plots]' brings it, SVG needs none"

_EDGES = click.Choice([kind.value for kind in EdgeKind])
_ENTITIES = click.Choice([kind.value for kind in EntityKind])


def _whose(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say whose graph is asked."""
    function = click.option("--untrusted", is_flag=True, help="Take in what tools and pages said, too.")(function)
    function = click.option("--session", metavar="ID", help="A session without a user.")(function)
    return click.option("--user", metavar="ID", help="The user; without one, only what is for all.")(function)


def _steps(highest: int, default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--depth", type=click.IntRange(1, highest), metavar="N", default=default, show_default=True, help="Steps to go."
    )


def _limit(default: int, highest: int = 1000) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--limit",
        type=click.IntRange(1, highest),
        metavar="N",
        default=default,
        show_default=True,
        help="How many to show.",
    )


@click.group(
    "graph",
    cls=VerbGroup,
    examples=[
        "clew graph match 'warn me when a sensor goes quiet' --user ada",
        "clew graph neighbours Kafka --user ada",
        "clew graph draw graph.svg --user ada",
    ],
)
def graph_command() -> None:
    """See what records name and how it is joined; names come from notes, turns, memories and facts."""


@graph_command.command("match", cls=Verb, examples=["clew graph match 'warn me when a sensor goes quiet' --user ada"])
@click.argument("idea")
@_limit(5, 50)
@_whose
@click.pass_obj
def match(
    invocation: Invocation, *, idea: str, limit: int, user: str | None, session: str | None, untrusted: bool
) -> None:
    """Say which projects IDEA belongs to, and by which path."""
    request = GraphMatch(idea=idea, user_id=user, session_id=session, limit=limit, untrusted=untrusted)
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_matches)


@graph_command.command(
    "neighbours",
    cls=Verb,
    examples=["clew graph neighbours Kafka --user ada", "clew graph neighbours project:atlas --edge uses --depth 2"],
)
@click.argument("name")
@click.option("--edge", "kinds", type=_EDGES, multiple=True, help="Only edges of this kind; may be given again.")
@click.option(
    "--direction", type=click.Choice(["out", "in", "both"]), default="both", show_default=True, help="Which way to go."
)
@_steps(3, 1)
@_limit(20)
@_whose
@click.pass_obj
def neighbours(
    invocation: Invocation,
    *,
    name: str,
    kinds: tuple[str, ...],
    direction: str,
    depth: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """Show what lies around NAME, which may be given as KIND:NAME."""
    request = GraphNeighbours(
        name=name, kinds=kinds, direction=direction, depth=depth, limit=limit,
        user_id=user, session_id=session, untrusted=untrusted,
    )  # fmt: skip
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_neighbourhood)


@graph_command.command("upstream", cls=Verb, examples=["clew graph upstream atlas --user ada"])
@click.argument("name")
@_steps(8, 4)
@_limit(50)
@_whose
@click.pass_obj
def upstream(
    invocation: Invocation,
    *,
    name: str,
    depth: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """Show what NAME stands on: what it uses or is blocked by, and what that does."""
    request = GraphUpstream(name=name, depth=depth, limit=limit, user_id=user, session_id=session, untrusted=untrusted)
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_neighbourhood)


@graph_command.command("downstream", cls=Verb, examples=["clew graph downstream Kafka --user ada"])
@click.argument("name")
@_steps(8, 4)
@_limit(50)
@_whose
@click.pass_obj
def downstream(
    invocation: Invocation,
    *,
    name: str,
    depth: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """Show what stands on NAME: what uses it or is blocked by it, and what uses that."""
    request = GraphDownstream(
        name=name, depth=depth, limit=limit, user_id=user, session_id=session, untrusted=untrusted
    )
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_neighbourhood)


@graph_command.command("paths", cls=Verb, examples=["clew graph paths atlas Redis --user ada"])
@click.argument("source")
@click.argument("target")
@click.option("--max-hops", type=click.IntRange(1, 4), metavar="N", default=4, show_default=True, help="Steps at most.")
@_limit(3, 20)
@_whose
@click.pass_obj
def paths(
    invocation: Invocation,
    *,
    source: str,
    target: str,
    max_hops: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """Show how SOURCE and TARGET are joined, the strongest way first."""
    request = GraphPaths(
        source=source, target=target, max_hops=max_hops, limit=limit,
        user_id=user, session_id=session, untrusted=untrusted,
    )  # fmt: skip
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_paths)


@graph_command.command(
    "entities", cls=Verb, examples=["clew graph entities --kind project", "clew graph entities kafak --user ada"]
)
@click.argument("text", default="")
@click.option("--kind", "kinds", type=_ENTITIES, multiple=True, help="Only of this kind; may be given again.")
@click.option("--cursor", type=click.IntRange(min=0), metavar="N", default=0, help="Go on where the last page ended.")
@_limit(50)
@_whose
@click.pass_obj
def entities(
    invocation: Invocation,
    *,
    text: str,
    kinds: tuple[str, ...],
    cursor: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """List what is named, or what is named like TEXT."""
    request = GraphEntities(
        text=text, kinds=kinds, cursor=cursor, limit=limit, user_id=user, session_id=session, untrusted=untrusted
    )
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_entities)


@graph_command.command("merges", cls=Verb, examples=["clew graph merges --user ada"])
@_limit(50, 500)
@click.option("--user", metavar="ID", help="The user; without one, only what is for all.")
@click.pass_obj
def merges(invocation: Invocation, limit: int, user: str | None) -> None:
    """Propose names that may mean the same, and list those you merged; nothing is changed."""
    with invocation.open() as memory:
        invocation.show(memory.graph_merges(user_id=user, limit=limit), print_merges)


@graph_command.command("merge", cls=Verb, examples=["clew graph merge project:atlas repo:ada/atlas --user ada"])
@click.argument("keep")
@click.argument("drop")
@click.option("--user", metavar="ID", help="For whom; without one, for all.")
@click.pass_obj
def merge(invocation: Invocation, keep: str, drop: str, user: str | None) -> None:
    """Say that DROP is the same as KEEP; `clew graph unmerge` takes it back."""
    with invocation.open() as memory:
        done = memory.graph_merge(keep, drop, user_id=user)
    invocation.show(done, lambda _: click.echo(f"{one_line(drop)} is {one_line(keep)}"))


@graph_command.command("unmerge", cls=Verb, examples=["clew graph unmerge repo:ada/atlas --user ada"])
@click.argument("name")
@click.option("--user", metavar="ID", help="For whom it was merged; without one, for all.")
@click.pass_obj
def unmerge(invocation: Invocation, name: str, user: str | None) -> None:
    """Take back that NAME, given as KIND:NAME, is the same as another."""
    with invocation.open() as memory:
        done = memory.graph_unmerge(name, user_id=user)
    invocation.show(done, lambda _: click.echo(f"{one_line(name)} stands by itself again"))


@graph_command.command(
    "export",
    cls=Verb,
    examples=["clew graph export --user ada", "clew graph export --format mermaid --around atlas --user ada"],
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["markdown", "mermaid", "json"]),
    default="markdown",
    show_default=True,
    help="How it is written.",
)
@click.option("--around", metavar="NAME", help="Only what lies around this entity.")
@_steps(3, 2)
@_limit(60, 500)
@_whose
@click.pass_obj
def export(
    invocation: Invocation,
    *,
    format_: str,
    around: str | None,
    depth: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """Print the graph as text: what most records name, and what joins it."""
    request = GraphExport(
        format=format_, name=around, depth=depth, limit=limit, user_id=user, session_id=session, untrusted=untrusted
    )
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_export)


@graph_command.command(
    "draw", cls=Verb, examples=["clew graph draw graph.svg --user ada", "clew graph draw atlas.png --around atlas"]
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--around", metavar="NAME", help="Only what lies around this entity.")
@_steps(3, 2)
@_limit(60, 500)
@_whose
@click.pass_obj
def draw(
    invocation: Invocation,
    *,
    file: Path,
    around: str | None,
    depth: int,
    limit: int,
    user: str | None,
    session: str | None,
    untrusted: bool,
) -> None:
    """Draw the graph to FILE, which ends in .svg or .png."""
    from clew.faces.cli.graph_picture import draw as draw_picture
    from clew.faces.cli.graph_picture import read_graph

    request = GraphExport(
        format="json", name=around, depth=depth, limit=limit, user_id=user, session_id=session, untrusted=untrusted
    )
    with invocation.open() as memory:
        found = memory.call(request)
    drawn = draw_picture(file, read_graph(found.text))
    answer = {
        "picture": str(file) if drawn else None,
        "entities": found.entities,
        "edges": found.edges,
        "notes": [] if drawn else [PLOTS_MISSING],
    }
    invocation.show(answer, print_drawn)


@graph_command.command("rebuild", cls=Verb, examples=["clew graph rebuild"])
@click.pass_obj
def rebuild(invocation: Invocation) -> None:
    """Make the graph again from the records; what you merged stays merged."""
    with invocation.open() as memory:
        done = memory.graph_rebuild()
        memory.flush()
    invocation.show(done, print_rebuilt)


@graph_command.command("status", cls=Verb, examples=["clew graph status"])
@click.option("--user", metavar="ID", help="Only what this user sees; else of all users together.")
@click.pass_obj
def status(invocation: Invocation, user: str | None) -> None:
    """Show how large the graph is."""
    with invocation.open() as memory:
        invocation.show(memory.graph_status(user_id=user), print_status)

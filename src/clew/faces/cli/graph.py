"""`clew graph`: what records name and how it is joined, which projects an idea belongs to, and a picture of it."""

from __future__ import annotations

from collections.abc import Mapping
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
    GraphMerge,
    GraphMergeList,
    GraphMerges,
    GraphNeighbourhood,
    GraphNeighbours,
    GraphPath,
    GraphPathList,
    GraphPaths,
    GraphStatus,
    GraphStatusView,
    GraphText,
    GraphUnmerge,
    GraphUpstream,
)
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import one_of, option, takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import (
    counted,
    one_line,
    print_degraded,
    print_fields,
    print_more,
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
    print_more(found.cursor)


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

_AROUND = option("--around", metavar="NAME")


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


@graph_command.command("match", examples=["clew graph match 'warn me when a sensor goes quiet' --user ada"])
@takes(GraphMatch, "idea")
def match(invocation: Invocation, request: GraphMatch) -> None:
    """Say which projects IDEA belongs to, and by which path."""
    invocation.answer(request, print_matches)


@graph_command.command(
    "neighbours",
    examples=["clew graph neighbours Kafka --user ada", "clew graph neighbours project:atlas --edge uses --depth 2"],
)
@takes(
    GraphNeighbours,
    "name",
    kinds=option("--edge", type=one_of(EdgeKind)),
    direction=option(type=one_of(("out", "in", "both"))),
)
def neighbours(invocation: Invocation, request: GraphNeighbours) -> None:
    """Show what lies around NAME, which may be given as KIND:NAME."""
    invocation.answer(request, print_neighbourhood)


@graph_command.command("upstream", examples=["clew graph upstream atlas --user ada"])
@takes(GraphUpstream, "name")
def upstream(invocation: Invocation, request: GraphUpstream) -> None:
    """Show what NAME depends on: what it uses or is blocked by, and what that does."""
    invocation.answer(request, print_neighbourhood)


@graph_command.command("downstream", examples=["clew graph downstream Kafka --user ada"])
@takes(GraphDownstream, "name")
def downstream(invocation: Invocation, request: GraphDownstream) -> None:
    """Show what depends on NAME: what uses it or is blocked by it, and what uses that."""
    invocation.answer(request, print_neighbourhood)


@graph_command.command("paths", examples=["clew graph paths atlas Redis --user ada"])
@takes(GraphPaths, "source", "target")
def paths(invocation: Invocation, request: GraphPaths) -> None:
    """Show how SOURCE and TARGET are joined, the strongest way first."""
    invocation.answer(request, print_paths)


@graph_command.command(
    "entities", examples=["clew graph entities --kind project", "clew graph entities kafak --user ada"]
)
@takes(GraphEntities, "text", kinds=option(type=one_of(EntityKind)))
def entities(invocation: Invocation, request: GraphEntities) -> None:
    """List what is named, or what is named like TEXT."""
    invocation.answer(request, print_entities)


@graph_command.command("merges", examples=["clew graph merges --user ada"])
@takes(GraphMerges)
def merges(invocation: Invocation, request: GraphMerges) -> None:
    """Propose names that may mean the same, and list those you merged; nothing is changed."""
    invocation.answer(request, print_merges)


@graph_command.command("merge", examples=["clew graph merge project:atlas repo:ada/atlas --user ada"])
@takes(GraphMerge, "keep", "drop")
def merge(invocation: Invocation, request: GraphMerge) -> None:
    """Say that DROP is the same as KEEP; `clew graph unmerge` takes it back."""
    invocation.answer(request, lambda _: click.echo(f"{one_line(request.drop)} is {one_line(request.keep)}"))


@graph_command.command("unmerge", examples=["clew graph unmerge repo:ada/atlas --user ada"])
@takes(GraphUnmerge, "name")
def unmerge(invocation: Invocation, request: GraphUnmerge) -> None:
    """Take back that NAME, given as KIND:NAME, is the same as another."""
    invocation.answer(request, lambda _: click.echo(f"{one_line(request.name)} is an entity of its own again"))


@graph_command.command(
    "export", examples=["clew graph export --user ada", "clew graph export --format mermaid --around atlas --user ada"]
)
@takes(GraphExport, name=_AROUND, format=option(type=one_of(("markdown", "mermaid", "json"))))
def export(invocation: Invocation, request: GraphExport) -> None:
    """Print the graph as text: what most records name, and what joins it."""
    invocation.answer(request, print_export)


@graph_command.command(
    "draw", examples=["clew graph draw graph.svg --user ada", "clew graph draw atlas.png --around atlas"]
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@takes(GraphExport, name=_AROUND, format="json")
def draw(invocation: Invocation, request: GraphExport, file: Path) -> None:
    """Draw the graph to FILE, which ends in .svg or .png."""
    from clew.faces.cli.drawing.graph import draw as draw_picture
    from clew.faces.cli.drawing.graph import read_graph

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


@graph_command.command("rebuild", examples=["clew graph rebuild"])
@click.pass_obj
def rebuild(invocation: Invocation) -> None:
    """Make the graph again from the records; what you merged stays merged."""
    with invocation.open() as memory:
        done = memory.graph_rebuild()
        memory.flush()
    invocation.show(done, print_rebuilt)


@graph_command.command("status", examples=["clew graph status"])
@takes(GraphStatus)
def status(invocation: Invocation, request: GraphStatus) -> None:
    """Show how large the graph is."""
    invocation.answer(request, print_status)

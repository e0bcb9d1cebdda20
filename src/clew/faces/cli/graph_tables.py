"""Answers about the graph as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from clew.api import (
    Done,
    GraphEntityList,
    GraphMatchList,
    GraphMergeList,
    GraphNeighbourhood,
    GraphPath,
    GraphPathList,
    GraphStatusView,
    GraphText,
)
from clew.faces.cli.terminal import (
    counted,
    one_line,
    print_degraded,
    print_fields,
    print_note,
    print_table,
    print_text,
)


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
